//! Decides what to do about a webhook delivery, given its event, its body and facts about the App.
//! This module does no I/O and does not use the clock.
//!
//! The sender's permission is not checked here, because that needs a request to GitHub. It is
//! checked when the run starts.

mod comment;
mod payload;
mod slug;

use std::borrow::Cow;

use serde::Deserialize;

use crate::engine::app_needs::missing_events;
use crate::engine::model::intake::Subject;
use crate::engine::model::trigger::{Origin, Trigger};
use payload::{Account, Installation, IssueComment, Labeled, Pushed};

use crate::formats::command::{Command, for_label};
pub use payload::PayloadError;
pub use slug::AppSlug;

/// Maximum number of commands of one comment that are executed. Each becomes a run that stores the
/// comment's text, and anybody who can comment could ask for thousands.
const MAX_COMMANDS: usize = 8;

/// The reason why most comments are ignored.
pub const NO_COMMAND: &str = "no command in this comment";

const NO_INSTALLATION: &str = "the payload has no `installation`: this delivery comes from a webhook of a repository or an \
organisation. Delete that webhook and install the GitHub App instead, which has its own webhook";

/// Facts about the App that decisions depend on.
#[derive(Debug, Clone, Default)]
pub struct AppIdentity {
    /// The id of this App.
    pub app_id: u64,
    /// The slug of this App. The login of the App's account is `<slug>[bot]`.
    pub app_slug: AppSlug,
    /// The labels that start a command.
    pub labels: Vec<(Command, String)>,
    /// The ids of bot accounts that may give commands.
    pub allowed_bots: Vec<u64>,
}

/// The decision about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Ignore the delivery.
    Ignore {
        /// The reason, for the App's delivery log.
        why: Cow<'static, str>,
    },
    /// Answer a ping, with which GitHub tests the webhook.
    Ping {
        /// The events that the App is not subscribed to but should be.
        missing_events: Vec<&'static str>,
    },
    /// Start runs for commands.
    Runs {
        /// The `action` of the payload.
        action: &'static str,
        /// The commands in the order of the comment; never empty.
        triggers: Vec<Trigger>,
    },
    /// Cancel the runs of an installation that was deleted.
    InstallationGone {
        /// The installation id.
        installation: u64,
        /// The `action` of the payload.
        action: &'static str,
    },
    /// Note that the App was installed or unsuspended, or has new permissions.
    Installed {
        /// The installation id.
        installation: u64,
        /// The login of the account that owns the installation; empty if GitHub does not provide
        /// it.
        account: String,
    },
}

impl Decision {
    fn ignore(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Ignore { why: why.into() }
    }
}

/// A decision, and what the delivery is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What the delivery is about.
    pub subject: Subject,
    /// The decision.
    pub decision: Decision,
}

impl From<Decision> for Decided {
    fn from(decision: Decision) -> Self {
        Self {
            subject: Subject::default(),
            decision,
        }
    }
}

/// Decides what to do about the delivery of `event` with `body`.
///
/// # Errors
/// Returns [`PayloadError`] if the body of a relevant event and action is invalid. Unknown events
/// and actions are ignored.
pub fn decide(event: &str, body: &[u8], facts: &AppIdentity) -> Result<Decided, PayloadError> {
    Ok(Payload::read(event, body)?.decide(facts))
}

/// A payload, parsed as far as decisions need it. The texts in it are not parsed yet.
#[derive(Debug)]
pub struct Payload<'a>(Parsed<'a>);

