//! Tests of `formats::command::options`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::super::{Command, parse};
use super::*;

/// `name=value;…|guidance` of a comment with one command.
fn say(comment: &str) -> String {
    let found = parse(comment);
    assert_eq!(found.len(), 1, "{comment:?}");
    let given: Vec<String> = found[0]
        .options
        .iter()
        .map(|given| format!("{}={}", given.name, given.value))
        .collect();
    format!(
        "{}|{}",
        given.join(";"),
        found[0].guidance.as_deref().unwrap_or_default()
    )
}

fn judged(value: &str) -> Result<Options, String> {
    let given = [RawOption {
        name: "session".to_owned(),
        value: value.to_owned(),
    }];
    read_options(Command::SavePlan, &given).map_err(|error| error.why)
}

#[test]
fn options_stand_directly_behind_the_command() {
    for (comment, want) in [
        ("/save-plan session=a.jsonl", "session=a.jsonl|"),
        (
            "/save-plan session=a.jsonl@main keep it",
            "session=a.jsonl@main|keep it",
        ),
        ("/save-raw-plan session=a.jsonl", "session=a.jsonl|"),
        ("/erk:save-plan session=a.jsonl", "session=a.jsonl|"),
        ("/save-plan Session=a.jsonl", "Session=a.jsonl|"),
        (
            "/save-plan\nsession=a.jsonl\nkeep it",
            "session=a.jsonl|keep it",
        ),
        (
            "/save-plan session=a.jsonl session-id=12 be quick",
            "session=a.jsonl;session-id=12|be quick",
        ),
        // Free text stays free text.
        ("/save-plan keep session=a.jsonl", "|keep session=a.jsonl"),
        ("/save-plan limit=3 session=a", "|limit=3 session=a"),
        ("/save-plan session = a", "|session = a"),
        ("/save-plan the session=x", "|the session=x"),
        ("/save-plan =x", "|=x"),
        ("/save-plan mode=fast", "|mode=fast"),
        // One letter off is a mistake, not guidance.
        ("/save-plan sesion=a", "sesion=a|"),
        ("/save-plan sessoin=a", "sessoin=a|"),
        ("/save-plan sessionid=a", "sessionid=a|"),
        ("/save-plan session_id=a", "session_id=a|"),
        // Quotes.
        (
            "/save-plan session=\"a b.jsonl\" go",
            "session=a b.jsonl|go",
        ),
        ("/save-plan session=\"a b.jsonl@x\"", "session=a b.jsonl@x|"),
        (
            "/save-plan session=\"a b.jsonl\"@x go",
            "session=a b.jsonl@x|go",
        ),
        ("/save-plan session='a b' go", "session=a b|go"),
        ("/save-plan session=`a b` go", "session=a b|go"),
        ("/save-plan session=“a b” go", "session=a b|go"),
        ("/save-plan session=\"a b\ngo", "session=\"a b|go"),
        ("/save-plan session=\"\" go", "session=|go"),
        ("/save-plan session= go", "session=|go"),
        ("/save-plan session=", "session=|"),
        // A plan may follow all the same.
        ("/save-plan session=a\n\n# Plan: T\n\n- b", "session=a|"),
        (
            "/save-plan session=a g\n\n```md\n# T\n```\nmore",
            "session=a|g\n\nmore",
        ),
        ("/save-plan\n\n```md\n# T\n```\n\nsession=a", "|session=a"),
        // Other commands have none.
        ("/cancel session=a", "|session=a"),
    ] {
        assert_eq!(say(comment), want, "{comment:?}");
    }
}

#[test]
fn a_path_is_inside_the_repository() {
    for (value, path, reference) in [
        ("a.jsonl", "a.jsonl", None),
        ("./logs/a.jsonl", "logs/a.jsonl", None),
        ("logs/a b.jsonl", "logs/a b.jsonl", None),
        ("logs/a.jsonl@main", "logs/a.jsonl", Some("main")),
        ("logs/a.jsonl@feature/x", "logs/a.jsonl", Some("feature/x")),
        ("a@b/c.jsonl@v1.2", "a@b/c.jsonl", Some("v1.2")),
        ("größe.jsonl", "größe.jsonl", None),
        ("..a/b..jsonl", "..a/b..jsonl", None),
        ("100%.jsonl?x#y", "100%.jsonl?x#y", None),
    ] {
        let want = RepositoryFile {
            path: path.to_owned(),
            reference: reference.map(str::to_owned),
        };
        assert_eq!(judged(value).unwrap().session, Some(want), "{value}");
    }
    let long = "x".repeat(MAX_PATH + 1);
    let far = format!("a@{}", "x".repeat(MAX_REFERENCE + 1));
    for (value, why) in [
        ("", "it names no file"),
        ("@main", "it names no file"),
        ("a.jsonl@", "no branch, tag or commit follows its `@`"),
        ("/etc/passwd", "must begin inside this repository"),
        (
            "~/.claude/projects/a.jsonl",
            "must begin inside this repository",
        ),
        ("C:/logs/a.jsonl", "must begin inside this repository"),
        (
            "https://github.com/o/r/blob/main/a.jsonl",
            "a URL is not a path",
        ),
        ("../a", "an empty segment, `.` or `..`"),
        ("a/../b", "an empty segment, `.` or `..`"),
        ("a/..", "an empty segment, `.` or `..`"),
        ("a/./b", "an empty segment, `.` or `..`"),
        ("a//b", "an empty segment, `.` or `..`"),
        ("logs/", "it names a directory"),
        ("logs\\a.jsonl", "contains a backslash"),
        ("a\0b", "contains a control character"),
        ("a\u{7}", "contains a control character"),
        (&long, "longer than 1,000"),
        (&far, "longer than 250"),
        ("a@b c", "is not a valid branch"),
        ("a@../x", "is not a valid branch"),
        ("a@-x", "is not a valid branch"),
        ("a@x^", "is not a valid branch"),
        ("a@x:y", "is not a valid branch"),
        ("a@/x", "is not a valid branch"),
        ("\"a b", "its quotation mark is not closed"),
    ] {
        let error = judged(value).unwrap_err();
        assert!(error.contains(why), "{value:?}: {error}");
    }
}

