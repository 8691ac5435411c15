//! Tests that a broken block, or one that is quoted, hides no other.

use serde_json::json;

use super::super::*;
use super::{fields, messages, text_of, yaml_block};

const CLOSER: &str = "<!-- /erk:metadata-block:plan-body -->";

fn keys(text: &str) -> Vec<String> {
    let blocks = parse(text).blocks.into_iter();
    blocks.map(|block| block.key).collect()
}

/// Key and line of what cannot be used.
fn odd(text: &str) -> Vec<(String, usize)> {
    let found = messages(text).into_iter();
    found.map(|(key, line, _)| (key, line)).collect()
}

/// A plan as erk wrote it: nothing in it is neutralised.
fn erk_plan(plan: &str) -> String {
    plan_body("PLAN").replace("PLAN", plan)
}

#[track_caller]
fn assert_header_counts(text: &str) {
    let parsed = parse(text);
    let header = find(&parsed, "plan-header").unwrap_or_else(|| panic!("{text}\n{parsed:?}"));
    assert_eq!(fields(header), json!({ "a": 1 }), "{text}");
    let changed = update(text, "plan-header", |fields| {
        fields.insert("a".to_owned(), json!(2));
    });
    assert_eq!(
        fields(find(&parse(&changed.unwrap()), "plan-header").unwrap()),
        json!({ "a": 2 }),
        "{text}"
    );
}

#[test]
fn a_plan_of_a_pull_request_that_lost_its_end_leaves_the_header_alone() {
    let open = "<details>\n<summary>original-plan</summary>\n\n# P\n\n- a\n\n";
    let header = yaml_block("plan-header", "a: 1");
    for plan in [
        open.to_owned(),
        format!("{open}```\n<details>\nx\n</details>\n```\n\n"),
        format!("{open}Write `</details>` there.\n\n"),
    ] {
        let text = format!("{plan}{header}");
        assert_eq!(keys(&text), ["plan-header"], "{text}");
        assert_eq!(
            messages(&text),
            [(
                "original-plan".to_owned(),
                1,
                "the plan's `<details>` is not closed".to_owned()
            )]
        );
        assert_header_counts(&text);
        // What is put in is found again.
        assert_header_counts(&add(
            &plan,
            &render_yaml("plan-header", json!({ "a": 1 }).as_object().unwrap()),
        ));
    }
}

#[test]
fn a_plan_that_lost_its_closing_marker_does_not_run_into_the_next_block() {
    for next in [
        erk_plan("# B"),
        yaml_block("k", "a: 1"),
        yaml_block("k", "a: 1").replace("metadata-block -->", "metadata-block:k -->"),
        format!("\n{WARNING}\n{WARNING}\n{}", yaml_block("k", "a: 1")),
    ] {
        let first = erk_plan("# A").replace(CLOSER, "");
        for end in ["\n", "\r\n"] {
            let text = format!("{first}\n{next}").replace('\n', end);
            let parsed = parse(&text);
            assert_eq!(parsed.blocks.len(), 1, "{text}");
            assert!(parsed.blocks[0].span.start >= first.len(), "{text}");
            assert_eq!(odd(&text), [("plan-body".to_owned(), 2)], "{text}");
        }
    }
}

#[test]
fn a_plan_that_quotes_a_block_is_whole() {
    let quoted = [
        erk_plan("# Quoted"),
        yaml_block("k", "a: 1"),
        format!("<details>\nx\n\n</details>\n\n{}", erk_plan("# Quoted")),
    ]
    .map(|block| format!("# A\n\n{block}\n\nrest"));
    for plan in quoted {
        let text = format!(
            "{}\n\n{}",
            plan_body(&plan),
            yaml_block("plan-header", "a: 1")
        );
        let parsed = parse(&text);
        assert_eq!(text_of(&parsed.blocks[0]), plan);
        assert_eq!(
            (parsed.blocks.len(), parsed.diagnostics.len()),
            (2, 0),
            "{text}"
        );
    }
    // So is one that erk wrote, which quotes in fences; and one that leaves the last fence open.
    let fenced = |block: &str| format!("````\n{block}\n````\n\n");
    let two = [
        fenced(&erk_plan("# Quoted")),
        fenced(&format!("x\n{CLOSER}")),
        fenced(&erk_plan("# Quoted again")),
        "See `<!-- erk:metadata-block:k -->`.\n\n".to_owned(),
    ]
    .concat();
    for plan in [format!("{two}rest"), format!("{two}```\nopen")] {
        let text = format!(
            "{}\n\n{}",
            erk_plan(&plan),
            yaml_block("plan-header", "a: 1")
        );
        assert_eq!(text_of(&parse(&text).blocks[0]), plan);
        assert_header_counts(&text);
    }
}

#[test]
fn a_closing_marker_in_a_line_of_code_hides_nothing() {
    let header = yaml_block("plan-header", "a: 1");
    for closer in [
        "```<!-- /erk:metadata-block:x -->```",
        "`<!-- /erk:metadata-block:x -->`",
    ] {
        let text = format!(
            "opens with <!-- erk:metadata-block:x --> and closes with {closer}.\n\n{header}"
        );
        assert_header_counts(&text);
        assert_eq!(odd(&text), [("x".to_owned(), 1)]);
        let missing = |key: &str| update(&text, key, |_| ()).unwrap_err();
        assert!(matches!(missing("x"), EditError::Unreadable { .. }));
        assert!(matches!(missing("y"), EditError::Missing { .. }));
    }
}

#[test]
fn a_block_quoted_in_an_unclosed_plan_hides_nothing() {
    let header = yaml_block("plan-header", "a: 1");
    for quoted in [
        erk_plan("# Quoted"),
        format!("{}\n{}", erk_plan("# Quoted"), yaml_block("k", "a: 1")),
        yaml_block("plan-body", "a: 1"),
        CLOSER.to_owned(),
        format!("</details>\n{CLOSER}"),
    ] {
        for fence in ["```", "~~~~"] {
            let plan = format!("# A\n\n{fence}\n{quoted}\n{fence}\n\nrest");
            let text = format!(
                "{}\n\n{header}",
                erk_plan(&plan).replace(&format!("\n\n</details>\n{CLOSER}"), "\n\n</details>\n")
            );
            assert_header_counts(&text);
        }
    }
}
