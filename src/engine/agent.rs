//! The coding agent as the engine sees it. The adapters behind it are in `adapters::agent`; tests use a fake.
//!
//! An agent has no power: it gets a prompt and gives text back. Everything that happens because of that text is decided
//! and done by the engine.

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::model::agent::{Document, Limits, Micros, Report, Session, Spent};
use super::model::run::RunId;

/// What an agent can do and how it is called, for people and for decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// For people: `Claude Code` or the program's file name.
    pub name: String,
    /// It can go on with an earlier session. Else every turn tells everything again.
    pub resumes: bool,
    /// It has tools to write files with. Else what it prints is all there is.
    pub writes: bool,
}

/// One turn that an agent is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The run it is for. Turns of one part of a run share a private home; they never run at the same time.
    pub run: RunId,
    /// Which part of the run: parts may be worked on side by side. 0 where there is only one.
    pub part: u32,
    /// Fixed instructions, repeated at every turn.
    pub system: String,
    /// What is asked now, given on standard input.
    pub prompt: String,
    /// Session id (UUID) to begin with, or to go on with.
    pub session: Session,
    /// What the session has cost so far, as far as it is known: clients report costs of the whole session.
    pub cost_before: Micros,
    /// Limits of this turn.
    pub limits: Limits,
    /// Asks for files: their names in the working directory. With any, the agent gets tools that read and write there.
    pub wanted: Vec<String>,
    /// Files that it finds in its working directory, names and texts: what it wrote in earlier turns.
    pub files: Vec<Document>,
    /// Model for this turn; `None` for the operator's choice.
    pub model: Option<String>,
}

/// A coding agent.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Who it is.
    fn about(&self) -> About;

    /// Every place is taken: a turn that is begun now would wait for one.
    fn full(&self) -> bool;

    /// Works on one turn. Returns when no process of it is left. Dropping the future ends the processes too.
    ///
    /// `seen` is updated while it works; `stop` ends it.
    async fn work(
        &self,
        task: &Task,
        seen: &watch::Sender<Spent>,
        stop: CancellationToken,
    ) -> Report;

    /// Keeps documents for a run: every turn of it that asks for files finds them in its working directory.
    ///
    /// # Errors
    /// One sentence: they cannot be kept.
    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String>;

    /// Whether documents are kept for the run.
    async fn given(&self, run: &RunId) -> bool;

    /// Deletes what is kept for a run (home, sessions, documents). Called when the run has ended.
    async fn forget(&self, run: &RunId);

    /// The runs for which something is kept.
    async fn kept(&self) -> Vec<RunId>;
}
