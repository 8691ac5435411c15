//! Failures of a run with an agent over several days: crashes between two writes, short outages,
//! changed settings, partial answers, and retries.

use planwright::engine::model::failure::Code;
use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::model::agent::{Ending, Report, Session, Spent};
use planwright::engine::model::progress::{AgentState, Progress, TurnResult};
use planwright::engine::model::run::{RunId, State};
use planwright::engine::store::{Budget, BudgetScope, ClaimLimits, Exceeded, Lease, Store};
use planwright::formats::command::Command;

use crate::engine_agent::{ASKS, GOOD, answers, document, rig, say, status, work_until_idle};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::rig::{HERE, Rig};

const LEASE: Duration = Duration::from_secs(30);

fn obeys() -> Act {
    Act::Answer(Box::new(|task| {
        let at = task.prompt.find("PW-").expect("the canary is in the data");
        format!("{GOOD}\n\n{}", &task.prompt[at..at + 15])
    }))
}

async fn progress(rig: &Rig, run: &RunId) -> Progress {
    rig.view(run).await.progress.unwrap()
}

async fn asked(rig: &Rig, run: &RunId) -> AgentState {
    progress(rig, run).await.work.unwrap()
}

/// Moves to when the waiting run is due.
async fn sleep(rig: &Rig) {
    let due = rig.store.next_due().await.unwrap().unwrap();
    rig.clock.advance_to(due);
}

/// The waiting run, claimed: something is told to it that means nothing.
async fn claimed(rig: &Rig, run: &RunId) -> Lease {
    let now = rig.clock.now();
    assert!(rig.store.send_message(run, "null", now).await.unwrap());
    let claimed = rig
        .store
        .claim("w", now, LEASE, &ClaimLimits::default())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(claimed.lease.run, *run);
    claimed.lease
}

/// The process died when a second turn had ended like this: it is stored, and nothing came after
/// it.
async fn died_behind_second_turn(rig: &Rig, run: &RunId, ending: Ending, spent: Spent) {
    let lease = claimed(rig, run).await;
    let payer = BudgetScope { repo: 42, actor: 7 };
    let begun = rig
        .store
        .begin_turn(&lease, "turn-2", payer, &Budget::default(), rig.clock.now())
        .await;
    begun.unwrap().unwrap();
    let mut progress = progress(rig, run).await;
    let work = progress.work.as_mut().unwrap();
    work.rounds.clear();
    work.turns = 2;
    work.came = Some(TurnResult {
        report: Report {
            ending,
            texts: Vec::new(),
            session: None,
            spent,
            stderr: String::new(),
            redacted: 0,
            files: Vec::new(),
            wrote: Vec::new(),
        },
        session: Session::New("a".into()),
    });
    rig.store.save_progress(&lease, &progress).await.unwrap();
    rig.store.recover_all(rig.clock.now()).await.unwrap();
}

#[tokio::test]
async fn a_turn_that_was_stored_before_a_crash_is_charged() {
    let agent = FakeAgent::new(vec![say(ASKS)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    let good = Ending::Success {
        text: GOOD.to_owned(),
        structured: None,
        denials: 0,
    };
    let spent = Spent {
        turns: 1,
        cost: 70_000,
        ..Spent::default()
    };
    died_behind_second_turn(&rig, &run, good, spent).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));

    let other = rig.say(Command::SavePlan).await;
    let claimed = rig
        .store
        .claim("w", rig.clock.now(), LEASE, &ClaimLimits::default())
        .await;
    let lease = claimed.unwrap().unwrap().lease;
    assert_eq!(lease.run, other);
    let budget = Budget {
        day_cost: Some(80_000),
        ..Budget::default()
    };
    let payer = BudgetScope { repo: 42, actor: 7 };
    let judged = rig
        .store
        .begin_turn(&lease, "turn-1", payer, &budget, rig.clock.now())
        .await
        .unwrap();
    assert!(
        matches!(judged, Err(Exceeded::DayCost { .. })),
        "10,000 of the first turn and 70,000 of the second one: {judged:?}"
    );
}

