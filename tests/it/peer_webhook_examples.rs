//! GitHub's published webhook examples: complete, and accepted by the receiver.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;

use crate::support::webhook_examples::webhook_examples;

#[test]
fn all_published_examples_are_there() {
    let Some(examples) = webhook_examples() else {
        return;
    };
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    for example in &examples {
        *events.entry(&example.event).or_default() += 1;
    }
    assert_eq!(examples.len(), 329);
    assert_eq!(events.len(), 58);
    assert_eq!(events["issue_comment"], 9);
    let created = examples.iter().filter(|example| {
        example.event == "issue_comment" && example.action.as_deref() == Some("created")
    });
    assert_eq!(created.count(), 5);
    assert!(
        examples
            .iter()
            .all(|example| example.payload.starts_with(b"{"))
    );
}