#[derive(Debug)]
enum Parsed<'a> {
    Comment(IssueComment<'a>),
    Labeled {
        read: Labeled<'a>,
        pull_request: bool,
    },
    Pushed(Pushed<'a>),
    /// A payload whose decision depends on nothing but its event and its action.
    Decided(Decided),
}

impl<'a> Payload<'a> {
    /// Parses the `body` of a delivery of `event`.
    ///
    /// # Errors
    /// Returns [`PayloadError`] if the body of a relevant event and action is invalid.
    pub fn read(event: &str, body: &'a [u8]) -> Result<Self, PayloadError> {
        let parsed = match event {
            "issue_comment" => {
                read_or_ignore(event, body, &["created", "edited"], Parsed::Comment)?
            }
            "pull_request" if is_push(event, body) => Parsed::Pushed(payload::read(event, body)?),
            "issues" | "pull_request" => {
                let pull_request = event == "pull_request";
                read_or_ignore(event, body, &["labeled"], |read| Parsed::Labeled {
                    read,
                    pull_request,
                })?
            }
            "installation" => read_or_ignore(event, body, &["deleted"], |read| {
                Parsed::Decided(installation(&read))
            })?,
            "installation_repositories" => {
                Parsed::Decided(Decision::ignore("nothing is stored per repository").into())
            }
            "ping" => Parsed::Decided(ping(body).into()),
            _ => Parsed::Decided(
                Decision::ignore(format!("this App does not handle `{event}` events")).into(),
            ),
        };
        Ok(Self(parsed))
    }

    /// Returns the length of the text that [`Self::decide`] parses, in bytes.
    pub fn text_length(&self) -> usize {
        match &self.0 {
            Parsed::Comment(read) => read.text_length(),
            _ => 0,
        }
    }

    /// Decides what to do about the delivery.
    pub fn decide(self, facts: &AppIdentity) -> Decided {
        let (subject, decision) = match self.0 {
            Parsed::Comment(read) => (read.subject(), comment::comment(read, facts)),
            Parsed::Labeled { read, pull_request } => {
                (read.subject(), labeled(&read, pull_request, facts))
            }
            Parsed::Pushed(read) => (read.subject(), pushed(&read, facts)),
            Parsed::Decided(decided) => return decided,
        };
        Decided { subject, decision }
    }
}

/// Returns whether [`decide`] can do anything but ignore a delivery of this event and action. Where
/// this is false, its payload need not be read.
pub fn concerns_us(event: &str, action: Option<&str>) -> bool {
    let action = action.unwrap_or_default();
    match event {
        "issue_comment" => matches!(action, "created" | "edited"),
        "issues" => action == "labeled",
        "pull_request" => matches!(action, "labeled" | "opened" | "reopened" | "synchronize"),
        "installation" => action == "deleted",
        _ => false,
    }
}

/// Parses a payload. One that cannot be parsed is an error only for the actions in `concern_us`, and
/// ignored for others, whose payloads may have any form.
fn read_or_ignore<'a, T: Deserialize<'a>>(
    event: &str,
    body: &'a [u8],
    concern_us: &[&str],
    parsed: impl FnOnce(T) -> Parsed<'a>,
) -> Result<Parsed<'a>, PayloadError> {
    let error = match payload::read(event, body) {
        Ok(read) => return Ok(parsed(read)),
        Err(error) => error,
    };
    let envelope: payload::Envelope<'_> = payload::read(event, body)?;
    if concern_us.contains(&envelope.action.as_ref()) {
        return Err(error);
    }
    Ok(Parsed::Decided(Decided {
        subject: Subject {
            action: Some(envelope.action.to_string()),
            ..Subject::default()
        },
        decision: other_action(event, &envelope.action),
    }))
}

fn other_action(event: &str, action: &str) -> Decision {
    Decision::ignore(format!(
        "this App does not handle `{event}` with action `{action}`"
    ))
}

fn ping(body: &[u8]) -> Decision {
    let hook = serde_json::from_slice::<payload::Ping>(body)
        .unwrap_or_default()
        .hook;
    let all = hook.events.is_empty() || hook.events.iter().any(|event| event == "*");
    let missing = if all {
        Vec::new()
    } else {
        missing_events(&hook.events)
    };
    Decision::Ping {
        missing_events: missing.into_iter().map(|event| event.name).collect(),
    }
}

fn installation(read: &Installation<'_>) -> Decided {
    let installation = read.installation.id;
    let decision = match read.action.as_ref() {
        "deleted" => Decision::InstallationGone {
            installation,
            action: "deleted",
        },
        // Waiting runs keep waiting: GitHub rejects the credentials until the installation is
        // unsuspended. The runs fail after `give_up_after`.
        "suspend" => Decision::ignore(
            "the installation is suspended; waiting runs continue when it is unsuspended",
        ),
        "created" | "unsuspend" | "new_permissions_accepted" => Decision::Installed {
            installation,
            account: read.installation.account.login.to_string(),
        },
        other => other_action("installation", other),
    };
    Decided {
        subject: Subject {
            action: Some(read.action.to_string()),
            ..Subject::default()
        },
        decision,
    }
}

