//! The parts of GitHub's JSON that are used. Unknown members are ignored, nullable ones may be null
//! or missing.

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::client::Page;
use crate::engine::forge::{self, Change, ChangedFile};
use crate::engine::model::conversation::Reactions;
use crate::engine::model::trigger::Actor;
use crate::formats::command::Permission;

/// The account that github.com shows in place of deleted accounts.
const GHOST: (u64, &str) = (10137, "ghost");

#[derive(Debug, Deserialize)]
pub(super) struct User {
    id: u64,
    login: String,
    #[serde(default, rename = "type")]
    kind: String,
}

impl User {
    fn is_bot(&self) -> bool {
        self.kind == "Bot"
    }

    /// Returns the account unless it was deleted.
    pub(super) fn actor(self) -> Option<Actor> {
        let ghost = (self.id, self.login.as_str()) == GHOST;
        let bot = self.is_bot();
        (!ghost).then_some(Actor {
            id: self.id,
            login: self.login,
            bot,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct AppRef {
    id: Option<u64>,
}

impl AppRef {
    /// Whether it is the App with this id.
    pub(super) fn is(&self, id: u64) -> bool {
        self.id == Some(id)
    }
}

/// Members that issues and comments have in common.
#[derive(Debug, Deserialize)]
pub(super) struct Post {
    pub(super) html_url: String,
    #[serde(default)]
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) user: Option<User>,
    #[serde(default)]
    author_association: Option<String>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    #[serde(default)]
    performed_via_github_app: Option<AppRef>,
    #[serde(default)]
    reactions: Option<ReactionCounts>,
}

impl Post {
    /// Length of the body, in bytes.
    pub(super) fn length(&self) -> usize {
        self.body.as_ref().map_or(0, String::len)
    }

    /// Whether the author belongs to the repository or its organisation.
    pub(super) fn by_insider(&self) -> bool {
        let insiders = ["OWNER", "MEMBER", "COLLABORATOR"];
        let association = self.author_association.as_deref();
        association.is_some_and(|association| insiders.contains(&association))
    }

    /// Whether this App itself wrote it. GitHub names the App on posts written with its token;
    /// where it does not, the bot account decides. Posts of a person signed in through the App name
    /// it too, but that person is no bot.
    pub(super) fn is_own(&self, app_id: u64, login: &str) -> bool {
        let Some(user) = self.user.as_ref().filter(|user| user.is_bot()) else {
            return false;
        };
        match self
            .performed_via_github_app
            .as_ref()
            .and_then(|app| app.id)
        {
            Some(id) => id == app_id,
            None => user.login.eq_ignore_ascii_case(login),
        }
    }

    /// Whether the bot account `login` wrote it, with whatever App.
    pub(super) fn is_by_bot(&self, login: &str) -> bool {
        let author = self.user.as_ref().filter(|user| user.is_bot());
        author.is_some_and(|user| user.login.eq_ignore_ascii_case(login))
    }

    /// Returns the numeric id of the author's account.
    pub(super) fn author_id(&self) -> Option<u64> {
        self.user.as_ref().map(|user| user.id)
    }

    /// Returns the login of the author.
    pub(super) fn login(&self) -> Option<String> {
        self.user.as_ref().map(|user| user.login.clone())
    }

    pub(super) fn into_thread_post(
        self,
        id: Option<u64>,
        own: bool,
    ) -> crate::engine::model::conversation::Post {
        crate::engine::model::conversation::Post {
            id,
            own,
            author: self.user.and_then(User::actor),
            association: self.author_association.unwrap_or_else(|| "NONE".to_owned()),
            created: self.created_at.into(),
            updated: self.updated_at.into(),
            body: self.body.unwrap_or_default(),
            url: self.html_url,
            reactions: self
                .reactions
                .map(ReactionCounts::reactions)
                .unwrap_or_default(),
        }
    }
}

/// Counts of the reactions that express an opinion.
#[derive(Debug, Deserialize)]
pub(super) struct ReactionCounts {
    #[serde(default, rename = "+1")]
    up: u32,
    #[serde(default, rename = "-1")]
    down: u32,
    #[serde(default)]
    confused: u32,
    #[serde(default)]
    heart: u32,
    #[serde(default)]
    hooray: u32,
    #[serde(default)]
    rocket: u32,
}

impl ReactionCounts {
    fn reactions(self) -> Reactions {
        Reactions::from_counts([
            ("+1", self.up),
            ("-1", self.down),
            ("confused", self.confused),
            ("heart", self.heart),
            ("hooray", self.hooray),
            ("rocket", self.rocket),
        ])
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) state: String,
    #[serde(default)]
    pub(super) pull_request: Option<IgnoredAny>,
    /// Number of comments.
    #[serde(default)]
    pub(super) comments: usize,
    /// API address of its repository.
    #[serde(default)]
    pub(super) repository_url: String,
    #[serde(flatten)]
    pub(super) post: Post,
}

#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub(super) id: u64,
    /// Present if it is hidden.
    #[serde(default)]
    pub(super) minimized: Option<Minimized>,
    #[serde(flatten)]
    pub(super) post: Post,
}

/// How a comment was hidden.
#[derive(Debug, Deserialize)]
pub(super) struct Minimized {
    #[serde(default)]
    pub(super) reason: Option<String>,
}

/// The response to a write.
#[derive(Debug, Deserialize)]
pub(super) struct Written {
    /// Present on comments, reactions and issues.
    pub(super) id: u64,
    /// Present on issues.
    pub(super) number: Option<u64>,
    #[serde(default)]
    pub(super) html_url: String,
    #[serde(default)]
    pub(super) body: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Collaborator {
    #[serde(default)]
    permission: String,
    #[serde(default)]
    role_name: Option<String>,
    #[serde(default)]
    user: Option<User>,
}

impl Collaborator {
    /// Returns the account id; zero if GitHub names no account.
    pub(super) fn user_id(&self) -> u64 {
        self.user.as_ref().map_or(0, |user| user.id)
    }

    /// Returns the role: a standard `role_name`, which is more precise, or else `permission`.
    pub(super) fn role(&self) -> Option<Permission> {
        self.role_name
            .as_deref()
            .and_then(permission)
            .or_else(|| permission(&self.permission))
    }
}

fn permission(name: &str) -> Option<Permission> {
    Some(match name {
        "read" => Permission::Read,
        "triage" => Permission::Triage,
        "write" => Permission::Write,
        "maintain" => Permission::Maintain,
        "admin" => Permission::Admin,
        _ => return None,
    })
}

/// `POST /app/installations/{id}/access_tokens`. No `Debug`: it holds a secret.
#[derive(Deserialize)]
pub(super) struct AccessToken {
    #[serde(deserialize_with = "secret")]
    pub(super) token: SecretString,
    pub(super) expires_at: DateTime<Utc>,
}

/// Reads a secret.
pub(super) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
}

/// Reads a secret or `null`.
pub(super) fn optional_secret<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SecretString>, D::Error> {
    Option::<String>::deserialize(from).map(|text| text.map(SecretString::from))
}

/// `GET /app`.
#[derive(Debug, Deserialize)]
pub(super) struct App {
    pub(super) id: u64,
    pub(super) slug: String,
}

/// `GET /repos/{owner}/{repo}`.
#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) id: u64,
    pub(super) full_name: String,
    #[serde(default)]
    pub(super) archived: bool,
    #[serde(default = "yes")]
    pub(super) has_issues: bool,
    /// Permissions of the account; absent in some responses.
    #[serde(default)]
    pub(super) permissions: Option<Permissions>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Permissions {
    #[serde(default)]
    pub(super) push: bool,
}

fn yes() -> bool {
    true
}

/// `GET /repos/{owner}/{repo}/pulls/{number}`.
#[derive(Debug, Deserialize)]
pub(super) struct PullRequest {
    pub(super) state: String,
    #[serde(default)]
    pub(super) draft: Option<bool>,
    pub(super) head: PullRequestSide,
    pub(super) base: PullRequestSide,
    pub(super) changed_files: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct PullRequestSide {
    pub(super) sha: String,
    #[serde(rename = "ref")]
    pub(super) branch: String,
    /// `null` when the repository is gone.
    #[serde(default)]
    pub(super) repo: Option<HeadRepository>,
}

#[derive(Debug, Deserialize)]
pub(super) struct HeadRepository {
    pub(super) id: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct DiffEntry {
    pub(super) filename: String,
    pub(super) status: DiffStatus,
    #[serde(default)]
    pub(super) previous_filename: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DiffStatus {
    Added,
    Removed,
    Modified,
    Renamed,
    Copied,
    Unchanged,
    #[serde(other)]
    Changed,
}

impl From<DiffEntry> for ChangedFile {
    fn from(entry: DiffEntry) -> Self {
        Self {
            path: entry.filename,
            change: match entry.status {
                DiffStatus::Added => Change::Added,
                DiffStatus::Removed => Change::Removed,
                DiffStatus::Modified => Change::Modified,
                DiffStatus::Renamed => Change::Renamed,
                DiffStatus::Copied => Change::Copied,
                DiffStatus::Changed => Change::Changed,
                DiffStatus::Unchanged => Change::Unchanged,
            },
            previous: entry.previous_filename,
        }
    }
}

/// A check run.
#[derive(Debug, Deserialize)]
pub(super) struct CheckRun {
    id: u64,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    pub(super) name: String,
    output: CheckOutput,
    #[serde(default)]
    pub(super) app: Option<AppRef>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckOutput {
    annotations_count: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRuns {
    check_runs: Vec<CheckRun>,
}

impl Page for CheckRuns {
    type Item = CheckRun;

    fn items(self) -> Vec<CheckRun> {
        self.check_runs
    }
}

impl From<CheckRun> for forge::CheckRun {
    fn from(run: CheckRun) -> Self {
        Self {
            id: run.id,
            url: run.html_url.unwrap_or_default(),
            external_id: run.external_id.unwrap_or_default(),
            annotations: run.output.annotations_count,
        }
    }
}
