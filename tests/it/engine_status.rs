//! The status comment after a crash: whatever it showed before, in the end it shows how the run
//! ended.

use planwright::engine::clock::Clock;
use planwright::engine::model::run::State;
use planwright::engine::settings::{Settings, WorkerSettings};
use planwright::formats::command::Command;

use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, Rig};

/// Works on a run until the write with this number, at which the process dies.
async fn die_at(rig: &Rig, write: u64) {
    rig.forge.fail(write, Fault::DieAfter);
    let doomed = rig.worker("doomed");
    tokio::select! {
        ended = doomed.step() => panic!("{ended:?}"),
        () = rig.forge.died.notified() => {}
    }
    rig.store.recover_all(rig.clock.now()).await.unwrap();
}

#[tokio::test]
async fn a_run_that_died_after_its_final_report_does_not_say_that_it_is_queued() {
    let clean = Rig::new().await;
    clean.say(Command::SavePlan).await;
    clean.settle().await;
    let writes = clean.forge.world.lock().unwrap().writes;

    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    die_at(&rig, writes).await;
    // It has stood ready for long when somebody looks whom to acknowledge.
    let later = rig.clock.now().plus(std::time::Duration::from_mins(1));
    rig.clock.advance_to(later);
    rig.worker("next").acknowledge_step().await.unwrap();
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].contains("✅ Plan saved"), "{}", said[0]);
}

#[tokio::test]
async fn the_final_report_is_written_over_a_comment_that_an_earlier_attempt_left() {
    let rig = Rig::with(Settings {
        worker: WorkerSettings {
            max_attempts: 1,
            ..WorkerSettings::default()
        },
        ..Settings::default()
    })
    .await;
    let run = rig.say(Command::SavePlan).await;
    // 👀 is the first write, the status comment the second. The next attempt is one too many.
    die_at(&rig, 2).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].starts_with("## Error: internal\n"), "{}", said[0]);
}
