//! Objects that the simulated GitHub stores: accounts, repositories, issues, comments, labels,
//! reactions, check runs, installations, webhook deliveries.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use chrono::{DateTime, Utc};

mod code;

pub(crate) use code::{ArchiveToken, ChangedFile, DEFAULT_BRANCH, children, join_path, tree_sha};
pub use code::{Commit, FileEdits, PullRequest, Tree, TreeEntry};

/// Kind of an account, the member `type` of GitHub's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserKind {
    /// A person.
    User,
    /// The account of a GitHub App, with a login that ends in `[bot]`.
    Bot,
    /// An organisation.
    Organization,
}

impl UserKind {
    /// Returns the spelling of GitHub's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
            Self::Organization => "Organization",
        }
    }
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Id of the account.
    pub id: u64,
    /// Login, unique regardless of case.
    pub login: String,
    /// Kind of the account.
    pub kind: UserKind,
}

/// Role of an account in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// No access.
    None,
    /// Read.
    Read,
    /// Triage; the legacy permission is `read`.
    Triage,
    /// Write.
    Write,
    /// Maintain; the legacy permission is `write`.
    Maintain,
    /// Admin.
    Admin,
    /// A custom role of an organisation, based on one of the standard roles.
    Custom {
        /// Name of the role (`role_name`).
        name: String,
        /// Legacy permission: `read`, `write` or `admin`.
        permission: &'static str,
    },
}

impl Role {
    /// Returns the legacy `permission` of the collaborator endpoint.
    pub fn permission(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
            Self::Custom { permission, .. } => permission,
        }
    }

    /// Returns the `role_name` of the collaborator endpoint.
    pub fn role_name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
            Self::Custom { name, .. } => name,
        }
    }

    /// Returns whether the role includes write permission.
    pub(crate) fn can_write(&self) -> bool {
        matches!(self.permission(), "write" | "admin")
    }
}

/// Contents that a reaction can have.
pub(crate) const REACTION_CONTENTS: [&str; 8] = [
    "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes",
];

/// A reaction to an issue, a pull request or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Id of the reaction.
    pub id: u64,
    /// Account that reacted.
    pub user: User,
    /// `+1`, `-1`, `laugh`, `confused`, `heart`, `hooray`, `rocket` or `eyes`.
    pub content: String,
    /// Time of the reaction.
    pub created: DateTime<Utc>,
}

/// A label of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Id of the label.
    pub id: u64,
    /// Name, unique in the repository regardless of case.
    pub name: String,
    /// Six hexadecimal digits without `#`.
    pub colour: String,
    /// Description of at most 100 characters.
    pub description: Option<String>,
}

/// An issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Id of the issue, unique over all repositories.
    pub id: u64,
    /// Number in the repository.
    pub number: u64,
    /// Branches and commits of a pull request; `None` for an issue.
    pub pull: Option<PullRequest>,
    /// Title.
    pub title: String,
    /// Markdown source of the body.
    pub body: Option<String>,
    /// Author.
    pub author: User,
    /// Whether the App opened it.
    pub via_app: bool,
    /// Label names in the order in which they were added.
    pub labels: Vec<String>,
    /// Whether the conversation is locked.
    pub locked: bool,
    /// Time at which it was closed; `None` while it is open.
    pub closed: Option<DateTime<Utc>>,
    /// Reason for the last change of state, e.g. `completed`.
    pub state_reason: Option<String>,
    /// Account that closed it.
    pub closed_by: Option<User>,
    /// Comment ids in ascending order.
    pub comments: Vec<u64>,
    /// Changes of its labels, the oldest first.
    pub events: Vec<LabelEvent>,
    /// Reactions to the body.
    pub reactions: Vec<Reaction>,
    /// Time at which it was opened.
    pub created: DateTime<Utc>,
    /// Time of the last change.
    pub updated: DateTime<Utc>,
}

/// A label that was added to or removed from an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelEvent {
    /// Id of the event.
    pub id: u64,
    /// `labeled` or `unlabeled`.
    pub event: String,
    /// Account that made the change.
    pub actor: User,
    /// Whether the App made the change.
    pub via_app: bool,
    /// Name of the label.
    pub label: String,
    /// Colour of the label.
    pub colour: String,
    /// Time of the change.
    pub created: DateTime<Utc>,
}

