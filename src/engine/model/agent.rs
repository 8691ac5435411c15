//! The input limits and results of agent turns, as stored with a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An amount in millionths of a US dollar. Whole numbers keep sums of costs exact.
pub type Micros = u64;

/// The limits of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum wall-clock time.
    pub deadline: Duration,
    /// Maximum time without any output.
    pub silence: Duration,
    /// Maximum number of model turns (assistant messages with distinct ids).
    pub turns: u32,
    /// Maximum cost of this turn; `None` for no limit. The cost is counted from the output stream,
    /// so a single request can exceed the limit.
    pub cost: Option<Micros>,
}

/// A text file in the agent's working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Path relative to the working directory, with plain names separated by `/`.
    pub path: String,
    /// Contents of the file.
    pub text: String,
}

/// A call of the agent's file-writing tool, as seen in its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrote {
    /// Path as given by the agent, with secrets removed.
    pub path: String,
    /// Text that was written, with secrets removed.
    pub text: String,
    /// Whether the call succeeded; `None` if its result was not seen.
    pub ok: Option<bool>,
}

/// The session that a turn belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// A new session with this id (a UUID).
    New(String),
    /// An existing session to continue.
    Resume(String),
}

/// The resources used by one or more turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Number of model turns.
    pub turns: u32,
    /// Number of tool calls.
    pub tools: u32,
    /// Cost of these turns alone.
    pub cost: Micros,
    /// Tokens of these turns.
    #[serde(default)]
    pub tokens: Tokens,
    /// Total cost of the session so far, as reported by the client; zero if it reports none.
    pub session_cost: Micros,
    /// Wall-clock time, in milliseconds.
    pub millis: u64,
}

/// Numbers of tokens, as reported by the client; zero if it reports none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Input, including what was read from the model's cache or written to it.
    pub input: u64,
    /// The part of the input that was read from the cache, which costs less.
    pub cached: u64,
    /// Output.
    pub output: u64,
}

impl Tokens {
    /// Adds other tokens.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

impl Spent {
    /// Adds the resources used by another turn.
    pub fn add(&mut self, turn: &Self) {
        self.turns = self.turns.saturating_add(turn.turns);
        self.tools = self.tools.saturating_add(turn.tools);
        self.cost = self.cost.saturating_add(turn.cost);
        self.tokens.add(&turn.tokens);
        self.millis = self.millis.saturating_add(turn.millis);
        self.session_cost = self.session_cost.max(turn.session_cost);
    }
}

/// The limit that caused a turn to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The deadline passed.
    Deadline,
    /// The agent produced no output for too long.
    Silence,
    /// The agent used too many model turns.
    Turns,
    /// The turn cost too much.
    Cost,
    /// A line of the output, or the whole output, exceeded its maximum size.
    Output,
    /// The processes used more memory than this, in bytes.
    Memory(u64),
    /// There were more processes and threads than this.
    Processes(u64),
    /// A process had as many files open as it may have.
    OpenFiles(u64),
    /// A file reached the maximum size of a file, in bytes.
    FileSize(u64),
    /// The files in the private folder took more space than this, in bytes.
    Disk(u64),
}

/// The way a turn ended. Success requires an explicit result in the output; every other ending has
/// its own variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent finished and reported success.
    Success {
        /// Final text of the agent, with secrets removed.
        text: String,
        /// Structured output, if the client provided one.
        structured: Option<serde_json::Value>,
        /// Number of refused tool calls.
        denials: u32,
    },
    /// The agent reported a failure, such as overload, an authentication error, a prompt that is
    /// too long or one of its own limits.
    AgentError {
        /// Kind of failure as named by the client (`subtype` or `terminal_reason`).
        subtype: String,
        /// Error message of the agent.
        message: String,
        /// HTTP status of the model API, if reported.
        status: Option<u16>,
    },
    /// The process exited with an error code or was killed by a signal, and produced no result.
    ProcessError {
        /// Exit code; `None` if the process was killed by a signal.
        code: Option<i32>,
        /// Signal that killed the process.
        signal: Option<i32>,
    },
    /// The process exited successfully, but its output contains no result.
    NoResult,
    /// The session to continue does not exist (any more).
    SessionLost,
    /// The turn was stopped because it reached a limit.
    Limited(Limit),
    /// A user asked for the run to be stopped.
    Cancelled,
    /// The program could not be started.
    NotStarted(String),
    /// The output contained a secret of this process; all of it was discarded.
    Leaked {
        /// Kind of secret.
        kind: String,
    },
}

impl Ending {
    /// The values of [`Ending::name`].
    pub const NAMES: [&'static str; 18] = [
        "success",
        "agent_error",
        "process_error",
        "no_result",
        "session_lost",
        "deadline",
        "silence",
        "turns",
        "cost",
        "output",
        "memory",
        "processes",
        "open_files",
        "file_size",
        "disk",
        "cancelled",
        "not_started",
        "leaked",
    ];

    /// Returns the name for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Success { .. } => "success",
            Self::AgentError { .. } => "agent_error",
            Self::ProcessError { .. } => "process_error",
            Self::NoResult => "no_result",
            Self::SessionLost => "session_lost",
            Self::Limited(Limit::Deadline) => "deadline",
            Self::Limited(Limit::Silence) => "silence",
            Self::Limited(Limit::Turns) => "turns",
            Self::Limited(Limit::Cost) => "cost",
            Self::Limited(Limit::Output) => "output",
            Self::Limited(Limit::Memory(_)) => "memory",
            Self::Limited(Limit::Processes(_)) => "processes",
            Self::Limited(Limit::OpenFiles(_)) => "open_files",
            Self::Limited(Limit::FileSize(_)) => "file_size",
            Self::Limited(Limit::Disk(_)) => "disk",
            Self::Cancelled => "cancelled",
            Self::NotStarted(_) => "not_started",
            Self::Leaked { .. } => "leaked",
        }
    }
}

/// The result of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The way the turn ended.
    pub ending: Ending,
    /// Top-level messages of the assistant in order, with secrets removed. Messages of sub-agents
    /// and output of tools are not included.
    pub texts: Vec<String>,
    /// Session id reported by the client.
    pub session: Option<String>,
    /// Resources used by the turn.
    pub spent: Spent,
    /// End of the standard error output, with secrets removed.
    pub stderr: String,
    /// Number of apparent credentials that were removed from the texts.
    pub redacted: u32,
    /// Markdown files left in the working directory or its scratch folder (`tmp/…`), except those
    /// given to the run, with secrets removed. For an agent without file-writing tools, its printed
    /// text stored as the first requested file.
    #[serde(default)]
    pub files: Vec<Document>,
    /// Files that the agent wrote according to its own output, in order.
    #[serde(default)]
    pub wrote: Vec<Wrote>,
}
