//! Injection attempts in whole runs. Whatever a conversation or a compromised agent says, the bot
//! writes only what it writes in every run, and nothing in it has an effect on GitHub.
//!
//! The fake GitHub receives what the engine writes. Credentials are redacted before that by the
//! agent adapter (tested in `agent_runner/secrets.rs`), and after it by the GitHub client (tested
//! in `github_client`).

mod agent;
mod attempts;
mod people;
mod world;

use planwright::engine::model::run::{RunId, State};
use planwright::engine::settings::{AgentSettings, Settings};
use planwright::formats::command::Command;

use crate::engine_agent::{GOOD, answers, work_until_idle};
use crate::injection_formats::{CASES, Case, Where};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::rig::{HERE, PLAN, Rig};
use world::Before;

/// One question in words of its own.
const ASKS: &str =
    "<!--QUESTION:{\"questions\":[{\"question\":\"Which store?\",\"header\":\"Store\"}]}-->";

/// A rig whose conversation is `posts` under `title`.
async fn conversation(agent: &FakeAgent, title: &str, posts: &[&str]) -> Rig {
    let settings = Settings {
        agent: AgentSettings::default(),
        ..Settings::default()
    };
    let mut rig = Rig::with(settings).await;
    rig.parts.agent = Some(std::sync::Arc::new(agent.clone()));
    rig.forge.open(HERE, title, posts);
    rig
}

async fn ended(rig: &Rig, run: &RunId, name: &str) -> State {
    let state = rig.state(run).await;
    assert!(
        matches!(state, State::Succeeded | State::Failed),
        "{name}: {state:?}\n{:#?}",
        rig.forge.own_bodies(HERE)
    );
    state
}

/// An answer that holds but for what a case puts into it.
fn answer(case: &Case) -> String {
    match case.place {
        Where::Whole => case.text.to_owned(),
        Where::PlanTitle => GOOD.replacen(
            "Cache the search index on disk",
            &format!("Cache the index, {}", case.text),
            1,
        ),
        Where::Context => GOOD.replacen(
            "### Known Pitfalls\n\n",
            &format!("### Known Pitfalls\n\n{}\n\n", case.text),
            1,
        ),
        _ => GOOD.replacen(
            "## Testing",
            &format!("## Notes\n\n{}\n\n## Testing", case.text),
            1,
        ),
    }
}

/// What was written is data for the agent, and an agent that heeds none of it saves its plan.
#[tokio::test]
async fn nothing_in_a_conversation_reaches_an_effect() {
    for case in CASES {
        let name = case.name;
        let agent = FakeAgent::new(vec![Act::Say(GOOD.to_owned())]);
        let (title, posts) = match case.place {
            Where::Post => (
                "Search is slow",
                vec!["It takes a minute.", PLAN, case.text],
            ),
            Where::Title => (case.text, vec!["It takes a minute.", PLAN]),
            Where::Guidance => ("Search is slow", vec!["It takes a minute.", PLAN]),
            _ => continue,
        };
        let rig = conversation(&agent, title, &posts).await;
        let before = Before::of(&rig);
        let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
        if case.place == Where::Guidance {
            trigger.guidance = Some(case.text.to_owned());
        }
        let run = rig.deliver(trigger).await;
        rig.settle().await;
        assert_eq!(ended(&rig, &run, name).await, State::Succeeded, "{name}");
        for never in case.never {
            assert!(!agent.prompts()[0].contains(never), "{name}: {never:?}");
        }
        before.only_a_plan_was_added(&rig, &run, name).await;
    }
}

