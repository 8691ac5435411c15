//! Hidden text and an agent's answer: what people see is a fixed point, and an accepted answer is a
//! document that reads back with nothing of ours in its plan.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::hidden::visible;
use planwright_formats::plan::document::{Mode, ParsedDocument, parse};
use planwright_formats::plan::enriched::{
    CheckedAnswer, EnrichmentFacts, check_answer, render_document, salvage_plan,
};

fuzz_target!(|text: &str| {
    let once = visible(text);
    let twice = visible(&once.text);
    assert_eq!((twice.text.as_str(), twice.removed), (once.text.as_str(), 0));
    assert!(!once.text.contains(['\u{200b}', '\u{202e}', '\0', '\r']));
    for candidate in [None, Some(text)] {
        let facts = EnrichmentFacts {
            questions: 2,
            candidate,
            ..EnrichmentFacts::default()
        };
        match check_answer(text, &facts) {
            CheckedAnswer::Plan(plan) => {
                let ParsedDocument::Plan(saved) = parse(&render_document(&plan, &facts, &[])) else {
                    panic!("not a plan");
                };
                assert_eq!((saved.enrichment.mode, saved.enrichment.questions), (Mode::Enriched, 2));
                assert_eq!(saved.body, plan.body);
            }
            CheckedAnswer::Error(error) => assert!(!error.code.is_empty()),
            CheckedAnswer::Rejected(complaints) => {
                assert!(!complaints.is_empty());
                assert!(complaints.iter().all(|it| !it.to_string().contains('\n')));
            }
        }
    }
    if let Some((title, body)) = salvage_plan(text) {
        assert!(!title.is_empty() && body.trim().chars().count() >= 100);
    }
});
