//! GitHub as the engine sees it. The adapter behind it is `adapters::github`; tests use a fake.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::engine::model::conversation::Thread;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Place, Repo};
use crate::formats::command::Permission;

mod checks;
mod files;
mod pulls;
mod trees;

pub use checks::{
    Annotation, CheckReport, CheckRun, CheckState, Conclusion, Level, MOST_ANNOTATION_TITLE,
    MOST_ANNOTATIONS, MOST_CHECK_TEXT, MOST_MESSAGE, NewCheckRun,
};
pub use files::{Content, FileAt, Kind, ReadError, Take, blob_content, content};
pub use pulls::{Change, ChangedFile, MOST_CHANGED_FILES, PullRequest};
pub use trees::{EntryKind, Tree, TreeEntry};

/// What a request to GitHub can come to when it is not an answer.
///
/// `Display` texts never hold a token; they may hold GitHub's own message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// 404: not there, or not for us.
    #[error("GitHub answered 404 for {what}: it does not exist or the App may not see it")]
    NotFound {
        /// What was asked for, e.g. `issue #7 of o/r`.
        what: String,
    },
    /// 410: issues are disabled in the repository.
    #[error("GitHub answered 410 for {what}: {message}")]
    Gone {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// 403 that is not a rate limit: a permission is missing.
    #[error("GitHub refuses {what}: {message}")]
    Forbidden {
        /// What was asked for.
        what: String,
        /// GitHub's message, with the permissions it names.
        message: String,
    },
    /// 403: the conversation is locked, and an App cannot comment or react there.
    #[error("GitHub refuses {what}: {message}")]
    Locked {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// 403: the repository is archived, which makes it read-only.
    #[error("GitHub refuses {what}: {message}")]
    Archived {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// 403: the organization admits only certain IP addresses, and this host's is not among them.
    #[error("GitHub refuses {what}: {message}")]
    IpAllowList {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// 410: the issue was deleted.
    #[error("GitHub answered 410 for {what}: {message}")]
    Deleted {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// The App's credentials are refused, or the installation is suspended or removed.
    #[error("GitHub does not accept the App's credentials for {what}: {message}")]
    Unauthorized {
        /// What was asked for.
        what: String,
        /// GitHub's message.
        message: String,
    },
    /// Primary or secondary rate limit: nothing was done, come back at `until`.
    #[error("GitHub's rate limit stops {what} until {}", until.iso())]
    Limited {
        /// What was asked for.
        what: String,
        /// When to try again.
        until: Millis,
    },
    /// Another 4xx (422 and friends): the request is wrong and stays wrong.
    #[error("GitHub answered {status} for {what}: {message}")]
    Rejected {
        /// What was asked for.
        what: String,
        /// HTTP status.
        status: u16,
        /// GitHub's message and its error list.
        message: String,
    },
    /// The request never reached GitHub (connection refused, name not resolved, no token to send it with): nothing was
    /// done.
    #[error("GitHub cannot be reached for {what}: {message}")]
    Unreachable {
        /// What was asked for.
        what: String,
        /// Why.
        message: String,
    },
    /// Timeout, lost answer or 5xx: for a write nobody knows whether it happened. Also a write that happened, but whose
    /// answer (the new id) cannot be read.
    #[error("the outcome of {what} is unknown: {message}")]
    Unknown {
        /// What was asked for.
        what: String,
        /// Why.
        message: String,
    },
    /// An answer to a read that cannot be read, or a list whose pages do not end or leave GitHub.
    #[error("GitHub's answer to {what} cannot be read: {message}")]
    Unreadable {
        /// What was asked for.
        what: String,
        /// Why, naming the field.
        message: String,
    },
}

impl ForgeError {
    /// GitHub answered, did nothing, and would answer the same again. A 404 or a 422 can also be a replica that does not
    /// yet have what was created moments ago.
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

    /// What was asked for is not where it was looked for.
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

/// What the collaborator endpoint says of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Numeric id of the account that has this login now. Zero, which no account has, when GitHub knows none.
    pub user_id: u64,
    /// Role, from `role_name` where it is a standard one, else from `permission`. `None` = no access.
    pub permission: Option<Permission>,
}

/// A comment or an issue that is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Comment id, or the issue's number.
    pub id: u64,
    /// Permalink.
    pub url: String,
    /// The body as GitHub has it.
    pub body: String,
}

/// A label the bot makes sure of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelSpec {
    /// Name.
    pub name: &'static str,
    /// Six hex digits without `#`.
    pub colour: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
}

/// The reactions the bot uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// 👀 picked up.
    Eyes,
    /// 🚀 done.
    Rocket,
    /// 😕 failed.
    Confused,
}

/// What a reaction hangs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactTo {
    /// A comment by id.
    Comment(u64),
    /// The issue or pull request itself.
    Place,
}

