//! Tests of `formats::plan::split`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::markdown::{BlockKind, blocks};

fn parts(text: &str, chars: usize, bytes: usize) -> Vec<String> {
    let limits = Limits { chars, bytes };
    let parts: Vec<String> = split(text, &limits)
        .into_iter()
        .map(|part| part.text)
        .collect();
    for part in &parts {
        assert!(
            part.chars().count() <= chars && part.len() <= bytes,
            "{part}"
        );
    }
    let borrowed: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(join(&borrowed).as_deref(), Some(text));
    parts
}

/// How a part ends that goes on: the marker, and what people are told.
fn end(marker: &str) -> String {
    format!("{marker}\n\n{CONTINUATION_NOTICE}")
}

fn words(count: usize) -> String {
    "words and more ".repeat(count)
}

#[test]
fn what_fits_is_left_alone() {
    for text in [
        "",
        "a",
        "```\nunclosed",
        &format!("x\n{CUT}"),
        &format!("{OPEN}\n```\nx\n```\n{CLOSED}"),
    ] {
        assert_eq!(parts(text, 256, 256), [text]);
    }
}

#[test]
fn headings_come_first() {
    let section = |name: &str, count| format!("## {name}\n\n{}\n\n", words(count).trim_end());
    let text = format!(
        "# Plan\n\n{}{}{}",
        section("One", 15),
        section("Two", 15),
        section("Three", 15)
    );
    let found = parts(&text, 400, 4_000);
    let starts: Vec<&str> = found
        .iter()
        .map(|part| part.lines().nth(1).unwrap_or_default())
        .collect();
    assert_eq!(starts, ["", "## Two", "## Three"], "{found:#?}");
    assert!(found[0].ends_with(&format!("\n\n{}", end(CUT))));
}

#[test]
fn then_blocks_items_lines_words() {
    let paragraphs = format!("{}\n\n", words(10).trim_end()).repeat(4);
    assert!(parts(&paragraphs, 400, 400)[1].starts_with(&format!("{CONTINUED}\nwords")));
    let list: String = (0..40).fold(String::new(), |mut out, n| {
        let _ = writeln!(out, "- item {n}\n  goes on");
        out
    });
    for part in &parts(&list, 300, 300)[1..] {
        assert!(part.starts_with(&format!("{CONTINUED}\n- item ")), "{part}");
    }
    let lines = format!("{}\n", "x".repeat(60)).repeat(20);
    assert!(parts(&lines, 300, 300)[0].ends_with(&format!("x\n{}", end(CUT))));
    let one = words(60);
    assert!(parts(&one, 300, 300)[0].ends_with(&format!(" \n{}", end(CUT_IN_LINE))));
    let wide = "表".repeat(500);
    assert_eq!(parts(&wide, 400, 600).len(), 3);
}

#[test]
fn fences_are_closed_and_opened_again() {
    let code = "let x = 1; // and so on\n".repeat(40);
    let text = format!("# Plan\n\n~~~~rust,ignore title=\"a\"\n{code}~~~~\n\nEnd\n");
    let found = parts(&text, 400, 400);
    assert!(found.len() > 2);
    for (index, part) in found.iter().enumerate() {
        let blocks = blocks(part);
        assert!(
            blocks.iter().any(|block| matches!(&block.kind,
                BlockKind::Code { info, closed: true, .. } if info == "rust,ignore title=\"a\"")),
            "{part}"
        );
        if index > 0 {
            assert!(
                part.starts_with(&format!("{OPEN}\n~~~~rust,ignore title=\"a\"\nlet x")),
                "{part}"
            );
        }
        if index + 1 < found.len() {
            assert!(
                part.ends_with(&format!("so on\n~~~~\n{}", end(CLOSED))),
                "{part}"
            );
        }
    }
}

#[test]
fn fences_in_lists_and_quotes_stay_fences() {
    for (head, indent) in [
        ("- item\n", "  "),
        ("1. item\n", "   "),
        ("- a\n  - b\n", "    "),
        ("10. a\n    - b\n", "      "),
        ("> quote\n", "> "),
        ("> - quote\n", ">   "),
    ] {
        let code = format!("{indent}let x = 1;\n").repeat(60);
        let text = format!("{head}{indent}```rust\n{code}{indent}```\n\nEnd\n");
        let found = parts(&text, 400, 400);
        assert!(found.len() > 2);
        for part in &found {
            let arena = comrak::Arena::new();
            let root = comrak::parse_document(&arena, part, &crate::markdown::options());
            let outside: String = root
                .descendants()
                .filter(|node| matches!(node.data().value, comrak::nodes::NodeValue::Text(_)))
                .map(comrak::nodes::AstNode::collect_text)
                .collect();
            assert!(!outside.contains("let x"), "{head}{part}");
            assert!(
                root.descendants().all(|node| match &node.data().value {
                    comrak::nodes::NodeValue::CodeBlock(code) => code.closed && code.info == "rust",
                    _ => true,
                }),
                "{head}{part}"
            );
        }
    }
}