/// The same behind `/answer`, and with the delimiter that nobody can know.
#[tokio::test]
async fn nothing_in_an_answer_of_a_person_reaches_an_effect() {
    for case in CASES {
        if matches!(case.place, Where::Title | Where::PlanTitle) {
            continue;
        }
        let name = case.name;
        let agent = FakeAgent::new(vec![Act::Say(ASKS.to_owned()), Act::Say(GOOD.to_owned())]);
        let rig = conversation(&agent, "Search is slow", &["It takes a minute.", PLAN]).await;
        let before = Before::of(&rig);
        let run = rig.say(Command::SavePlan).await;
        work_until_idle(&rig).await;
        assert_eq!(rig.state(&run).await, State::Waiting, "{name}");
        let first = agent.prompts().remove(0);
        let nonce = world::nonce(&first);
        let text = case.text.replace("NONCE", nonce);
        let text = text.replace(
            "NON\u{200b}CE",
            &format!("{}\u{200b}{}", &nonce[..4], &nonce[4..]),
        );
        answers(&rig, &format!("1: it is {text}")).await;
        work_until_idle(&rig).await;
        assert_eq!(ended(&rig, &run, name).await, State::Succeeded, "{name}");
        let told = agent.prompts().remove(1);
        for line in ["BEGIN answers", "END answers"] {
            let line = format!("===== DATA {nonce} {line} =====");
            assert_eq!(told.matches(&line).count(), 1, "{name}: {told}");
        }
        assert_eq!(told.matches(nonce).count(), 2, "{name}: {told}");
        assert!(!told.contains('@'), "{name}: {told}");
        // Behind other words a fence is none: people see all of it.
        if matches!(case.place, Where::Post | Where::Reply) && !case.text.starts_with("```") {
            for never in case.never {
                assert!(!told.contains(never), "{name}: {never:?} in {told}");
            }
        }
        before.only_a_plan_was_added(&rig, &run, name).await;
    }
}

/// An agent that was taken over puts the attack into its answer, and does so again when it is
/// corrected.
#[tokio::test]
async fn nothing_in_an_answer_of_the_agent_reaches_an_effect() {
    let (mut enriched, mut fallback) = (0, 0);
    for case in CASES {
        if case.place == Where::Title {
            continue;
        }
        let name = case.name;
        let says = || Act::Say(answer(case));
        let agent = FakeAgent::new(vec![says(), says(), says()]);
        let rig = conversation(&agent, "Search is slow", &["It takes a minute.", PLAN]).await;
        let before = Before::of(&rig);
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        if rig.state(&run).await == State::Succeeded {
            before.only_a_plan_was_added(&rig, &run, name).await;
            match agent.prompts().len() {
                3 => fallback += 1,
                _ => enriched += 1,
            }
        } else {
            before.nothing_was_added(&rig, &run, name);
        }
        let of_the_agent = matches!(
            case.place,
            Where::Plan | Where::PlanTitle | Where::Context | Where::Whole
        );
        for body in rig.forge.own_bodies(HERE) {
            let said = world::said(&body);
            for never in case.never.iter().filter(|_| of_the_agent) {
                assert!(!said.contains(never), "{name}: {never:?} in\n{body}");
            }
        }
    }
    assert!(enriched >= 40 && fallback >= 3, "{enriched} and {fallback}");
}

/// Where nobody has written a plan the agent's own text is all there is.
#[tokio::test]
async fn nothing_in_an_answer_without_a_plan_to_compare_reaches_an_effect() {
    let mut saved = 0;
    for case in CASES {
        if !matches!(case.place, Where::Plan | Where::Whole | Where::Context) {
            continue;
        }
        let name = case.name;
        // Without the details that an answer needs: the last resort is to save it as it is.
        let text = answer(case).replacen("## Enrichment Details", "## Nothing", 1);
        let says = || Act::Say(text.clone());
        // One that asks is told that nobody has answered, and then corrected twice.
        let agent = FakeAgent::new(vec![says(), says(), says(), says()]);
        let rig = conversation(&agent, "Search is slow", &["It takes a minute.", "Indeed."]).await;
        let before = Before::of(&rig);
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        match ended(&rig, &run, name).await {
            State::Succeeded => {
                saved += 1;
                before.only_a_plan_was_added(&rig, &run, name).await;
            }
            _ => before.nothing_was_added(&rig, &run, name),
        }
    }
    assert!(saved >= 10, "{saved}");
}
