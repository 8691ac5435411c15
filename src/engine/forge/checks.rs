//! Check runs: what the App says of one commit, shown on the pull request and at the lines it is about.

/// The most annotations in one request; those of a further request are added to those that are there
/// (<https://docs.github.com/rest/checks/runs#update-a-check-run>).
pub const MOST_ANNOTATIONS: usize = 50;

/// Longest summary and longest text, in bytes. The documentation speaks of characters, the service counts bytes.
pub const MOST_CHECK_TEXT: usize = 65_535;

/// Longest message of an annotation, and longest raw details, in bytes ("64 KB").
pub const MOST_MESSAGE: usize = 64 * 1024;

/// Longest title of an annotation, in characters.
pub const MOST_ANNOTATION_TITLE: usize = 255;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// All is well.
    Success,
    /// What was checked has faults.
    Failure,
    /// Nothing to object to, nothing to praise.
    Neutral,
    /// There was nothing to check.
    Skipped,
    /// Somebody stopped it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// Somebody has to do something.
    ActionRequired,
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// Asked for.
    Queued,
    /// At work.
    InProgress,
    /// Ended.
    Completed(Conclusion),
}

/// How bad an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Notice,
    /// May be wrong.
    Warning,
    /// Is wrong.
    Failure,
}

/// A remark at lines of a file. What is longer than GitHub takes is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The file, from the root of the repository.
    pub path: String,
    /// First line, from 1.
    pub start_line: u64,
    /// Last line; not before the first.
    pub end_line: u64,
    /// How bad it is.
    pub level: Level,
    /// A few words; at most [`MOST_ANNOTATION_TITLE`] characters.
    pub title: Option<String>,
    /// What there is to say, as plain text; at most [`MOST_MESSAGE`] bytes.
    pub message: String,
    /// Particulars behind a click; at most [`MOST_MESSAGE`] bytes.
    pub raw_details: Option<String>,
}

/// What a check run says. What is longer than GitHub takes is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// How far it is.
    pub state: CheckState,
    /// One line.
    pub title: String,
    /// Markdown; at most [`MOST_CHECK_TEXT`] bytes.
    pub summary: String,
    /// More Markdown below the summary; at most [`MOST_CHECK_TEXT`] bytes.
    pub text: Option<String>,
    /// Remarks. A [`Forge`](super::Forge) sends them in one request, hence at most [`MOST_ANNOTATIONS`], and they are added
    /// to those that are there; `engine::effects` takes any number and adds each once.
    pub annotations: Vec<Annotation>,
}

/// A check run that is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckRun {
    /// What people see and what branch rules may demand. The same for every commit.
    pub name: String,
    /// The commit, in full.
    pub head_sha: String,
    /// Where people find more; else GitHub links to the App.
    pub details_url: Option<String>,
    /// What it says.
    pub report: CheckReport,
}

/// A check run of this App that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// Id.
    pub id: u64,
    /// Permalink.
    pub url: String,
    /// The reference it was created with.
    pub external_id: String,
    /// How many annotations it has.
    pub annotations: usize,
}
