//! Every error as people see it: the line, what was found, what was expected, what to do.

use std::collections::BTreeSet;

use super::plan;
use crate::action_plan::{ErrorKind, MAX_BYTES, parse};

/// Every kind with a text that has it first.
fn cases() -> Vec<(ErrorKind, String)> {
    use ErrorKind as K;
    let edit = "### EDIT\n- **File Path:** a.rs\n";
    let head = "# T\n- a: b\n";
    let rationale = "## Rationale\n```\nx\n```\n";
    let read = "### READ\n- **Resource:** a\n";
    let of = |kind, actions: &str| (kind, plan(actions));
    vec![
        (K::TooLarge, "x".repeat(MAX_BYTES + 1)),
        (K::Empty, " \n".to_owned()),
        (K::Nul, "# a\n\0".to_owned()),
        (K::NoTitle, format!("Here is the plan.\n\n{}", plan(read))),
        (K::EmptyTitle, plan(read).replace("# Tidy the parser", "#")),
        (K::SetextHeading, format!("Title\n=====\n{}", plan(read))),
        (K::NoMetadata, "# T\n\nText\n".to_owned()),
        (K::NoRationale, format!("{head}\n## Action Plan\n")),
        (
            K::NoRationaleCode,
            format!("{head}\n## Rationale\n\nBecause.\n"),
        ),
        (
            K::NoMemosCode,
            format!("{head}\n{rationale}## Memos\n- [+] A fact.\n"),
        ),
        (K::NoActionPlan, format!("{head}\n{rationale}")),
        of(K::NoActions, ""),
        of(K::UnknownAction, &format!("{read}### `DEPLOY`\n- a: b\n")),
        of(K::UnknownAction, "### `Read`\n"),
        of(
            K::StrayText,
            &format!("{read}\nNow the next one.\n\n{read}"),
        ),
        of(
            K::StrayCode,
            "### CREATE\n- File Path: a\n```\na\n```\n```\nb\n```\n",
        ),
        of(K::ThematicBreak, &format!("{read}\n---\n\n{read}")),
        of(K::StrayHeading, &format!("{read}\n#### READ\n")),
        of(K::StrayBlock, &format!("{read}\n> quoted\n")),
        of(K::LinkDefinition, &format!("{read}\n[x]: /y\n\n{read}")),
        of(K::LinkDefinition, "### READ\n- Resource: a\n\n  [x]: /y\n"),
        of(
            K::UnclosedFence,
            &format!("### CREATE\n- File Path: a\n```\na\n{read}"),
        ),
        of(
            K::FenceLookalike,
            "### CREATE\n- File Path: a\n```\na\n```sh\nb\n```\n```\n",
        ),
        of(
            K::ShortFence,
            "### CREATE\n- File Path: a.md\n```\na\n```\n",
        ),
        of(K::NoKeys, "### READ\nResource: a\n"),
        of(K::MalformedItem, "### READ\n- Resource: a\n- look\n"),
        of(
            K::BlockInItem,
            "### CREATE\n- File Path: a\n  ```\n  a\n  ```\n",
        ),
        of(K::LazyLine, "### READ\n- Resource: a\nplease\n"),
        of(
            K::UnknownKey,
            "### CREATE\n- **File Path:** a\n- **Filepath 2:** b\n```\na\n```\n",
        ),
        of(K::MiscasedKey, "### READ\n- **resource:** a\n"),
        of(K::DuplicateKey, "### READ\n- Resource: a\n- Resource: b\n"),
        of(K::MissingKey, "### READ\n- Description: a\n"),
        of(K::EmptyValue, "### READ\n- Resource:\n"),
        of(
            K::MalformedValue,
            "### READ\n- Resource: [a](/a) or [b](/b)\n",
        ),
        of(K::BadPath, "### READ\n- Resource: [a](/../a)\n"),
        of(K::NoCode, "### EXECUTE\n- cwd: a\n"),
        of(
            K::IndentedCode,
            "### CREATE\n10)    File Path: a\n\n    a\n",
        ),
        of(K::NoPairs, &format!("{edit}\nFirst pair:\n")),
        of(
            K::BadPairHeading,
            &format!("{edit}#### Find:\n```\na\n```\n"),
        ),
        of(K::NoPairCode, &format!("{edit}#### FIND:\n\nThis:\n")),
        of(
            K::IncompletePair,
            &format!("{edit}#### FIND:\n```\na\n```\n{read}"),
        ),
        of(
            K::EmptyFind,
            &format!("{edit}#### FIND:\n```\n```\n#### REPLACE:\n```\na\n```\n"),
        ),
        of(
            K::EmptyCommand,
            "### EXECUTE\n- cwd: a\n```\nexport A=1\n```\n",
        ),
        of(
            K::ShellHeader,
            "### EXECUTE\n- Description: a\n```\ncd src && make\nexport A=$B\n```\n",
        ),
        of(
            K::BadVariable,
            "### EXECUTE\n- env:\n  - A B: c\n```\nls\n```\n",
        ),
        of(K::NoQueries, "### RESEARCH\n- Description: a\n"),
        of(K::NoMessage, "### INVOKE\n- Agent: Architect\n"),
        of(
            K::IndentedMessage,
            "### INVOKE\n- Agent: Architect\n\n Go.\n",
        ),
    ]
}

