//! A save from the trigger to the final report, with all its failures.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::Reaction;
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::State;
use planwright::engine::settings::{Settings, WorkerSettings};
use planwright::engine::worker::Outcome;
use planwright::formats::command::{Command, Permission};

use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, PLAN, Rig};

/// Exactly one plan issue with exactly its comments, one status comment, one closing reaction.
fn assert_saved_once(rig: &Rig, context: &str) {
    let plans = rig.forge.plans();
    assert_eq!(plans.len(), 1, "{context}: plan issues");
    let (number, plan) = &plans[0];
    assert_eq!(plan.title, "Cache the search index", "{context}");
    assert_eq!(plan.labels, ["erk-plan"], "{context}");
    assert!(
        plan.body.contains("erk:metadata-block:plan-header"),
        "{context}: {}",
        plan.body
    );
    assert!(
        plan.body.contains(&format!(
            "planwright plan get acme/search#{number} | erk pr create"
        )),
        "{context}: {}",
        plan.body
    );
    assert_eq!(plan.comments.len(), 1, "{context}: plan comments");
    let id = plan.comments[0];
    assert!(
        plan.body.contains(&format!("plan_comment_id: {id}")),
        "{context}: {}",
        plan.body
    );
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{context}: comments here: {said:#?}");
    assert!(
        said[0].contains("✅ Plan saved: ["),
        "{context}: {}",
        said[0]
    );
    let world = rig.forge.world.lock().unwrap();
    let reactions: Vec<Reaction> = world.reactions.iter().map(|r| r.2).collect();
    assert_eq!(reactions, [Reaction::Rocket], "{context}");
}

#[tokio::test]
async fn a_plan_in_the_conversation_is_saved_byte_for_byte() {
    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    let view = rig.view(&run).await;
    assert_eq!(
        view.state,
        State::Succeeded,
        "{view:?} {:#?}",
        rig.forge.own_bodies(HERE)
    );
    assert_saved_once(&rig, "plain");
    let number = rig.forge.plans()[0].0;
    let comment = rig.forge.own_bodies(number).remove(0);
    let parsed = planwright::formats::block::parse(&comment);
    let block = planwright::formats::block::find(&parsed, "plan-body").unwrap();
    let planwright::formats::block::Content::Text(document) = &block.content else {
        panic!("{block:?}")
    };
    let notes = "\n\n<!-- planwright:notes -->\n\n---\n\n## Notes\n\n- No agent is configured: the plan was saved exactly as \
                 found, without enrichment.\n";
    assert_eq!(*document, format!("{PLAN}{notes}"), "{document}");
    let said = rig.forge.own_bodies(HERE).remove(0);
    let url = format!("https://github.test/{number}");
    let told = format!(
        "✅ Plan saved: [Cache the search index #{number}]({url})\n\nKeep it on disk between starts.\n\n\
         - Write the index to a file after building it\n\
         - Read the file at start when it is newer than the data\n\
         - Delete the file when the format changes\n\n"
    );
    assert!(said.starts_with(&told), "{said}");
}

/// How many writes a clean save needs; the fault tests go through each of them.
async fn writes_of_a_save() -> u64 {
    let rig = Rig::new().await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    rig.forge.world.lock().unwrap().writes
}

#[tokio::test]
async fn a_lost_answer_or_a_502_at_any_write_changes_nothing_in_the_end() {
    let writes = writes_of_a_save().await;
    assert!(writes >= 8, "{writes}");
    for at in 1..=writes {
        for fault in [Fault::LostBefore, Fault::LostAfter] {
            let rig = Rig::new().await;
            rig.forge.fail(at, fault);
            let run = rig.say(Command::SavePlan).await;
            rig.settle().await;
            assert_eq!(
                rig.state(&run).await,
                State::Succeeded,
                "{fault:?} at write {at}"
            );
            assert_saved_once(&rig, &format!("{fault:?} at write {at}"));
        }
    }
}

#[tokio::test]
async fn a_secondary_limit_of_ten_minutes_is_waited_out() {
    let writes = writes_of_a_save().await;
    for at in 1..=writes {
        let rig = Rig::new().await;
        let began = rig.clock.now();
        let wait = Duration::from_mins(10);
        rig.forge.fail(at, Fault::Limited(wait));
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(
            rig.state(&run).await,
            State::Succeeded,
            "limit at write {at}"
        );
        assert!(
            rig.clock.now().since(began) >= wait,
            "limit at write {at} was not kept"
        );
        assert_saved_once(&rig, &format!("limit at write {at}"));
    }
}

#[tokio::test]
async fn a_process_that_dies_at_any_write_leaves_exactly_one_plan() {
    let writes = writes_of_a_save().await;
    for at in 1..=writes {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let rig = Rig::new().await;
            rig.forge.fail(at, fault);
            let run = rig.say(Command::SavePlan).await;
            let doomed = rig.worker("doomed");
            // The write never returns; dropping the step is the process dying.
            tokio::select! {
                ended = doomed.step() => panic!("{fault:?} at write {at}: {ended:?}"),
                () = rig.forge.died.notified() => {}
            }
            rig.store.recover_all(rig.clock.now()).await.unwrap();
            rig.settle().await;
            let context = format!("{fault:?} at write {at}");
            assert_eq!(rig.state(&run).await, State::Succeeded, "{context}");
            assert_saved_once(&rig, &context);
        }
    }
}

