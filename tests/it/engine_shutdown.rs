//! Shutdown of a process: runs are paused between steps and continue in the next process, and
//! nothing that was paid for is done again.

use std::sync::Arc;

use planwright::engine::clock::Clock as _;
use planwright::engine::execute::attempt;
use planwright::engine::model::agent::{Ending, Session};
use planwright::engine::model::research::TopicState;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::stop::{Shutdown, StopFlag};
use planwright::engine::store::{ClaimLimits, RunOutcome, Store};
use planwright::engine::worker::Outcome;
use planwright::formats::command::Command;

use crate::engine_agent::{ASKS, GOOD, rig, say, status, with, work_until_idle};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::fake_forge::Fault;
use crate::support::research::report;
use crate::support::rig::{HERE, Rig};

const PAUSED: &str =
    "⏸️ Paused while the bot restarts; it continues by itself.\n\n<sub>planwright · run `";

/// Lets a worker of a process with this shutdown do one step.
async fn step(rig: &Rig, shutdown: &Shutdown) -> Outcome {
    let worker = rig.worker("old").pausing_on(shutdown);
    worker.step().await.unwrap()
}

/// Begins the shutdown while the agent works and, if `ends` is set, ends its turn.
async fn stopped(rig: &Rig, agent: &FakeAgent, ends: bool) -> Outcome {
    let shutdown = Shutdown::default();
    let stopping = async {
        agent.begun.notified().await;
        shutdown.begin();
        if ends {
            shutdown.end_turns();
        }
    };
    let (outcome, ()) = tokio::join!(step(rig, &shutdown), stopping);
    outcome
}

fn begun() -> Shutdown {
    let shutdown = Shutdown::default();
    shutdown.begin();
    shutdown
}

/// An agent that begins the shutdown in its `nth` turn, counted from 1, and then does as `acts`
/// say.
fn stopping(nth: usize, acts: Vec<Act>) -> (FakeAgent, Shutdown) {
    let shutdown = Shutdown::default();
    let begins = shutdown.clone();
    let acts = std::sync::Mutex::new(acts.into_iter().enumerate());
    let agent = FakeAgent::deciding(move |task| {
        let next = acts.lock().unwrap().next();
        let Some((at, act)) = next else {
            panic!("the agent was asked once more: {}", task.prompt);
        };
        if at + 1 == nth {
            begins.begin();
        }
        act
    });
    (agent, shutdown)
}

async fn attempts(rig: &Rig, run: &RunId) -> u32 {
    let lease = std::time::Duration::from_secs(30);
    let claimed = rig
        .store
        .claim("look", rig.clock.now(), lease, &ClaimLimits::default())
        .await;
    let claimed = claimed.unwrap().unwrap();
    assert_eq!(claimed.lease.run, *run);
    let outcome = RunOutcome::Yield;
    let finished = rig.store.finish(&claimed.lease, &outcome, rig.clock.now());
    finished.await.unwrap();
    claimed.attempt
}

#[tokio::test]
async fn a_run_that_has_not_begun_to_report_is_put_back_without_a_comment() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    let outcome = step(&rig, &begun()).await;
    assert_eq!(outcome, Outcome::Did(run.clone(), Some(State::Ready)));
    assert!(rig.forge.own_bodies(HERE).is_empty());
    assert_eq!(attempts(&rig, &run).await, 1, "it does not count");
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
}

#[tokio::test]
async fn a_turn_that_ends_in_time_is_kept_and_not_paid_for_again() {
    for first in [GOOD, ASKS] {
        let (agent, shutdown) = stopping(1, vec![say(first), say(GOOD)]);
        let rig = rig(&agent).await;
        let run = rig.say(Command::SavePlan).await;
        let outcome = step(&rig, &shutdown).await;
        assert_eq!(outcome, Outcome::Did(run.clone(), Some(State::Ready)));
        assert!(status(&rig).starts_with(PAUSED), "{}", status(&rig));
        assert_eq!(attempts(&rig, &run).await, 1);
        work_until_idle(&rig).await;
        assert_eq!(agent.prompts().len(), 1, "the result is used");
        let said = status(&rig);
        let goes_on = if first == GOOD {
            "✅ Plan saved:"
        } else {
            "❓"
        };
        assert!(said.starts_with(goes_on), "{said}");
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
        let turns = if first == GOOD { 1 } else { 2 };
        assert_eq!(agent.prompts().len(), turns);
    }
}