/// A comment on an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Id of the comment, unique over all repositories.
    pub id: u64,
    /// Id of the repository.
    pub repository: u64,
    /// Number of the issue or pull request.
    pub number: u64,
    /// Author.
    pub author: User,
    /// Whether the App wrote it.
    pub via_app: bool,
    /// Markdown source of the comment.
    pub body: String,
    /// Reason for which it is hidden, e.g. `spam`; `None` while it is shown.
    pub hidden: Option<String>,
    /// Reactions to the comment.
    pub reactions: Vec<Reaction>,
    /// Time at which it was written.
    pub created: DateTime<Utc>,
    /// Time of the last edit.
    pub updated: DateTime<Utc>,
}

/// Fate of an issue that is no longer in its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovedIssue {
    /// It was deleted.
    Deleted,
    /// It was transferred to another repository.
    Transferred {
        /// Id of the other repository.
        repository: u64,
        /// Number in the other repository.
        number: u64,
    },
}

/// A note on lines of a file, part of a check run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Path of the file.
    pub path: String,
    /// First line, counted from 1.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// First column; only in annotations of a single line.
    pub start_column: Option<u64>,
    /// Last column; only in annotations of a single line.
    pub end_column: Option<u64>,
    /// `notice`, `warning` or `failure`.
    pub level: String,
    /// Title.
    pub title: Option<String>,
    /// Message.
    pub message: String,
    /// Further details.
    pub raw_details: Option<String>,
}

/// A check run of the App on a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// Id of the check run.
    pub id: u64,
    /// Name.
    pub name: String,
    /// SHA of the commit.
    pub head_sha: String,
    /// Reference chosen by the App.
    pub external_id: String,
    /// URL with the full details.
    pub details_url: String,
    /// `queued`, `in_progress` or `completed`.
    pub status: String,
    /// Conclusion of a completed run, e.g. `success`.
    pub conclusion: Option<String>,
    /// Time at which it started.
    pub started: DateTime<Utc>,
    /// Time at which it completed.
    pub completed: Option<DateTime<Utc>>,
    /// Title of the output.
    pub title: Option<String>,
    /// Summary of the output, as Markdown.
    pub summary: Option<String>,
    /// Details of the output, as Markdown.
    pub text: Option<String>,
    /// Annotations of all requests, in the order in which they were added.
    pub annotations: Vec<Annotation>,
}

/// A repository.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, as in GitHub's JSON"
)]
pub struct Repository {
    /// Id of the repository.
    pub id: u64,
    /// Owner.
    pub owner: User,
    /// Name without the owner.
    pub name: String,
    /// Whether it is private.
    pub private: bool,
    /// Whether issues are enabled.
    pub has_issues: bool,
    /// Whether it is archived, and therefore read-only.
    pub archived: bool,
    /// Roles that were granted, by account id.
    pub roles: BTreeMap<u64, Role>,
    /// Labels.
    pub labels: Vec<Label>,
    /// Issues and pull requests by number.
    pub issues: BTreeMap<u64, Issue>,
    /// Deleted and transferred issues by number.
    pub removed_issues: BTreeMap<u64, RemovedIssue>,
    /// Whether it is a fork.
    pub fork: bool,
    /// Commits by SHA, including those that pull requests propose from forks.
    pub commits: BTreeMap<String, Commit>,
    /// SHA of the head commit by branch; the default branch is `main`.
    pub branches: BTreeMap<String, String>,
    /// Check runs by id.
    pub check_runs: BTreeMap<u64, CheckRun>,
    /// Time at which it was created.
    pub created: DateTime<Utc>,
}

impl Repository {
    /// Returns `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner.login, self.name)
    }

    /// Returns the number of the next issue or pull request. Numbers are never reused.
    pub(crate) fn next_number(&self) -> u64 {
        let last = |number: Option<&u64>| number.copied().unwrap_or(0);
        let present = last(self.issues.keys().next_back());
        present.max(last(self.removed_issues.keys().next_back())) + 1
    }

    /// Returns the number of open issues and pull requests.
    pub(crate) fn open_issue_count(&self) -> usize {
        let open = |issue: &&Issue| issue.closed.is_none();
        self.issues.values().filter(open).count()
    }

    /// Returns the issue or pull request with a number given as text.
    pub(crate) fn parse_issue(&self, number: &str) -> Option<&Issue> {
        self.issues.get(&number.parse().ok()?)
    }

    /// Returns the label with this name, regardless of case.
    pub fn label(&self, name: &str) -> Option<&Label> {
        self.labels
            .iter()
            .find(|label| label.name.eq_ignore_ascii_case(name))
    }

    /// Returns the labels of an issue in the order in which they were added.
    pub fn labels_of(&self, issue: &Issue) -> Vec<&Label> {
        let labels = issue.labels.iter();
        labels.filter_map(|name| self.label(name)).collect()
    }

    /// Returns the role of an account: the one that was granted, else `admin` for the owner, else
    /// the role that everybody has.
    pub fn role(&self, user: u64) -> Role {
        match self.roles.get(&user) {
            Some(role) => role.clone(),
            None if user == self.owner.id => Role::Admin,
            None if self.private => Role::None,
            None => Role::Read,
        }
    }
}

