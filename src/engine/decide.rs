//! The decision: event + body + facts → what is to be done. No I/O, no clock.
//!
//! Permission is not asked here: that takes a request to GitHub and happens when the run starts.

mod comment;
mod payload;

use std::borrow::Cow;

use crate::engine::model::trigger::{Origin, Trigger};
use payload::{Account, IssueComment, Labeled, Pushed};

use crate::formats::command::{Command, for_label};
pub use payload::PayloadError;

/// Events the App must be subscribed to; a ping tells which ones it is.
const NEEDED_EVENTS: [&str; 3] = ["issue_comment", "issues", "pull_request"];

/// Most commands of one comment that count. Each becomes a run of its own that keeps the comment's text, and anybody who
/// can comment could ask for thousands.
const MOST_COMMANDS: usize = 8;

const NO_INSTALLATION: &str = "the payload has no `installation`: this delivery comes from a webhook of a repository or an \
organisation. Delete that webhook and install the GitHub App instead; it brings its own";

/// What has to be known of ourselves to decide.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Our App's id.
    pub app_id: u64,
    /// Our App's slug, where known: our own account's login is `<slug>[bot]`.
    pub app_slug: Option<String>,
    /// Labels that mean a command.
    pub labels: Vec<(Command, String)>,
    /// Ids of bot accounts that may command.
    pub allowed_bots: Vec<u64>,
}

/// What is to be done about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Ignore {
        /// Why, for the delivery log of the App.
        why: Cow<'static, str>,
    },
    /// GitHub tries the hook.
    Ping {
        /// Events the App should be subscribed to and is not.
        missing_events: Vec<&'static str>,
    },
    /// Commands.
    Runs {
        /// The payload's action.
        action: &'static str,
        /// In the order in which they stand. Never empty.
        triggers: Vec<Trigger>,
    },
    /// The App was removed there: nothing more can be done for this installation.
    InstallationGone {
        /// Installation id.
        installation: u64,
        /// The payload's action.
        action: &'static str,
    },
    /// The App was installed, woken or given new permissions.
    Installed {
        /// Installation id.
        installation: u64,
        /// Login of the account that installed it; empty when GitHub does not say.
        account: String,
    },
}

impl Decision {
    fn ignore(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Ignore { why: why.into() }
    }
}

/// Says what is to be done about the delivery of `event` with `body`.
///
/// # Errors
/// [`PayloadError`] when an event and action that concern us come with a body that cannot be used. Anything unknown is
/// [`Decision::Ignore`].
pub fn decide(event: &str, body: &[u8], facts: &Facts) -> Result<Decision, PayloadError> {
    match event {
        "issue_comment" => match payload::read::<IssueComment<'_>>(event, body) {
            Ok(read) => Ok(comment::comment(&read, facts)),
            Err(error) => unreadable(event, body, &["created", "edited"], error),
        },
        "pull_request" if is_push(event, body) => {
            payload::read::<Pushed<'_>>(event, body).map(|read| pushed(&read, facts))
        }
        "issues" | "pull_request" => match payload::read::<Labeled<'_>>(event, body) {
            Ok(read) => Ok(labeled(&read, event == "pull_request", facts)),
            Err(error) => unreadable(event, body, &["labeled"], error),
        },
        "installation" => match payload::read::<payload::Installation<'_>>(event, body) {
            Ok(read) => Ok(installation(&read)),
            Err(error) => unreadable(event, body, &["deleted"], error),
        },
        "installation_repositories" => Ok(Decision::ignore(
            "nothing is kept per repository: a repository is looked at when a command comes from it",
        )),
        "ping" => Ok(ping(body)),
        _ => Ok(Decision::ignore(format!(
            "`{event}` events do not concern this App"
        ))),
    }
}

/// The whole could not be read. That is an error only for the actions that concern us: others may look as they like.
fn unreadable(
    event: &str,
    body: &[u8],
    concern_us: &[&str],
    error: PayloadError,
) -> Result<Decision, PayloadError> {
    let envelope: payload::Envelope<'_> = payload::read(event, body)?;
    if concern_us.contains(&envelope.action.as_ref()) {
        return Err(error);
    }
    Ok(other_action(event, &envelope.action))
}

fn other_action(event: &str, action: &str) -> Decision {
    Decision::ignore(format!("`{event}` with action `{action}` asks for nothing"))
}

fn ping(body: &[u8]) -> Decision {
    let hook = serde_json::from_slice::<payload::Ping>(body)
        .unwrap_or_default()
        .hook;
    let all = hook.events.is_empty() || hook.events.iter().any(|event| event == "*");
    Decision::Ping {
        missing_events: NEEDED_EVENTS
            .into_iter()
            .filter(|needed| !all && !hook.events.iter().any(|event| event == needed))
            .collect(),
    }
}

fn installation(read: &payload::Installation<'_>) -> Decision {
    let installation = read.installation.id;
    match read.action.as_ref() {
        "deleted" => Decision::InstallationGone {
            installation,
            action: "deleted",
        },
        // Its runs wait: GitHub refuses the credentials until somebody unsuspends it, and they give up in the end.
        "suspend" => {
            Decision::ignore("the installation is suspended; what waits goes on when it is resumed")
        }
        "created" | "unsuspend" | "new_permissions_accepted" => Decision::Installed {
            installation,
            account: read.installation.account.login.to_string(),
        },
        other => other_action("installation", other),
    }
}

fn labeled(read: &Labeled<'_>, pull_request: bool, facts: &Facts) -> Decision {
    let event = if pull_request {
        "pull_request"
    } else {
        "issues"
    };
    if read.action != "labeled" {
        return other_action(event, &read.action);
    }
    let Some(command) = for_label(&read.label.name, &facts.labels) else {
        return Decision::ignore(format!("the label `{}` means no command", read.label.name));
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
            guidance: String::new(),
            also: Vec::new(),
            inline: None,
            opening: read.issue.opening(),
            at: read.issue.updated_at.0,
        }],
    }
}

/// New commits, or a pull request that begins with a label.
fn is_push(event: &str, body: &[u8]) -> bool {
    let envelope = payload::read::<payload::Envelope<'_>>(event, body);
    envelope.is_ok_and(|read| matches!(&*read.action, "opened" | "reopened" | "synchronize"))
}

/// A pull request that keeps the label of `/check-plan` is checked again.
fn pushed(read: &Pushed<'_>, facts: &Facts) -> Decision {
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
            guidance: String::new(),
            also: Vec::new(),
            inline: None,
            opening: proposed.opening(),
            at: proposed.updated_at.0,
        }],
    }
}

/// The App's own account; GitHub gives no person a login with brackets.
fn is_our_login(login: &str, facts: &Facts) -> bool {
    facts.app_slug.as_ref().is_some_and(|slug| {
        login
            .strip_suffix("[bot]")
            .is_some_and(|login| login.eq_ignore_ascii_case(slug))
    })
}

/// Why `sender` is not listened to: ourselves, so that no loop can start, and bots that nobody allowed.
fn unwelcome(sender: &Account<'_>, facts: &Facts) -> Option<String> {
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
