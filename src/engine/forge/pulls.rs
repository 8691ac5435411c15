//! Pull requests as [`Forge`](super::Forge) reads them.

/// The most changed files that GitHub lists of one pull request; whatever is behind them is not told
/// (<https://docs.github.com/rest/pulls/pulls#list-pull-requests-files>). [`PullRequest::changed_files`] has the true number.
pub const MOST_CHANGED_FILES: usize = 3_000;

/// A pull request as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// The commit that it proposes, in full. The repository that it is proposed to has it too, so it can be read and
    /// checked there, wherever it comes from.
    pub head_sha: String,
    /// Numeric id of the repository that the head comes from: another one for a fork, `None` when the fork is gone.
    pub head_repo: Option<u64>,
    /// The commit of the base branch that GitHub compares with, in full.
    pub base_sha: String,
    /// Name of the base branch.
    pub base_branch: String,
    /// Neither closed nor merged.
    pub open: bool,
    /// Not ready for review.
    pub draft: bool,
    /// How many files it changes, also beyond [`MOST_CHANGED_FILES`].
    pub changed_files: usize,
}

/// What becomes of a file in a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// New.
    Added,
    /// Gone.
    Removed,
    /// Other content.
    Modified,
    /// Another path, perhaps other content too.
    Renamed,
    /// A copy of another file.
    Copied,
    /// Something else changed, such as the file's mode; also what GitHub may call by a name that is new.
    Changed,
    /// Listed, but as it was.
    Unchanged,
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path at the head; of a removed file, its last one.
    pub path: String,
    /// What becomes of it.
    pub change: Change,
    /// Its path at the base, where that is another one.
    pub previous: Option<String>,
}
