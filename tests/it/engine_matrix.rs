//! The fault matrix of a save: at every write an event happens on GitHub or GitHub responds with a
//! fault. In the end there is one plan issue or none, a correct report wherever one can be posted,
//! and a matching run state.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::Reaction;
use planwright::engine::model::conversation::Hidden;
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::State;
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::engine::store::Store;
use planwright::formats::command::Command;

use crate::support::fake_forge::{Fault, Happening, Issue, Unripe, Where};
use crate::support::rig::{HERE, On, PLAN, Rig};

/// The longest lag of lists that a save has to bear.
const LAG: Duration = Duration::from_mins(1);

/// How many writes a save needs that nothing disturbs.
async fn writes_of_a_save(on: &On) -> u64 {
    let rig = Rig::fresh(on).await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let writes = rig.forge.world.lock().unwrap().writes;
    assert!(writes >= 8, "{writes}");
    writes
}

/// Saves with `disturb` done to the rig first; the process dies where a fault says so.
async fn save(on: &On, disturb: impl FnOnce(&Rig)) -> (Rig, State) {
    let rig = Rig::fresh(on).await;
    disturb(&rig);
    let dies = {
        let world = rig.forge.world.lock().unwrap();
        let mut faults = world.faults.values();
        faults.any(|fault| matches!(fault, Fault::DieBefore | Fault::DieAfter))
    };
    let run = rig.say(Command::SavePlan).await;
    if dies {
        let doomed = rig.worker("doomed");
        tokio::select! {
            () = async {
                for _ in 0..200 {
                    doomed.step().await.unwrap();
                    let due = rig.store.next_due().await.unwrap();
                    rig.clock.advance_to(due.unwrap_or_default());
                }
            } => {}
            () = rig.forge.died.notified() => {}
        }
        rig.recover_from_death().await;
    }
    rig.settle().await;
    let state = rig.state(&run).await;
    (rig, state)
}

/// Open plan issues.
fn plans(rig: &Rig) -> Vec<(u64, Issue)> {
    let mut plans = rig.forge.plans();
    plans.retain(|(_, plan)| !plan.closed);
    plans
}

/// Whether the plan issue is complete: header, its one plan comment, and the header's reference to
/// it.
fn is_complete(rig: &Rig, plan: &Issue) -> bool {
    let world = rig.forge.world.lock().unwrap();
    let holds = |id: &&u64| world.comments[*id].body.contains("plan-body");
    let parts: Vec<_> = plan.comments.iter().filter(holds).collect();
    parts.len() == 1
        && plan
            .body
            .contains(&format!("plan_comment_id: {}", parts[0]))
}

/// The bot's comments at an issue, if that exists.
fn said(rig: &Rig, number: u64) -> Vec<String> {
    let exists = rig.forge.world.lock().unwrap().issues.contains_key(&number);
    if exists {
        rig.forge.own_bodies(number)
    } else {
        Vec::new()
    }
}

fn assert_saved_once(rig: &Rig, state: State, case: &str) {
    assert_eq!(state, State::Succeeded, "{case}: {:#?}", said(rig, HERE));
    let plans = plans(rig);
    assert_eq!(plans.len(), 1, "{case}: plan issues");
    assert!(is_complete(rig, &plans[0].1), "{case}: {:#?}", plans[0].1);
    assert_eq!(plans[0].1.comments.len(), 1, "{case}: plan comments");
    let said = said(rig, HERE);
    assert_eq!(said.len(), 1, "{case}: {said:#?}");
    assert!(said[0].contains("✅ Plan saved"), "{case}: {}", said[0]);
}

fn assert_reactions(rig: &Rig, wanted: &[Reaction], case: &str) {
    let world = rig.forge.world.lock().unwrap();
    let reactions: Vec<Reaction> = world.reactions.iter().map(|one| one.2).collect();
    assert_eq!(reactions, wanted, "{case}");
}

