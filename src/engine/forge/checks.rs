//! Check runs: the result of checking a commit, shown on the pull request and at the affected
//! lines.

/// Maximum number of annotations in one request. Those of later requests are added to the existing
/// ones (<https://docs.github.com/rest/checks/runs#update-a-check-run>).
pub const MAX_ANNOTATIONS: usize = 50;

/// Maximum size of the summary and of the text, in bytes. The documentation says characters, but
/// GitHub counts bytes.
pub const MAX_CHECK_TEXT: usize = 65_535;

/// Maximum size of an annotation's message and of its raw details, in bytes ("64 KB").
pub const MAX_MESSAGE: usize = 64 * 1024;

/// Maximum length of an annotation's title, in characters.
pub const MAX_ANNOTATION_TITLE: usize = 255;

/// The conclusion of a completed check run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// The check passed.
    Success,
    /// The check failed.
    Failure,
    /// The check neither passed nor failed.
    Neutral,
    /// There was nothing to check.
    Skipped,
    /// The check was cancelled.
    Cancelled,
    /// The check timed out.
    TimedOut,
    /// A person has to take action.
    ActionRequired,
}

/// The state of a check run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// Requested, but not started.
    Queued,
    /// Running.
    InProgress,
    /// Finished with this conclusion.
    Completed(Conclusion),
}

/// The severity of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Information only.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Failure,
}

/// A message attached to lines of a file. Values longer than GitHub's limits are truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The path of the file from the root of the repository.
    pub path: String,
    /// The first line, counted from 1.
    pub start_line: u64,
    /// The last line; not less than `start_line`.
    pub end_line: u64,
    /// The severity.
    pub level: Level,
    /// The title, at most [`MAX_ANNOTATION_TITLE`] characters.
    pub title: Option<String>,
    /// The message as plain text, at most [`MAX_MESSAGE`] bytes.
    pub message: String,
    /// Details that GitHub shows on demand, at most [`MAX_MESSAGE`] bytes.
    pub raw_details: Option<String>,
}

/// The contents of a check run. Values longer than GitHub's limits are truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The state.
    pub state: CheckState,
    /// The title, one line.
    pub title: String,
    /// The summary as Markdown, at most [`MAX_CHECK_TEXT`] bytes.
    pub summary: String,
    /// Additional Markdown below the summary, at most [`MAX_CHECK_TEXT`] bytes.
    pub text: Option<String>,
    /// The annotations. A [`Forge`](super::Forge) sends them in one request, at most
    /// [`MAX_ANNOTATIONS`], and they are added to the existing ones. `engine::effects` accepts any
    /// number and adds each one once.
    pub annotations: Vec<Annotation>,
}

/// A check run to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckRun {
    /// The name, shown to people and used by branch protection rules. It is the same for every
    /// commit.
    pub name: String,
    /// The full SHA of the commit.
    pub head_sha: String,
    /// A link to further information; without one, GitHub links to the App.
    pub details_url: Option<String>,
    /// The contents.
    pub report: CheckReport,
}

/// An existing check run of this App.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// The id.
    pub id: u64,
    /// The permalink.
    pub url: String,
    /// The external id that it was created with.
    pub external_id: String,
    /// Number of its annotations.
    pub annotations: usize,
}
