//! Pull requests, as read through [`Forge`](super::Forge).

/// Maximum number of changed files that GitHub lists for one pull request; the others are not
/// available (<https://docs.github.com/rest/pulls/pulls#list-pull-requests-files>).
/// [`PullRequest::changed_files`] has the actual number.
pub const MAX_CHANGED_FILES: usize = 3_000;

/// The current state of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// The full SHA of the head commit. It is also available in the base repository, even if it
    /// comes from a fork, so it can be read and checked there.
    pub head_sha: String,
    /// The numeric id of the head repository. It differs from the base repository for a fork;
    /// `None` if the fork was deleted.
    pub head_repo: Option<u64>,
    /// The full SHA of the base branch's commit that GitHub compares with.
    pub base_sha: String,
    /// The name of the base branch.
    pub base_branch: String,
    /// Whether it is open, i.e. neither closed nor merged.
    pub open: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// Number of changed files, which may exceed [`MAX_CHANGED_FILES`].
    pub changed_files: usize,
}

/// How a pull request changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file was added.
    Added,
    /// The file was removed.
    Removed,
    /// The content changed.
    Modified,
    /// The path changed, and possibly the content.
    Renamed,
    /// The file is a copy of another file.
    Copied,
    /// Another change, e.g. of the file mode. Also used for statuses that this version does not
    /// know.
    Changed,
    /// The file is listed, but unchanged.
    Unchanged,
}

/// A file changed by a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path at the head; for a removed file, its last path.
    pub path: String,
    /// The kind of change.
    pub change: Change,
    /// The path at the base, if it differs.
    pub previous: Option<String>,
}