/// A file attached to a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// File name.
    pub name: String,
    /// Content.
    pub content: Bytes,
    /// Whether it belongs to a private repository, so that only a signed-in browser can load it.
    pub private: bool,
}

/// An installation of the App in an account.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Id of the installation.
    pub id: u64,
    /// Account in which the App is installed.
    pub account: User,
    /// Ids of the repositories that it can access.
    pub repositories: BTreeSet<u64>,
    /// Granted permissions: name and `read` or `write`.
    pub permissions: BTreeMap<String, String>,
    /// Time at which it was suspended.
    pub suspended: Option<DateTime<Utc>>,
    /// Time at which the App was installed.
    pub created: DateTime<Utc>,
    /// Time of the last change.
    pub updated: DateTime<Utc>,
}

/// An attempt to deliver a webhook, as in GitHub's delivery log.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Id of the attempt.
    pub id: u64,
    /// URL that it is sent to; `None` for the next of all webhook URLs.
    pub target: Option<String>,
    /// GUID of the event, the same for every attempt to deliver it.
    pub guid: String,
    /// Event name, e.g. `issue_comment`.
    pub event: String,
    /// Action, e.g. `created`.
    pub action: Option<String>,
    /// Installation that the event belongs to.
    pub installation: Option<u64>,
    /// Repository that the event belongs to.
    pub repository: Option<u64>,
    /// Request body.
    pub payload: Bytes,
    /// Time at which it was sent.
    pub delivered: DateTime<Utc>,
    /// Whether the event was sent before.
    pub redelivery: bool,
    /// Seconds until the response.
    pub duration: f64,
    /// Status code of the response; `None` while the attempt is pending. 502 is a failed
    /// connection, 504 for a timeout.
    pub status_code: Option<u16>,
    /// GitHub's description of the result, `OK` for every 2xx response.
    pub status: String,
    /// Response body.
    pub response: String,
}

/// Format of an installation token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenFormat {
    /// `ghs_` and 36 characters.
    #[default]
    Classic,
    /// `ghs_<App id>_<JWT>`, about 520 characters, including dots.
    Stateless,
}

/// Owner of an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenOwner {
    /// An installation of the App, by id.
    Installation(u64),
    /// A person, by account id.
    Person(u64),
    /// A job of GitHub Actions, by the repository's id.
    Job(u64),
    /// Nobody: the request carries no token.
    Anonymous,
}

impl TokenOwner {
    /// Returns the key under which requests are counted. Ids are unique over all kinds of objects.
    pub(crate) fn id(self) -> u64 {
        match self {
            Self::Installation(id) | Self::Person(id) | Self::Job(id) => id,
            Self::Anonymous => 0,
        }
    }
}

/// An access token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) owner: TokenOwner,
    pub(crate) expires: DateTime<Utc>,
    pub(crate) permissions: BTreeMap<String, String>,
    /// Ids of the repositories that the token is limited to.
    pub(crate) repositories: Option<BTreeSet<u64>>,
}

impl Token {
    /// Returns the access of a request without a token.
    pub(crate) fn anonymous() -> Self {
        Self {
            owner: TokenOwner::Anonymous,
            expires: DateTime::<Utc>::MAX_UTC,
            permissions: BTreeMap::new(),
            repositories: None,
        }
    }
}

/// A login through the App that a person has confirmed.
#[derive(Debug, Clone)]
pub(crate) struct Authorization {
    /// Account id.
    pub(crate) person: u64,
    pub(crate) redirect_uri: String,
    /// SHA-256 of the verifier that the exchange needs, in base64url.
    pub(crate) code_challenge: Option<String>,
    pub(crate) created: DateTime<Utc>,
}

/// The account that performs an action.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) user: User,
    pub(crate) via_app: bool,
}

impl Actor {
    pub(crate) fn person(user: User) -> Self {
        Self {
            user,
            via_app: false,
        }
    }
}
