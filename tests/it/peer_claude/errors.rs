//! Turns that the model or the client ends with an error.

use planwright::engine::model::agent::{Ending, Limit, Report};
use serde_json::json;

use super::rig::Rig;
use crate::support::model::{Model, Turn};

/// Kind, text and status of an agent's error; anything else fails the test.
fn error(report: &Report) -> (&str, &str, Option<u16>) {
    match &report.ending {
        Ending::AgentError {
            subtype,
            message,
            status,
        } => (subtype, message, *status),
        other => panic!("{other:?}\n{report:?}"),
    }
}

#[tokio::test]
async fn a_model_that_always_fails_is_no_success_though_the_client_says_so() {
    let model = Model::always(Turn::error(500, "api_error", "Internal server error")).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let report = rig.work(rig.task("Write a plan.")).await;
    let (kind, message, status) = error(&report);
    assert_eq!(status, Some(500));
    assert_eq!(kind, "api_error");
    assert!(message.contains("500"), "{message}");
    // One try and one more.
    assert_eq!(rig.model.asked().len(), 2);
}

#[tokio::test]
async fn a_wrong_key_is_an_error_with_its_status() {
    let model = Model::always(Turn::error(
        401,
        "authentication_error",
        "invalid x-api-key",
    ))
    .await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let report = rig.work(rig.task("Write a plan.")).await;
    let (_, message, status) = error(&report);
    assert_eq!(status, Some(401));
    assert!(message.contains("Invalid API key"), "{message}");
}

#[tokio::test]
async fn without_a_key_nothing_is_asked() {
    let rig = Rig::with(Model::start([]).await, |client| client.settings.key = None);
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Write a plan.")).await;
    let (_, message, _) = error(&report);
    assert!(message.contains("Not logged in"), "{message}");
    assert!(rig.model.asked().is_empty());
}

/// A model that never comes to an end.
async fn restless() -> Model {
    Model::always(Turn::tool("Glob", &json!({ "pattern": "*" })).costing(1_000)).await
}

#[tokio::test]
async fn the_client_keeps_the_limit_of_turns() {
    let rig = Rig::with(restless().await, |client| {
        client.settings.tools = vec!["Glob".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let mut task = rig.task("Go on for ever.");
    task.limits.turns = 2;
    let report = rig.work(task).await;
    assert_eq!(report.ending, Ending::Limited(Limit::Turns), "{report:?}");
    assert_eq!(report.spent.turns, 2);
    assert_eq!(rig.model.asked().len(), 2);
}

#[tokio::test]
async fn a_client_that_does_not_keep_the_limit_of_turns_is_ended() {
    let rig = Rig::with(restless().await, |client| {
        client.settings.tools = vec!["Glob".to_owned()];
        client.without = &["--max-turns"];
    });
    let Some(rig) = rig.await else { return };
    let mut task = rig.task("Go on for ever.");
    task.limits.turns = 2;
    let report = rig.work(task).await;
    assert_eq!(report.ending, Ending::Limited(Limit::Turns), "{report:?}");
}

#[tokio::test]
async fn the_client_keeps_the_limit_of_cost() {
    let rig = Rig::with(restless().await, |client| {
        client.settings.tools = vec!["Glob".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let mut task = rig.task("Go on for ever.");
    task.limits.cost = Some(1);
    let report = rig.work(task).await;
    assert_eq!(report.ending, Ending::Limited(Limit::Cost), "{report:?}");
    assert_eq!(rig.model.asked().len(), 1);
    assert!(report.spent.cost > 1);
}
