//! Sessions: what is resumed, what is repeated, and what is counted only once.

use planwright::engine::model::agent::{Ending, Session};
use serde_json::json;

use super::rig::{Rig, SYSTEM, success};
use crate::support::model::{Model, Turn};

const MARK: &str =
    r#"<!--QUESTION:{"questions":[{"question":"Redis --> or files?","header":"Cache"}]}-->"#;

#[tokio::test]
async fn a_question_is_answered_in_the_same_session() {
    let turns = [
        Turn::text(format!("Before I go on.\n\n{MARK}")).costing(3_000),
        Turn::text("# Plan: with files").costing(1_000),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Read".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let first = rig.work(rig.task("Write a plan for the heron.")).await;
    assert!(first.texts[0].contains(MARK), "{first:?}");

    let mut task = rig.going_on("You asked: Redis or files? The answer: files.", &first);
    "These are the instructions of turn two.".clone_into(&mut task.system);
    let second = rig.work(task).await;
    assert_eq!(success(&second), "# Plan: with files");
    assert_eq!(second.session, first.session);

    let asked = rig.model.asked();
    assert_eq!(asked.len(), 2);
    // It knows what was said before.
    let messages = asked[1].body["messages"].to_string();
    assert!(asked[1].said().contains("Write a plan for the heron."));
    assert!(messages.contains("Before I go on."), "{messages}");
    assert!(asked[1].said().contains("The answer: files."));
    // The client itself would go on with the instructions of the first turn.
    assert!(asked[1].system().contains("instructions of turn two"));
    assert!(!asked[1].system().contains(SYSTEM));
    assert_eq!(asked[1].tools(), asked[0].tools());

    // It says what the whole session has cost.
    assert!(first.spent.cost > second.spent.cost);
    assert_eq!(
        second.spent.session_cost,
        first.spent.cost + second.spent.cost
    );
    assert_eq!(second.spent.turns, 1);
}

#[tokio::test]
async fn the_client_alone_goes_on_with_the_first_instructions() {
    // What `--system-prompt-snapshot off` is there for.
    let rig = Rig::with(
        Model::start(["One.", "Two."].map(Turn::text)).await,
        |client| client.without = &["--system-prompt-snapshot"],
    );
    let Some(rig) = rig.await else { return };
    let first = rig.work(rig.task("Begin.")).await;
    let mut task = rig.going_on("Go on.", &first);
    "These are the instructions of turn two.".clone_into(&mut task.system);
    assert_eq!(success(&rig.work(task).await), "Two.");
    assert!(rig.model.asked()[1].system().contains(SYSTEM));
}

#[tokio::test]
async fn limits_hold_for_the_turn_and_not_for_the_session() {
    let turns = [
        Turn::text("Dear.").costing(50_000),
        Turn::tool("Glob", &json!({ "pattern": "*" })),
        Turn::text("Cheap."),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Glob".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let first = rig.work(rig.task("Think.")).await;
    let mut task = rig.going_on("Now this.", &first);
    task.limits.cost = Some(first.spent.cost / 2);
    task.limits.turns = 2;
    let second = rig.work(task).await;
    assert_eq!(success(&second), "Cheap.");
    assert_eq!(second.spent.turns, 2);
}

#[tokio::test]
async fn a_session_that_is_not_there_is_said_to_be_lost() {
    let Some(rig) = Rig::new(Model::start([]).await).await else {
        return;
    };
    let mut task = rig.task("The answer: files.");
    task.session = Session::Resume(uuid::Uuid::new_v4().to_string());
    let report = rig.work(task).await;
    assert_eq!(report.ending, Ending::SessionLost, "{report:?}");
    assert!(rig.model.asked().is_empty());
}

#[tokio::test]
async fn an_id_begins_one_session_only() {
    let Some(rig) = Rig::new(Model::start([Turn::text("One.")]).await).await else {
        return;
    };
    let task = rig.task("Begin.");
    success(&rig.work(task.clone()).await);
    let report = rig.work(task).await;
    let refused = Ending::ProcessError {
        code: Some(1),
        signal: None,
    };
    assert_eq!(report.ending, refused, "{report:?}");
    assert!(report.stderr.contains("already in use"), "{report:?}");
    assert_eq!(rig.model.asked().len(), 1);
}

#[tokio::test]
async fn a_session_goes_on_after_its_turn_was_cancelled() {
    let turns = [Turn::text("Half of").hanging(), Turn::text("All of it.")];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let task = rig.task("Write a plan for the heron.");
    let id = task.session.clone();
    let working = rig.start(task);
    rig.model.wait_for(1).await;
    working.stop.cancel();
    let first = working.report(&rig).await;
    assert_eq!(first.ending, Ending::Cancelled);
    let Session::New(id) = id else { unreachable!() };
    let mut task = rig.task("Go on.");
    task.session = Session::Resume(id);
    let second = rig.work(task).await;
    assert_eq!(success(&second), "All of it.");
    assert!(rig.model.asked()[1].said().contains("for the heron"));
}
