//! The command requested by a webhook delivery: who sent it, where, and the text at that time.

use serde::{Deserialize, Deserializer, Serialize};

use super::time::Millis;
use crate::formats::command::{Command, Execution, RawOption, read_options};

/// A repository as addressed on GitHub, with the installation that grants access to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Repo {
    /// Installation id of the App.
    pub installation: u64,
    /// Numeric repository id. Unlike the name, it never changes.
    pub id: u64,
    /// Login of the owner.
    pub owner: String,
    /// Name of the repository.
    pub name: String,
}

impl Repo {
    /// Returns `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

/// An issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IssueRef {
    /// Repository of the issue or pull request.
    pub repo: Repo,
    /// Issue or pull-request number; zero, which GitHub never assigns, for a plan saved from a
    /// terminal without an issue.
    pub number: u64,
    /// Whether this is a pull request.
    pub pull_request: bool,
}

impl IssueRef {
    /// Returns the key shared by all commands on this issue or pull request: `<repository
    /// id>#<number>`.
    pub fn key(&self) -> String {
        format!("{}#{}", self.repo.id, self.number)
    }
}

/// A GitHub account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Numeric id. It identifies the account; a login can be reused.
    pub id: u64,
    /// Login of the account.
    pub login: String,
    /// Whether GitHub's `type` is `Bot`.
    pub bot: bool,
}

/// The event that caused a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// A comment on the issue or pull request.
    Comment {
        /// Comment id.
        id: u64,
        /// Full text of the comment in the payload.
        text: String,
        /// Permalink of the comment.
        url: String,
    },
    /// A label added to the issue or pull request.
    Label {
        /// Label name in the payload.
        name: String,
    },
    /// New commits in a pull request that has the label.
    Push {
        /// Full SHA of the new head commit.
        head: String,
    },
    /// Check boxes ticked in one of the bot's comments.
    Boxes {
        /// Comment id.
        id: u64,
        /// Full text of the comment in the payload.
        text: String,
        /// Permalink of the comment.
        url: String,
    },
    /// A plan saved from a terminal, without a GitHub event.
    Local {
        /// Id of the agent session that the plan comes from, if any.
        session: Option<String>,
    },
}

/// Reads `guidance`, which earlier versions stored as a text that may be empty.
fn guidance<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(value)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// A command requested by one delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The requested command.
    pub command: Command,
    /// The account that gave the command: the payload's `sender`.
    pub actor: Actor,
    /// The issue or pull request.
    pub place: IssueRef,
    /// The event that caused the trigger.
    pub origin: Origin,
    /// Options of the command as typed; validated by `formats::command::read_options`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<RawOption>,
    /// Free text after the command, trimmed; `None` if there is none.
    #[serde(default, deserialize_with = "guidance")]
    pub guidance: Option<String>,
    /// Further commands directly after this one in the same comment, answered together with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Command>,
    /// Whether it was found too late to be executed, so that only a comment says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// Whether an operator or maintainer had the command executed again: the limits of `[outsiders]`
    /// do not apply then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Plan contained in the command's own comment, verbatim.
    pub inline: Option<String>,
    /// [`digest`] of the opening text in the payload, used to detect later edits. GitHub's REST API
    /// does not report when an issue's text was edited.
    #[serde(default)]
    pub opening: Option<String>,
    /// Time of the event according to GitHub (the comment's `created_at` or the issue's
    /// `updated_at`). Later posts are not part of the snapshot.
    pub at: Millis,
}

impl Trigger {
    /// Returns a key that identifies the event: the same for repeated deliveries, and different for
    /// all other events. `None` if the trigger did not come from GitHub.
    pub fn dedup_key(&self) -> Option<String> {
        let (key, at) = (self.place.key(), self.at.0);
        match &self.origin {
            Origin::Comment { id, text, .. } | Origin::Boxes { id, text, .. } => {
                // GitHub's timestamps have a resolution of one second, so two edits can have the
                // same time.
                Some(format!("comment {key} {id} {at} {}", digest(text)))
            }
            Origin::Label { name } => Some(format!("label {key} {at} {}", name.to_lowercase())),
            Origin::Push { head } => Some(format!("push {key} {at} {head}")),
            Origin::Local { .. } => None,
        }
    }

    /// Returns the full text of the comment, which is the same for all triggers of a delivery.
    pub fn text(&self) -> Option<&str> {
        match &self.origin {
            Origin::Comment { text, .. } | Origin::Boxes { text, .. } => Some(text),
            Origin::Label { .. } | Origin::Push { .. } | Origin::Local { .. } => None,
        }
    }

    /// Returns a copy of the trigger without the comment text in its origin.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let origin = match &self.origin {
            Origin::Comment { id, url, .. } => Origin::Comment {
                id: *id,
                text: String::new(),
                url: url.clone(),
            },
            Origin::Boxes { id, url, .. } => Origin::Boxes {
                id: *id,
                text: String::new(),
                url: url.clone(),
            },
            other => other.clone(),
        };
        Self {
            command: self.command,
            also: self.also.clone(),
            expired: self.expired,
            repeated: self.repeated,
            actor: self.actor.clone(),
            place: self.place.clone(),
            origin,
            options: self.options.clone(),
            guidance: self.guidance.clone(),
            inline: self.inline.clone(),
            opening: self.opening.clone(),
            at: self.at,
        }
    }

    /// Puts the comment text back that [`Trigger::without_text`] has left out.
    #[must_use]
    pub fn with_text(mut self, comment: String) -> Self {
        if let Origin::Comment { text, .. } | Origin::Boxes { text, .. } = &mut self.origin {
            *text = comment;
        }
        self
    }

    /// Returns the command and the commands answered together with it.
    pub fn commands(&self) -> impl Iterator<Item = Command> {
        std::iter::once(self.command).chain(self.also.iter().copied())
    }

    /// Returns the key of the queue in which the command waits; `None` if it starts at once. A
    /// command with invalid options and one that was found too late also start at once, so that
    /// this is reported without waiting for earlier runs.
    pub fn serial(&self) -> Option<String> {
        let usable = || read_options(self.command, &self.options).is_ok();
        (self.command.spec().execution == Execution::Queued && !self.expired && usable())
            .then(|| self.place.key())
    }
}

/// Returns the SHA-256 digest of a text as a hexadecimal string.
pub fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(text.as_bytes()))
}