fn labeled(read: &Labeled<'_>, pull_request: bool, facts: &AppIdentity) -> Decision {
    let event = if pull_request {
        "pull_request"
    } else {
        "issues"
    };
    if read.action != "labeled" {
        return other_action(event, &read.action);
    }
    let Some(command) = for_label(&read.label.name, &facts.labels) else {
        return Decision::ignore(format!("the label `{}` is not a command", read.label.name));
    };
    if let Some(why) = unwelcome(&read.sender, facts) {
        return Decision::ignore(why);
    }
    let Some(installation) = &read.installation else {
        return Decision::ignore(NO_INSTALLATION);
    };
    let is_pull_request = pull_request || read.issue.pull_request.is_some();
    Decision::Runs {
        action: "labeled",
        triggers: vec![Trigger {
            command,
            actor: read.sender.actor(),
            place: read
                .repository
                .place(installation.id, read.issue.number, is_pull_request),
            origin: Origin::Label {
                name: read.label.name.to_string(),
            },
            options: Vec::new(),
            guidance: None,
            also: Vec::new(),
            expired: false,
            repeated: false,
            inline: None,
            opening: read.issue.opening(),
            at: read.issue.updated_at.0,
        }],
    }
}

/// Returns whether the event reports new commits or a new or reopened pull request, which may have
/// labels from the start.
fn is_push(event: &str, body: &[u8]) -> bool {
    let envelope = payload::read::<payload::Envelope<'_>>(event, body);
    envelope.is_ok_and(|read| matches!(&*read.action, "opened" | "reopened" | "synchronize"))
}

/// Starts a check of a pull request that has the label of `/check-plan`.
fn pushed(read: &Pushed<'_>, facts: &AppIdentity) -> Decision {
    let wanted = facts
        .labels
        .iter()
        .find(|(command, _)| *command == Command::CheckPlan)
        .map(|(_, name)| name.to_lowercase());
    let proposed = &read.pull_request;
    let labeled = wanted.is_some_and(|wanted| {
        let mut names = proposed
            .labels
            .iter()
            .map(|label| label.name.to_lowercase());
        names.any(|name| name == wanted)
    });
    if !labeled {
        return Decision::ignore("the pull request has no label that asks for a check");
    }
    if is_our_login(&read.sender.login, facts) {
        return Decision::ignore("this App did that itself");
    }
    let Some(installation) = &read.installation else {
        return Decision::ignore(NO_INSTALLATION);
    };
    Decision::Runs {
        action: "pushed",
        triggers: vec![Trigger {
            command: Command::CheckPlan,
            actor: read.sender.actor(),
            place: read
                .repository
                .place(installation.id, proposed.number, true),
            origin: Origin::Push {
                head: proposed.head.sha.to_string(),
            },
            options: Vec::new(),
            guidance: None,
            also: Vec::new(),
            expired: false,
            repeated: false,
            inline: None,
            opening: proposed.opening(),
            at: proposed.updated_at.0,
        }],
    }
}

/// Returns whether this is the login of the App's own account. GitHub does not allow brackets in
/// the logins of people.
fn is_our_login(login: &str, facts: &AppIdentity) -> bool {
    facts.app_slug.get().is_some_and(|slug| {
        login
            .strip_suffix("[bot]")
            .is_some_and(|login| login.eq_ignore_ascii_case(slug))
    })
}

/// Returns the reason why `sender` is ignored, if any. The App itself is ignored to prevent loops,
/// and so are bots that are not explicitly allowed.
fn unwelcome(sender: &Account<'_>, facts: &AppIdentity) -> Option<String> {
    if is_our_login(&sender.login, facts) {
        return Some("this App did that itself".to_owned());
    }
    (sender.is_bot() && !facts.allowed_bots.contains(&sender.id)).then(|| {
        format!(
            "`{}` (id {}) is a bot that is not in `github.allowed_bots`",
            sender.login, sender.id
        )
    })
}

#[cfg(test)]
mod tests;
