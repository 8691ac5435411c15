//! The agent's test vectors for research: which output counts as a report, and what is retried.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use planwright::engine::agent::Task;
use planwright::engine::clock::Clock;
use planwright::engine::effects::StepError;
use planwright::engine::model::agent::{Document, Ending, Limits, Spent, Wrote};
use planwright::engine::model::research::{Research, TopicState};
use planwright::engine::model::run::RunId;
use planwright::engine::prompt::{self, PromptContext};
use planwright::engine::research::{ResearchDeps, ResearchHost, work};
use planwright::engine::settings::{Backoff, ResearchSettings};
use planwright::engine::steps::research::{attempt, task};
use planwright::engine::stop::StopFlag;
use serde_json::{Value, json};

use crate::engine_research::report;
use crate::support::clock::ManualClock;
use crate::support::fake_agent::{Act, FakeAgent};
use crate::vectors::hold_agent;

/// Remembers nothing and shows nothing.
struct Nowhere(RunId);

#[async_trait]
impl ResearchHost for Nowhere {
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, StepError> {
        let around = PromptContext {
            writes: true,
            ..PromptContext::default()
        };
        let prompt = prompt::report(&attempt(research, at).borrowed(), &around, 600_000);
        let minute = Duration::from_mins(1);
        let limits = Limits {
            deadline: minute,
            silence: minute,
            turns: 10,
            cost: None,
        };
        Ok(task(
            self.0.clone(),
            research,
            at,
            limits,
            String::new(),
            prompt,
        ))
    }

    async fn ended(&mut self, _: &Research, _: usize, _: &Spent) -> Result<(), StepError> {
        Ok(())
    }

