//! The header of a saved plan at every point at which a save can end, and a header that must not be
//! written.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::engine::model::run::State;
use planwright::formats::block::schema::{Era, check};
use planwright::formats::block::{Content, find, parse};
use planwright::formats::command::{Command, Permission};

use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, Rig};

#[tokio::test]
async fn wherever_a_save_ends_its_header_suits_erk() {
    let mut headers = Vec::new();
    for at in 1..=12 {
        let rig = Rig::new().await;
        let forbidden = Fault::Forbidden;
        rig.forge.fail(at, forbidden);
        rig.say(Command::SavePlan).await;
        rig.settle().await;
        for (_, plan) in rig.forge.plans() {
            let parsed = parse(&plan.body);
            let Content::Yaml(fields) = &find(&parsed, "plan-header").unwrap().content else {
                panic!("{}", plan.body);
            };
            assert_eq!(check("plan-header", Era::Current, fields), Ok(()), "{at}");
            let complete = fields.contains_key("plan_comment_id");
            let first = check("plan-header", Era::First, fields).is_ok();
            assert_eq!(first, !complete, "refused at write {at}: {}", plan.body);
            headers.push(complete);
        }
    }
    assert!(
        headers.contains(&true) && headers.contains(&false),
        "{headers:?}"
    );
}

#[tokio::test]
async fn a_header_that_erk_would_refuse_is_an_internal_error_before_anything_is_saved() {
    let rig = Rig::new().await;
    rig.forge.grant("", 8, Permission::Write);
    let run = rig
        .deliver(rig.trigger(Command::SavePlan, "", 8, HERE))
        .await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    assert_eq!(rig.forge.plans().len(), 0);
    let said = rig.forge.own_bodies(HERE).join("\n");
    let reason = "The header of the plan would not be valid: created_by must not be empty.";
    assert!(said.contains(reason), "{said}");
}