/// The outside of GitHub that a run may touch. Every method is one logical operation; reads follow all pages.
///
/// Writes are not retried inside: after [`ForgeError::Unknown`] the caller decides (see `engine::effects`).
#[async_trait]
pub trait Forge: Send + Sync + 'static {
    /// Role of `login` in `repo`. An account that GitHub does not know (404) has no role and the id zero.
    async fn access(&self, repo: &Repo, login: &str) -> Result<Access, ForgeError>;

    /// The whole conversation at `place`, without hidden comments. Follows a transferred issue.
    async fn thread(&self, place: &Place) -> Result<Thread, ForgeError>;

    /// Where the issue or pull request at `place` is now: a transferred issue is in another repository under another
    /// number. [`ForgeError::Deleted`] or [`ForgeError::NotFound`] when it does not exist any more.
    async fn locate(&self, place: &Place) -> Result<Place, ForgeError>;

    /// Whether the issue at `place` is open; a transferred one is followed. [`ForgeError::Deleted`] or
    /// [`ForgeError::NotFound`] when it does not exist any more.
    async fn is_open(&self, place: &Place) -> Result<bool, ForgeError>;

    /// Whether a comment exists. Unlike a list, this answer does not lag behind.
    async fn comment_exists(&self, repo: &Repo, comment: u64) -> Result<bool, ForgeError>;

    /// Reads a file of `repo` at a branch, tag or commit (`None`: the default branch), in pieces, up to `most` bytes, until
    /// `take` has enough.
    async fn file(
        &self,
        repo: &Repo,
        path: &str,
        reference: Option<&str>,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<FileAt, ReadError>;

    /// What stands below `folders` of `repo` at a branch, tag or commit (`None`: the default
    /// branch); folders that are not there are empty, and an empty name is the root. `None` when
    /// there is no such commit, or no commit at all.
    async fn tree(
        &self,
        repo: &Repo,
        folders: &[&str],
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError>;

    /// Reads a file's content by its [id](TreeEntry::id), in pieces, up to `most` bytes, until `take` has enough. Unlike
    /// [`Forge::file`] it is one request, and follows no link.
    async fn blob(
        &self,
        repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError>;

    /// Reads a file that somebody attached to a comment, without credentials, in pieces, up to `most` bytes, until `take`
    /// has enough. `address` is where the comment's link leads: GitHub's web pages, or it is refused.
    async fn attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError>;

    /// The pull request at `place`; [`ForgeError::NotFound`] when an issue stands there.
    async fn pull_request(&self, place: &Place) -> Result<PullRequest, ForgeError>;

    /// The files that the pull request at `place` changes, at most [`MOST_CHANGED_FILES`]. They belong to the head of this
    /// moment: whoever needs those of a certain commit asks for the pull request afterwards and compares.
    async fn changed_files(&self, place: &Place) -> Result<Vec<ChangedFile>, ForgeError>;

    /// Check runs called `name` that this App made for the commit, in no particular order.
    async fn own_check_runs(
        &self,
        repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError>;

    /// A check run by its id.
    async fn check_run(&self, repo: &Repo, id: u64) -> Result<CheckRun, ForgeError>;

    /// Creates a check run with a reference by which it is known again.
    async fn create_check_run(
        &self,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError>;

    /// Replaces all that a check run says, except for its annotations: those are added.
    async fn update_check_run(
        &self,
        repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError>;

    /// Issues this App created in `repo` since `since` by GitHub's clock (any state, newest first), bodies included. Some
    /// older ones may be among them, and the newest may be missing: GitHub's lists lag behind its writes.
    async fn own_issues(&self, repo: &Repo, since: Millis) -> Result<Vec<Written>, ForgeError>;

    /// Comments this App wrote or changed at `number` in `repo` since `since` by GitHub's clock, ascending. Some older ones
    /// may be among them, and the newest may be missing: GitHub's lists lag behind its writes.
    async fn own_comments(
        &self,
        repo: &Repo,
        number: u64,
        since: Millis,
    ) -> Result<Vec<Written>, ForgeError>;

    /// Creates an issue. `id` of the answer is the issue's number.
    async fn create_issue(
        &self,
        repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Written, ForgeError>;

    /// Replaces an issue's body.
    async fn update_issue_body(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<(), ForgeError>;

    /// Closes an issue as not planned, replaces its body and takes all its labels off.
    async fn retire_issue(&self, repo: &Repo, number: u64, body: &str) -> Result<(), ForgeError>;

    /// Adds a comment.
    async fn create_comment(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Written, ForgeError>;

    /// Replaces a comment's body.
    async fn update_comment(&self, repo: &Repo, comment: u64, body: &str)
    -> Result<(), ForgeError>;

    /// Deletes a comment; already gone is fine.
    async fn delete_comment(&self, repo: &Repo, comment: u64) -> Result<(), ForgeError>;

    /// Makes sure the label exists in the repository; an existing one is left as it is.
    async fn ensure_label(&self, repo: &Repo, label: &LabelSpec) -> Result<(), ForgeError>;

    /// Takes a label off the place; already gone is fine.
    async fn remove_label(&self, place: &Place, name: &str) -> Result<(), ForgeError>;

    /// Adds a reaction and gives its id; adding it twice is fine.
    async fn react(
        &self,
        place: &Place,
        to: &ReactTo,
        reaction: Reaction,
    ) -> Result<u64, ForgeError>;

    /// Removes a reaction by id; already gone is fine.
    async fn unreact(&self, place: &Place, to: &ReactTo, id: u64) -> Result<(), ForgeError>;
}
