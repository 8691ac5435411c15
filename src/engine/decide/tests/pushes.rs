//! New commits of pull requests.

use super::*;
use crate::engine::model::trigger::Origin;

fn facts() -> AppIdentity {
    let mut facts = super::facts();
    facts
        .labels
        .push((Command::CheckPlan, "Check-Plan".to_owned()));
    facts
}

/// A payload of new commits, with labels of these names.
fn pushed(action: &str, labels: &[&str]) -> String {
    let labels: Vec<Value> = labels.iter().map(|name| json!({ "name": name })).collect();
    with(
        PULL_LABELED,
        &[
            ("/action", json!(action)),
            ("/label", Value::Null),
            ("/pull_request/labels", json!(labels)),
        ],
    )
}

fn decided(body: &str) -> Decision {
    decide("pull_request", body.as_bytes(), &facts())
        .unwrap()
        .decision
}

#[test]
fn new_commits_of_a_pull_request_with_the_label_are_checked() {
    for action in ["opened", "reopened", "synchronize"] {
        let body = pushed(action, &["bug", "CHECK-plan"]);
        let Decision::Runs { triggers, .. } = decided(&body) else {
            panic!("{action}")
        };
        let [run] = triggers.as_slice() else {
            panic!("{triggers:?}")
        };
        assert_eq!(run.command, Command::CheckPlan);
        assert!(run.place.pull_request);
        let payload: Value = serde_json::from_str(&body).unwrap();
        let head = payload["pull_request"]["head"]["sha"].as_str().unwrap();
        let Origin::Push { head: told } = &run.origin else {
            panic!("{:?}", run.origin)
        };
        assert_eq!(told, head);
    }
}

#[test]
fn bots_may_push_and_this_app_starts_no_loop() {
    let by = |login: &str| {
        let body = pushed("synchronize", &["check-plan"]);
        with(
            &body,
            &[
                ("/sender/login", json!(login)),
                ("/sender/type", json!("Bot")),
            ],
        )
    };
    assert!(matches!(decided(&by("agent[bot]")), Decision::Runs { .. }));
    let ignored = Decision::ignore("this App did that itself");
    assert_eq!(decided(&by("planwright[bot]")), ignored);
}

#[test]
fn new_commits_ask_for_nothing_without_the_label_or_without_its_name() {
    let why = "the pull request has no label that asks for a check";
    for labels in [&[][..], &["save-plan"], &["check-plans"]] {
        let body = pushed("synchronize", labels);
        assert_eq!(decided(&body), Decision::ignore(why));
    }
    let body = pushed("synchronize", &["check-plan"]);
    let none = decide("pull_request", body.as_bytes(), &super::facts())
        .unwrap()
        .decision;
    assert_eq!(none, Decision::ignore(why));
}

#[test]
fn new_commits_without_a_head_cannot_be_used() {
    let body = with(
        &pushed("synchronize", &["check-plan"]),
        &[("/pull_request/head", Value::Null)],
    );
    let error = decide("pull_request", body.as_bytes(), &facts()).unwrap_err();
    assert!(
        error.to_string().contains("missing field `head`"),
        "{error}"
    );
}