/// Tests every function on both stores.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&super::On::Sqlite).await;
            })*
        }
        #[cfg(unix)]
        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                if let Some(on) = super::On::postgres().await {
                    super::$name(&on).await;
                }
            })*
        }
    };
}
on_both! {
    a_fault_at_any_write_with_lists_that_lag_by_a_minute_leaves_exactly_one_plan
    a_404_or_422_on_what_was_just_created_is_waited_out_whatever_else_goes_wrong
    one_404_at_any_write_leaves_one_plan_and_one_report
    refused_reactions_never_decide_how_a_run_ends
    a_conversation_locked_at_any_write_does_not_keep_the_plan_from_being_saved
    a_conversation_deleted_at_any_write_leaves_a_reported_plan_or_none
    a_transferred_issue_is_followed_from_any_write_on
    a_repository_archived_at_any_write_ends_the_run_as_what_happened
    a_plan_issue_that_disappears_at_any_write_is_reported_and_a_retry_saves_one_plan
    a_retry_long_after_replaces_a_plan_issue_that_was_deleted_meanwhile
    a_plan_that_exists_twice_after_an_even_longer_lag_is_closed_with_a_link
    a_comment_that_exists_twice_after_an_even_longer_lag_is_deleted
    a_host_whose_clock_is_hours_wrong_posts_nothing_twice
    a_list_without_the_commands_own_comment_is_stale_and_read_again
    a_list_shorter_than_the_issue_says_is_read_again_after_a_label
    a_deleted_command_comment_does_not_make_the_run_wait
    a_hidden_comment_is_never_read_as_the_plan
    help_that_cannot_be_posted_is_no_success_and_a_cancel_is_one
    a_closing_reaction_that_always_fails_does_not_fail_a_saved_plan
}

const FAULTS: [Fault; 5] = [
    Fault::LostBefore,
    Fault::LostAfter,
    Fault::DieBefore,
    Fault::DieAfter,
    Fault::Limited(Duration::from_mins(10)),
];

async fn a_fault_at_any_write_with_lists_that_lag_by_a_minute_leaves_exactly_one_plan(on: &On) {
    // A wait in between takes one more edit of the status comment.
    for at in 1..=writes_of_a_save(on).await + 1 {
        for fault in FAULTS {
            let case = format!("{fault:?} at write {at}");
            let (rig, state) = save(on, |rig| {
                rig.forge.world.lock().unwrap().lag = LAG;
                rig.forge.fail(at, fault);
            })
            .await;
            assert_saved_once(&rig, state, &case);
            assert_reactions(&rig, &[Reaction::Rocket], &case);
        }
    }
}

async fn a_404_or_422_on_what_was_just_created_is_waited_out_whatever_else_goes_wrong(on: &On) {
    for how in [Unripe::NotFound, Unripe::Unprocessable] {
        let (rig, state) = save(on, |rig| {
            let within = Duration::from_secs(20);
            rig.forge.world.lock().unwrap().unripe = Some((within, how));
        })
        .await;
        assert_saved_once(&rig, state, &format!("{how:?}"));
        let writes = rig.forge.world.lock().unwrap().writes;
        for at in 1..=writes {
            for fault in FAULTS {
                let case = format!("{how:?} with {fault:?} at write {at}");
                let (rig, state) = save(on, |rig| {
                    let mut world = rig.forge.world.lock().unwrap();
                    world.unripe = Some((Duration::from_secs(20), how));
                    world.lag = LAG;
                    world.faults.insert(at, fault);
                })
                .await;
                assert_saved_once(&rig, state, &case);
            }
        }
    }
}

async fn one_404_at_any_write_leaves_one_plan_and_one_report(on: &On) {
    for at in 1..=writes_of_a_save(on).await {
        let case = format!("404 at write {at}");
        let (rig, state) = save(on, |rig| rig.forge.fail(at, Fault::Missing)).await;
        assert_saved_once(&rig, state, &case);
    }
}

async fn refused_reactions_never_decide_how_a_run_ends(on: &On) {
    let writes = writes_of_a_save(on).await;
    for at in 0..=writes {
        for fault in FAULTS {
            let case = format!("{fault:?} at write {at}");
            let (rig, state) = save(on, |rig| {
                rig.forge.world.lock().unwrap().no_reactions = true;
                rig.forge.fail(at, fault);
            })
            .await;
            assert_saved_once(&rig, state, &case);
            assert_reactions(&rig, &[], &case);
        }
    }
    // A failure is reported all the same, and so is a refusal.
    for (login, number, code) in [
        ("ada", 8, "no_plan_found"),
        ("eve", HERE, "permission_denied"),
    ] {
        let rig = Rig::fresh(on).await;
        rig.forge.open(8, "Chat", &["hello"]);
        rig.forge.world.lock().unwrap().no_reactions = true;
        let id = if login == "ada" { 7 } else { 9 };
        let trigger = rig.trigger(Command::SavePlan, login, id, number);
        let run = rig.deliver(trigger).await;
        rig.settle().await;
        assert_eq!(rig.view(&run).await.code.map(Code::name), Some(code));
        assert_eq!(said(&rig, number).len(), 1);
    }
}

