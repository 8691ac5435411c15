//! The coding agent interface used by the engine. The adapters that implement it are in
//! `adapters::agent`; tests use a fake.
//!
//! An agent receives a prompt and returns text. It has no credentials and no access to GitHub: the
//! engine decides what happens because of its output, and performs it.

use std::path::PathBuf;

use async_trait::async_trait;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::model::agent::{Document, Limits, Micros, Report, Session, Spent};
use super::model::run::RunId;

/// The name and capabilities of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The display name, e.g. `Claude Code`, or the file name of the program.
    pub name: String,
    /// Whether it can resume an earlier session. If not, every prompt repeats the whole context.
    pub resumes: bool,
    /// Whether it has tools to write files. If not, its printed output is its only result.
    pub writes: bool,
}

/// The input of one agent turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The run that the turn belongs to. Turns of the same part of a run share a private home
    /// directory and never run at the same time.
    pub run: RunId,
    /// The part of the run. Parts may run in parallel; 0 if there is only one.
    pub part: u32,
    /// The fixed instructions (system prompt), sent with every turn.
    pub system: String,
    /// The prompt of this turn, passed on standard input.
    pub prompt: String,
    /// The id (UUID) of the session to start or to resume.
    pub session: Session,
    /// The known cost of the session before this turn. Clients report the cost of the whole
    /// session, so this is subtracted to get the cost of the turn.
    pub cost_before: Micros,
    /// The limits of this turn.
    pub limits: Limits,
    /// The names of the files to write in the working directory. If there are any, the agent gets
    /// tools to read and write files there.
    pub wanted: Vec<String>,
    /// The files written in earlier turns, which are put into the working directory.
    pub files: Vec<Document>,
    /// The model to use for this turn; `None` for the one that the operator configured.
    pub model: Option<String>,
    /// Absolute path of a read-only copy of the repository. If there is one, the agent gets tools
    /// to read files there.
    pub repository: Option<PathBuf>,
}

/// Receives what is known about a turn while it runs.
#[derive(Debug, Clone)]
pub struct TurnObserver {
    spent: watch::Sender<Spent>,
    output: Option<mpsc::Sender<String>>,
}

impl TurnObserver {
    /// Creates an observer of the usage, and its receiver.
    pub fn new() -> (Self, watch::Receiver<Spent>) {
        let (spent, seen) = watch::channel(Spent::default());
        let observer = Self {
            spent,
            output: None,
        };
        (observer, seen)
    }

    /// Sends what the agent prints to `output` as well. What arrives while that is full is lost.
    #[must_use]
    pub fn with_output(mut self, output: mpsc::Sender<String>) -> Self {
        self.output = Some(output);
        self
    }

    /// Updates the usage.
    pub fn set_spent(&self, spent: Spent) {
        self.spent.send_replace(spent);
    }

    /// Returns another receiver of the usage.
    pub fn subscribe(&self) -> watch::Receiver<Spent> {
        self.spent.subscribe()
    }

    /// Returns whether the output is wanted.
    pub fn wants_output(&self) -> bool {
        self.output.is_some()
    }

    /// Passes on what the agent prints, redacted: complete lines.
    pub fn print(&self, lines: String) {
        if let Some(output) = &self.output {
            // The text is only displayed, so it may be lost if the store is slow.
            let _ = output.try_send(lines);
        }
    }
}

/// A coding agent.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Returns the name and capabilities of the agent.
    fn about(&self) -> About;

    /// Returns whether all agent slots are in use, so that a new turn would have to wait.
    fn full(&self) -> bool;

    /// Runs one turn and returns when all of its processes have ended. Dropping the future ends the
    /// processes too.
    ///
    /// `seen` receives the usage and what the agent prints while the turn runs. Cancelling `stop` ends the turn.
    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report;

    /// Stores documents for a run. They are put into the working directory of every turn of the run
    /// that asks for files.
    ///
    /// # Errors
    /// Returns one sentence with the reason when the documents cannot be stored.
    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String>;

    /// Returns whether documents are stored for the run.
    async fn given(&self, run: &RunId) -> bool;

    /// Deletes everything stored for a run: home directories, sessions and documents. Called when
    /// the run has ended.
    async fn forget(&self, run: &RunId);

    /// Returns the runs for which anything is stored.
    async fn kept(&self) -> Vec<RunId>;
}
