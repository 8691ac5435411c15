//! Observes the turns of agents: stores what they print, for people who watch a run, and makes each
//! turn a span of the run's trace.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::agent::{About, Agent, Task, TurnObserver};
use super::clock::Clock;
use super::model::agent::{Document, Report};
use super::model::run::RunId;
use super::store::{MAX_OUTPUT_PORTION, Store};
use super::trace;
use crate::formats::text::truncate_bytes;

/// Number of messages of an agent that wait to be stored.
const QUEUE: usize = 256;

/// Time for which output is gathered before it is stored.
const GATHER: Duration = Duration::from_secs(1);

/// An agent whose output is stored, and whose turns are traced. A failure to store does not disturb a
/// turn.
pub struct RecordedAgent {
    inner: Arc<dyn Agent>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl RecordedAgent {
    /// Stores the output of `inner`.
    pub fn new(inner: Arc<dyn Agent>, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            store,
            clock,
        }
    }
}

#[async_trait]
impl Agent for RecordedAgent {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn full(&self) -> bool {
        self.inner.full()
    }

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        let (sender, output) = mpsc::channel(QUEUE);
        let seen = seen.clone().with_output(sender);
        let working = async {
            let span = trace::turn(&self.inner.about().name, task.part);
            let report = self.inner.work(task, &seen, stop).await;
            trace::turn_ended(&span, &report.ending);
            // Ends the recording.
            drop(seen);
            report
        };
        let recording = record(task, output, &*self.store, &*self.clock);
        let (report, ()) = tokio::join!(working, recording);
        report
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        self.inner.give(run, documents).await
    }

    async fn given(&self, run: &RunId) -> bool {
        self.inner.given(run).await
    }

    async fn forget(&self, run: &RunId) {
        self.inner.forget(run).await;
    }

    async fn kept(&self) -> Vec<RunId> {
        self.inner.kept().await
    }
}

async fn record(
    task: &Task,
    mut output: mpsc::Receiver<String>,
    store: &dyn Store,
    clock: &dyn Clock,
) {
    while let Some(first) = output.recv().await {
        let mut text = line(task, &first);
        let mut gathered = clock.sleep(GATHER);
        loop {
            tokio::select! {
                biased;
                more = output.recv() => match more {
                    Some(more) => text.push_str(&line(task, &more)),
                    None => break,
                },
                () = &mut gathered => break,
            }
            if text.len() >= MAX_OUTPUT_PORTION {
                break;
            }
        }
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let portion = truncate_bytes(rest, MAX_OUTPUT_PORTION);
            rest = &rest[portion.len()..];
            let stored = store.append_output(&task.run, portion, clock.now()).await;
            if let Err(error) = stored {
                tracing::debug!(run.id = %task.run, %error, "the agent's output was not stored");
            }
        }
    }
}

/// Returns a message with its part of the run, if there are several.
fn line(task: &Task, text: &str) -> String {
    match task.part {
        0 => text.to_owned(),
        part => format!("[{part}] {text}"),
    }
}
