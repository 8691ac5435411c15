//! What the simulated GitHub holds: accounts, repositories, issues, comments, labels, reactions, installations.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use chrono::{DateTime, Utc};

mod checks;
mod code;

pub use checks::{Annotation, CheckRun};
pub(crate) use code::{Changed, MAIN, children, tree_sha};
pub use code::{Commit, Edits, Entry, Pull, Tree};

/// Kind of an account, GitHub's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserKind {
    /// A person.
    User,
    /// A GitHub App's account, login ending in `[bot]`.
    Bot,
    /// An organisation.
    Organization,
}

impl UserKind {
    /// As in JSON.
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
    /// Numeric id.
    pub id: u64,
    /// Login.
    pub login: String,
    /// Kind.
    pub kind: UserKind,
}

/// What somebody may do in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// No access.
    None,
    /// Read.
    Read,
    /// Triage; the legacy `permission` says `read`.
    Triage,
    /// Write.
    Write,
    /// Maintain; the legacy `permission` says `write`.
    Maintain,
    /// Admin.
    Admin,
    /// An organisation's own role, built on one of the standard ones.
    Custom {
        /// `role_name`.
        name: String,
        /// The legacy `permission`: `read`, `write` or `admin`.
        permission: &'static str,
    },
}

impl Role {
    /// The legacy `permission` of the collaborator endpoint.
    pub fn permission(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
            Self::Custom { permission, .. } => permission,
        }
    }

    /// `role_name` of the collaborator endpoint.
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
}

/// A reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Id.
    pub id: u64,
    /// Who reacted.
    pub user: User,
    /// `+1`, `-1`, `laugh`, `confused`, `heart`, `hooray`, `rocket` or `eyes`.
    pub content: String,
    /// When.
    pub created: DateTime<Utc>,
}

/// A label of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Id.
    pub id: u64,
    /// Name; unique in the repository whatever the case.
    pub name: String,
    /// Six hex digits without `#`.
    pub colour: String,
    /// At most 100 characters.
    pub description: Option<String>,
}

/// An issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Id.
    pub id: u64,
    /// Number in the repository.
    pub number: u64,
    /// What makes it a pull request.
    pub pull: Option<Pull>,
    /// Title.
    pub title: String,
    /// Body, as written.
    pub body: Option<String>,
    /// Author.
    pub author: User,
    /// Written by the App.
    pub via_app: bool,
    /// Label names in the order they were set.
    pub labels: Vec<String>,
    /// The conversation is locked.
    pub locked: bool,
    /// `open` when `None`, else when it was closed.
    pub closed: Option<DateTime<Utc>>,
    /// Why it is closed or open again.
    pub state_reason: Option<String>,
    /// Who closed it.
    pub closed_by: Option<User>,
    /// Comment ids, ascending.
    pub comments: Vec<u64>,
    /// Reactions.
    pub reactions: Vec<Reaction>,
    /// When it was opened.
    pub created: DateTime<Utc>,
    /// Last change.
    pub updated: DateTime<Utc>,
}

/// A comment on an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Id.
    pub id: u64,
    /// Repository id.
    pub repository: u64,
    /// Number of the issue or pull request.
    pub number: u64,
    /// Author.
    pub author: User,
    /// Written by the App.
    pub via_app: bool,
    /// Body, as written.
    pub body: String,
    /// Why somebody hid it, e.g. `spam`; `None` when it is shown.
    pub hidden: Option<String>,
    /// Reactions.
    pub reactions: Vec<Reaction>,
    /// When it was written.
    pub created: DateTime<Utc>,
    /// Last change.
    pub updated: DateTime<Utc>,
}

/// What became of an issue that is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// It was deleted.
    Deleted,
    /// It was transferred.
    Moved {
        /// Id of the repository that it is in.
        repository: u64,
        /// Its number there.
        number: u64,
    },
}

