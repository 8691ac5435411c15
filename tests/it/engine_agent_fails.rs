//! Runs whose agent fails permanently: the plan is saved as found, with the reason.

use planwright::engine::model::failure::Code;
use std::io;
use std::sync::{Arc, Mutex};

use planwright::engine::model::agent::{Ending, Limit};
use planwright::engine::model::run::State;
use planwright::engine::settings::AgentSettings;
use planwright::formats::block;
use planwright::formats::command::Command;
use planwright::formats::plan::document::plan_text;

use crate::engine_agent::{ASKS, GOOD, answers, document, rig, say, status, with, work_until_idle};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::rig::{HERE, PLAN, Rig};

/// An issue without a plan.
const EMPTY: u64 = 8;

fn error(subtype: &str, message: &str, status: Option<u16>) -> Ending {
    Ending::AgentError {
        subtype: subtype.into(),
        message: message.into(),
        status,
    }
}

/// Endings of a turn: the code of the failure, how often the agent is asked, and the note on a plan
/// that is saved without it.
fn endings() -> Vec<(Ending, &'static str, usize, &'static str)> {
    vec![
        (
            error("success", "Invalid API key", Some(401)),
            "agent_unavailable",
            1,
            "the agent's credentials were rejected by the model's service",
        ),
        (
            error("success", "Not logged in · Please run /login", None),
            "agent_unavailable",
            1,
            "the agent's credentials were rejected by the model's service",
        ),
        (
            error("success", "Credit balance is too low", Some(400)),
            "agent_failed",
            1,
            "the agent's account has no credit left",
        ),
        (
            error("success", "API Error: Connection error.", None),
            "agent_failed",
            3,
            "the agent could not reach the model's service over the network",
        ),
        (
            error("success", "Overloaded", Some(529)),
            "agent_failed",
            3,
            "the model's service was overloaded in every attempt",
        ),
        (
            error(
                "error_max_turns",
                "Reached maximum number of turns (1)",
                None,
            ),
            "agent_limit",
            1,
            "the agent reached its limit of turns",
        ),
        (
            error("error_max_budget_usd", "Reached maximum budget ($1)", None),
            "agent_limit",
            1,
            "the agent reached its cost limit",
        ),
        (
            error("error_during_execution", "it broke", None),
            "agent_failed",
            1,
            "the agent failed (it broke)",
        ),
        (
            Ending::Limited(Limit::Deadline),
            "agent_timeout",
            1,
            "the agent reached its time limit",
        ),
        (
            Ending::Limited(Limit::Silence),
            "agent_timeout",
            3,
            "the agent produced no output within its time limit in any attempt",
        ),
        (
            Ending::Limited(Limit::Turns),
            "agent_limit",
            1,
            "the agent reached its limit of turns",
        ),
        (
            Ending::Limited(Limit::Cost),
            "agent_limit",
            1,
            "the agent reached the cost limit of a run",
        ),
        (
            Ending::Limited(Limit::Output),
            "agent_failed",
            1,
            "the agent exceeded its output limit",
        ),
        (
            Ending::Limited(Limit::Memory(4 << 30)),
            "agent_limit",
            1,
            "the agent reached its memory limit (4 GB)",
        ),
        (
            Ending::Limited(Limit::Processes(512)),
            "agent_limit",
            1,
            "the agent reached its limit of processes and threads (512)",
        ),
        (
            Ending::Limited(Limit::OpenFiles(4096)),
            "agent_limit",
            1,
            "the agent reached its limit of open files (4096)",
        ),
        (
            Ending::Limited(Limit::FileSize(1 << 30)),
            "agent_limit",
            1,
            "the agent reached its limit on the size of a file (1 GB)",
        ),
        (
            Ending::Limited(Limit::Disk(1500 << 20)),
            "agent_limit",
            1,
            "the agent reached its limit of disk space (1500 MB)",
        ),
        (
            Ending::NoResult,
            "agent_failed",
            3,
            "the agent gave no answer in any attempt",
        ),
        (
            Ending::ProcessError {
                code: Some(1),
                signal: None,
            },
            "agent_failed",
            3,
            "the agent's process ended without a result in every attempt",
        ),
        (
            Ending::NotStarted("no such file: /x/claude".into()),
            "agent_unavailable",
            1,
            "the agent is not installed where the bot runs, or cannot be started there",
        ),
        (
            Ending::Leaked {
                kind: "api key".into(),
            },
            "agent_failed",
            1,
            "the agent's answer contained a secret of this bot and was discarded",
        ),
    ]
}

