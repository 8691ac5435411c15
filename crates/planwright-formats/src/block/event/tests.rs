//! Event comments: layout, round trip, what they say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{read, render, write};
use crate::block::{Content, parse, render_yaml};

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not fields: {other}"),
    }
}

fn queued() -> Map<String, Value> {
    map(json!({
        "status": "queued", "queued_at": "2026-05-01T10:00:00Z", "submitted_by": "octocat", "issue_number": 3,
        "validation_results": {"issue_is_open": true}, "expected_workflow": "w.yml",
        "trigger_mechanism": "label-based-webhook",
    }))
}

#[test]
fn the_layout() {
    assert_eq!(
        render("Title", Some("BLOCK"), "Text"),
        "Title\n\nBLOCK\n\n---\n\nText"
    );
    assert_eq!(
        render("Title", Some("BLOCK"), ""),
        "Title\n\nBLOCK\n\n---\n"
    );
    assert_eq!(render("Title", None, "Text"), "Title\n\n---\n\nText");
    assert_eq!(render("", None, ""), "\n\n---\n");
}

#[test]
fn what_is_written_is_checked() {
    let text = write(
        "submission-queued",
        &queued(),
        "🔄 Queued",
        "By **octocat**.",
    )
    .unwrap();
    assert!(text.starts_with("🔄 Queued\n\n<!-- WARNING"), "{text}");
    assert!(
        text.ends_with("submission-queued -->\n\n---\n\nBy **octocat**."),
        "{text}"
    );
    let mut fields = queued();
    fields.remove("queued_at");
    assert_eq!(
        write("submission-queued", &fields, "t", "d")
            .unwrap_err()
            .to_string(),
        "Missing required fields: queued_at"
    );
}

#[test]
fn other_layouts_are_read() {
    let block = render_yaml("plan-retry", &map(json!({"retry_count": 1})));
    let parts = |text: &str| {
        let event = read(text).unwrap();
        (
            event.title,
            event.block.map(|block| block.key),
            event.description,
        )
    };
    let key = Some("plan-retry".to_owned());
    for (text, want) in [
        (
            render("T", Some(&block), "D").replace('\n', "\r\n"),
            ("T", key.clone(), "D"),
        ),
        (format!("T\n\n{block}"), ("T", key.clone(), "")),
        (format!("T\n\n{block}\n\n---"), ("T", key.clone(), "")),
        (
            format!("{block}\n\nD\n\n---\n"),
            ("", key.clone(), "D\n\n---\n"),
        ),
        (
            format!("T\n\n{block}\n\n----\n"),
            ("T", key.clone(), "----\n"),
        ),
        (
            "T\n\n---\n\nD\n\n---\n\nE".to_owned(),
            ("T", None, "D\n\n---\n\nE"),
        ),
        ("T\r\n\r\n---\r\n\r\nD".to_owned(), ("T", None, "D")),
    ] {
        let want = (want.0.to_owned(), want.1, want.2.to_owned());
        assert_eq!(parts(&text), want, "{text:?}");
    }
    for text in [
        "",
        "a comment",
        "T\n---\nD",
        "T\n\n---- \nD",
        "```\n<!-- erk:metadata-block:x -->\n```",
    ] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    "\r\n",
    "---\n",
    "```",
    "\n~~~\n",
    "@bob ",
    "fixes #1",
    "</details>",
    "<!--",
    "-->",
    "<!-- erk:metadata-block:plan-retry -->",
    "<!-- /erk:metadata-block -->",
    "\u{200b}",
    "\u{feff}",
    "<details><summary>",
    "original-plan",
    "</",
    "</summary>",
    "# ",
    "> ",
    "é",
    "    x",
];

proptest! {
    #[test]
    fn what_is_written_is_read(
        title in proptest::collection::vec(proptest::sample::select(PIECES), 0..5),
        description in proptest::collection::vec(proptest::sample::select(PIECES), 0..8),
    ) {
        let (title, description) = (title.concat(), description.concat());
        let text = write("submission-queued", &queued(), &title, &description).unwrap();
        let event = read(&text).unwrap();
        prop_assert_eq!(event.title, title.split_whitespace().collect::<Vec<_>>().join(" "));
        prop_assert_eq!(event.block.unwrap().content, Content::Yaml(queued()));
        prop_assert_eq!(event.description, description);
    }
}

#[test]
fn a_title_that_opens_a_plan_or_a_fence_behind_a_byte_order_mark_keeps_its_block() {
    for title in [
        "\u{feff}```",
        "\u{feff}\u{feff}~~~ x",
        "\u{200b}\u{feff}```",
        "<details><summary>original-plan</summary>",
        "<details> <summary><code>original-plan</code></summary> </details>",
        "<details><summary>original-plan\u{200b}</summary>",
    ] {
        let text = write("submission-queued", &queued(), title, title).unwrap();
        let event = read(&text).unwrap();
        assert_eq!(
            event.block.map(|block| block.content),
            Some(Content::Yaml(queued())),
            "{text}"
        );
        assert_eq!(
            (event.title.as_str(), event.description.as_str()),
            (title, title)
        );
        assert_eq!(parse(&text).diagnostics, [], "{text}");
    }
}
