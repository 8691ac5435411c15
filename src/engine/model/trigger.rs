//! What a delivery asks for: the command, who gave it, where, and the text as it was.

use serde::{Deserialize, Serialize};

use super::time::Millis;
use crate::formats::command::{Command, RawOption, read_options};

/// A repository as GitHub addresses it, within the installation that lets us in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Repo {
    /// Installation id of our App.
    pub installation: u64,
    /// Numeric repository id: survives renames.
    pub id: u64,
    /// Owner login.
    pub owner: String,
    /// Repository name.
    pub name: String,
}

impl Repo {
    /// `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

/// An issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Repository.
    pub repo: Repo,
    /// Issue or pull-request number. Zero, which GitHub gives to nothing, where a plan from a terminal belongs to none.
    pub number: u64,
    /// True for a pull request.
    pub pull_request: bool,
}

impl Place {
    /// The key that commands on one place share: `<repository id>#<number>`.
    pub fn key(&self) -> String {
        format!("{}#{}", self.repo.id, self.number)
    }
}

/// A GitHub account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Numeric id: the identity. A login can be re-used.
    pub id: u64,
    /// Login.
    pub login: String,
    /// GitHub's `type` is `Bot`.
    pub bot: bool,
}

/// What set the trigger off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// A comment on the place.
    Comment {
        /// Comment id.
        id: u64,
        /// The comment's whole text as it was in the payload.
        text: String,
        /// Permalink of the comment.
        url: String,
    },
    /// A label set on the place.
    Label {
        /// Label name as it was in the payload.
        name: String,
    },
    /// New commits of a pull request that has the label.
    Push {
        /// The commit that it proposes now, in full.
        head: String,
    },
    /// Boxes ticked in a comment of our own.
    Boxes {
        /// Comment id.
        id: u64,
        /// The comment's whole text as it was in the payload.
        text: String,
        /// Permalink of the comment.
        url: String,
    },
    /// Nothing on GitHub: somebody saves a plan from a terminal.
    Local {
        /// Id of the agent's session that the plan comes from, where it comes from one.
        session: Option<String>,
    },
}

/// One command asked for by one delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// What is asked for.
    pub command: Command,
    /// Who asks: the payload's `sender`.
    pub actor: Actor,
    /// Where.
    pub place: Place,
    /// What set it off.
    pub origin: Origin,
    /// Options of the command as they were typed; `formats::command::read_options` judges them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<RawOption>,
    /// Free text behind the command; empty when there is none.
    pub guidance: String,
    /// Commands that stand directly behind this one in the same comment and are answered together
    /// with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Command>,
    /// A plan that stands in the command's own comment, verbatim.
    pub inline: Option<String>,
    /// [`digest`] of the opening text as it was in the payload, so that a later edit of it is noticed: GitHub's REST API
    /// does not say when an issue's text was changed.
    #[serde(default)]
    pub opening: Option<String>,
    /// When GitHub says it happened (comment's `created_at`, issue's `updated_at`); the snapshot ends here.
    pub at: Millis,
}

impl Trigger {
    /// Names what was said where and when: the same for each delivery that brings it, different for everything else.
    /// `None` where it did not come from GitHub.
    pub fn said(&self) -> Option<String> {
        let (key, at) = (self.place.key(), self.at.0);
        match &self.origin {
            Origin::Comment { id, text, .. } | Origin::Boxes { id, text, .. } => {
                // Two edits can fall into one second, GitHub's unit of time.
                Some(format!("comment {key} {id} {at} {}", digest(text)))
            }
            Origin::Label { name } => Some(format!("label {key} {at} {}", name.to_lowercase())),
            Origin::Push { head } => Some(format!("push {key} {at} {head}")),
            Origin::Local { .. } => None,
        }
    }

    /// The whole text of the comment, which all triggers of a delivery have in common.
    pub fn text(&self) -> Option<&str> {
        match &self.origin {
            Origin::Comment { text, .. } | Origin::Boxes { text, .. } => Some(text),
            Origin::Label { .. } | Origin::Push { .. } | Origin::Local { .. } => None,
        }
    }

    /// The trigger with an empty text in its origin.
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

    /// The command and those that are answered together with it.
    pub fn commands(&self) -> impl Iterator<Item = Command> {
        std::iter::once(self.command).chain(self.also.iter().copied())
    }

    /// The queue in which the command waits its turn; `None` for one that waits for nothing. A
    /// command whose options cannot be used is among those: it is answered at once, however long
    /// the run before it takes.
    pub fn serial(&self) -> Option<String> {
        let usable = || read_options(self.command, &self.options).is_ok();
        (self.command.spec().serial && usable()).then(|| self.place.key())
    }
}

/// SHA-256 of a text, in hex.
pub fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(text.as_bytes()))
}
