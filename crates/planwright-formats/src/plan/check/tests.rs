//! Tests of `formats::plan::check`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::super::document::{Enrichment, PlanDocument};
use super::super::split::{Limits, split};
use super::*;
use crate::block::plan_body;

const PLAN: &str = "# Plan: Move sessions to Redis\n\nSessions survive a deploy.\n\n1. Write `src/session/redis.rs`\n\
                    2. Switch the default\n3. Test that a restart keeps people logged in\n";

fn framed() -> String {
    PlanDocument {
        title: "Move sessions to Redis".to_owned(),
        enrichment: Enrichment::raw(),
        body: PLAN.to_owned(),
    }
    .render()
}

#[test]
fn every_form_of_one_plan_is_accepted() {
    let json = serde_json::json!({
        "success": true, "mode": "raw", "plan_title": "Move sessions to Redis", "plan_content": PLAN,
    });
    for (text, kind) in [
        (PLAN.to_owned(), PlanTextForm::Plan),
        (framed(), PlanTextForm::Document),
        (format!("Here it is.\n\n{}", framed()), PlanTextForm::Answer),
        (json.to_string(), PlanTextForm::Answer),
        (format!("```json\n{json:#}\n```\n"), PlanTextForm::Answer),
        (plan_body(&framed()), PlanTextForm::Saved),
        (plan_body(PLAN), PlanTextForm::Saved),
    ] {
        let checked = check(&text, None);
        assert_eq!(
            (checked.form, checked.title.as_deref()),
            (kind, Some("Move sessions to Redis")),
            "{text}"
        );
        assert_eq!(checked.measure, Measure::of(PLAN), "{text}");
        assert!(checked.is_accepted() && checked.feedback.is_empty());
        assert_eq!(checked.agent_guidance, None);
    }
}

#[test]
fn a_plan_of_several_comments_is_joined() {
    let long = format!("{PLAN}\n{}", "Another line of it.\n".repeat(60));
    let limits = Limits {
        chars: 600,
        bytes: 600,
    };
    let comments: Vec<String> = split(&long, &limits)
        .iter()
        .map(|part| plan_body(&part.text))
        .collect();
    assert!(comments.len() > 2);
    assert_eq!(
        check(&comments.join("\n\n"), None).measure,
        Measure::of(&long)
    );
    let backwards = check(&format!("{}\n\n{}", comments[1], comments[0]), None);
    assert!(
        backwards.measure.length.chars < 600,
        "the first alone, as they are no parts of one text"
    );
}

#[test]
fn what_is_refused_says_why_and_what_to_do() {
    let checked = check("# Plan\n\n- Do it", None);
    assert_eq!(checked.form, PlanTextForm::Plan);
    assert_eq!(checked.title, None);
    assert_eq!(
        checked.error.as_deref(),
        Some("Plan too short (15 characters, minimum 100)")
    );
    assert_eq!(
        checked.title_error.as_deref(),
        Some("Title is empty or whitespace-only")
    );
    assert_eq!(checked.feedback.len(), 2);
    let guidance = checked.agent_guidance.unwrap();
    assert!(guidance.starts_with("Plan content validation failed: Plan too short"));
    assert!(guidance.contains("\n\nPlan title validation failed: Title is empty"));
}

#[test]
fn a_given_title_takes_the_place_of_the_plan_s_own() {
    let own = check(PLAN, Some(" Keep\nsessions "));
    assert_eq!(own.title.as_deref(), Some("Keep sessions"));
    assert!(own.is_accepted());
    for (given, why) in [
        ("", "Title is empty or whitespace-only"),
        ("Plan", "Too short (4 characters, minimum 5)"),
        (
            "Untitled Plan",
            "'Untitled Plan' is a default fallback title, not a descriptive plan title",
        ),
    ] {
        let checked = check(PLAN, Some(given));
        assert_eq!(checked.title_error.as_deref(), Some(why));
        assert_eq!(checked.error, None);
        assert!(!checked.is_accepted());
    }
}

#[test]
fn an_error_document_is_no_plan() {
    let checked = check("## Error: no_plan_found\n\nNo plan\nanywhere.\n", None);
    assert_eq!(checked.form, PlanTextForm::Error);
    assert_eq!(
        checked.error.as_deref(),
        Some("The extractor found no plan (`no_plan_found`): No plan anywhere.")
    );
    assert!(
        checked
            .agent_guidance
            .unwrap()
            .contains("`# Plan: <title>`")
    );
    let text = format!("{PLAN}\n## Error: no_plan_found\n\nThe page that says so.\n");
    assert_eq!(check(&text, None).form, PlanTextForm::Plan);
    assert!(check(&text, None).is_accepted());
    let empty = check(
        "# Plan: Move sessions\n\n## Enrichment Details\n\n---\n\n",
        None,
    );
    assert_eq!(
        empty.error.as_deref(),
        Some("Plan is empty or contains only whitespace")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_judged(text in "(?s).{0,200}", title in prop::option::of(".{0,20}")) {
        let checked = check(&text, title.as_deref());
        prop_assert_eq!(checked.is_accepted(), checked.agent_guidance.is_none());
        prop_assert_eq!(checked.is_accepted(), checked.feedback.is_empty());
    }
}

#[test]
fn errors_are_formatted_like_those_of_erk() {
    assert_eq!(
        format_error("No plan", "Nothing was found", &["Look again", "Ask"]),
        "❌ Error: No plan\n\nDetails: Nothing was found\n\nSuggested actions:\n  1. Look again\n  2. Ask"
    );
    assert!(
        format_error("a", "b", &[])
            .ends_with("\n\nSuggested action:\n  1. Review the error details and try again")
    );
}
