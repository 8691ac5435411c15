//! The format as a whole: its page, every error as people see it, and what holds for every text.
#![allow(clippy::unwrap_used, reason = "tests")]

mod errors;
mod properties;

use super::*;

/// The page about the format.
const PAGE: &str = include_str!("format.md");

/// A plan with `actions` below `## Action Plan`.
pub(super) fn plan(actions: &str) -> String {
    format!(
        "# Tidy the parser\n\n- **Status:** Green 🟢\n- **Agent:** Developer\n\n## Rationale\n\n````text\nWhy.\n````\n\n\
         ## Action Plan\n\n{actions}"
    )
}

/// The example of the page.
fn example() -> &'static str {
    let start = PAGE.find("~~~~~~markdown\n").unwrap() + "~~~~~~markdown\n".len();
    let end = start + PAGE[start..].find("\n~~~~~~\n").unwrap() + 1;
    &PAGE[start..end]
}

#[test]
fn the_example_of_the_page_is_a_plan_with_every_action_and_key() {
    let parsed = parse(example()).unwrap_or_else(|it| panic!("{}", it.diff()));
    assert!(is_action_plan(example()));
    let names: Vec<_> = parsed.actions.iter().map(|it| it.action.name()).collect();
    for spec in &grammar::ACTIONS {
        assert!(names.contains(&spec.text), "{}", spec.text);
        for key in spec.keys {
            assert!(
                example().contains(&format!("**{}:**", key.text)),
                "{}",
                key.text
            );
        }
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("example", serde_json::to_string_pretty(&parsed).unwrap());
        insta::assert_snapshot!("table", table(&parsed));
    });
}

#[test]
fn what_is_written_is_the_same_plan() {
    let parsed = parse(example()).unwrap();
    let text = render(&parsed);
    let again = parse(&text).unwrap_or_else(|it| panic!("{}\n{text}", it.diff()));
    assert_eq!(
        properties::without_places(&again),
        properties::without_places(&parsed)
    );
    assert_eq!(render(&again), text);
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let windows = format!("\u{feff}{}", example().replace('\n', "\r\n"));
    assert_eq!(parse(&windows), parse(example()));
    assert_eq!(parse(&example().replace('\n', "\r")), parse(example()));
    assert!(is_action_plan(&windows));
}

#[test]
fn every_action_knows_its_lines() {
    let text = plan(
        "### READ\n- Resource: a\n\n### CHAT_WITH_USER\n\nOne\n\ntwo\n\n\n### EXECUTE\n- cwd: a\n```\nls\n```\n",
    );
    let spans: Vec<_> = parse(&text)
        .unwrap()
        .actions
        .iter()
        .map(|it| (it.span.start, it.span.end))
        .collect();
    assert_eq!(spans, [(14, 15), (17, 21), (24, 28)]);
}

#[test]
fn a_plan_is_recognised_by_its_lines() {
    for (text, want) in [
        (plan("### READ"), true),
        (format!("\n\n{}", plan("")), true),
        (format!("Here it is:\n\n{}", plan("")), false),
        ("# A\n\n## Rationale\n\n## Steps\n".to_owned(), false),
        (
            "# A\n\n## Summary\n\n## Rationale\n\n## Action Plan\n".to_owned(),
            false,
        ),
        (
            "# A\n\n```\n## Rationale\n## Action Plan\n```\n".to_owned(),
            false,
        ),
        (
            "# A\n\n````\n```\n## Rationale\n````\n## Rationale\n~~~\n## Action Plan\n".to_owned(),
            false,
        ),
        (String::new(), false),
    ] {
        assert_eq!(is_action_plan(&text), want, "{text}");
    }
}

#[test]
fn nothing_of_the_plan_works_in_the_table() {
    let text = plan(
        "### EXECUTE\n- **Description:** @team fixes #1 | <!-- x --> <details> [a](b) `c`\n```\necho 'a|b' \\| `c`\n```\n\
         ### CHAT_WITH_USER\n/save-plan\n@octo-cat </details>\n",
    );
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("table-of-hostile-texts", table(&parse(&text).unwrap()));
    });
}

