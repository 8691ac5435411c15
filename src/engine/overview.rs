//! Entries of the lists on the pages and the command line: runs, saved plans, usage, the audit log.
//! The adapters that read them are in `adapters::store`.

use super::model::agent::{Micros, Tokens};
use super::model::failure::Code;
use super::model::run::{RunId, State};
use super::model::time::Millis;
use super::model::trigger::{Actor, IssueRef, Repo};
use super::store::AuditEntry;
use crate::formats::command::{Command, REGISTRY};

/// The states in which a run can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFilter {
    /// Every run that has not ended.
    Unfinished,
    /// The runs in this state.
    Is(State),
}

impl StateFilter {
    /// The names of all filters.
    pub const NAMES: [&'static str; 8] = [
        "unfinished",
        "blocked",
        "ready",
        "running",
        "waiting",
        "succeeded",
        "failed",
        "cancelled",
    ];

    /// Returns the filter with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "unfinished" => Some(Self::Unfinished),
            name => State::from_name(name).map(Self::Is),
        }
    }
}

/// Selects runs. `None` selects all.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Runs in this state.
    pub state: Option<StateFilter>,
    /// Runs of the repository with this id.
    pub repo: Option<u64>,
    /// Runs of this command.
    pub command: Option<Command>,
    /// Runs that were accepted before the one with this sequence number.
    pub before: Option<i64>,
}

/// Returns the command with this name or alias, with or without a slash.
///
/// # Errors
/// There is no such command. The message lists all.
pub fn command_named(name: &str) -> Result<Command, String> {
    Command::named(name.strip_prefix('/').unwrap_or(name)).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|spec| spec.name).collect();
        format!("must be one of {}", names.join(", "))
    })
}

/// A run in a list.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// The sequence number, in the order of acceptance.
    pub seq: i64,
    /// The id.
    pub id: RunId,
    /// The command word.
    pub command: String,
    /// The state.
    pub state: State,
    /// The issue or pull request, and the person who gave the command; `None` if this version cannot
    /// read them.
    pub origin: Option<(IssueRef, Actor)>,
    /// Number of attempts.
    pub attempt: u32,
    /// The error code of a failed run.
    pub code: Option<Code>,
    /// The reason why it waits or failed.
    pub note: Option<String>,
    /// The time of acceptance.
    pub created: Millis,
    /// The time at which it ended.
    pub finished: Option<Millis>,
}

impl RunSummary {
    /// Returns why the run waits or failed; empty if neither was recorded.
    pub fn reason(&self) -> String {
        let note = self.note.as_deref().unwrap_or_default();
        match self.code {
            Some(code) if note.is_empty() => code.name().to_owned(),
            Some(code) => format!("{}: {note}", code.name()),
            None => note.to_owned(),
        }
    }
}

/// A step of a run, for its timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The key, which begins with the kind.
    pub key: String,
    /// The time of the first try.
    pub begun: Millis,
    /// The time at which it was known to be done.
    pub done: Option<Millis>,
}

/// A turn of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The key, unique within the run.
    pub key: String,
    /// The time at which it was allowed.
    pub at: Millis,
    /// What it used; `None` until it has ended.
    pub used: Option<TurnUsage>,
}

/// What a turn of an agent has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnUsage {
    /// Number of model turns.
    pub turns: u32,
    /// Number of tool calls.
    pub tools: u32,
    /// Cost.
    pub cost: Micros,
    /// Tokens.
    pub tokens: Tokens,
}

/// A portion of what an agent has printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The number, which grows within a run.
    pub id: i64,
    /// The time at which it was stored.
    pub at: Millis,
    /// The text, redacted.
    pub text: String,
}

/// Selects saved plans. `None` selects all.
#[derive(Debug, Clone, Default)]
pub struct PlanFilter {
    /// Plans with words that begin with each of these, as [`words`](super::model::plan_entry::words) makes them.
    pub words: Vec<String>,
    /// Plans saved from issues and pull requests of the repository with this id.
    pub repo: Option<u64>,
    /// Plans that this person asked for, by login.
    pub actor: Option<String>,
    /// Plans saved at this time or later.
    pub since: Option<Millis>,
    /// Plans saved before this time.
    pub until: Option<Millis>,
    /// Plans saved before the one with this sequence number.
    pub before: Option<i64>,
}

/// A saved plan in a list.
#[derive(Debug, Clone)]
pub struct PlanSummary {
    /// The sequence number, in the order of saving.
    pub seq: i64,
    /// The run that saved it.
    pub run: RunId,
    /// The repository with the issue or pull request that it was saved from; `None` if it was saved
    /// by a version that did not record it.
    pub repo: Option<Repo>,
    /// The number of that issue or pull request.
    pub number: u64,
    /// The time at which it was saved.
    pub at: Millis,
    /// The login of the person who asked for it; empty if it was not recorded.
    pub actor: String,
    /// The title; empty if it was not recorded.
    pub title: String,
    /// The number of the plan issue.
    pub issue: u64,
    /// The permalink of the plan issue.
    pub url: String,
}

/// What agents have used on one day for one command of one repository.
#[derive(Debug, Clone)]
pub struct DayUsage {
    /// The start of the day, UTC.
    pub day: Millis,
    /// The repository; `None` if its name was not recorded.
    pub repo: Option<Repo>,
    /// The command.
    pub command: String,
    /// Number of runs with an agent.
    pub runs: u64,
    /// Number of model turns.
    pub turns: u64,
    /// Cost.
    pub cost: Micros,
    /// Tokens.
    pub tokens: Tokens,
}

/// Selects audit entries. `None` selects all.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Entries about this run.
    pub run: Option<RunId>,
    /// Entries of this person, by login.
    pub actor: Option<String>,
    /// Entries with this decision.
    pub decision: Option<String>,
    /// Entries before the one with this number.
    pub before: Option<i64>,
}

/// An audit entry with its number.
#[derive(Debug, Clone)]
pub struct NumberedEntry {
    /// The number, which grows.
    pub id: i64,
    /// The entry.
    pub entry: AuditEntry,
}
