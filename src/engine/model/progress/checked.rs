//! What a run has found out about action plans. Remembered before the first write, so that it is said only once.

use serde::{Deserialize, Serialize};

/// The plans that were checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The round in which they were; another one checks again.
    pub round: u32,
    /// The commit whose files they are, in full; `None` for plans in texts.
    pub head: Option<String>,
    /// One for each plan, in the order in which they were found.
    pub plans: Vec<Judged>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Checked {
    /// How many plans were not checked.
    pub fn skipped(&self) -> usize {
        self.plans.iter().filter(|plan| plan.skipped).count()
    }

    /// How many plans can be executed.
    pub fn good(&self) -> usize {
        self.plans.iter().filter(|plan| plan.good).count()
    }
}

/// A check of files that was interrupted: the next attempt goes on from there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    /// The files that are done.
    pub done: Checked,
    /// Requests for files so far.
    pub requests: usize,
}

/// A plan and what is to be said of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// What it is, for people: a path, or where the text stands.
    pub name: String,
    /// The path of its file; `None` for a text.
    pub path: Option<String>,
    /// It can be executed.
    pub good: bool,
    /// It was not checked, because the run may ask GitHub for nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// One sentence of plain text, with the first line that is wrong.
    pub sentence: String,
    /// Of a good one the table of its actions, of others what is wrong: Markdown without any power.
    pub details: String,
    /// Remarks at its lines.
    pub remarks: Vec<Remark>,
}

/// A remark at lines of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// First line, from 1.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// A few words.
    pub title: String,
    /// Plain text.
    pub message: String,
}