#[tokio::test]
async fn a_turn_that_is_ended_is_no_failure_and_its_session_goes_on() {
    let agent = FakeAgent::new(vec![Act::Hang, say(GOOD)]);
    let rig = with(&agent, |settings| settings.tries = 1).await;
    let run = rig.say(Command::SavePlan).await;
    let outcome = stopped(&rig, &agent, true).await;
    assert_eq!(outcome, Outcome::Did(run.clone(), Some(State::Ready)));
    let said = status(&rig);
    assert!(said.starts_with(PAUSED), "{said}");
    assert!(agent.forgotten.lock().unwrap().is_empty());
    assert_eq!(attempts(&rig, &run).await, 1);
    work_until_idle(&rig).await;
    let said = status(&rig);
    assert_eq!(rig.state(&run).await, State::Succeeded, "{said}");
    assert!(said.starts_with("✅ Plan saved:"), "{said}");
    assert!(said.contains("$0.02"), "both turns are paid for: {said}");
    let tasks = agent.tasks.lock().unwrap();
    let Session::New(id) = &tasks[0].session else {
        panic!("{:?}", tasks[0].session);
    };
    assert_eq!(tasks[1].session, Session::Resume(id.clone()));
    let begins = "The program that runs you was restarted before you had finished.";
    assert!(tasks[1].prompt.starts_with(begins), "{}", tasks[1].prompt);
    assert!(!tasks[1].prompt.contains("The request was"));
}

#[tokio::test]
async fn an_agent_without_sessions_begins_its_turn_again() {
    let agent = FakeAgent::forgetful(vec![Act::Hang, say(GOOD)]);
    let rig = with(&agent, |settings| settings.tries = 1).await;
    let run = rig.say(Command::SavePlan).await;
    stopped(&rig, &agent, true).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let prompts = agent.prompts();
    assert_eq!(prompts[0], prompts[1]);
}

