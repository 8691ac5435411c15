//! Hidden text and an agent's answer: what people see is a fixed point, and an accepted answer is a document that reads
//! back with nothing of ours in its plan.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::hidden::visible;
use planwright_formats::plan::document::{Mode, Reading, read};
use planwright_formats::plan::enriched::{Checked, Facts, check, document, own_text_as_plan};

fuzz_target!(|text: &str| {
    let once = visible(text);
    let twice = visible(&once.text);
    assert_eq!((twice.text.as_str(), twice.removed), (once.text.as_str(), 0));
    assert!(!once.text.contains(['\u{200b}', '\u{202e}', '\0', '\r']));
    for candidate in [None, Some(text)] {
        let facts = Facts {
            questions: 2,
            candidate,
            ..Facts::default()
        };
        match check(text, &facts) {
            Checked::Plan(plan) => {
                let Reading::Plan(saved) = read(&document(&plan, &facts, &[])) else {
                    panic!("not a plan");
                };
                assert_eq!((saved.enrichment.mode, saved.enrichment.questions), (Mode::Enriched, 2));
                assert_eq!(saved.body, plan.body);
            }
            Checked::Error(error) => assert!(!error.code.is_empty()),
            Checked::Wrong(complaints) => {
                assert!(!complaints.is_empty());
                assert!(complaints.iter().all(|it| !it.to_string().contains('\n')));
            }
        }
    }
    if let Some((title, body)) = own_text_as_plan(text) {
        assert!(!title.is_empty() && body.trim().chars().count() >= 100);
    }
});
