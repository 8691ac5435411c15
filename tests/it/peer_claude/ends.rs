//! Turns that end early, by this program or by others: no process survives.

use std::time::Duration;

use planwright::engine::model::agent::{Ending, Limit};
use rustix::process::Signal;
use serde_json::json;

use super::processes::{self, Process};
use super::rig::{Rig, Working, success};
use crate::support::model::{Model, Turn};
use crate::support::peers;

#[tokio::test]
async fn a_turn_that_is_cancelled_ends_at_once() {
    let model = Model::start([Turn::text("Half of it").hanging()]).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let working = rig.start(rig.task("Write a plan."));
    rig.model.wait_for(1).await;
    assert!(!processes::with(&[rig.mark()]).is_empty());
    working.stop.cancel();
    let report = working.report(&rig).await;
    assert_eq!(report.ending, Ending::Cancelled, "{report:?}");
}

#[tokio::test]
async fn a_model_that_says_nothing_is_not_waited_for() {
    let model = Model::always(Turn::text("").hanging()).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let mut task = rig.task("Write a plan.");
    task.limits.silence = Duration::from_secs(3);
    let report = rig.work(task).await;
    assert_eq!(report.ending, Ending::Limited(Limit::Silence), "{report:?}");
    // None where the client itself has not yet started on a busy machine.
    assert!(rig.model.asked().len() <= 1);
}

#[tokio::test]
async fn an_answer_that_takes_long_is_told_from_silence_by_its_pieces() {
    let model = Model::start([Turn::text("Half of it").hanging()]).await;
    let rig = Rig::with(model, |client| {
        // What it prints is in a file before it is read.
        client.shell = Some(
            r#""$0" "$@" | while IFS= read -r line; do printf '%s\n' "$line" >> "$HOME/said"; printf '%s\n' "$line"; done"#,
        );
    });
    let Some(rig) = rig.await else {
        return;
    };
    let mut working = rig.start(rig.task("Write a plan."));
    let said = || std::fs::read_to_string(rig.home().join("said")).unwrap_or_default();
    while !said().contains("Half of it") {
        let more = tokio::time::timeout(Duration::from_mins(1), working.seen.changed()).await;
        more.unwrap_or_else(|_| panic!("nothing more comes: {}", said()))
            .unwrap();
    }
    working.stop.cancel();
    let report = working.report(&rig).await;
    assert_eq!(report.ending, Ending::Cancelled, "{report:?}");
    assert!(report.texts.is_empty(), "{report:?}");
}

#[tokio::test]
async fn the_deadline_holds() {
    let model = Model::always(Turn::text("Half of it").hanging()).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let mut task = rig.task("Write a plan.");
    task.limits.deadline = Duration::from_secs(3);
    let report = rig.work(task).await;
    assert_eq!(
        report.ending,
        Ending::Limited(Limit::Deadline),
        "{report:?}"
    );
}

/// A client with a shell for a tool, that has left a process in a session of its own which knows
/// nothing of where it came from. `None` where there is no client.
async fn with_a_runaway() -> Option<(Rig, Working, String)> {
    let mark = format!("98765.{}", uuid::Uuid::new_v4().as_u128() % 1_000_000_000);
    let command = format!("setsid -f env -i sleep {mark} >/dev/null 2>&1 </dev/null; echo left");
    let turns = [
        Turn::tool("Bash", &json!({ "command": command })),
        Turn::text("Waiting").hanging(),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Bash".to_owned()];
    });
    let rig = rig.await?;
    let working = rig.start(rig.task("Leave something behind."));
    rig.model.wait_for(2).await;
    let said = rig.model.asked()[1].said();
    // The shell does not wait for it: until it is itself, it still has what the shell had.
    let begun = std::time::Instant::now();
    let runaway = loop {
        let left = processes::with(&[&mark]);
        let itself = left.into_iter().find(|it| it.line.starts_with("sleep "));
        if let Some(runaway) = itself {
            break runaway;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the tool left nothing: {said}"
        );
        tokio::task::yield_now().await;
    };
    let client = client(&rig);
    assert_ne!(runaway.session, client.session);
    assert!(
        !processes::with(&[rig.mark()])
            .iter()
            .any(|process| process.pid == runaway.pid)
    );
    Some((rig, working, mark))
}