#[test]
fn every_error_names_its_line_and_says_what_to_do() {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for (kind, plan) in cases() {
        let rejected = parse(&plan).unwrap_err();
        let error = &rejected.errors[0];
        assert_eq!(error.kind, kind, "{}", rejected.diff());
        assert!(!error.hints.is_empty() && error.hints.iter().all(|hint| hint.ends_with('.')));
        assert!(error.span.end <= plan.lines().count().max(1), "{error:?}");
        assert!(!error.to_string().contains('\n'), "{error}");
        seen.insert(kind);
        text.push_str(&format!("## {kind}\n{error}\n"));
        for hint in &error.hints {
            text.push_str(&format!("  Hint: {hint}\n"));
        }
    }
    let all: BTreeSet<_> = ErrorKind::ALL.iter().copied().collect();
    assert_eq!(seen, all);
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("errors", text);
    });
}

#[test]
fn the_comparison_shows_the_first_mismatch_and_what_was_not_checked() {
    let read = "### READ\n- **Resource:** a\n";
    let mismatch = parse(&plan(&format!("{read}\n---\n\n{read}\nBye.\n"))).unwrap_err();
    let end = parse(&plan("")).unwrap_err();
    let keys = parse(&plan(&format!(
        "{}### READ\n- **resource:** a\n- **Why:** b\n\n{}",
        read.repeat(12),
        read.repeat(12)
    )))
    .unwrap_err();
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("mismatch", mismatch.diff());
        insta::assert_snapshot!("mismatch-json", serde_json::to_string_pretty(&mismatch.diff()).unwrap());
        insta::assert_snapshot!("end", end.diff());
        insta::assert_snapshot!("keys", keys.diff());
        insta::assert_snapshot!("annotations", serde_json::to_string_pretty(&keys.annotations()).unwrap());
    });
}

#[test]
fn the_nesting_hint_is_given_only_where_a_fence_is_involved() {
    for (actions, given) in [
        (
            "### CREATE\n- File Path: a\n```\na\n```\n```\nb\n```\n",
            true,
        ),
        ("### CREATE\n- File Path: a\n```\na\n```\nstray\n", true),
        ("### CREATE\n- File Path: a\n```\na\n```\n\nstray\n", false),
        ("### CREATE\n- File Path: a\n```\na\n```\n---\n", false),
        ("### READ\n- Resource: a\n\nstray\n", false),
    ] {
        let rejected = parse(&plan(actions)).unwrap_err();
        let hints = rejected.errors[0].hints.join(" ");
        assert_eq!(hints.contains("outer fence"), given, "{actions}");
    }
}

#[test]
fn text_of_the_plan_cannot_steer_a_terminal() {
    let rejected = parse("# a\n\n\u{1b}[31mred\u{202e}\n").unwrap_err();
    let text = rejected.diff().to_string();
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}