fn ends(ending: &Ending, times: usize) -> FakeAgent {
    FakeAgent::new((0..times).map(|_| Act::End(ending.clone())).collect())
}

/// The note on a plan that is saved without the agent.
fn note(why: &str) -> String {
    format!("Fallback, not enriched: this is the plan as it was found, because {why}.")
}

/// The plan was saved as it was found, and its reader and the requester are told why.
fn saved_as_found(rig: &Rig, why: &str) {
    let plans = rig.forge.plans();
    assert_eq!(plans.len(), 1, "{why}: {}", status(rig));
    let texts = rig.forge.own_bodies(plans[0].0).concat();
    let saved = block::plans(&texts).concat();
    assert!(saved.contains(&note(why)), "{why}: {saved}");
    let own = PLAN.split_once("\n\n").unwrap().1;
    assert!(plan_text(&saved).contains(own.trim()), "{saved}");
    let said = status(rig);
    assert!(said.contains(&note(why)), "{why}: {said}");
    assert!(
        said.starts_with("⚠️ Plan saved, **not enriched**: ["),
        "{said}"
    );
    assert!(said.contains("status: partial"), "{said}");
    assert!(said.contains("enriched: fallback"), "{said}");
    assert!(!said.contains("## Error"), "{said}");
}

#[tokio::test]
async fn a_plan_that_was_found_is_saved_however_the_agent_ends() {
    for (ending, _, tries, why) in endings() {
        let agent = ends(&ending, tries);
        let rig = rig(&agent).await;
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{ending:?}");
        assert_eq!(agent.left(), 0, "tried as often as before: {ending:?}");
        saved_as_found(&rig, why);
        assert!(!status(&rig).contains("/x/claude"), "{}", status(&rig));
    }
}

#[tokio::test]
async fn without_a_plan_the_failure_of_the_agent_is_the_error() {
    for (ending, code, tries, _) in endings() {
        let agent = ends(&ending, tries);
        let rig = rig(&agent).await;
        rig.forge
            .open(EMPTY, "A question", &["Does it work on Windows?"]);
        let trigger = rig.trigger(Command::SavePlan, "ada", 7, EMPTY);
        let run = rig.deliver(trigger).await;
        rig.settle().await;
        assert_eq!(
            rig.view(&run).await.code.map(Code::name),
            Some(code),
            "{ending:?}"
        );
        assert_eq!(agent.left(), 0, "{ending:?}");
        let said = rig.forge.own_bodies(EMPTY).remove(0);
        assert!(said.starts_with(&format!("## Error: {code}")), "{said}");
        assert!(said.contains("Nothing was saved."), "{said}");
        assert!(rig.forge.plans().is_empty());
    }
}

#[tokio::test]
async fn a_plan_of_a_specification_is_not_what_was_found() {
    let agent = ends(&Ending::Limited(Limit::Deadline), 1);
    let rig = rig(&agent).await;
    let run = rig.say(Command::Plan).await;
    rig.settle().await;
    let code = rig.view(&run).await.code;
    assert_eq!(
        code.map(Code::name),
        Some("agent_timeout"),
        "{}",
        status(&rig)
    );
}

