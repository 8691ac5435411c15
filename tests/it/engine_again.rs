//! Repeated requests for the same plan: the answer names the existing issue, unless the text has
//! changed or `again=yes` is given.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::Reaction;
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::Origin;
use planwright::engine::store::Store;
use planwright::formats::command::{Command, RawOption};

use crate::engine_agent::{GOOD, rig as rig_with_agent, say};
use crate::support::fake_agent::FakeAgent;
use crate::support::fake_forge::{Fault, Happening, Where};
use crate::support::rig::{HERE, Rig};

/// `/save-plan` with options and guidance.
async fn ask(rig: &Rig, command: Command, options: &[(&str, &str)], guidance: &str) -> RunId {
    let mut trigger = rig.trigger(command, "ada", 7, HERE);
    let given = |(name, value): &(&str, &str)| RawOption {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    };
    trigger.options = options.iter().map(given).collect();
    trigger.guidance = Some(guidance.to_owned()).filter(|text| !text.is_empty());
    rig.deliver(trigger).await
}

async fn label(rig: &Rig) -> RunId {
    let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    trigger.origin = Origin::Label {
        name: "save-plan".into(),
    };
    rig.deliver(trigger).await
}

/// What a run ended with, as people see it.
async fn ended(rig: &Rig, run: &RunId) -> String {
    rig.settle().await;
    assert_eq!(rig.state(run).await, State::Succeeded);
    let marker = format!("<!-- planwright:effect {run}/status -->");
    let said = rig.forge.own_bodies(HERE);
    let mut own = said.iter().filter(|body| body.ends_with(&marker));
    let body = own.next().expect("a report").clone();
    assert!(own.next().is_none(), "{said:#?}");
    body
}

/// A second passes.
fn later(rig: &Rig) {
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_secs(1)));
}

fn plans(rig: &Rig) -> Vec<u64> {
    rig.forge
        .plans()
        .iter()
        .map(|(number, _)| *number)
        .collect()
}

fn change(rig: &Rig, number: u64, act: impl FnOnce(&mut crate::support::fake_forge::Issue)) {
    let mut world = rig.forge.world.lock().unwrap();
    act(world.issues.get_mut(&number).unwrap());
}

/// Somebody edits the plan in the conversation.
fn edit_plan(rig: &Rig, from: &str, to: &str) {
    let mut world = rig.forge.world.lock().unwrap();
    for comment in world.comments.values_mut().filter(|one| !one.own) {
        comment.body = comment.body.replace(from, to);
    }
}

fn assert_already_saved(report: &str, number: u64) {
    let first = format!(
        "✅ Already saved as [#{number}](https://github.test/{number}): the plan here has not \
         changed since, so it was not saved again.\n\n"
    );
    assert!(report.starts_with(&first), "{report}");
    assert!(report.contains("already_saved: true"), "{report}");
    assert!(
        report.contains(&format!("plan_issue: {number}\n")),
        "{report}"
    );
}

#[tokio::test]
async fn a_second_command_is_answered_with_the_issue_that_exists() {
    let rig = Rig::new().await;
    let first = rig.say(Command::SavePlan).await;
    ended(&rig, &first).await;
    let number = plans(&rig)[0];
    for command in [Command::SavePlan, Command::SaveRawPlan] {
        let run = ask(&rig, command, &[], "").await;
        let said = ended(&rig, &run).await;
        assert_already_saved(&said, number);
        let how = format!(
            "To save it once more, comment `/{} again=yes`.\n",
            command.name()
        );
        assert!(said.contains(&how), "{said}");
        assert_eq!(plans(&rig), [number]);
        assert!(planwright::formats::command::parse(&said).is_empty());
    }
    let world = rig.forge.world.lock().unwrap();
    let reactions: Vec<Reaction> = world.reactions.iter().map(|r| r.2).collect();
    assert_eq!(reactions, [Reaction::Rocket; 3]);
}

#[tokio::test]
async fn a_comment_and_a_label_at_once_save_once() {
    let rig = Rig::new().await;
    let runs = [rig.say(Command::SavePlan).await, label(&rig).await];
    rig.settle().await;
    let number = plans(&rig)[0];
    assert_eq!(plans(&rig), [number]);
    assert!(ended(&rig, &runs[0]).await.contains("✅ Plan saved: ["));
    assert_already_saved(&ended(&rig, &runs[1]).await, number);
    rig.say(Command::Status).await;
    rig.settle().await;
    let status = rig.forge.own_bodies(HERE).pop().unwrap();
    let row = format!("already saved as [#{number}](https://github.test/{number})");
    assert!(status.contains(&row), "{status}");
}