/// Where the report is: on the place, or on the plan issue with the reason.
fn assert_reported_somewhere(rig: &Rig, reason: &str, case: &str) {
    let plan = plans(rig).remove(0).0;
    let done = "✅ Plan saved";
    let here = said(rig, HERE);
    let there = said(rig, plan);
    let elsewhere: Vec<&String> = there.iter().filter(|body| body.contains(done)).collect();
    if here.iter().any(|body| body.contains(done)) {
        assert!(elsewhere.is_empty(), "{case}: said twice");
        return;
    }
    let [report] = elsewhere.as_slice() else {
        panic!("{case}: here {here:#?}, on the plan {there:#?}");
    };
    let why = format!("This report could not be posted in acme/search#{HERE}: {reason}.");
    let text = report.replace('\u{200b}', "").replace("<!-- -->", "");
    assert!(text.starts_with(&why), "{case}: {report}");
}

async fn a_conversation_locked_at_any_write_does_not_keep_the_plan_from_being_saved(on: &On) {
    for at in 1..=writes_of_a_save(on).await {
        for lock in [Happening::Lock, Happening::LockEdits] {
            let case = format!("{lock:?} at write {at}");
            let (rig, state) =
                save(on, |rig| rig.forge.happen(at, lock, Where::Number(HERE))).await;
            assert_eq!(state, State::Succeeded, "{case}");
            let plans = plans(&rig);
            assert_eq!(plans.len(), 1, "{case}");
            assert!(is_complete(&rig, &plans[0].1), "{case}: {:#?}", plans[0].1);
            assert_reported_somewhere(&rig, "the conversation is locked", &case);
        }
    }
}

async fn a_conversation_deleted_at_any_write_leaves_a_reported_plan_or_none(on: &On) {
    let mut saved = 0;
    for at in 1..=writes_of_a_save(on).await {
        let case = format!("deleted at write {at}");
        let delete = Happening::Delete;
        let (rig, state) = save(on, |rig| rig.forge.happen(at, delete, Where::Number(HERE))).await;
        let plans = plans(&rig);
        if state == State::Succeeded {
            saved += 1;
            assert_eq!(plans.len(), 1, "{case}");
            assert!(is_complete(&rig, &plans[0].1), "{case}: {:#?}", plans[0].1);
            let seen = plans[0].1.comments.len();
            // The deletion may come after the report.
            if seen > 1 {
                assert_reported_somewhere(&rig, "the issue was deleted", &case);
            }
        } else {
            assert_eq!(state, State::Failed, "{case}");
            assert!(plans.is_empty(), "{case}: {plans:#?}");
            let run = rig.store.recent_runs(1).await.unwrap().remove(0);
            assert_eq!(run.code.map(Code::name), Some("location_gone"), "{case}");
        }
    }
    assert!(saved >= 4, "{saved}");
}

async fn a_transferred_issue_is_followed_from_any_write_on(on: &On) {
    for at in 1..=writes_of_a_save(on).await {
        let case = format!("transferred at write {at}");
        let transfer = Happening::Transfer;
        let (rig, state) = save(on, |rig| {
            rig.forge.happen(at, transfer, Where::Number(HERE));
        })
        .await;
        assert_eq!(state, State::Succeeded, "{case}");
        let plans = plans(&rig);
        assert_eq!(plans.len(), 1, "{case}");
        assert!(is_complete(&rig, &plans[0].1), "{case}");
        assert_eq!(plans[0].1.comments.len(), 1, "{case}");
        let there = rig.forge.world.lock().unwrap().moved[&HERE];
        let said = said(&rig, there);
        assert_eq!(said.len(), 1, "{case}: {said:#?}");
        assert!(said[0].contains("✅ Plan saved"), "{case}: {}", said[0]);
    }
}

