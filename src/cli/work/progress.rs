//! Shows the progress of agents on standard error: a spinner for each on a terminal, otherwise a
//! line when a turn begins and ends.

use std::borrow::Cow;
use std::io::{IsTerminal as _, stderr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio_util::sync::CancellationToken;

use crate::cli::terminal;
use crate::engine::agent::{About, Agent, Task, TurnObserver};
use crate::engine::messages;
use crate::engine::model::agent::{Document, Ending, Report, Spent};
use crate::engine::model::run::RunId;
use crate::formats::text::truncate_chars;

/// Maximum length of a name in a spinner line, in characters, which leaves room for the usage.
const NAME: usize = 40;
/// Interval between updates of a spinner.
const TICK: Duration = Duration::from_millis(120);

/// Output for progress messages.
pub(in crate::cli) struct Progress {
    lines: Option<MultiProgress>,
}

impl Progress {
    /// Creates an output on standard error.
    pub(in crate::cli) fn new() -> Self {
        Self {
            lines: stderr().is_terminal().then(MultiProgress::new),
        }
    }

    /// Prints a permanent line. Control characters are replaced, because parts of the text may come
    /// from other people.
    pub(in crate::cli) fn say(&self, text: &str) {
        let text = terminal::lines(text);
        match &self.lines {
            // Write errors are ignored: a closed terminal does not end the work.
            Some(lines) => lines.suspend(|| terminal::print_stderr(&format!("{text}\n"))),
            None => terminal::print_stderr(&format!("{text}\n")),
        }
    }

    fn begin(&self, name: &str, agent: &str) -> Option<ProgressBar> {
        let name = terminal::one_line(name);
        let Some(lines) = &self.lines else {
            self.say(&format!("{name}: {agent} is working"));
            return None;
        };
        let line = lines.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {prefix} [{elapsed}] {wide_msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        line.set_prefix(truncate_chars(&name, NAME));
        line.set_message(format!("{agent} is working"));
        line.enable_steady_tick(TICK);
        Some(line)
    }
}

/// Returns the usage for a spinner line, without the time, which is shown separately.
fn used(spent: &Spent) -> Cow<'static, str> {
    let spent = Spent {
        millis: 0,
        ..*spent
    };
    match messages::agent::spent(&spent) {
        used if used.is_empty() => "working".into(),
        used => used.into(),
    }
}

/// An agent that shows the progress of its turns.
pub(in crate::cli) struct Shown {
    /// The agent that does the work.
    pub(in crate::cli) agent: Arc<dyn Agent>,
    /// The output for the progress.
    pub(in crate::cli) progress: Arc<Progress>,
    /// Names of the parts of the run, indexed by part number.
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

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        let part = usize::try_from(task.part).unwrap_or(usize::MAX);
        let name = self.names.get(part).map_or("agent", String::as_str);
        let line = self.progress.begin(name, &self.about().name);
        let mut now = seen.subscribe();
        let mut working = std::pin::pin!(self.agent.work(task, seen, stop));
        let report = loop {
            tokio::select! {
                biased;
                report = &mut working => break report,
                // Never fails: the sender lives longer than this loop.
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
            let used = messages::agent::spent(&report.spent);
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