#[tokio::test]
async fn again_saves_once_more_and_replaces_nothing() {
    let rig = Rig::new().await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let run = ask(&rig, Command::SavePlan, &[("again", "yes")], "").await;
    let said = ended(&rig, &run).await;
    assert!(said.contains("✅ Plan saved: ["), "{said}");
    assert!(!said.contains("replaces"), "{said}");
    let saved = plans(&rig);
    assert_eq!(saved.len(), 2);
    assert_eq!(rig.forge.own_bodies(saved[0]).len(), 1, "nobody is told");
    // The newest one answers from now on.
    let run = ask(&rig, Command::SaveRawPlan, &[("author", "ada")], "x").await;
    let said = ended(&rig, &run).await;
    assert_already_saved(&said, saved[1]);
    let how = "comment `/save-raw-plan again=yes`, with the same options and guidance.";
    assert!(said.contains(how), "{said}");

    let run = ask(&rig, Command::SavePlan, &[("again", "no")], "").await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("invalid_input")
    );
    let said = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(
        said.contains(
            "The option `again=` of `/save-plan` cannot be used: its value must be `yes`."
        ),
        "{said}"
    );
}

#[tokio::test]
async fn a_changed_text_is_saved_and_replaces_the_issue_before() {
    let rig = Rig::new().await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    edit_plan(&rig, "Start twice", "Start three times");
    let run = rig.say(Command::SavePlan).await;
    let said = ended(&rig, &run).await;
    let saved = plans(&rig);
    let (old, new) = (saved[0], saved[1]);
    assert_eq!(saved.len(), 2);
    let replaces = format!(
        "It replaces [#{old}](https://github.test/{old}), which was saved from here before."
    );
    assert!(said.contains(&replaces), "{said}");
    assert!(said.contains(&format!("replaces: {old}\n")), "{said}");
    let body = rig.forge.plans()[1].1.body.clone();
    assert!(body.contains(&replaces), "{body}");
    let told = rig.forge.own_bodies(old).pop().unwrap();
    assert!(
        told.starts_with(&format!(
            "This plan was replaced by [#{new}](https://github.test/{new}): a changed version was \
             saved from acme/search#7. This issue stays open; close it if it is no longer \
             needed.\n"
        )),
        "{told}"
    );
    assert_eq!(rig.forge.own_bodies(old).len(), 2, "told once");
    assert_eq!(rig.forge.own_bodies(new).len(), 1);

    // The first text again: it is saved, and its reader learns that there is a later one.
    edit_plan(&rig, "Start three times", "Start twice");
    let run = label(&rig).await;
    let said = ended(&rig, &run).await;
    assert_already_saved(&said, old);
    let later = format!(
        "[#{new}](https://github.test/{new}) was saved from here later, and replaces it.\n"
    );
    assert!(said.contains(&later), "{said}");
}

#[tokio::test]
async fn the_replaced_issue_is_told_once_whatever_goes_wrong() {
    let rig = Rig::new().await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let before = rig.forge.world.lock().unwrap().writes;
    edit_plan(&rig, "Start twice", "Start three times");
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let writes = rig.forge.world.lock().unwrap().writes - before;
    for at in 1..=writes {
        for fault in [Fault::LostAfter, Fault::DieAfter, Fault::DieBefore] {
            let rig = Rig::new().await;
            rig.say(Command::SavePlan).await;
            rig.settle().await;
            edit_plan(&rig, "Start twice", "Start three times");
            rig.forge.fail(before + at, fault);
            let run = rig.say(Command::SavePlan).await;
            if fault != Fault::LostAfter {
                let doomed = rig.worker("doomed");
                tokio::select! {
                    ended = doomed.step() => panic!("{fault:?} at write {at}: {ended:?}"),
                    () = rig.forge.died.notified() => {}
                }
                rig.store.recover_all(rig.clock.now()).await.unwrap();
            }
            ended(&rig, &run).await;
            let saved = plans(&rig);
            assert_eq!(saved.len(), 2, "{fault:?} at write {at}");
            let told = rig.forge.own_bodies(saved[0]);
            assert_eq!(told.len(), 2, "{fault:?} at write {at}: {told:#?}");
        }
    }
}

#[tokio::test]
async fn an_issue_that_was_closed_or_deleted_does_not_count() {
    for deleted in [false, true] {
        let rig = Rig::new().await;
        rig.say(Command::SavePlan).await;
        rig.settle().await;
        let number = plans(&rig)[0];
        if deleted {
            let next = rig.forge.world.lock().unwrap().writes + 1;
            rig.forge.happen(next, Happening::Delete, Where::Plan);
        } else {
            change(&rig, number, |issue| issue.closed = true);
        }
        let run = rig.say(Command::SavePlan).await;
        let said = ended(&rig, &run).await;
        assert!(said.contains("✅ Plan saved: ["), "{said}");
        assert!(!said.contains("replaces"), "{said}");
        let new = *plans(&rig).last().unwrap();
        assert_ne!(new, number);
        let run = label(&rig).await;
        assert_already_saved(&ended(&rig, &run).await, new);
        // Opened again, the newest open one answers.
        if !deleted {
            change(&rig, number, |issue| issue.closed = false);
            change(&rig, new, |issue| issue.closed = true);
            let run = label(&rig).await;
            assert_already_saved(&ended(&rig, &run).await, number);
        }
    }
}