#[tokio::test]
async fn an_agent_that_fails_behind_a_question_costs_no_answers() {
    let late = Act::End(Ending::Limited(Limit::Deadline));
    let agent = FakeAgent::new(vec![say(ASKS), late]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: b 2: one gigabyte").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    saved_as_found(&rig, "the agent reached its time limit");
    assert!(document(&rig).contains("**Size**: one gigabyte"));
}

#[tokio::test]
async fn guidance_that_the_agent_could_not_apply_is_recorded() {
    let agent = ends(&Ending::Limited(Limit::Deadline), 1);
    let rig = rig(&agent).await;
    let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    trigger.guidance = Some("keep it under one gigabyte".to_owned());
    rig.deliver(trigger).await;
    rig.settle().await;
    saved_as_found(&rig, "the agent reached its time limit");
    let saved = document(&rig);
    assert!(saved.contains("\"keep it under one gigabyte\""), "{saved}");
    let said = status(&rig);
    assert!(
        said.contains("The guidance was recorded, but not applied."),
        "{said}"
    );
}

/// A budget that lets one run begin.
fn one_run(agent: &mut AgentSettings) {
    agent.runs_per_actor_hour = Some(1);
}

#[tokio::test]
async fn over_a_budget_nothing_is_spent_and_the_plan_is_saved_as_found() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let rig = with(&agent, one_run).await;
    rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    // Other guidance is another request.
    let mut second = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    second.guidance = Some("keep it short".to_owned());
    let second = rig.deliver(second).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&second).await, State::Succeeded);
    assert_eq!(agent.prompts().len(), 1);
    let said = rig.forge.own_bodies(HERE).pop().unwrap();
    let why = "because the budget for agents is used up (one person can start 1 run with an agent per hour; available again from ";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("enriched: fallback"), "{said}");
    assert_eq!(rig.forge.plans().len(), 2);
}

#[tokio::test]
async fn over_a_budget_without_a_plan_the_error_says_when_there_is_room() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let rig = with(&agent, one_run).await;
    rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    rig.forge
        .open(EMPTY, "A question", &["Does it work on Windows?"]);
    let trigger = rig.trigger(Command::SavePlan, "ada", 7, EMPTY);
    let run = rig.deliver(trigger).await;
    work_until_idle(&rig).await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("agent_limit")
    );
    let said = rig.forge.own_bodies(EMPTY).remove(0);
    assert!(
        said.contains("A limit is reached: one person can start 1 run with an agent per hour."),
        "{said}"
    );
}

#[tokio::test]
async fn a_run_that_has_cost_what_one_run_may_saves_the_plan_as_found() {
    let chat = "Great choice.";
    let mut agent = FakeAgent::new(vec![say(chat), say(chat)]);
    agent.price = 600_000;
    let rig = with(&agent, |agent| agent.run_cost = Some(1_000_000)).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    saved_as_found(&rig, "the agent reached the cost limit of a run ($1.00)");
    let tasks = agent.tasks.lock().unwrap();
    assert_eq!(tasks[0].limits.cost, Some(1_000_000));
    assert_eq!(tasks[1].limits.cost, Some(400_000));
}

#[tokio::test]
async fn nobody_is_sent_to_a_retry_that_the_cost_of_the_run_forbids() {
    let mut agent = FakeAgent::new(vec![say("Great choice.")]);
    agent.price = 600_000;
    let rig = with(&agent, |agent| agent.run_cost = Some(500_000)).await;
    rig.forge
        .open(EMPTY, "A question", &["Does it work on Windows?"]);
    let trigger = rig.trigger(Command::SavePlan, "ada", 7, EMPTY);
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("agent_limit")
    );
    let said = rig.forge.own_bodies(EMPTY).remove(0);
    assert!(!said.contains("/retry"), "{said}");
    assert!(said.contains("Comment `/save-plan`"), "{said}");
}

/// Lines of a log, kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn failures_of_agents_are_logged() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let agent = ends(&Ending::Limited(Limit::Deadline), 1);
    let rig = rig(&agent).await;
    {
        let _here = tracing::subscriber::set_default(lines);
        rig.say(Command::SavePlan).await;
        rig.settle().await;
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let told = "the agent failed; the plan is saved as found";
    let line = log.lines().find(|line| line.contains(told));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    let why = "the agent reached its time limit";
    assert!(line.contains("WARN") && line.contains(why), "{line}");
}