#[tokio::test]
async fn two_unknown_outcomes_in_a_row_do_not_make_two_issues() {
    // Write 4 creates the issue: lost after it happened, and the restart dies at once.
    let rig = Rig::new().await;
    rig.forge.fail(4, Fault::LostAfter);
    rig.forge.fail(5, Fault::LostAfter);
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_saved_once(&rig, "two in a row");
}

#[tokio::test]
async fn nothing_that_looks_like_a_plan_is_an_error_marker() {
    let rig = Rig::new().await;
    rig.forge.open(8, "Chat", &["hello", "how are you?"]);
    let run = rig
        .deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
        .await;
    rig.settle().await;
    let view = rig.view(&run).await;
    assert_eq!(
        (view.state, view.code.map(Code::name)),
        (State::Failed, Some("no_plan_found"))
    );
    let said = rig.forge.own_bodies(8);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("## Error: no_plan_found\n\nNo implementation plan"),
        "{}",
        said[0]
    );
    assert!(
        said[0].contains("<summary>Details</summary>"),
        "{}",
        said[0]
    );
    assert!(
        said[0].contains("erk:metadata-block:planwright-error"),
        "{}",
        said[0]
    );
    assert!(planwright::formats::command::parse(&said[0]).is_empty());
    assert!(rig.forge.plans().is_empty());
    let world = rig.forge.world.lock().unwrap();
    assert_eq!(
        world.reactions.iter().map(|r| r.2).collect::<Vec<_>>(),
        [Reaction::Confused]
    );
}

#[tokio::test]
async fn someone_without_write_gets_one_line_and_starts_nothing() {
    for (login, id, role) in [
        ("bob", 8, Some(Permission::Triage)),
        ("eve", 9, None),
        // The login has passed to somebody else since: the id decides.
        ("ada", 666, Some(Permission::Write)),
    ] {
        let rig = Rig::new().await;
        if login == "bob" {
            rig.forge.grant(login, id, role.unwrap());
        }
        let run = rig
            .deliver(rig.trigger(Command::SavePlan, login, id, HERE))
            .await;
        rig.settle().await;
        assert_eq!(
            rig.view(&run).await.code.map(Code::name),
            Some("permission_denied"),
            "{login}"
        );
        let said = rig.forge.own_bodies(HERE);
        assert_eq!(said.len(), 1, "{login}: {said:?}");
        let visible = said[0].split("\n\n<!-- planwright:effect").next().unwrap();
        assert!(!visible.contains('\n'), "{login}: {visible}");
        assert!(
            visible.contains("needs `write` permission in acme/search"),
            "{visible}"
        );
        assert!(rig.forge.plans().is_empty());
    }
}

