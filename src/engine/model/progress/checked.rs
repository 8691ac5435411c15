//! Stored results of action-plan checks. They are stored before the first write to GitHub, so that
//! nothing is reported twice.

use serde::{Deserialize, Serialize};

/// The results of a check of action plans.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The round in which the plans were checked. A new round checks them again.
    pub round: u32,
    /// Full SHA of the commit whose files were checked; `None` for plans in posts.
    pub head: Option<String>,
    /// One result per plan, in the order in which the plans were found.
    pub plans: Vec<Judged>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Checked {
    /// Returns the number of plans that were not checked.
    pub fn skipped(&self) -> usize {
        self.plans.iter().filter(|plan| plan.skipped).count()
    }

    /// Returns the number of executable plans.
    pub fn good(&self) -> usize {
        self.plans.iter().filter(|plan| plan.good).count()
    }
}

/// An unfinished check of files, which the next attempt continues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    /// Results for the files checked so far.
    pub done: Checked,
    /// Number of file requests so far.
    pub requests: usize,
}

/// The result of checking one plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Name of the plan for people: a path, or the location of the text.
    pub name: String,
    /// Path of the file; `None` for a plan in a post.
    pub path: Option<String>,
    /// Whether the plan is executable.
    pub good: bool,
    /// Whether the plan was not checked because the run reached its limit of requests to GitHub.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Summary in one plain-text sentence, including the first invalid line.
    pub sentence: String,
    /// Table of actions for a valid plan, otherwise the list of problems, as neutralised Markdown.
    pub details: String,
    /// Remarks on single lines.
    pub remarks: Vec<Remark>,
}

/// A remark on a range of lines in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// First line, 1-based.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// Short title.
    pub title: String,
    /// Plain-text message.
    pub message: String,
}
