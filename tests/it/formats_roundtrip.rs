//! Round trip of a plan through the formats: wrapped, split, framed, read and joined, the result is
//! the source byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::engine::steps::publish::comments;
use planwright::formats::block::{Content, PlanForm, find, neutralise, parse, plan_body};
use planwright::formats::markdown::{BlockKind, blocks};
use planwright::formats::plan::document::{
    Enrichment, PlanDocument, is_success_document, plan_text,
};
use planwright::formats::plan::split::{Limits, join, split};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::frame_support::config;

/// Most a body may hold, by the project's own promise; GitHub takes 65,536 and 262,144.
const MOST: (usize, usize) = (64_000, 262_000);

/// Pieces of which hostile plans are made: markers, fences, mentions, other line ends, wide
/// characters.
const PIECES: [&str; 42] = [
    "# Plan: a\n\n",
    "## Enrichment Details\n\n",
    "<!-- planwright:plan -->\n\n",
    "---\n\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "```\n",
    "````rust\n",
    "  ~~~ yaml\n",
    "<details>\n",
    "</details>",
    "</details >",
    "</summary>",
    "<!-- erk:metadata-block:plan-body -->",
    "<!-- /erk:metadata-block:plan-body -->",
    "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->",
    "<!-- planwright:cut -->",
    "<!-- planwright:continued -->\n",
    "<!-- planwright:fence-open -->\n",
    "<!-- planwright:fence-closed-in-line -->",
    "@ada ",
    "@a@b ",
    "fixes #12 ",
    "closes acme/widgets#7\n",
    "\u{200b}",
    "\u{feff}",
    "👀🚀",
    "日本語 ",
    "- [ ] a step\n",
    "1. one\n   two\n",
    "> quoted\n",
    "    code\n",
    "[a]: b\n",
    "part 1/2\n\n",
    "\0",
    "<!-- open",
    "<div title=\"",
    "<pre>\n",
    "<b>",
    "<details>\n\n",
];

/// A source of text: mostly pieces, some arbitrary text.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z ]{0,80}\n",
    ]
}

/// The plan text in the bodies of comments as they come back from GitHub.
fn read_back(bodies: &[String]) -> String {
    let parts: Vec<String> = bodies
        .iter()
        .map(|body| {
            let parsed = parse(body);
            assert_eq!(parsed.diagnostics, [], "{body}");
            assert_eq!(parsed.blocks.len(), 1, "{body}");
            match &find(&parsed, "plan-body").expect("a plan-body").content {
                Content::Text(text) => text.clone(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    join(&parts).expect("parts in order")
}

/// `source` as it is saved: framed by us.
fn framed(source: &str) -> String {
    PlanDocument {
        title: "Round trip".to_owned(),
        enrichment: Enrichment::raw(),
        body: source.to_owned(),
    }
    .render()
}

fn bodies_fit(bodies: &[String]) {
    for body in bodies {
        let size = (body.chars().count(), body.len());
        assert!(size.0 <= MOST.0 && size.1 <= MOST.1, "{size:?}");
    }
}

fn round_trip(source: &str) -> Result<(), TestCaseError> {
    let document = framed(source);
    prop_assert_eq!(plan_text(&document), source);
    let bodies = comments(&document, PlanForm::Folded);
    bodies_fit(&bodies);
    let joined = read_back(&bodies);
    prop_assert_eq!(&joined, &document);
    prop_assert_eq!(plan_text(&joined), source);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_in_small_parts_comes_back(source in vec(piece(), 0..40), chars in 256_usize..400, bytes in 256_usize..500) {
        let source = source.concat();
        let parts = split(&source, &Limits { chars, bytes });
        for part in &parts {
            let size = (part.text.chars().count(), part.text.len());
            prop_assert!(size.0 <= chars && size.1 <= bytes, "{:?}", size);
            let safe = neutralise(&part.text);
            let open = blocks(&format!("\n{safe}"))
                .pop().is_some_and(|last| matches!(last.kind, BlockKind::Code { closed: false, .. }));
            prop_assert!(!open, "{}", safe);
        }
        let bodies: Vec<String> = parts.iter().map(|part| plan_body(&part.text)).collect();
        prop_assert_eq!(read_back(&bodies), source);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_comes_back_from_its_comments(source in vec(piece(), 0..120)) {
        round_trip(&source.concat())?;
    }

    /// A plan that came in the saved form is not framed again, and is cut like any other.
    #[test]
    fn a_plan_document_is_saved_as_it_came(source in vec(piece(), 1..40)) {
        let document = framed(&source.concat());
        prop_assume!(is_success_document(&document));
        let saved = planwright::formats::plan::document::wrap("Another title", &Enrichment::raw(), &document);
        prop_assert_eq!(&saved, &document);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Around the limits of one body, in characters and in bytes.
    #[test]
    fn plans_near_githubs_limits_come_back(
        unit in vec(piece(), 1..8),
        (by_bytes, size) in prop_oneof![
            (Just(false), 61_000_usize..66_000),
            (Just(true), 258_000_usize..264_000),
        ],
    ) {
        let mut unit = unit.concat();
        if unit.is_empty() {
            unit.push('x');
        }
        let per = if by_bytes { unit.len() } else { unit.chars().count() };
        round_trip(&unit.repeat(size / per + 1))?;
    }
}

/// Neutralising makes these longer: up to seven characters for one.
#[test]
fn bodies_of_nothing_but_mentions_and_markers_fit() {
    for unit in [
        "@a ",
        "@ab\n",
        "fixes #1 ",
        "@a fixes #1 </details>",
        "</details>",
        "<!-- erk:x -->",
        "👀@a ",
        "日@a\n",
        "<!-- planwright -->\n",
        "```\n@a\n",
    ] {
        for size in [63_900_usize, 131_000] {
            let source = unit.repeat(size / unit.chars().count());
            round_trip(&source).unwrap_or_else(|error| panic!("{unit:?} × {size}: {error}"));
        }
    }
}

#[test]
fn one_endless_line_fits() {
    for unit in ["x", "é", "日", "👀", "@", "\u{200b}", "\0", "`"] {
        for count in [63_999_usize, 64_000, 64_001, 200_000] {
            let source = unit.repeat(count);
            round_trip(&source).unwrap_or_else(|error| panic!("{unit:?} × {count}: {error}"));
        }
    }
}