#[tokio::test]
async fn a_stored_turn_that_was_stopped_does_not_stop_a_later_round() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    died_behind_second_turn(&rig, &run, Ending::Cancelled, Spent::default()).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_not_asked_for_ever() {
    for nothing in ["<!-- FINISHED -->", ""] {
        let agent = FakeAgent::new(vec![say(nothing), say(nothing), say(nothing)]);
        let rig = rig(&agent).await;
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{nothing:?}");
        assert_eq!(agent.left(), 0, "{nothing:?}");
        let said = status(&rig);
        assert!(said.contains("because the agent gave no answer"), "{said}");
    }
}

#[tokio::test]
async fn questions_that_can_never_be_read_are_given_up_and_the_plan_is_saved_as_found() {
    let broken = "<!--QUESTION:{\"questions\":[{\"question\":\"Where?\",}]}-->";
    let agent = FakeAgent::new(vec![say(broken), say(broken), say(broken)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(agent.left(), 0);
    let said = status(&rig);
    assert!(
        said.contains("Fallback, not enriched")
            && said.contains("A question marker could not be read: trailing comma"),
        "{said}"
    );
}

#[tokio::test]
async fn what_somebody_answered_in_time_is_not_lost_when_the_rest_stays_open() {
    for resumes in [true, false] {
        let acts = vec![say(ASKS), say(GOOD)];
        let agent = if resumes {
            FakeAgent::new(acts)
        } else {
            FakeAgent::forgetful(acts)
        };
        let rig = rig(&agent).await;
        let run = rig.say(Command::SavePlan).await;
        work_until_idle(&rig).await;
        answers(&rig, "1: b").await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
        let told = agent.prompts().pop().unwrap();
        assert!(told.contains("Answer 1: In the cache folder"), "{told}");
        let open = told.split("These questions stay open:").nth(1).unwrap();
        assert!(open.contains("- How large may it grow?"), "{told}");
        assert!(!open.contains("Where does the file live?"), "{told}");
        let saved = document(&rig);
        assert!(saved.contains("**Place**: In the cache folder"), "{saved}");
        assert!(status(&rig).contains("1 question was not answered"));
    }
}

#[tokio::test]
async fn two_hiccups_of_github_with_days_between_do_not_end_a_waiting_run() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    // At the reminder and at the end, GitHub is away for a moment.
    for _ in 0..2 {
        sleep(&rig).await;
        rig.forge.world.lock().unwrap().down = true;
        work_until_idle(&rig).await;
        assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
        rig.forge.world.lock().unwrap().down = false;
        sleep(&rig).await;
        work_until_idle(&rig).await;
    }
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
}

#[tokio::test]
async fn an_agent_that_is_turned_off_costs_no_answers_and_is_no_full_success() {
    let agent = FakeAgent::new(vec![say(ASKS)]);
    let mut rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    rig.parts.agent = None;
    answers(&rig, "1: b 2: one gigabyte").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let said = status(&rig);
    assert!(
        said.contains("⚠️ Plan saved, **not enriched**: ["),
        "{said}"
    );
    assert!(said.contains("no agent is configured any more"), "{said}");
    assert!(document(&rig).contains("**Size**: one gigabyte"));
}

#[tokio::test]
async fn a_held_run_stays_held_when_the_agent_is_turned_off() {
    let agent = FakeAgent::new(vec![obeys()]);
    let mut rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    rig.parts.agent = None;
    sleep(&rig).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
    answers(&rig, "1: b").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert!(status(&rig).contains("ada decided"), "{}", status(&rig));
}

#[tokio::test]
async fn words_that_choose_nothing_do_not_stop_a_held_run() {
    let agent = FakeAgent::new(vec![obeys()]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    for words in ["1: please go on", "skip"] {
        answers(&rig, words).await;
        work_until_idle(&rig).await;
        assert_eq!(rig.state(&run).await, State::Waiting, "{words}");
        let reply = rig.forge.own_bodies(HERE).pop().unwrap();
        assert!(reply.contains("needs one of its options"), "{reply}");
    }
    answers(&rig, "1: c").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Cancelled);
}

#[tokio::test]
async fn a_retry_of_a_held_run_uses_nothing_of_the_session_that_obeyed() {
    let agent = FakeAgent::new(vec![obeys(), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: c").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Cancelled);
    rig.say(Command::Retry).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert!(matches!(tasks[1].session, Session::New(_)));
    let at = tasks[0].prompt.find("PW-").unwrap();
    assert!(!tasks[1].prompt.contains(&tasks[0].prompt[at..at + 15]));
    assert!(!tasks[1].prompt.contains("an earlier one with you is lost"));
}

#[tokio::test]
async fn a_retry_when_no_answer_held_asks_the_agent_again() {
    let chat = "Great choice.";
    let agent = FakeAgent::new(vec![say(chat), say(chat), say(chat), say(GOOD)]);
    let rig = rig(&agent).await;
    rig.forge
        .open(8, "A question", &["Does it work on Windows?"]);
    let run = rig
        .deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
        .await;
    rig.settle().await;
    let code = rig.view(&run).await.code;
    assert_eq!(code.map(Code::name), Some("validation_failed"));
    rig.deliver(rig.trigger(Command::Retry, "ada", 7, 8)).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(agent.left(), 0);
}

#[tokio::test]
async fn a_retry_asks_for_no_session_that_was_deleted_with_the_end_of_the_run() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    rig.say(Command::Cancel).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Cancelled);
    rig.say(Command::Retry).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting, "it asks as before");
    answers(&rig, "1: b 2: one gigabyte").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert!(matches!(tasks[1].session, Session::New(_)));
    assert_eq!(tasks[1].cost_before, 0);
    assert!(tasks[1].prompt.contains("one gigabyte"));
}

