//! Tests of `formats::report`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::front_matter;

mod documents;
mod judged;
mod read;

/// Pieces of texts that mean something here.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# T\n"),
        Just("\n\n## Executive Summary\n"),
        Just("\n\n### 2. Recommendations:\n\n"),
        Just("\n## Findings\n\n"),
        Just("\n## Metadata\n\n"),
        Just("- [x] a\n"),
        Just("1. b\n"),
        Just("#### - [ ] Phase 1.2: x [DONE]\n"),
        Just("## Phase 3 — "),
        Just("**Risk**: High\n"),
        Just("---\n"),
        Just("title: x\n"),
        Just("`src/a.rs:1-2` "),
        Just("./b/c.toml, "),
        Just("<short title>"),
        Just("[Add x]"),
        Just("{{y}}"),
        Just("<!-- "),
        Just(" -->\n"),
        Just("```\n"),
        Just("> "),
        Just("| a | b |\n|---|---|\n| c/d.e | f |\n"),
        Just("\r\n"),
        Just("é\u{202e}\u{0}"),
        Just("[a](b/c.md) "),
        Just("<file:line>"),
        "[ -~\n]{0,12}".prop_map(|text| &*Box::leak(text.into_boxed_str())),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn what_is_read_of_any_text_is_bounded(text in pieces()) {
        let read = metadata(&text);
        prop_assert!(!read.title.is_empty() && read.title.chars().count() <= 150);
        prop_assert!(read.summary.split_whitespace().count() <= 50);
        prop_assert!(read.recommendations.len() <= 5 && read.recommendations.len() <= read.recommendations_total);
        prop_assert!(read.file_paths.len() <= 10 && read.file_paths.len() <= read.file_paths_total);
        // An escape in front of a point is gone in what a reader sees, so a path need not be a
        // piece of the source.
        let is_path = |c: char| c.is_alphanumeric() || "./_-+".contains(c);
        prop_assert!(read.file_paths.iter().all(|path| path.len() <= 201 && path.chars().all(is_path)));
        prop_assert_eq!(read.size, text.len());
        prop_assert!(serde_json::to_string(&read).unwrap().len() <= 12_000);
        prop_assert!(render_digest("a.md", &read).len() <= 10_000);
        prop_assert!(!render_digest("a.md", &read).contains('\r'));
        let plan = plan_metadata(&text);
        prop_assert!(plan.phases.done <= plan.phases.total && plan.checkboxes.done <= plan.checkboxes.total);
        prop_assert!(!plan.title.is_empty() && plan.title.chars().count() <= 150);
        let _ = looks_like_plan(&text);
    }

    #[test]
    fn complaints_name_lines_that_there_are(text in pieces()) {
        for complaint in check_report(&text).into_iter().chain(check_plan(&text)) {
            if let DocumentProblem::Placeholder { line, .. } = complaint {
                prop_assert!(line >= 1 && line <= text.split(['\n', '\r']).count());
            }
        }
    }

    #[test]
    fn a_front_matter_and_its_body_are_the_text(text in pieces()) {
        if let Ok((_, body)) = front_matter::parse(&text) {
            prop_assert!(text.ends_with(body));
        }
    }

    #[test]
    fn whatever_an_agent_said_the_stand_in_is_one(topic in pieces(), agent in pieces(), text in pieces()) {
        let document = degraded_report(&topic, "2026-01-02", &agent, &text);
        prop_assert!(is_degraded(&document), "{}", document);
        prop_assert!(metadata(&document).degraded);
        prop_assert!(document.contains(text.trim_end()));
        let sections = crate::markdown::sections(&document);
        let names: Vec<&str> = sections.iter().take(4).map(|section| section.title.as_str()).collect();
        prop_assert_eq!(&names[1..], ["Metadata", "Executive Summary", "Findings"]);
    }

    #[test]
    fn names_of_files_are_harmless(topic in "\\PC{0,80}") {
        let slug = slug(&topic);
        prop_assert!((1..=50).contains(&slug.len()));
        prop_assert!(slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
        let file = report_file("041", &topic);
        prop_assert_eq!(next_number([file.as_str()]), "042");
    }
}
