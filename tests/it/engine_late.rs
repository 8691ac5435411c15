//! What is posted about commands that were received long after they were written.

use std::time::Duration;

use planwright::engine::clock::Clock as _;
use planwright::engine::model::run::State;
use planwright::formats::command::Command;

use crate::support::rig::{HERE, Rig};

#[tokio::test]
async fn a_command_that_is_picked_up_late_is_executed_and_its_report_says_so() {
    let rig = Rig::new().await;
    let trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    rig.clock
        .advance_to(trigger.at.plus(Duration::from_mins(3 * 60 + 12)));
    let written = trigger.at;
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let report = rig.forge.own_bodies(HERE).pop().unwrap();
    let note = format!(
        "<sub>🕓 Written at {} and picked up 3 h 12 min later, because its delivery did not arrive at once.</sub>",
        written.iso()
    );
    assert!(report.starts_with("✅ Plan saved"), "{report}");
    assert_eq!(report.matches(&note).count(), 1, "{report}");
}

#[tokio::test]
async fn a_command_that_is_too_old_is_answered_with_one_line_and_not_executed() {
    let rig = Rig::new().await;
    let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    trigger.expired = true;
    let written = trigger.at;
    rig.clock.advance_to(written.plus(Duration::from_hours(50)));
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{said:?}");
    let text = format!(
        "😕 ada: `/save-plan` was given at {}, but received only 2 d 2 h later; the limit is 1 d, so it was not \
         executed. Repeat it if it is still wanted.",
        written.iso()
    );
    assert!(said[0].starts_with(&text), "{}", said[0]);
    assert!(rig.clock.now() > written);
}
