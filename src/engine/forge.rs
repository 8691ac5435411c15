//! The GitHub interface used by the engine. The adapter that implements it is `adapters::github`;
//! tests use a fake.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::engine::model::conversation::Conversation;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{IssueRef, Repo};
use crate::formats::command::Permission;

mod checks;
mod files;
mod pulls;
mod trees;

pub use checks::{
    Annotation, CheckReport, CheckRun, CheckState, Conclusion, Level, MAX_ANNOTATION_TITLE,
    MAX_ANNOTATIONS, MAX_CHECK_TEXT, MAX_MESSAGE, NewCheckRun,
};
pub use files::{Content, FileAt, NotAFile, ReadError, Take, blob_content, content};
pub use pulls::{Change, ChangedFile, MAX_CHANGED_FILES, PullRequest};
pub use trees::{EntryKind, Tree, TreeEntry};

/// An error of a request to GitHub.
///
/// `Display` texts never contain a token, but may contain GitHub's error message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// Status 404: the resource does not exist or the App may not see it.
    #[error("GitHub answered 404 for {what}: it does not exist or the App cannot see it")]
    NotFound {
        /// The resource, e.g. `issue #7 of o/r`.
        what: String,
    },
    /// Status 410: issues are disabled in the repository.
    #[error("GitHub answered 410 for {what}: {message}")]
    Gone {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// Status 403 that is not a rate limit: the App lacks a permission.
    #[error("GitHub refuses {what}: {message}")]
    Forbidden {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message, with the permissions that it names.
        message: String,
    },
    /// Status 403: the conversation is locked, so an App cannot comment or react in it.
    #[error("GitHub refuses {what}: {message}")]
    Locked {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// Status 403: the repository is archived and therefore read-only.
    #[error("GitHub refuses {what}: {message}")]
    Archived {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// Status 403: this host's address is not on the IP allow list of the organization.
    #[error("GitHub refuses {what}: {message}")]
    IpAllowList {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// Status 410: the issue was deleted.
    #[error("GitHub answered 410 for {what}: {message}")]
    Deleted {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// The App's credentials are rejected, or the installation is suspended or removed.
    #[error("GitHub does not accept the App's credentials for {what}: {message}")]
    Unauthorized {
        /// The requested resource or operation.
        what: String,
        /// GitHub's error message.
        message: String,
    },
    /// Primary or secondary rate limit. Nothing was done; retry at `until`.
    #[error("GitHub's rate limit stops {what} until {}", until.iso())]
    Limited {
        /// The requested resource or operation.
        what: String,
        /// The time of the next try.
        until: Millis,
    },
    /// Any other 4xx status, e.g. 422. The request is invalid, and retrying does not help.
    #[error("GitHub answered {status} for {what}: {message}")]
    Rejected {
        /// The requested resource or operation.
        what: String,
        /// The HTTP status.
        status: u16,
        /// GitHub's error message and list of errors.
        message: String,
    },
    /// The request was not sent (connection refused, name not resolved, no token), so nothing was
    /// done.
    #[error("GitHub cannot be reached for {what}: {message}")]
    Unreachable {
        /// The requested resource or operation.
        what: String,
        /// The reason.
        message: String,
    },
    /// Timeout, lost response or 5xx status: it is unknown whether a write was performed. Also used
    /// for a write that succeeded, but whose response (the new id) cannot be parsed.
    #[error("the outcome of {what} is unknown: {message}")]
    Unknown {
        /// The requested resource or operation.
        what: String,
        /// The reason.
        message: String,
    },
    /// The response to a read cannot be parsed, or the pages of a list do not end or lead to
    /// another host.
    #[error("GitHub's answer to {what} cannot be read: {message}")]
    Unreadable {
        /// The requested resource or operation.
        what: String,
        /// The reason, with the name of the field.
        message: String,
    },
}

impl ForgeError {
    /// Returns whether GitHub rejected the request, did nothing, and would reject it again. A 404
    /// or 422 can also come from a replica that has not yet received a recently created resource.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::Gone { .. }
            | Self::Deleted { .. }
            | Self::Forbidden { .. }
            | Self::Locked { .. }
            | Self::Archived { .. }
            | Self::IpAllowList { .. }
            | Self::Rejected { .. } => true,
            Self::Unauthorized { .. }
            | Self::Limited { .. }
            | Self::Unreachable { .. }
            | Self::Unknown { .. }
            | Self::Unreadable { .. } => false,
        }
    }

    /// Returns whether the error means that the requested resource does not exist at this address.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::Gone { .. }
                | Self::Deleted { .. }
                | Self::Rejected {
                    status: 300..=399,
                    ..
                }
        )
    }
}