    fn show(&mut self, _: &Research, _: &BTreeSet<usize>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Works on one topic to the end; the waits on the way, in milliseconds.
fn works(agent: &FakeAgent, settings: ResearchSettings) -> (Research, Vec<f64>) {
    let clock = Arc::new(ManualClock::new());
    let team = ResearchDeps {
        agent: Arc::new(agent.clone()),
        clock: clock.clone(),
        settings,
    };
    let mut research = Research::on(&["a topic".to_owned()]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut waits = Vec::new();
    runtime.block_on(async {
        let stop = StopFlag::default();
        let mut desk = Nowhere(RunId::new());
        loop {
            match work(&mut research, &team, &mut desk, &stop).await {
                Ok(()) => return,
                Err(StepError::Wait { until, .. }) => {
                    waits.push(until.since(clock.now()).as_secs_f64() * 1_000.0);
                    clock.advance_to(until);
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    (research, waits)
}

#[test]
fn fallback_flow() {
    const DEPARTURES: &[(&str, &str)] = &[
        (
            "F-10",
            "no path is ever read from what an agent says: its file has a name of ours",
        ),
        (
            "F-03",
            "a report that is there without the closing line is no reason to warn anybody",
        ),
    ];
    hold_agent("fallback_flow", DEPARTURES, |case| {
        let input = case["input"].clone();
        let text = |bytes: u64| -> String {
            match bytes {
                0 => String::new(),
                350 => "# A\n\n## Findings\n\nShort.\n".to_owned(),
                _ => report("it"),
            }
        };
        let first = Mutex::new(true);
        let agent = FakeAgent::deciding(move |task| {
            let said = input["output"].as_str().unwrap_or("Done.").to_owned();
            if !std::mem::take(&mut *first.lock().unwrap()) {
                return Act::Say(said);
            }
            let own: &'static str = String::leak(task.wanted[0].clone());
            let elsewhere = input["found_elsewhere"][0].as_str();
            if let Some(path) = elsewhere {
                let name: &'static str = String::leak(path.rsplit('/').next().unwrap().to_owned());
                return Act::Write(vec![(name, report("it"))], said);
            }
            if input["file_exists"] == true {
                return Act::Write(vec![(own, text(input["bytes"].as_u64().unwrap()))], said);
            }
            Act::Say(said)
        });
        let settings = ResearchSettings {
            tries: 2,
            ..ResearchSettings::default()
        };
        let (research, _) = works(&agent, settings);
        let topic = &research.topics[0];
        let second = agent.prompts().get(1).cloned().unwrap_or_default();
        let ours = match topic.state {
            TopicState::Written => {
                json!({"status": "created", "source": "agent", "next": "extract_metadata"})
            }
            TopicState::Recovered => json!({
                "status": "recovered", "notice": "RECOVERY",
                "path": format!("/t/{}", topic.note.as_ref().unwrap().split('`').nth(1).unwrap()),
            }),
            _ => json!({"status": "retry", "diagnostic": diagnostic(&second)}),
        };
        (ours, case["expect"].clone())
    });
}

/// In the words of the data.
fn diagnostic(prompt: &str) -> &'static str {
    [
        (
            "claimed to be written, and was not",
            "claimed but not written",
        ),
        ("empty", "empty file removed"),
        ("at least 500", "too small"),
        ("bytes", "too small"),
        ("does not exist", "not created"),
    ]
    .iter()
    .find(|(ours, _)| prompt.contains(ours))
    .unwrap_or_else(|| panic!("{prompt}"))
    .1
}

#[test]
fn retry_policy() {
    const DEPARTURES: &[(&str, &str)] = &[
        (
            "RT-03",
            "every try has the same tools: they are few, and reach nothing outside the folder",
        ),
        (
            "RT-04",
            "the wordings are the same; how long a try may take is the operator's setting",
        ),
        (
            "RT-06",
            "research begins a new session at every try; plans are judged in engine_agent",
        ),
    ];
    hold_agent("retry_policy", DEPARTURES, |case| {
        let input = &case["input"];
        let ours = match input["fn"].as_str().unwrap() {
            "retry_with_backoff" => json!({"delays_ms": delays(input)}),
            "prompt_escalation" => json!({"templates": wordings()}),
            _ => Value::Null,
        };
        (ours, case["expect"].clone())
    });
}

/// The waits after overload, without the part that is chance.
fn delays(input: &Value) -> Vec<u64> {
    let agent = FakeAgent::deciding(|_| {
        Act::End(Ending::AgentError {
            subtype: "error".to_owned(),
            message: "overloaded_error".to_owned(),
            status: Some(529),
        })
    });
    let base = input["base_ms"].as_u64().unwrap();
    let settings = ResearchSettings {
        faults: u32::try_from(input["max"].as_u64().unwrap()).unwrap(),
        backoff: Backoff {
            first: Duration::from_millis(base),
            ..Backoff::default()
        },
        ..ResearchSettings::default()
    };
    let (_, waits) = works(&agent, settings);
    let mut wanted = base;
    let without_chance = |wait: &f64| {
        let exact = wanted;
        wanted *= 2;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a test")]
        let least = exact as f64;
        assert!(*wait >= least && *wait <= least * 1.5 + 1.0, "{wait}");
        exact
    };
    waits.iter().map(without_chance).collect()
}

/// The names of the wordings, in the order in which they are used.
fn wordings() -> Vec<&'static str> {
    let agent = FakeAgent::deciding(|_| Act::Say("I know it.".to_owned()));
    works(&agent, ResearchSettings::default());
    let prompts = agent.prompts();
    let name = |prompt: &String| {
        if prompt.contains("STEP 1.") {
            "step_by_step"
        } else if prompt.starts_with("ABSOLUTE REQUIREMENT") {
            "standard"
        } else {
            "ultra_explicit"
        }
    };
    prompts.iter().map(name).collect()
}

#[test]
fn wordings_get_stricter() {
    assert_eq!(wordings(), ["standard", "ultra_explicit", "step_by_step"]);
}

#[test]
fn a_file_of_a_turn_that_did_not_end_well_is_no_report() {
    let wrote = Wrote {
        path: "001-a-topic.md".to_owned(),
        text: report("it"),
        ok: Some(true),
    };
    let document = Document {
        path: wrote.path.clone(),
        text: wrote.text.clone(),
    };
    let agent = FakeAgent::deciding(move |_| Act::Cut(document.clone()));
    let (research, _) = works(&agent, ResearchSettings::default());
    let topic = &research.topics[0];
    assert_eq!(topic.state, TopicState::Degraded);
    // Nothing that was paid for is lost.
    assert!(topic.report.as_ref().unwrap().contains("It is like this"));
    assert_eq!(agent.prompts().len(), 1);
}
