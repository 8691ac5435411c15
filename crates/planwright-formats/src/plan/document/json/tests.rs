//! What extractors answered, in Markdown and in JSON.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use super::super::{Enrichment, Guidance, Mode, ParsedDocument, PlanDocument, parse};

fn plan(text: &str) -> PlanDocument {
    match parse(text) {
        ParsedDocument::Plan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_error_of_an_extractor_with_its_message() {
    for (text, code, message) in [
        (
            "## Error: session_not_found\n\nSession file not found: `logs/7.jsonl`",
            "session_not_found",
            "Session file not found: `logs/7.jsonl`",
        ),
        (
            "## Error: guidance_without_plan: there is no plan\r\n\r\nCreate one.\r\n",
            "guidance_without_plan",
            "there is no plan\n\nCreate one.",
        ),
        (
            "## Error: No implementation plan found\n\nCreate one.",
            "no_plan_found",
            "No implementation plan found\n\nCreate one.",
        ),
        (
            "## Error: Guidance provided but no plan found.",
            "guidance_without_plan",
            "Guidance provided but no plan found.",
        ),
        (
            "## Error: Expected JSON input with 'mode' field",
            "invalid_input",
            "Expected JSON input with 'mode' field",
        ),
        (
            "## Error: validation_failed — too short",
            "validation_failed",
            "too short",
        ),
        (
            "{\"success\": false, \"error\": \"no_plan_found\", \"message\": \"Nothing.\"}",
            "no_plan_found",
            "Nothing.",
        ),
        (
            "~~~json\n{\"success\": false, \"message\": \"Nothing.\"}\n~~~",
            "unknown",
            "Nothing.",
        ),
    ] {
        let ParsedDocument::Error(error) = parse(text) else {
            panic!("{text}");
        };
        assert_eq!((&*error.code, &*error.message), (code, message), "{text}");
    }
}

#[test]
fn the_json_form_has_the_same_facts() {
    let text = r#"{"success": true, "mode": "enriched", "plan_title": "Export  reports", "plan_content": "1. Write it\n",
        "enrichment": {"guidance_applied": true, "guidance_text": "be brief", "questions_asked": 2,
        "clarifications": ["Format: CSV", {"question": "Where?", "answer": "On the page"}, "Soon", 7],
        "context_extracted": true, "context_categories": ["Known Pitfalls", "api/tool quirks", "Other"]}}"#;
    for text in [
        text.to_owned(),
        format!("```json\n{text}\n```"),
        format!("```json\n{text}"),
    ] {
        let read = plan(&text);
        assert_eq!(
            (&*read.title, &*read.body),
            ("Export reports", "1. Write it\n")
        );
        let facts = read.enrichment;
        assert_eq!(facts.mode, Mode::Enriched);
        assert_eq!(
            facts.guidance,
            Some(Guidance {
                text: "be brief".to_owned(),
                applied: true
            })
        );
        assert_eq!(facts.questions, 2);
        assert_eq!(
            facts.clarifications,
            [
                ("Format", "CSV"),
                ("Where?", "On the page"),
                ("Question", "Soon")
            ]
            .map(|(topic, answer)| (topic.to_owned(), answer.to_owned()))
        );
        assert_eq!(
            facts.categories,
            [true, false, false, false, true, false, false, false]
        );
    }
    let untitled = r##"{"success": true, "plan_content": "# Plan: Export\n\n- a"}"##;
    assert_eq!(plan(untitled).title, "Export");
    assert_eq!(plan(untitled).enrichment, Enrichment::raw());
    for (text, why) in [
        (
            r#"{"success": true, "plan_title": "Export", "plan_content": " "}"#,
            "The answer says `success`, but its `plan_content` is missing or empty.",
        ),
        (
            r###"{"success": true, "plan_content": "## Overview"}"###,
            "The answer has no `plan_title`, and its `plan_content` has no title.",
        ),
        (
            r#"{"plan": 1}"#,
            "The text has no heading; it must begin with `# Plan: <title>`.",
        ),
    ] {
        assert_eq!(
            parse(text),
            ParsedDocument::Neither(why.to_owned()),
            "{text}"
        );
    }
}
