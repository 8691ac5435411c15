//! Check runs and their annotations.

use chrono::{DateTime, Utc};

/// A remark at lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The file.
    pub path: String,
    /// First line, from 1.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// First column, where the remark is about one line.
    pub start_column: Option<u64>,
    /// Last column, likewise.
    pub end_column: Option<u64>,
    /// `notice`, `warning` or `failure`.
    pub level: String,
    /// A few words.
    pub title: Option<String>,
    /// What there is to say.
    pub message: String,
    /// Particulars.
    pub raw_details: Option<String>,
}

/// What the App says of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// Id.
    pub id: u64,
    /// Name.
    pub name: String,
    /// The commit.
    pub head_sha: String,
    /// The App's own reference.
    pub external_id: String,
    /// Where people find more.
    pub details_url: String,
    /// `queued`, `in_progress` or `completed`.
    pub status: String,
    /// How it ended.
    pub conclusion: Option<String>,
    /// When it began.
    pub started: DateTime<Utc>,
    /// When it ended.
    pub completed: Option<DateTime<Utc>>,
    /// One line.
    pub title: Option<String>,
    /// Markdown.
    pub summary: Option<String>,
    /// More Markdown.
    pub text: Option<String>,
    /// Every annotation that was ever added, in order.
    pub annotations: Vec<Annotation>,
}