#[tokio::test]
async fn a_correction_that_is_ended_is_requested_again_in_the_same_session() {
    let agent = FakeAgent::new(vec![say("# Plan: x"), Act::Hang, say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    stopped(&rig, &agent, true).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let prompts = agent.prompts();
    let request = format!("The request was:\n\n{}", prompts[1]);
    assert!(prompts[2].ends_with(&request), "{}", prompts[2]);
}

#[tokio::test]
async fn a_session_that_was_lost_meanwhile_begins_anew_and_is_no_failure() {
    let lost = Act::End(Ending::SessionLost);
    let agent = FakeAgent::new(vec![Act::Hang, lost, say(GOOD)]);
    let rig = with(&agent, |settings| settings.tries = 1).await;
    let run = rig.say(Command::SavePlan).await;
    stopped(&rig, &agent, true).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert!(matches!(tasks[2].session, Session::New(_)));
    let begins = "The program that runs you was restarted";
    assert!(!tasks[2].prompt.contains(begins), "{}", tasks[2].prompt);
}

#[tokio::test]
async fn questions_are_shown_again_after_a_pause() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    let asked = status(&rig);
    let due = rig.store.next_due().await.unwrap().unwrap();
    rig.clock.advance_to(due);
    step(&rig, &begun()).await;
    assert!(status(&rig).starts_with(PAUSED), "{}", status(&rig));
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    assert_eq!(status(&rig), asked);
}

#[tokio::test]
async fn a_run_that_publishes_goes_on_to_its_end() {
    let mut published = 0;
    for write in 1..=12 {
        let agent = FakeAgent::new(vec![say(GOOD)]);
        let rig = rig(&agent).await;
        rig.forge.fail(write, Fault::DieAfter);
        let run = rig.say(Command::SavePlan).await;
        let worker = rig.worker("doomed");
        tokio::select! {
            _ = worker.step() => {}
            () = rig.forge.died.notified() => {}
        }
        rig.store.recover_all(rig.clock.now()).await.unwrap();
        let progress = rig.view(&run).await.progress.clone();
        let publishing = progress.is_some_and(|progress| progress.publishing);
        let mut ended = false;
        for _ in 0..5 {
            // Long enough for GitHub's lists to show the write.
            let later = std::time::Duration::from_secs(100);
            rig.clock.advance_to(rig.clock.now().plus(later));
            step(&rig, &begun()).await;
            ended = rig.state(&run).await.is_terminal();
            if ended {
                assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
                break;
            }
        }
        assert_eq!(ended, publishing, "write {write}");
        published += u32::from(publishing);
    }
    assert!(published > 3, "{published}");
}

#[tokio::test]
async fn research_keeps_the_reports_and_repeats_only_the_turn_that_was_ended() {
    let hung = Arc::new(std::sync::Mutex::new(false));
    let once = Arc::clone(&hung);
    let agent = FakeAgent::deciding(move |task| {
        let file: &'static str = String::leak(task.wanted[0].clone());
        let mut hung = once.lock().unwrap();
        if file.contains("limits") && !std::mem::replace(&mut *hung, true) {
            return Act::Hang;
        }
        Act::Write(
            vec![(file, report(file))],
            format!("REPORT_CREATED: {file}"),
        )
    });
    let rig = rig(&agent).await;
    let mut trigger = rig.trigger(Command::Research, "ada", 7, HERE);
    trigger.guidance = Some("queues; limits".to_owned());
    let run = rig.deliver(trigger).await;
    let outcome = stopped(&rig, &agent, true).await;
    assert_eq!(outcome, Outcome::Did(run.clone(), Some(State::Ready)));
    assert!(status(&rig).starts_with(PAUSED), "{}", status(&rig));
    let progress = rig.view(&run).await.progress.clone().unwrap();
    let states = progress.research.unwrap().topics;
    let states: Vec<_> = states.iter().map(|one| (one.state, one.tries)).collect();
    assert_eq!(states[1], (TopicState::Open, 0), "not a failed try");
    assert_eq!(states[0].0, TopicState::Written);
    work_until_idle(&rig).await;
    let said = status(&rig);
    assert_eq!(rig.state(&run).await, State::Succeeded, "{said}");
    assert!(said.starts_with("✅ Research finished: 2 of 2"), "{said}");
    let tasks = agent.tasks.lock().unwrap();
    let parts: Vec<u32> = tasks.iter().map(|task| task.part).collect();
    assert_eq!(parts, [1, 2, 2]);
}

#[tokio::test]
async fn no_turn_begins_once_the_process_stops() {
    for command in [Command::SavePlan, Command::Research, Command::Plan] {
        let agent = FakeAgent::deciding(|task| panic!("asked: {}", task.prompt));
        let rig = rig(&agent).await;
        let mut trigger = rig.trigger(command, "ada", 7, HERE);
        trigger.guidance = Some("queues; limits".to_owned());
        let run = rig.deliver(trigger).await;
        let outcome = step(&rig, &begun()).await;
        assert_eq!(outcome, Outcome::Did(run, Some(State::Ready)));
    }
}

#[tokio::test]
async fn a_user_who_cancels_during_the_shutdown_is_obeyed() {
    let agent = FakeAgent::new(vec![Act::Hang]);
    let rig = rig(&agent).await;
    rig.say(Command::SavePlan).await;
    let shutdown = Shutdown::default();
    let flag = StopFlag::new(&shutdown);
    let lease = std::time::Duration::from_secs(30);
    let claimed = rig
        .store
        .claim("w", rig.clock.now(), lease, &ClaimLimits::default())
        .await;
    let claimed = claimed.unwrap().unwrap();
    let stopping = async {
        agent.begun.notified().await;
        shutdown.begin();
        flag.set("bob");
    };
    let (outcome, ()) = tokio::join!(attempt(&rig.parts, &claimed, &flag), stopping);
    assert_eq!(outcome, Some(RunOutcome::Cancelled));
}