async fn a_repository_archived_at_any_write_ends_the_run_as_what_happened(on: &On) {
    let mut ends = Vec::new();
    for at in 1..=writes_of_a_save(on).await {
        let case = format!("archived at write {at}");
        let archive = Happening::Archive;
        let (rig, state) = save(on, |rig| rig.forge.happen(at, archive, Where::Number(HERE))).await;
        let plans = plans(&rig);
        let complete = plans.iter().any(|(_, plan)| is_complete(&rig, plan));
        assert!(plans.len() <= 1, "{case}: {plans:#?}");
        assert_eq!(state == State::Succeeded, complete, "{case}");
        if !complete {
            let run = rig.store.recent_runs(1).await.unwrap().remove(0);
            assert_eq!(run.code.map(Code::name), Some("config_invalid"), "{case}");
            let note = run.note.unwrap_or_default();
            assert!(note.contains("acme/search is archived"), "{case}: {note}");
            // Once it is not archived any more, the same plan issue is completed.
            rig.forge.world.lock().unwrap().archived = false;
            rig.say(Command::Retry).await;
            rig.settle().await;
            let plans = rig.forge.plans();
            assert_eq!(plans.len(), 1, "{case} and retried");
            assert!(is_complete(&rig, &plans[0].1), "{case} and retried");
        }
        ends.push(state);
    }
    assert!(ends.contains(&State::Failed) && ends.contains(&State::Succeeded));
}

async fn a_plan_issue_that_disappears_at_any_write_is_reported_and_a_retry_saves_one_plan(on: &On) {
    let writes = writes_of_a_save(on).await;
    for happening in [Happening::Delete, Happening::Transfer, Happening::Lock] {
        for at in 1..=writes {
            let case = format!("plan issue: {happening:?} at write {at}");
            let (rig, state) = save(on, |rig| rig.forge.happen(at, happening, Where::Plan)).await;
            let happened = {
                let world = rig.forge.world.lock().unwrap();
                !(world.deleted.is_empty() && world.moved.is_empty() && world.locked.is_empty())
            };
            if state == State::Succeeded {
                // It happened too early, or when everything was done.
                continue;
            }
            assert!(happened, "{case}");
            assert_eq!(state, State::Failed, "{case}");
            let run = rig.store.recent_runs(1).await.unwrap().remove(0);
            assert_eq!(run.code.map(Code::name), Some("location_gone"), "{case}");
            let said = said(&rig, HERE);
            assert_eq!(said.len(), 1, "{case}: {said:#?}");
            let told = match happening {
                Happening::Delete => "The plan issue was deleted while the plan was being saved.",
                Happening::Transfer => "The plan issue was transferred while the plan was",
                _ => "A conversation in acme/search is locked",
            };
            assert!(said[0].contains(told), "{case}: {}", said[0]);
            if happening == Happening::Delete {
                rig.say(Command::Retry).await;
                rig.settle().await;
                let plans = plans(&rig);
                assert_eq!(plans.len(), 1, "{case} and retried");
                assert!(is_complete(&rig, &plans[0].1), "{case} and retried");
            }
        }
    }
}

async fn a_retry_long_after_replaces_a_plan_issue_that_was_deleted_meanwhile(on: &On) {
    // Write 5 is the plan comment.
    let (rig, state) = save(on, |rig| rig.forge.fail(5, Fault::Forbidden)).await;
    assert_eq!(state, State::Failed);
    let number = rig.forge.plans()[0].0;
    {
        let mut world = rig.forge.world.lock().unwrap();
        world.issues.remove(&number);
        world.deleted.insert(number);
    }
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_hours(24)));
    rig.say(Command::Retry).await;
    rig.settle().await;
    let plans = plans(&rig);
    assert_eq!(plans.len(), 1);
    assert!(is_complete(&rig, &plans[0].1));
    let said = said(&rig, HERE);
    assert!(said[0].contains("✅ Plan saved"), "{}", said[0]);
}

async fn a_plan_that_exists_twice_after_an_even_longer_lag_is_closed_with_a_link(on: &On) {
    for lag in [Duration::from_secs(90), Duration::from_secs(130)] {
        let (rig, state) = save(on, |rig| {
            rig.forge.world.lock().unwrap().lag = lag;
            // Write 4 creates the issue.
            rig.forge.fail(4, Fault::LostAfter);
        })
        .await;
        assert_saved_once(&rig, state, &format!("{lag:?}"));
        let kept = plans(&rig)[0].0;
        let all = rig.forge.plans();
        let closed: Vec<_> = all.iter().filter(|(_, plan)| plan.closed).collect();
        let [(_, closed)] = closed.as_slice() else {
            panic!("{lag:?}: {all:#?}");
        };
        assert!(closed.labels.is_empty());
        let link = format!("Duplicate of acme/search#{kept}. GitHub's answer");
        assert!(closed.body.starts_with(&link), "{}", closed.body);
    }
}

