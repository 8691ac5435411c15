//! How far agents are, on standard error: a moving line for each on a terminal, else a line when one begins and ends.

use std::borrow::Cow;
use std::io::{IsTerminal as _, stderr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cli::terminal;
use crate::engine::agent::{About, Agent, Task};
use crate::engine::model::agent::{Document, Ending, Report, Spent};
use crate::engine::model::run::RunId;
use crate::engine::say;
use crate::formats::text::truncate_chars;

/// Longest name of a line, in characters: the rest of the line is for what is used.
const NAME: usize = 40;
/// How often a moving line moves.
const TICK: Duration = Duration::from_millis(120);

/// Where progress is shown.
pub(in crate::cli) struct Progress {
    lines: Option<MultiProgress>,
}

impl Progress {
    /// On standard error.
    pub(in crate::cli) fn new() -> Self {
        Self {
            lines: stderr().is_terminal().then(MultiProgress::new),
        }
    }

    /// One line that stays. Others may have written parts of it.
    pub(in crate::cli) fn say(&self, text: &str) {
        let text = terminal::lines(text);
        match &self.lines {
            // A terminal that went away is nothing to end the work for.
            Some(lines) => lines.suspend(|| terminal::tell(&format!("{text}\n"))),
            None => terminal::tell(&format!("{text}\n")),
        }
    }

    fn begin(&self, name: &str, agent: &str) -> Option<ProgressBar> {
        let name = terminal::one_line(name);
        let Some(lines) = &self.lines else {
            self.say(&format!("{name}: {agent} is at work"));
            return None;
        };
        let line = lines.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {prefix} [{elapsed}] {wide_msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        line.set_prefix(truncate_chars(&name, NAME));
        line.set_message(format!("{agent} is at work"));
        line.enable_steady_tick(TICK);
        Some(line)
    }
}

/// What is used, for a line; the time has a place of its own.
fn used(spent: &Spent) -> Cow<'static, str> {
    let spent = Spent {
        millis: 0,
        ..*spent
    };
    match say::agent::spent(&spent) {
        used if used.is_empty() => "at work".into(),
        used => used.into(),
    }
}

/// An agent whose turns are shown while they last.
pub(in crate::cli) struct Shown {
    /// The agent.
    pub(in crate::cli) agent: Arc<dyn Agent>,
    /// Where.
    pub(in crate::cli) progress: Arc<Progress>,
    /// Names of the parts of the run.
    pub(in crate::cli) names: Vec<String>,
}

#[async_trait]
impl Agent for Shown {
    fn about(&self) -> About {
        self.agent.about()
    }

    fn full(&self) -> bool {
        self.agent.full()
    }

    async fn work(
        &self,
        task: &Task,
        seen: &watch::Sender<Spent>,
        stop: CancellationToken,
    ) -> Report {
        let part = usize::try_from(task.part).unwrap_or(usize::MAX);
        let name = self.names.get(part).map_or("agent", String::as_str);
        let line = self.progress.begin(name, &self.about().name);
        let mut now = seen.subscribe();
        let mut working = std::pin::pin!(self.agent.work(task, seen, stop));
        let report = loop {
            tokio::select! {
                biased;
                report = &mut working => break report,
                // The sender is in this function's hands.
                Ok(()) = now.changed() => {
                    if let Some(line) = &line {
                        line.set_message(used(&now.borrow_and_update()));
                    }
                }
            }
        };
        if let Ending::NotStarted(why) = &report.ending {
            let why = terminal::one_line(why);
            let name = terminal::one_line(name);
            self.progress
                .say(&format!("{name}: the agent could not be started: {why}"));
        }
        if let Some(line) = line {
            line.finish_and_clear();
        } else {
            let used = say::agent::spent(&report.spent);
            let used = if used.is_empty() {
                "nothing used"
            } else {
                &used
            };
            let name = terminal::one_line(name);
            self.progress
                .say(&format!("{name}: the turn has ended ({used})"));
        }
        report
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        self.agent.give(run, documents).await
    }

    async fn given(&self, run: &RunId) -> bool {
        self.agent.given(run).await
    }

    async fn forget(&self, run: &RunId) {
        self.agent.forget(run).await;
    }

    async fn kept(&self) -> Vec<RunId> {
        self.agent.kept().await
    }
}