/// The process of the client itself.
fn client(rig: &Rig) -> Process {
    let program = peers::claude().unwrap().canonicalize().unwrap();
    processes::with(&[rig.mark()])
        .into_iter()
        .find(|process| process.program.as_ref() == Some(&program))
        .expect("the client runs")
}

#[tokio::test]
async fn a_child_with_a_session_of_its_own_ends_when_the_turn_is_cancelled() {
    let Some((rig, working, mark)) = with_a_runaway().await else {
        return;
    };
    working.stop.cancel();
    let report = working.report(&rig).await;
    assert_eq!(report.ending, Ending::Cancelled, "{report:?}");
    let left = processes::with(&[&mark]);
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_child_with_a_session_of_its_own_ends_when_the_client_is_killed() {
    let Some((rig, working, mark)) = with_a_runaway().await else {
        return;
    };
    client(&rig).signal(Signal::KILL);
    let report = working.report(&rig).await;
    let killed = Ending::ProcessError {
        code: None,
        signal: Some(9),
    };
    assert_eq!(report.ending, killed, "{report:?}");
    let left = processes::with(&[&mark]);
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_client_that_does_not_hear_is_killed_with_its_children() {
    let Some((rig, working, mark)) = with_a_runaway().await else {
        return;
    };
    // It cannot act on TERM any more.
    client(&rig).signal(Signal::STOP);
    working.stop.cancel();
    let report = working.report(&rig).await;
    assert_eq!(report.ending, Ending::Cancelled, "{report:?}");
    let left = processes::with(&[&mark]);
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_client_that_somebody_else_ends_is_no_success() {
    let model = Model::always(Turn::text("Half of it").hanging()).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let working = rig.start(rig.task("Write a plan."));
    rig.model.wait_for(1).await;
    client(&rig).signal(Signal::TERM);
    let report = working.report(&rig).await;
    let terminated = Ending::ProcessError {
        code: Some(143),
        signal: None,
    };
    assert_eq!(report.ending, terminated, "{report:?}");

    // Its exit code is 0 then, and on a busy machine it may exit before it prints the result.
    let working = rig.start(rig.going_on("Go on.", &report));
    rig.model.wait_for(2).await;
    client(&rig).signal(Signal::INT);
    let interrupted = working.report(&rig).await;
    let failed = match &interrupted.ending {
        Ending::AgentError { subtype, .. } => subtype == "error_during_execution",
        ending => matches!(ending, Ending::NoResult),
    };
    assert!(failed, "{interrupted:?}");
    // The run can still go on.
    assert!(interrupted.session.is_some(), "{interrupted:?}");
    assert_eq!(interrupted.session, report.session);
}

#[tokio::test]
async fn what_comes_after_the_result_does_not_count_and_nobody_waits_for_the_end() {
    let rig = Rig::with(Model::start([Turn::text("The plan.")]).await, |client| {
        client.shell = Some(
            r#""$0" "$@"
            echo '{"type":"result","subtype":"success","is_error":false,"result":"Another one."}'
            trap '' TERM
            sleep 98765 & wait"#,
        );
    });
    let Some(rig) = rig.await else { return };
    let mut task = rig.task("Write a plan.");
    // A runner that waits for the end fails.
    task.limits.deadline = Duration::from_secs(30);
    let report = rig.work(task).await;
    assert_eq!(success(&report), "The plan.");
    assert_eq!(report.texts, ["The plan."]);
}

#[tokio::test]
async fn what_is_used_is_told_meanwhile() {
    let turns = [
        Turn::tool("Glob", &json!({ "pattern": "*" })),
        Turn::text("Half").hanging(),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Glob".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let mut working = rig.start(rig.task("Look around."));
    rig.model.wait_for(2).await;
    let told = working
        .seen
        .wait_for(|spent| spent.turns == 1 && spent.tools == 1);
    let told = tokio::time::timeout(Duration::from_secs(30), told).await;
    told.expect("it is told in time").unwrap();
    working.stop.cancel();
    let report = working.report(&rig).await;
    assert_eq!((report.spent.turns, report.spent.tools), (1, 1));
}
