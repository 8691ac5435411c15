//! What an agent is asked for and what comes back: values that are stored with a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Millionths of a US dollar: costs are summed, so they are whole numbers.
pub type Micros = u64;

/// What limits one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest wall-clock time.
    pub deadline: Duration,
    /// Longest time without a byte of output.
    pub silence: Duration,
    /// Most model turns (assistant messages with an id of their own) in one go.
    pub turns: u32,
    /// Most that this turn may cost; `None` for no limit. Counted from the stream, so one request can overshoot it.
    pub cost: Option<Micros>,
}

/// A text with a name: a path relative to the agent's working directory, of plain names divided by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The path.
    pub path: String,
    /// The text.
    pub text: String,
}

/// A call of the tool that writes files, as the agent's output tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrote {
    /// The path, as the agent wrote it, secrets taken out.
    pub path: String,
    /// The text, secrets taken out.
    pub text: String,
    /// Its result is no error; `None` where none was seen.
    pub ok: Option<bool>,
}

/// Where a turn belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// A new session with this id (UUID).
    New(String),
    /// Go on with this one.
    Resume(String),
}

/// What a turn has used so far or in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Model turns.
    pub turns: u32,
    /// Tool calls.
    pub tools: u32,
    /// Cost of this turn alone.
    pub cost: Micros,
    /// Cost of the whole session so far, as the client reports it; zero where it reports none.
    pub session_cost: Micros,
    /// Wall-clock milliseconds.
    pub millis: u64,
}

impl Spent {
    /// Adds what a turn used.
    pub fn add(&mut self, turn: &Self) {
        self.turns = self.turns.saturating_add(turn.turns);
        self.tools = self.tools.saturating_add(turn.tools);
        self.cost = self.cost.saturating_add(turn.cost);
        self.millis = self.millis.saturating_add(turn.millis);
        self.session_cost = self.session_cost.max(turn.session_cost);
    }
}

/// Why an agent's turn was ended by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The deadline passed.
    Deadline,
    /// No output for too long.
    Silence,
    /// Too many model turns.
    Turns,
    /// It cost too much.
    Cost,
    /// A line, or the whole output, longer than is read.
    Output,
}

/// How a turn ended. Success needs a result that says so; everything else has its own variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent finished and says so.
    Success {
        /// Its final text, secrets taken out.
        text: String,
        /// Structured output, where the client gave one.
        structured: Option<serde_json::Value>,
        /// How many tool calls were refused.
        denials: u32,
    },
    /// The agent says that it failed: overload, authentication, prompt too long, its own limits.
    AgentError {
        /// What kind, in the client's words (`subtype` or `terminal_reason`).
        subtype: String,
        /// What it says.
        message: String,
        /// HTTP status of the model's API, where one is named.
        status: Option<u16>,
    },
    /// The process ended with a code or a signal and without a result.
    ProcessError {
        /// Exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// Signal that ended it.
        signal: Option<i32>,
    },
    /// The process ended well, but there is no result in what it printed.
    NoResult,
    /// The session to go on with is not there (any more).
    SessionLost,
    /// We ended it.
    Limited(Limit),
    /// Somebody asked to stop.
    Cancelled,
    /// The program could not be started.
    NotStarted(String),
    /// Its output holds a secret of this process: nothing of it is given on.
    Leaked {
        /// Which kind of secret.
        kind: String,
    },
}

/// What came of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// Top-level texts of the assistant, in order, secrets taken out; sub-agents' and tools' texts are not among them.
    pub texts: Vec<String>,
    /// Session id that the client reported.
    pub session: Option<String>,
    /// What it used.
    pub spent: Spent,
    /// End of what it wrote to standard error, secrets taken out.
    pub stderr: String,
    /// How many things that look like credentials were taken out of the texts.
    pub redacted: u32,
    /// Markdown files that were in its working directory or its scratch folder (`tmp/…`) in the end, but for those that
    /// the run was given; of an agent without tools to write with, what it printed, as the first file that was asked for.
    /// Secrets taken out.
    #[serde(default)]
    pub files: Vec<Document>,
    /// Files that it says it has written, in order.
    #[serde(default)]
    pub wrote: Vec<Wrote>,
}