#[test]
fn a_value_in_quotes_may_begin_with_others() {
    let comment = "/plan research=\"`Vec` growth; 'strict' mode\" soon";
    let asked = &crate::command::parse(comment)[0];
    let options = read_options(Command::Plan, &asked.options).unwrap();
    assert_eq!(
        options.research.as_deref(),
        Some("`Vec` growth; 'strict' mode")
    );
    assert_eq!(asked.guidance.as_deref(), Some("soon"));
}

#[test]
fn what_a_fork_pushed_to_a_pull_request_is_no_source() {
    for reference in [
        "refs/pull/5/head",
        "refs/pull/5/merge",
        "pull/5/head",
        "pull/x",
        "refs/remotes/fork/main",
        "refs/stash",
        "refs/",
        "refs/x",
    ] {
        let error = judged(&format!("a.jsonl@{reference}")).unwrap_err();
        let wants = ["pull request ref", "is not a valid branch"];
        assert!(wants.iter().any(|want| error.contains(want)), "{error}");
    }
    assert_eq!(
        judged("a.jsonl@refs/pull/5/head").unwrap_err(),
        "the text after its last `@` is a pull request ref or an internal ref of GitHub; name a \
         branch, tag or commit of this repository"
    );
    assert!(judged("a.jsonl@refs/./pull/5/head").is_err());
    for reference in [
        "refs/heads/main",
        "refs/heads/pull/5/head",
        "refs/tags/v1",
        "heads/main",
        "pull",
        "pulls/5",
        "fix/pull/5",
        "0123456789abcdef0123456789abcdef01234567",
    ] {
        let read = judged(&format!("a.jsonl@{reference}")).unwrap();
        let file = read.session.unwrap();
        assert_eq!(file.reference.as_deref(), Some(reference));
    }
}

#[test]
fn names_are_judged_too() {
    let given = |pairs: &[(&str, &str)]| -> Vec<RawOption> {
        pairs
            .iter()
            .map(|(name, value)| RawOption {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            })
            .collect()
    };
    let error = read_options(Command::SavePlan, &given(&[("sesion", "a")])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the option `sesion` cannot be used: there is no such option; the closest is `session`"
    );
    assert_eq!(error.spec.to_string(), "session=PATH[@REF]");
    let error = read_options(
        Command::SavePlan,
        &given(&[("session", "a"), ("SESSION", "b")]),
    );
    assert_eq!(error.unwrap_err().why, "it is given twice");
    for (id, good) in [
        ("0b2f6c1e-1111-4222-8333-444455556666", true),
        ("agent-1a2b3c4d", true),
        ("", false),
        ("a b", false),
        ("a/b", false),
        (&"x".repeat(MAX_ID + 1), false),
    ] {
        let read = read_options(Command::SaveRawPlan, &given(&[("session-id", id)]));
        assert_eq!(read.is_ok(), good, "{id}");
    }
    // What a later version took is not known here.
    let later = read_options(Command::SavePlan, &given(&[("colour", "red")]));
    assert_eq!(later.unwrap(), Options::default());
}

#[test]
fn an_author_is_a_login_and_hidden_text_is_kept_or_removed() {
    let given = |name: &str, value: &str| {
        let given = [RawOption {
            name: name.to_owned(),
            value: value.to_owned(),
        }];
        read_options(Command::SaveRawPlan, &given).map_err(|error| error.to_string())
    };
    for (value, login) in [
        ("eve", "eve"),
        ("@eve-2", "eve-2"),
        ("claude[bot]", "claude[bot]"),
        ("eve_acme", "eve_acme"),
    ] {
        assert_eq!(
            given("author", value).unwrap().author.as_deref(),
            Some(login)
        );
    }
    for value in [
        "",
        "@",
        "a/b",
        "a b",
        "[bot]",
        "https://github.com/eve",
        &"a".repeat(61),
    ] {
        assert_eq!(
            given("author", value).unwrap_err(),
            "the option `author` cannot be used: its value must be the login of a GitHub account",
            "{value:?}"
        );
    }
    assert_eq!(given("hidden", "Keep").unwrap().hidden, Some(Hidden::Keep));
    assert_eq!(
        given("hidden", "remove").unwrap().hidden,
        Some(Hidden::Remove)
    );
    assert_eq!(
        given("hidden", "yes").unwrap_err(),
        "the option `hidden` cannot be used: its value must be `keep` or `remove`"
    );
    assert!(given("again", "Yes").unwrap().again);
    assert_eq!(
        given("again", "no").unwrap_err(),
        "the option `again` cannot be used: its value must be `yes`"
    );
}
