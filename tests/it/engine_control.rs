//! Order of runs per place, `/cancel`, `/plan-status`, `/plan-help`, and acknowledgement of waiting
//! runs.

use planwright::engine::model::run::State;
use planwright::engine::worker::Outcome;
use planwright::formats::command::Command;

use crate::support::rig::{HERE, Rig};

#[tokio::test]
async fn commands_on_one_place_run_one_after_another_in_order() {
    let rig = Rig::new().await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(rig.say(Command::SaveRawPlan).await);
    }
    assert_eq!(rig.state(&runs[0]).await, State::Ready);
    assert_eq!(rig.state(&runs[3]).await, State::Blocked);
    let worker = rig.worker("one");
    for run in &runs {
        assert_eq!(
            worker.step().await.unwrap(),
            Outcome::Did(run.clone(), Some(State::Succeeded))
        );
    }
    assert_eq!(worker.step().await.unwrap(), Outcome::Idle);
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("✅ Plan saved exactly as found: ["),
        "{said:#?}"
    );
    for body in &said[1..] {
        assert!(body.starts_with("✅ Already saved as"), "{said:#?}");
    }
    assert_eq!(rig.forge.plans().len(), 1);
}

#[tokio::test]
async fn a_waiting_command_is_acknowledged_with_its_place_in_the_queue() {
    let rig = Rig::new().await;
    let first = rig.say(Command::SavePlan).await;
    let second = rig.say(Command::SavePlan).await;
    let worker = rig.worker("one");
    assert_eq!(
        worker.acknowledge_step().await.unwrap(),
        Outcome::Did(second.clone(), None)
    );
    assert_eq!(worker.acknowledge_step().await.unwrap(), Outcome::Idle);
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("⏳ Queued: `/save-plan` for ada. One command here comes first."),
        "{said:?}"
    );
    rig.settle().await;
    assert_eq!(rig.state(&first).await, State::Succeeded);
    assert_eq!(rig.state(&second).await, State::Succeeded);
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(
        said.len(),
        2,
        "the waiting message became the report: {said:#?}"
    );
    assert!(said[0].starts_with("✅ Already saved as"), "{said:#?}");
    assert!(said[1].contains("✅ Plan saved"), "{said:#?}");
}

#[tokio::test]
async fn cancel_stops_what_waits_and_each_says_so() {
    let rig = Rig::new().await;
    let first = rig.say(Command::SavePlan).await;
    let second = rig.say(Command::SavePlan).await;
    let cancel = rig.say(Command::Cancel).await;
    let worker = rig.worker("one");
    // `/cancel` does not wait behind what it stops, but the oldest ready run may be claimed first:
    // stop before it starts.
    let later = rig.say(Command::SavePlan).await;
    let stopped = planwright::engine::store::Store::request_cancel(
        &*rig.store,
        &Rig::place(HERE).key(),
        &cancel,
        "ada",
    )
    .await
    .unwrap();
    assert_eq!(stopped, [first.clone(), second.clone()]);
    while worker.step().await.unwrap() != Outcome::Idle {}
    assert_eq!(rig.state(&first).await, State::Cancelled);
    assert_eq!(rig.state(&second).await, State::Cancelled);
    assert_eq!(
        rig.state(&later).await,
        State::Succeeded,
        "asked for after the cancel"
    );
    assert_eq!(rig.forge.plans().len(), 1);
    let said = rig.forge.own_bodies(HERE);
    let cancelled = said
        .iter()
        .filter(|body| body.starts_with("## Error: cancelled"))
        .count();
    assert_eq!(cancelled, 2, "{said:#?}");
    assert!(
        said.iter().any(|body| body.contains("Stopped by ada.")),
        "{said:#?}"
    );
}

#[tokio::test]
async fn cancel_with_nothing_to_cancel_says_so() {
    let rig = Rig::new().await;
    rig.say(Command::Cancel).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    assert!(said[0].starts_with("Nothing is running here, so there is nothing to cancel."));
    rig.say(Command::Retry).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[1].starts_with("No run has failed or been cancelled here"),
        "{said:?}"
    );
}

#[tokio::test]
async fn help_comes_from_the_registry_and_status_lists_runs() {
    let rig = Rig::new().await;
    rig.deliver(rig.trigger(Command::Help, "stranger", 1234, HERE))
        .await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    for spec in planwright::formats::command::REGISTRY {
        assert!(said[0].contains(&format!("/{}", spec.name)), "{}", said[0]);
    }
    assert!(
        planwright::formats::command::parse(&said[0]).is_empty(),
        "help carries a live command"
    );
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    rig.say(Command::Status).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    let status = said.last().unwrap();
    assert!(
        status.contains(&format!("| `{run}` | `/save-plan` | succeeded |")),
        "{status}"
    );
}