#[tokio::test]
async fn an_outage_is_given_up_after_the_configured_time_reported_and_retried() {
    let give_up_after = Duration::from_hours(2);
    let settings = Settings {
        worker: WorkerSettings {
            give_up_after,
            ..WorkerSettings::default()
        },
        ..Settings::default()
    };
    let rig = Rig::with(settings).await;
    let run = rig.say(Command::SavePlan).await;
    let down = |down| rig.forge.world.lock().unwrap().down = down;
    down(true);
    let worker = rig.worker("rig");
    let began = rig.clock.now();
    let failure = async || {
        let progress = rig.view(&run).await.progress.unwrap_or_default();
        progress.write().contains("github_unavailable")
    };
    while !failure().await {
        if let Outcome::Wait(until) = worker.step().await.unwrap() {
            rig.clock.advance_to(until);
        }
        let spent = rig.clock.now().since(began);
        assert!(spent < give_up_after * 2, "never gave up");
    }
    assert!(rig.clock.now().since(began) >= give_up_after);
    assert_eq!(
        rig.state(&run).await,
        State::Waiting,
        "the report is still to be made"
    );
    down(false);
    rig.settle().await;
    let view = rig.view(&run).await;
    assert_eq!(view.code.map(Code::name), Some("github_unavailable"));
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("Requests to GitHub have failed for more than 2 h."),
        "{}",
        said[0]
    );
    // The old outage does not count against the new round: one hiccup is waited out.
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_hours(24)));
    let next = rig.forge.world.lock().unwrap().writes + 4;
    rig.forge.fail(next, Fault::LostBefore);
    rig.say(Command::Retry).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(rig.forge.plans().len(), 1);
    let world = rig.forge.world.lock().unwrap();
    let left: Vec<Reaction> = world.reactions.iter().map(|r| r.2).collect();
    // One on the command's comment, one on that of `/retry`.
    assert_eq!(
        left,
        [Reaction::Rocket, Reaction::Rocket],
        "no reaction of the failed round stays"
    );
}

#[tokio::test]
async fn a_cancel_after_a_lost_answer_does_not_orphan_the_issue() {
    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    // Write 4 creates the issue; its answer is lost, and the run waits to look for it.
    rig.forge.fail(4, Fault::LostAfter);
    let worker = rig.worker("rig");
    assert_eq!(
        worker.step().await.unwrap(),
        Outcome::Did(run.clone(), Some(State::Waiting))
    );
    assert_eq!(rig.forge.plans().len(), 1);
    rig.say(Command::Cancel).await;
    rig.settle().await;
    assert_eq!(
        rig.state(&run).await,
        State::Succeeded,
        "once begun, a save goes through"
    );
    assert_eq!(rig.forge.plans()[0].1.comments.len(), 1);
}

#[tokio::test]
async fn a_deleted_status_comment_is_written_anew() {
    let rig = Rig::new().await;
    let run = rig.say(Command::SavePlan).await;
    // Write 5 is the plan comment: when it is lost, somebody tidies the status comment away.
    rig.forge.fail(5, Fault::LostBefore);
    let worker = rig.worker("rig");
    assert_eq!(
        worker.step().await.unwrap(),
        Outcome::Did(run.clone(), Some(State::Waiting))
    );
    rig.forge.forget_own_comments(HERE);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].contains("✅ Plan saved"), "{}", said[0]);
}

#[tokio::test]
async fn a_missing_app_permission_says_so_and_retry_goes_on() {
    let rig = Rig::new().await;
    rig.forge.fail(4, Fault::Forbidden);
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("config_invalid")
    );
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("The GitHub App lacks a permission in acme/search."),
        "{}",
        said[0]
    );
    rig.say(Command::Retry).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(rig.forge.plans().len(), 1);
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("✅ Plan saved"),
        "the status comment is edited in place: {}",
        said[0]
    );
    assert!(said[1].contains("is queued again"), "{}", said[1]);
}

/// The edited-comment time bomb, in the opening text: harmless when the command was given, changed
/// before it is read.
#[tokio::test]
async fn an_opening_text_edited_after_the_command_is_not_saved() {
    let rig = Rig::new().await;
    rig.forge.open(9, "Plan inside", &[PLAN]);
    let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, 9);
    trigger.opening = Some(planwright::engine::model::trigger::digest("harmless"));
    let run = rig.deliver(trigger.clone()).await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("no_plan_found")
    );
    let said = rig.forge.own_bodies(9);
    assert!(
        said[0].contains("the opening text by ada: edited after the command"),
        "{}",
        said[0]
    );
    trigger.opening = Some(planwright::engine::model::trigger::digest(PLAN));
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

/// The command's comment can be deleted while the run works: a reaction has nothing to hang on
/// then.
#[tokio::test]
async fn a_deleted_command_comment_does_not_fail_the_run() {
    let last = writes_of_a_save().await;
    // The first write is 👀, the last but one 🚀, the last takes 👀 off.
    for at in [1, last - 1] {
        let rig = Rig::new().await;
        rig.forge.fail(at, Fault::Missing);
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(
            rig.state(&run).await,
            State::Succeeded,
            "gone at write {at}"
        );
        assert_eq!(rig.forge.plans().len(), 1);
    }
}