#[test]
fn no_part_of_a_real_plan_leaves_a_fence_open() {
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/plans/session-store.md"
    );
    let text = std::fs::read_to_string(fixture).unwrap();
    for limit in [400, 777, 1_500] {
        let found = parts(&text, limit, limit);
        // The last part ends as the text does, and that may be in a fence nobody closed.
        for part in &found[..found.len() - 1] {
            let arena = comrak::Arena::new();
            let root = comrak::parse_document(&arena, part, &crate::markdown::options());
            assert!(
                root.descendants().all(|node| match &node.data().value {
                    comrak::nodes::NodeValue::CodeBlock(code) => code.closed,
                    _ => true,
                }),
                "{limit}: {part}"
            );
        }
    }
}

#[test]
fn a_text_that_contains_markers_survives() {
    let hostile = [
        CUT,
        CUT_IN_LINE,
        CLOSED,
        CLOSED_IN_LINE,
        CONTINUED,
        OPEN,
        CONTINUATION_NOTICE,
        "```",
        "",
    ]
    .join("\n");
    let found = parts(&hostile.repeat(20), 300, 300);
    assert!(found.len() > 5);
}

#[test]
fn parts_of_older_releases_which_lack_the_notice_are_joined() {
    let text = format!(
        "{}\n{CUT}\n\n{CONTINUATION_NOTICE}\n\n{}",
        words(30),
        words(60)
    );
    let old: Vec<String> = parts(&text, 400, 400)
        .iter()
        .map(|part| {
            let part = part.strip_suffix(CONTINUATION_NOTICE).unwrap_or(part);
            part.strip_suffix("\n\n").unwrap_or(part).to_owned()
        })
        .collect();
    assert!(old.len() > 3 && old[0].ends_with("-->"), "{old:?}");
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    assert_eq!(join(&old), Some(text));
}

#[test]
fn what_is_not_a_split_is_refused() {
    assert_eq!(join(&[]), None);
    assert_eq!(join(&["a", "b"]), None);
    let found = parts(&words(60), 300, 300);
    let mut borrowed: Vec<&str> = found.iter().map(String::as_str).collect();
    borrowed.reverse();
    assert_eq!(join(&borrowed), None);
}

#[test]
fn parts_edited_on_the_page_still_join() {
    let text = "a line of text\n".repeat(50);
    let found: Vec<String> = parts(&text, 300, 300)
        .iter()
        .map(|part| part.replace('\n', "\r\n") + "\r\n")
        .collect();
    let borrowed: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(
        join(&borrowed).unwrap().replace("\r\n", "\n").trim_end(),
        text.trim_end()
    );
}

#[test]
fn few_parts_for_large_texts() {
    let limits = Limits::GITHUB;
    for text in [
        "x".repeat(1_000_000),
        "one line of many\n".repeat(100_000),
        format!("```\n{}```\n", "code\n".repeat(200_000)),
    ] {
        let found = parts(&text, limits.chars, limits.bytes);
        assert!(found.len() <= text.len() / 63_000 + 1, "{}", found.len());
    }
    assert_eq!(
        limits.less("é\n"),
        Limits {
            chars: 63_998,
            bytes: 261_997
        }
    );
}

fn pieces() -> impl Strategy<Value = String> {
    let atoms = prop::sample::select(vec![
        "word ",
        "表",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "# H\n",
        "- item\n",
        "  - sub\n",
        "> q\n",
        "```\n",
        "```rust\n",
        "  ```\n",
        "    ```py\n",
        "- ```x\n",
        "> ```\n",
        "````\n",
        "~~~\n",
        "`",
        "<!-- planwright:cut -->",
        "<!-- planwright:fence-open -->\n",
        "\n<!-- planwright:fence-closed -->\n",
        "[^1]: x\n\n    ```\n",
        "\t```\n",
        "a long run of text that does not end soon and goes on ",
        "===\n",
        "---\n",
        "```                     \n",
    ]);
    prop::collection::vec(atoms, 0..120).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joining_inverts_splitting(text in pieces(), chars in 256_usize..700, bytes in 256_usize..900) {
        parts(&text, chars, bytes);
    }

    #[test]
    fn of_any_text(text in "(?s).{0,900}") {
        parts(&text, 256, 256);
    }
}