async fn a_comment_that_exists_twice_after_an_even_longer_lag_is_deleted(on: &On) {
    // Write 2 creates the status comment, write 5 the plan comment.
    for at in [2, 5] {
        let (rig, state) = save(on, |rig| {
            rig.forge.world.lock().unwrap().lag = Duration::from_secs(90);
            rig.forge.fail(at, Fault::LostAfter);
        })
        .await;
        assert_saved_once(&rig, state, &format!("write {at}"));
    }
}

async fn a_host_whose_clock_is_hours_wrong_posts_nothing_twice(on: &On) {
    let writes = writes_of_a_save(on).await;
    for hours in [-5_i64, 5] {
        for at in 1..=writes {
            let rig = Rig::fresh(on).await;
            rig.forge.fail(at, Fault::LostAfter);
            rig.forge.shift(hours * 3_600_000);
            let trigger = Trigger {
                at: rig.forge.github_time(),
                ..rig.trigger(Command::SavePlan, "ada", 7, HERE)
            };
            let run = rig.deliver(trigger).await;
            rig.settle().await;
            let case = format!("{hours} h, write {at}");
            assert_saved_once(&rig, rig.state(&run).await, &case);
        }
    }
}

/// A command whose comment has this id.
fn command_in(rig: &Rig, id: u64) -> Trigger {
    let url = "https://github.test/comment".to_owned();
    let text = "/save-plan".to_owned();
    Trigger {
        origin: Origin::Comment { id, text, url },
        ..rig.trigger(Command::SavePlan, "ada", 7, 8)
    }
}

async fn a_list_without_the_commands_own_comment_is_stale_and_read_again(on: &On) {
    for seconds in [1, 3, 20, 60] {
        let rig = Rig::fresh(on).await;
        rig.forge.open(8, "Search is slow", &["It is."]);
        rig.forge.world.lock().unwrap().lag = Duration::from_secs(seconds);
        rig.forge.comment(8, PLAN);
        let command = rig.forge.comment(8, "/save-plan");
        let run = rig.deliver(command_in(&rig, command)).await;
        rig.settle().await;
        let case = format!("{seconds} s: {:#?}", said(&rig, 8));
        assert_eq!(rig.state(&run).await, State::Succeeded, "{case}");
        assert_eq!(plans(&rig).len(), 1, "{case}");
    }
}

async fn a_list_shorter_than_the_issue_says_is_read_again_after_a_label(on: &On) {
    let rig = Rig::fresh(on).await;
    rig.forge.open(8, "Search is slow", &["It is."]);
    rig.forge.world.lock().unwrap().lag = Duration::from_secs(5);
    rig.forge.comment(8, PLAN);
    let name = "save-plan".to_owned();
    let trigger = Trigger {
        origin: Origin::Label { name },
        ..rig.trigger(Command::SavePlan, "ada", 7, 8)
    };
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

async fn a_deleted_command_comment_does_not_make_the_run_wait(on: &On) {
    let rig = Rig::fresh(on).await;
    let began = rig.clock.now();
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(rig.clock.now(), began);
}

async fn a_hidden_comment_is_never_read_as_the_plan(on: &On) {
    let rig = Rig::fresh(on).await;
    rig.forge.open(8, "Search is slow", &["It is."]);
    let spam = rig.forge.comment(8, PLAN);
    rig.forge.world.lock().unwrap().hidden.push(Hidden {
        id: spam,
        author: Some("eve".to_owned()),
        reason: "spam".to_owned(),
    });
    let trigger = rig.trigger(Command::SavePlan, "ada", 7, 8);
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("no_plan_found")
    );
    let said = said(&rig, 8);
    assert!(
        said[0].contains("one comment: hidden on GitHub"),
        "{}",
        said[0]
    );
}

async fn help_that_cannot_be_posted_is_no_success_and_a_cancel_is_one(on: &On) {
    for (command, state) in [
        (Command::Help, State::Failed),
        (Command::Status, State::Failed),
        (Command::Cancel, State::Succeeded),
    ] {
        let rig = Rig::fresh(on).await;
        rig.forge.happen(1, Happening::Lock, Where::Number(HERE));
        let run = rig.say(command).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, state, "{command:?}");
        assert!(said(&rig, HERE).is_empty());
    }
}

async fn a_closing_reaction_that_always_fails_does_not_fail_a_saved_plan(on: &On) {
    // The last two writes are 🚀, and 👀 that is taken off.
    let writes = writes_of_a_save(on).await;
    let (rig, state) = save(on, |rig| {
        for at in writes - 2..writes + 60 {
            rig.forge.fail(at, Fault::LostBefore);
        }
    })
    .await;
    assert_saved_once(&rig, state, "reactions time out");
}