#[test]
fn a_repair_makes_outer_fences_longer_and_nothing_else() {
    let body = "# Doc\n```sh\necho\n```\n### EXECUTE\n- cwd: a\n```sh\nrm -rf build\n```\n";
    let text = plan(&format!(
        "### CREATE\n- File Path: a.md\n```markdown\n{body}```\n"
    ));
    let rejected = parse(&text).unwrap_err();
    assert_eq!(rejected.errors[0].kind, ErrorKind::FenceLookalike);
    assert_eq!(rejected.errors[0].span, Span::line(18));
    let mended = fences::repair(&text).unwrap();
    let parsed = parse(&mended).unwrap();
    assert_eq!(parsed.actions.len(), 1);
    let Action::Create(create) = &parsed.actions[0].action else {
        panic!("{parsed:?}");
    };
    assert_eq!(create.content, body.trim_end());
    assert!(mended.contains("\n````markdown\n"));
    // A plan needs none; and where it cannot be told what is content, none is proposed.
    assert_eq!(fences::repair(&mended), None);
    let doubtful = plan(
        "### CREATE\n- File Path: a.md\n```markdown\n# Doc\n```\n### EXECUTE\n- cwd: a\n```sh\nls\n```\n",
    );
    assert_eq!(fences::repair(&doubtful), None);
    let other = plan("### CREATE\n- File Path: a.rs\n````\n```sh\n````\n\nStray.\n");
    assert_eq!(fences::repair(&other), None);
}

#[test]
fn a_longer_path_or_another_place_is_written_as_code_and_reads_back() {
    for path in [
        "a b.md",
        "www.x.test/a",
        "a`b",
        "``",
        "-x",
        "[a](b)",
        "ä.md",
        "100%25",
        "a_b_c",
        "#1",
    ] {
        let path = ProjectPath::parse(path).unwrap();
        let read = Action::Read(Read {
            resource: Resource::Path(path),
            description: None,
        });
        let mut parsed = parse(&plan("### READ\n- Resource: a\n")).unwrap();
        parsed.actions[0].action = read.clone();
        let text = render(&parsed);
        let again = parse(&text).unwrap_or_else(|it| panic!("{}\n{text}", it.diff()));
        assert_eq!(again.actions[0].action, read, "{text}");
    }
}

#[test]
fn hostile_texts_end_soon() {
    let deep = "> ".repeat(100_000);
    let many = "```\n".repeat(100_001);
    let line = format!("# {}", "*[`_".repeat(100_000));
    let spans = plan(&format!("### READ\n- Resource: {}\n", "[`".repeat(100_000)));
    let items = plan(&format!("### READ\n{}", "- a: b\n".repeat(50_000)));
    for text in [
        deep.clone(),
        many.clone(),
        line,
        plan(&deep),
        plan(&many),
        spans,
        items,
    ] {
        let rejected = parse(&text).unwrap_err();
        let shown = rejected.diff().to_string();
        assert!(shown.len() < 100_000, "{}", shown.len());
        assert!(rejected.annotations().len() <= 1_000);
    }
}

/// What is approved is what is done: GitHub shows `src/my\_file.py` as `src/my_file.py`.
#[test]
fn a_bare_path_with_markup_is_refused_and_one_that_shows_as_it_is_written_is_taken() {
    let read = |value: &str| parse(&plan(&format!("### READ\n- **Resource:** {value}\n")));
    for value in [
        r"src/my\_file.py",
        r"docs\.hidden\a.md",
        "src/__init__.py",
        "src/a&amp;b.rs",
        "src/*a*.rs",
    ] {
        let errors = read(value).unwrap_err();
        let shown = errors.diff().to_string();
        assert!(
            shown.contains(
                "markup in it, so that a reader sees something else; write it in `backticks`"
            ),
            "{value}: {shown}"
        );
    }
    for value in [
        "src/my_file.py",
        "src/*.rs",
        "`src/__init__.py`",
        "src/a & b.rs",
        r"src\a.rs",
        "https://a.b/c_d_e",
    ] {
        assert!(read(value).is_ok(), "{value}: {:?}", read(value));
    }
    let hidden = read("[a](/a\u{202e}gnp.md)")
        .unwrap_err()
        .diff()
        .to_string();
    assert!(
        hidden.contains("it contains an invisible character, U+202E"),
        "{hidden}"
    );
}

#[test]
fn tildes_that_were_not_enough_are_not_recommended() {
    let broken = |fence: &str| {
        let text =
            format!("### CREATE\n- File Path: a\n{fence}\na\n{fence}sh\nb\n{fence}\n{fence}\n");
        parse(&plan(&text)).unwrap_err().diff().to_string()
    };
    let tildes = broken("~~~~~~");
    assert!(
        tildes.contains("at least ~~~~~~~ long, so that no line inside can close it."),
        "{tildes}"
    );
    assert!(!tildes.contains("use six tildes"), "{tildes}");
    assert!(broken("```").contains("at least ```` long, or use six tildes (~~~~~~), so"));
}
