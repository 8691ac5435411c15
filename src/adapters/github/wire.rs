//! GitHub's answers as far as they are used. Unknown members are ignored, nullable ones may be null or missing.

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::engine::model::conversation::{Post, Reactions};
use crate::engine::model::trigger::Actor;
use crate::formats::command::Permission;

/// The account that GitHub puts in place of a deleted one on github.com.
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
    /// It is the App with this id.
    pub(super) fn is(&self, id: u64) -> bool {
        self.id == Some(id)
    }
}

/// What issues and comments have in common.
#[derive(Debug, Deserialize)]
pub(super) struct Text {
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
    reactions: Option<Rollup>,
}

impl Text {
    /// Bytes of the body.
    pub(super) fn length(&self) -> usize {
        self.body.as_ref().map_or(0, String::len)
    }

    /// GitHub says that the author belongs to the repository or its organisation.
    pub(super) fn by_insider(&self) -> bool {
        let insiders = ["OWNER", "MEMBER", "COLLABORATOR"];
        let association = self.author_association.as_deref();
        association.is_some_and(|association| insiders.contains(&association))
    }

    /// Written by this App itself. GitHub names the App on what its token wrote; where it does not, the bot account
    /// decides. A person acting through the App's web flow also carries the App's name, but is no bot.
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

    /// Numeric id of the author's account.
    pub(super) fn author_id(&self) -> Option<u64> {
        self.user.as_ref().map(|user| user.id)
    }

    /// Login of the author.
    pub(super) fn login(&self) -> Option<String> {
        self.user.as_ref().map(|user| user.login.clone())
    }

    pub(super) fn post(self, id: Option<u64>, own: bool) -> Post {
        Post {
            id,
            own,
            author: self.user.and_then(User::actor),
            association: self.author_association.unwrap_or_else(|| "NONE".to_owned()),
            created: self.created_at.into(),
            updated: self.updated_at.into(),
            body: self.body.unwrap_or_default(),
            url: self.html_url,
            reactions: self.reactions.map(Rollup::reactions).unwrap_or_default(),
        }
    }
}

/// Counts of reactions, of which those that say something are read.
#[derive(Debug, Deserialize)]
pub(super) struct Rollup {
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

impl Rollup {
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
    /// How many comments it has.
    #[serde(default)]
    pub(super) comments: usize,
    /// API address of the repository that it is in.
    #[serde(default)]
    pub(super) repository_url: String,
    #[serde(flatten)]
    pub(super) text: Text,
}

#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub(super) id: u64,
    /// Present when somebody hid it.
    #[serde(default)]
    pub(super) minimized: Option<Minimized>,
    #[serde(flatten)]
    pub(super) text: Text,
}

/// That a comment is hidden.
#[derive(Debug, Deserialize)]
pub(super) struct Minimized {
    #[serde(default)]
    pub(super) reason: Option<String>,
}

/// What a write answers, as far as it is needed.
#[derive(Debug, Deserialize)]
pub(super) struct Echo {
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
    /// Zero when GitHub names no account.
    pub(super) fn user_id(&self) -> u64 {
        self.user.as_ref().map_or(0, |user| user.id)
    }

    /// A standard `role_name` is the finer answer; an organisation's own role falls back to `permission`.
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

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
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
    /// What the account may do; left out where GitHub does not say.
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
