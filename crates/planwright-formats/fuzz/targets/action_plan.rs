//! Action plans: nothing panics, what is accepted reads back, errors lie inside of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::action_plan::{fences, is_action_plan, parse, render, table};

const HEAD: &str =
    "# T\n- **Status:** Green\n\n## Rationale\n````text\nWhy.\n````\n\n## Action Plan\n\n";

fuzz_target!(|text: &str| {
    // Few texts find the head by themselves.
    for text in [
        text.to_owned(),
        format!("{HEAD}{text}"),
        format!("{HEAD}### READ\n- Resource: {text}\n"),
    ] {
        holds(&text);
    }
});

fn holds(text: &str) {
    let lines = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    let _ = is_action_plan(text);
    match parse(text) {
        Ok(plan) => {
            assert!(!plan.actions.is_empty());
            assert!(plan.actions.iter().all(|step| step.span.end <= lines));
            let again = parse(&render(&plan)).expect("what was read can be written");
            assert_eq!(again.title, plan.title);
            assert_eq!(
                serde_json::to_value(
                    again
                        .actions
                        .iter()
                        .map(|step| &step.action)
                        .collect::<Vec<_>>()
                )
                .unwrap(),
                serde_json::to_value(
                    plan.actions
                        .iter()
                        .map(|step| &step.action)
                        .collect::<Vec<_>>()
                )
                .unwrap()
            );
            assert_eq!(table(&plan).lines().count(), plan.actions.len() + 2);
        }
        Err(rejected) => {
            assert!(!rejected.errors.is_empty());
            assert!(rejected.errors.iter().all(|error| error.span.end <= lines));
            assert!(rejected.diff().to_string().starts_with("line "));
            let _ = rejected.annotations();
            if let Some(mended) = fences::repair(text) {
                assert!(parse(&mended).is_ok());
            }
        }
    }
}