#[tokio::test]
async fn who_is_queued_behind_a_run_that_waits_for_people_is_told_so() {
    let agent = FakeAgent::new(vec![say(ASKS)]);
    let rig = rig(&agent).await;
    rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    rig.say(Command::SaveRawPlan).await;
    rig.worker("rig").acknowledge_step().await.unwrap();
    let said = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(said.starts_with("⏳ Queued"), "{said}");
    assert!(
        said.contains("comes first (waiting for answers to 2 questions until "),
        "{said}"
    );
}

#[tokio::test]
async fn what_a_run_remembers_does_not_grow_with_every_wake() {
    let agent = FakeAgent::new(vec![say(ASKS)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: skip").await;
    work_until_idle(&rig).await;
    let before = asked(&rig, &run).await;
    assert_eq!(before.rounds[0].skipped, [0]);
    for _ in 0..3 {
        let woken = rig.store.send_message(&run, "null", rig.clock.now()).await;
        assert!(woken.unwrap());
        work_until_idle(&rig).await;
    }
    assert_eq!(asked(&rig, &run).await, before);
    assert_eq!(rig.state(&run).await, State::Waiting);
}

#[tokio::test]
async fn progress_from_before_agents_is_read() {
    let old = r#"{"started":1,"status_comment":2,"step":"reading the conversation","prepared":{"issue_title":"t","title":"t",
        "document":"d","found":"f","sentence":"s","bullets":["a"],"notes":[],"source_title":"x"},"publishing":true}"#;
    let read = Progress::read(Some(old)).unwrap();
    assert!(read.work.is_none() && read.publishing);
    let prepared = read.prepared.unwrap();
    assert!(prepared.warnings.is_empty());
    assert_eq!(prepared.steps, ["a"]);
    assert_eq!(
        prepared.enriched,
        planwright::engine::model::progress::Enriched::No
    );
}

/// Eight runs in front of two agents held all workers, and nobody could cancel.
#[tokio::test]
async fn a_run_without_a_free_agent_holds_no_worker_and_spends_nothing() {
    let agent = FakeAgent::new(vec![Act::Say(GOOD.to_owned())]);
    let rig = rig(&agent).await;
    agent.full.store(true, std::sync::atomic::Ordering::Relaxed);
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    let view = rig.view(&run).await;
    assert_eq!(view.state, State::Waiting);
    let note = view.note.unwrap();
    assert_eq!(note, "waiting for a free agent");
    assert!(agent.prompts().is_empty());
    agent
        .full
        .store(false, std::sync::atomic::Ordering::Relaxed);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}
