//! Research on one topic by a fake agent, without a store and a conversation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use planwright::engine::agent::Task;
use planwright::engine::clock::Clock;
use planwright::engine::effects::StepError;
use planwright::engine::model::agent::{Limits, Spent};
use planwright::engine::model::research::Research;
use planwright::engine::model::run::RunId;
use planwright::engine::prompt::{self, PromptContext};
use planwright::engine::research::{ResearchDeps, ResearchHost, work};
use planwright::engine::settings::ResearchSettings;
use planwright::engine::steps::research::{attempt, task};
use planwright::engine::stop::StopFlag;

use super::clock::ManualClock;
use super::fake_agent::{Act, FakeAgent};

/// A report that holds.
pub(crate) fn report(about: &str) -> String {
    format!(
        "# {about}\n\n## Executive Summary\n\nWhat is known of {about} in one sentence.\n\n## Findings\n\n### How it is\n\n{}\n\n## \
         Recommendations\n\n- Keep it small, see `src/queue.rs:12`\n- Measure it\n",
        "It is like this, and the code in `src/queue.rs` shows it. ".repeat(10)
    )
}

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
pub(crate) fn works(agent: &FakeAgent, settings: ResearchSettings) -> (Research, Vec<f64>) {
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

/// The names of the wordings, in the order in which they are used.
pub(crate) fn wordings() -> Vec<&'static str> {
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