#[tokio::test]
async fn a_retry_sees_what_others_have_saved_since() {
    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    let cancel = rig.say(Command::Cancel).await;
    let here = Rig::place(HERE).key();
    rig.store
        .request_cancel(&here, &cancel, "ada")
        .await
        .unwrap();
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Cancelled);
    label(&rig).await;
    rig.settle().await;
    rig.say(Command::Retry).await;
    let said = ended(&rig, &run).await;
    assert_already_saved(&said, plans(&rig)[0]);
    assert_eq!(plans(&rig).len(), 1);
}

#[tokio::test]
async fn a_retry_after_a_failed_write_completes_its_own_issue() {
    let rig = Rig::new().await;
    // Write 5 posts the plan's comment.
    rig.forge.fail(5, Fault::Forbidden);
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    rig.say(Command::Retry).await;
    let said = ended(&rig, &run).await;
    assert!(said.contains("✅ Plan saved: ["), "{said}");
    assert_eq!(plans(&rig).len(), 1);
}

#[tokio::test]
async fn no_agent_is_paid_for_a_plan_that_is_saved() {
    let agent = FakeAgent::new(vec![say(GOOD), say(GOOD), say(GOOD)]);
    let rig = rig_with_agent(&agent).await;
    let first = rig.say(Command::SavePlan).await;
    ended(&rig, &first).await;
    let number = plans(&rig)[0];
    let run = label(&rig).await;
    assert_already_saved(&ended(&rig, &run).await, number);
    assert_eq!(agent.prompts().len(), 1);
    // New guidance is a new request, and replaces nothing; the same guidance is not new.
    let run = ask(&rig, Command::SavePlan, &[], "keep the old endpoint").await;
    assert!(ended(&rig, &run).await.contains("✅ Plan saved"));
    let guided = plans(&rig)[1];
    assert_eq!(agent.prompts().len(), 2);
    let run = ask(&rig, Command::SavePlan, &[], "keep the old endpoint\r\n").await;
    let said = ended(&rig, &run).await;
    assert_already_saved(&said, guided);
    let how = "comment `/save-plan again=yes`, with the same guidance.";
    assert!(said.contains(how), "{said}");
    assert_eq!(agent.prompts().len(), 2);
    // So is the plan as it was found.
    let run = ask(&rig, Command::SaveRawPlan, &[], "").await;
    assert!(
        ended(&rig, &run)
            .await
            .contains("✅ Plan saved exactly as found: [")
    );
    assert_eq!(plans(&rig).len(), 3);
    for number in plans(&rig) {
        assert_eq!(rig.forge.own_bodies(number).len(), 1, "nothing is replaced");
    }
}

#[tokio::test]
async fn a_fallback_answers_commands_that_came_before_it_and_is_replaced_by_later_ones() {
    let chat = "Great choice.";
    let agent = FakeAgent::new(vec![say(chat), say(chat), say(chat), say(GOOD)]);
    let rig = rig_with_agent(&agent).await;
    let first = rig.say(Command::SavePlan).await;
    let second = label(&rig).await;
    later(&rig);
    let said = ended(&rig, &first).await;
    assert!(said.contains("**not enriched**"), "{said}");
    let fallback = plans(&rig)[0];
    assert_already_saved(&ended(&rig, &second).await, fallback);
    later(&rig);
    let third = rig.say(Command::SavePlan).await;
    let said = ended(&rig, &third).await;
    assert!(said.contains("✅ Plan saved"), "{said}");
    assert!(
        said.contains(&format!("It replaces [#{fallback}]")),
        "{said}"
    );
    assert_eq!(plans(&rig).len(), 2);
}

#[tokio::test]
async fn a_plan_issue_that_github_does_not_show_yet_is_waited_for() {
    let rig = Rig::new().await;
    let first = rig.say(Command::SavePlan).await;
    ended(&rig, &first).await;
    let number = plans(&rig)[0];
    // A replica that does not have it yet.
    let hidden = rig
        .forge
        .world
        .lock()
        .unwrap()
        .issues
        .remove(&number)
        .unwrap();
    let second = rig.say(Command::SavePlan).await;
    let worker = rig.worker("one");
    worker.step().await.unwrap();
    assert_eq!(rig.state(&second).await, State::Waiting);
    rig.forge
        .world
        .lock()
        .unwrap()
        .issues
        .insert(number, hidden);
    assert_already_saved(&ended(&rig, &second).await, number);
}