/// The permission of an account, as reported by the collaborator endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The numeric id of the account that has this login now; zero, which no account has, if GitHub
    /// knows no such account.
    pub user_id: u64,
    /// The role, from `role_name` if that is a standard role, else from `permission`; `None` means
    /// no access.
    pub permission: Option<Permission>,
}

/// An existing comment, issue or check run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The id of the comment or check run, or the number of the issue.
    pub id: u64,
    /// The permalink.
    pub url: String,
    /// The body as stored by GitHub; for a check run, its external id.
    pub body: String,
}

/// A label that the bot creates if it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelSpec {
    /// The name.
    pub name: &'static str,
    /// The colour as six hex digits without `#`.
    pub colour: &'static str,
    /// The description, at most 100 characters.
    pub description: &'static str,
}

/// The reactions that the bot uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// 👀: the command was picked up.
    Eyes,
    /// 🚀: the command succeeded.
    Rocket,
    /// 😕: the command failed.
    Confused,
}

/// The target of a reaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactTo {
    /// The comment with this id.
    Comment(u64),
    /// The issue or pull request itself.
    Issue,
}

/// The operations on GitHub that a run may use. Every method is one logical operation; reads follow
/// pagination.
///
/// Writes are not retried: after [`ForgeError::Unknown`] the caller decides what to do (see
/// `engine::effects`).
#[async_trait]
pub trait Forge: Send + Sync + 'static {
    /// Returns the role of `login` in `repo`. An account that GitHub does not know (404) has no
    /// role and the id zero.
    async fn access(&self, repo: &Repo, login: &str) -> Result<Access, ForgeError>;

    /// Returns the id of the repository that has the name of `repo` now: another one if the name was
    /// given to another repository.
    async fn repository_id(&self, repo: &Repo) -> Result<u64, ForgeError>;

    /// Returns the whole conversation at `place` without hidden comments. Follows a transferred
    /// issue.
    async fn thread(&self, place: &IssueRef) -> Result<Conversation, ForgeError>;

    /// Returns the current place of the issue or pull request at `place`, which differs if the
    /// issue was transferred to another repository. Fails with [`ForgeError::Deleted`] or
    /// [`ForgeError::NotFound`] if it no longer exists.
    async fn locate(&self, place: &IssueRef) -> Result<IssueRef, ForgeError>;

    /// Returns whether the issue at `place` is open. Follows a transferred issue. Fails with
    /// [`ForgeError::Deleted`] or [`ForgeError::NotFound`] if it no longer exists.
    async fn is_open(&self, place: &IssueRef) -> Result<bool, ForgeError>;

    /// Returns whether a comment exists. Unlike a list, this is not affected by replication lag.
    async fn comment_exists(&self, repo: &Repo, comment: u64) -> Result<bool, ForgeError>;

    /// Reads a file of `repo` at a branch, tag or commit (`None` for the default branch) and passes
    /// it to `take` in chunks until `take` returns false. Fails with [`ReadError::TooLarge`] above
    /// `most` bytes.
    async fn file(
        &self,
        repo: &Repo,
        path: &str,
        reference: Option<&str>,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<FileAt, ReadError>;

    /// Lists the files below `folders` of `repo` at a branch, tag or commit (`None` for the default
    /// branch). An empty folder name is the root; folders that do not exist are treated as empty.
    /// Returns `None` if the commit does not exist or the repository has no commits.
    async fn tree(
        &self,
        repo: &Repo,
        folders: &[&str],
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError>;

    /// Reads the content of a file by its [id](TreeEntry::id) and passes it to `take` in chunks
    /// until `take` returns false. Fails with [`ReadError::TooLarge`] above `most` bytes. Unlike
    /// [`Forge::file`], it needs only one request and does not follow symbolic links.
    async fn blob(
        &self,
        repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError>;

    /// Reads a file attached to a comment, without credentials, and passes it to `take` in chunks
    /// until `take` returns false. Fails with [`ReadError::TooLarge`] above `most` bytes. `address`
    /// is the target of the link in the comment; it is rejected unless it is on GitHub's website.
    async fn attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError>;

    /// Reads the archive of all files of `repo` at `commit` (gzip-compressed tar) and passes it to
    /// `take` in chunks until `take` returns false. Fails with [`ForgeError::NotFound`] if there is
    /// no such commit. As in git, the repository's own `.gitattributes` may leave files out.
    async fn archive(
        &self,
        repo: &Repo,
        commit: &str,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError>;

    /// Returns the pull request at `place`. Fails with [`ForgeError::NotFound`] if `place` is an
    /// issue.
    async fn pull_request(&self, place: &IssueRef) -> Result<PullRequest, ForgeError>;

    /// Returns the files changed by the pull request at `place`, at most [`MAX_CHANGED_FILES`].
    /// They belong to the current head: to get those of a particular commit, request the pull
    /// request afterwards and compare its head.
    async fn changed_files(&self, place: &IssueRef) -> Result<Vec<ChangedFile>, ForgeError>;

    /// Returns the check runs named `name` that this App created for the commit, in no particular
    /// order.
    async fn own_check_runs(
        &self,
        repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError>;

    /// Returns the check run with this id.
    async fn check_run(&self, repo: &Repo, id: u64) -> Result<CheckRun, ForgeError>;

    /// Creates a check run. `external_id` identifies it later.
    async fn create_check_run(
        &self,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError>;

    /// Replaces the contents of a check run. The annotations are added to the existing ones.
    async fn update_check_run(
        &self,
        repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError>;

    /// Returns the issues that this App created in `repo` since `since` by GitHub's clock, in any
    /// state, newest first, with their bodies. The result may include some older ones and may miss
    /// the newest, because GitHub's lists lag behind its writes.
    async fn own_issues(&self, repo: &Repo, since: Millis) -> Result<Vec<Written>, ForgeError>;

    /// Returns the comments that this App created or edited at `number` in `repo` since `since` by
    /// GitHub's clock, in ascending order of id. The result may include some older ones and may
    /// miss the newest, because GitHub's lists lag behind its writes.
    async fn own_comments(
        &self,
        repo: &Repo,
        number: u64,
        since: Millis,
    ) -> Result<Vec<Written>, ForgeError>;

    /// Creates an issue. The `id` of the result is the issue number.
    async fn create_issue(
        &self,
        repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Written, ForgeError>;

    /// Replaces the body of an issue.
    async fn update_issue_body(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<(), ForgeError>;

    /// Closes an issue as not planned, replaces its body and removes all its labels.
    async fn retire_issue(&self, repo: &Repo, number: u64, body: &str) -> Result<(), ForgeError>;

    /// Creates a comment.
    async fn create_comment(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Written, ForgeError>;

    /// Replaces the body of a comment.
    async fn update_comment(&self, repo: &Repo, comment: u64, body: &str)
    -> Result<(), ForgeError>;

    /// Deletes a comment; succeeds if it does not exist.
    async fn delete_comment(&self, repo: &Repo, comment: u64) -> Result<(), ForgeError>;

    /// Creates a label in the repository; an existing one is left unchanged.
    async fn ensure_label(&self, repo: &Repo, label: &LabelSpec) -> Result<(), ForgeError>;

    /// Removes a label from the place; succeeds if it is not set.
    async fn remove_label(&self, place: &IssueRef, name: &str) -> Result<(), ForgeError>;

    /// Adds a reaction and returns its id; succeeds if it exists already.
    async fn react(
        &self,
        place: &IssueRef,
        to: &ReactTo,
        reaction: Reaction,
    ) -> Result<u64, ForgeError>;

    /// Removes the reaction with this id; succeeds if it does not exist.
    async fn unreact(&self, place: &IssueRef, to: &ReactTo, id: u64) -> Result<(), ForgeError>;
}
