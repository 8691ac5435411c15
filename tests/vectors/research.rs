//! The agent's test vectors for research: which output counts as a report, and what is retried.

use std::sync::Mutex;
use std::time::Duration;

use planwright::engine::model::agent::Ending;
use planwright::engine::model::research::TopicState;
use planwright::engine::settings::{Backoff, ResearchSettings};
use serde_json::{Value, json};

use crate::harness::Tests;
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::research::{report, wordings, works};

crate::harness::tests!(fallback_flow, retry_policy,);

fn fallback_flow(tests: &mut Tests) {
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
    tests.hold_agent("fallback_flow", DEPARTURES, |case| {
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

fn retry_policy(tests: &mut Tests) {
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
    tests.hold_agent("retry_policy", DEPARTURES, |case| {
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
