//! Clocks that are set while the bot is down: no run is delayed by a day or fails because of it.

use planwright::adapters::store::MAX_WAIT_AFTER_START;
use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::time::Millis;
use planwright::engine::settings::{Settings, WorkerSettings};
use planwright::engine::worker::Outcome;
use planwright::formats::command::Command;

use crate::engine_agent::{ASKS, GOOD, rig as with_agent, say};
use crate::support::fake_agent::FakeAgent;
use crate::support::rig::Rig;

const DAY: Duration = Duration::from_hours(24);

/// The bot is stopped, the clock is set, the bot starts again.
async fn restart_at(rig: &Rig, time: Millis) {
    rig.clock.set_to(time);
    rig.store.recover_all(time).await.unwrap();
}

fn down(rig: &Rig, down: bool) {
    rig.forge.world.lock().unwrap().down = down;
}

/// Works for as long as `time` allows.
async fn work_for(rig: &Rig, time: Duration) {
    let worker = rig.worker("rig");
    let end = rig.clock.now().plus(time);
    loop {
        match worker.step().await.unwrap() {
            Outcome::Did(..) => {}
            Outcome::Wait(until) if until <= end => rig.clock.advance_to(until),
            Outcome::Idle | Outcome::Wait(_) => return rig.clock.advance_to(end),
        }
    }
}

#[tokio::test]
async fn a_run_that_waits_by_a_fast_clock_goes_on_soon_after_the_clock_is_put_right() {
    let rig = Rig::new().await;
    let right = rig.clock.now();
    rig.clock.set_to(right.plus(DAY));
    let run = rig.say(Command::SavePlan).await;
    down(&rig, true);
    let worker = rig.worker("rig");
    let parked = Outcome::Did(run.clone(), Some(State::Waiting));
    assert_eq!(worker.step().await.unwrap(), parked);
    down(&rig, false);
    restart_at(&rig, right).await;
    work_for(&rig, MAX_WAIT_AFTER_START).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

#[tokio::test]
async fn a_clock_set_forward_while_github_is_down_fails_no_run() {
    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    down(&rig, true);
    let worker = rig.worker("rig");
    for _ in 0..3 {
        if let Outcome::Wait(until) = worker.step().await.unwrap() {
            rig.clock.advance_to(until);
        }
    }
    restart_at(&rig, rig.clock.now().plus(30 * DAY)).await;
    worker.step().await.unwrap();
    assert_eq!(rig.state(&run).await, State::Waiting);
    let progress = rig.view(&run).await.progress.unwrap();
    assert!(
        !progress.write().contains("github_unavailable"),
        "{progress:?}"
    );
    down(&rig, false);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

async fn gave_up(rig: &Rig, run: &RunId) -> bool {
    let progress = rig.view(run).await.progress.unwrap_or_default();
    progress.write().contains("github_unavailable")
}

#[tokio::test]
async fn a_clock_set_back_while_github_is_down_is_no_reason_to_try_for_ever() {
    let settings = Settings {
        worker: WorkerSettings {
            give_up_after: Duration::from_hours(2),
            ..WorkerSettings::default()
        },
        ..Settings::default()
    };
    let rig = Rig::with(settings).await;
    let right = rig.clock.now();
    rig.clock.set_to(right.plus(300 * DAY));
    let run = rig.say(Command::SavePlan).await;
    down(&rig, true);
    rig.worker("rig").step().await.unwrap();
    restart_at(&rig, right).await;
    work_for(&rig, Duration::from_mins(100)).await;
    assert!(!gave_up(&rig, &run).await, "too early");
    work_for(&rig, Duration::from_hours(1)).await;
    assert!(gave_up(&rig, &run).await, "too late");
}

#[tokio::test]
async fn people_asked_by_a_fast_clock_have_their_week_and_not_more() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = with_agent(&agent).await;
    let right = rig.clock.now();
    rig.clock.set_to(right.plus(100 * DAY));
    let run = rig.say(Command::SavePlan).await;
    work_for(&rig, Duration::from_mins(1)).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    restart_at(&rig, right).await;
    work_for(&rig, 6 * DAY).await;
    assert_eq!(rig.state(&run).await, State::Waiting, "too early");
    work_for(&rig, 2 * DAY).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}
