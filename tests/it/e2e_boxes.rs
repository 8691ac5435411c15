//! Checkboxes in the bot's question comment, from a person's click to the run.

use planwright::engine::model::trigger::Origin;

use crate::receiver_support::asking;
use crate::support::system::System;

const REPO: &str = "acme/widgets";

#[tokio::test]
async fn boxes_are_an_answer_once_they_are_sent() {
    let system = System::start().await;
    system.repository(REPO, false);
    let issue = system.sim.open_issue(REPO, "ada", "One", "").unwrap();
    let comment = system.sim.comment_as_app(REPO, issue, &asking()).unwrap();
    system.tick(comment, "ada", &[0, 0, 1], false);
    assert_eq!(system.run_to_rest().await.len(), 0);
    system.tick(comment, "ada", &[], true);
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].command, "answer");
    assert_eq!(runs[0].asked_in(), Some(comment));
    assert_eq!(runs[0].trigger.actor.login, "ada");
    let body = system.sim.comments(REPO, issue).unwrap()[0].body.clone();
    assert!(body.contains("- [ ] a) SQLite\n- [x] b) Redis\n"), "{body}");
    let Origin::Boxes { text, .. } = &runs[0].trigger.origin else {
        panic!("boxes: {:?}", runs[0].trigger.origin);
    };
    assert_eq!(*text, body);
}