/// A repository.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, as GitHub has them"
)]
pub struct Repository {
    /// Id.
    pub id: u64,
    /// Owner.
    pub owner: User,
    /// Name.
    pub name: String,
    /// Private.
    pub private: bool,
    /// Issues are enabled.
    pub has_issues: bool,
    /// It is archived, and therefore read-only.
    pub archived: bool,
    /// Roles by account id.
    pub roles: BTreeMap<u64, Role>,
    /// Labels.
    pub labels: Vec<Label>,
    /// Issues and pull requests by number.
    pub issues: BTreeMap<u64, Issue>,
    /// Numbers of issues that are not there any more.
    pub gone: BTreeMap<u64, Gone>,
    /// It is a fork.
    pub fork: bool,
    /// Commits by name; also those that pull requests propose from forks.
    pub commits: BTreeMap<String, Commit>,
    /// Names of commits by branch; the default branch is `main`.
    pub branches: BTreeMap<String, String>,
    /// Check runs by id.
    pub check_runs: BTreeMap<u64, CheckRun>,
    /// When it was created.
    pub created: DateTime<Utc>,
}

impl Repository {
    /// `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner.login, self.name)
    }

    /// The number of the next issue or pull request; none is given twice.
    pub(crate) fn next_number(&self) -> u64 {
        let last = |number: Option<&u64>| number.copied().unwrap_or(0);
        let present = last(self.issues.keys().next_back());
        present.max(last(self.gone.keys().next_back())) + 1
    }

    /// A label by name, whatever the case.
    pub fn label(&self, name: &str) -> Option<&Label> {
        self.labels
            .iter()
            .find(|label| label.name.eq_ignore_ascii_case(name))
    }

    /// Labels of one of its issues in the order they were set.
    pub fn labels_of(&self, issue: &Issue) -> Vec<&Label> {
        issue
            .labels
            .iter()
            .filter_map(|name| self.label(name))
            .collect()
    }

    /// Role of an account: what was granted, the owner's `admin`, or what everybody has.
    pub fn role(&self, user: u64) -> Role {
        if let Some(role) = self.roles.get(&user) {
            return role.clone();
        }
        if user == self.owner.id {
            Role::Admin
        } else if self.private {
            Role::None
        } else {
            Role::Read
        }
    }
}

/// A file that somebody attached to a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Name.
    pub name: String,
    /// Content.
    pub content: Bytes,
    /// Of a private repository: nobody without a browser's session gets it.
    pub private: bool,
}

/// The App installed in an account.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Id.
    pub id: u64,
    /// The account.
    pub account: User,
    /// Repository ids it can reach.
    pub repositories: BTreeSet<u64>,
    /// Granted permissions: name and `read` or `write`.
    pub permissions: BTreeMap<String, String>,
    /// Since when it is suspended.
    pub suspended: Option<DateTime<Utc>>,
    /// When it was installed.
    pub created: DateTime<Utc>,
    /// Last change.
    pub updated: DateTime<Utc>,
}

/// One attempt to deliver a webhook, as GitHub's delivery log has it.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Id of the attempt.
    pub id: u64,
    /// GUID; the same for every attempt to deliver one event.
    pub guid: String,
    /// Event name, e.g. `issue_comment`.
    pub event: String,
    /// Action, e.g. `created`.
    pub action: Option<String>,
    /// Installation the event belongs to.
    pub installation: Option<u64>,
    /// Repository the event belongs to.
    pub repository: Option<u64>,
    /// The raw body.
    pub payload: Bytes,
    /// When it was sent.
    pub delivered: DateTime<Utc>,
    /// It is a further attempt.
    pub redelivery: bool,
    /// Seconds until the answer.
    pub duration: f64,
    /// `None` until it has been answered or has failed; 502 and 504 stand for no connection and no answer in time.
    pub status_code: Option<u16>,
    /// GitHub's words for the outcome, `OK` for every 2xx.
    pub status: String,
    /// What the receiver said.
    pub response: String,
}
