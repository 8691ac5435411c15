//! The decision: event + body + facts → what is to be done. No I/O, no clock.
//!
//! Permission is not asked here: that takes a request to GitHub and happens when the run starts.

use std::borrow::Cow;
use std::time::Duration;

use super::payload::{self, Account, IssueComment, Labeled, PayloadError};
use super::{Origin, Trigger};
use crate::formats::command::{self, Command, Invocation};

/// A command put into a comment by an edit counts for this long after the comment was made.
///
/// Long enough to mend a typing mistake, too short to turn an old, agreed comment into a command.
const EDIT_WINDOW: Duration = Duration::from_mins(10);

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
            Ok(read) => Ok(comment(&read, facts)),
            Err(error) => unreadable(event, body, &["created", "edited"], error),
        },
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

fn comment(read: &IssueComment<'_>, facts: &Facts) -> Decision {
    let comment = &read.comment;
    let edited = match read.action.as_ref() {
        "created" => false,
        "edited" => true,
        other => return other_action("issue_comment", other),
    };
    // Cheapest first: most comments hold no slash at all.
    if !comment.body.contains('/') {
        return Decision::ignore("no command in this comment");
    }
    let by_our_app = comment
        .performed_via_github_app
        .as_ref()
        .is_some_and(|app| app.id == facts.app_id);
    if by_our_app {
        return Decision::ignore("this App wrote the comment itself");
    }
    if let Some(why) = unwelcome(&read.sender, facts) {
        return Decision::ignore(why);
    }
    let found = if edited {
        match added_by_edit(read) {
            Ok(found) => found,
            Err(why) => return Decision::ignore(why),
        }
    } else {
        command::parse(&comment.body)
    };
    if found.is_empty() {
        return Decision::ignore("no command in this comment");
    }
    let Some(installation) = &read.installation else {
        return Decision::ignore(NO_INSTALLATION);
    };
    let place = read.repository.place(
        installation.id,
        read.issue.number,
        read.issue.pull_request.is_some(),
    );
    let at = if edited {
        comment.updated_at.0
    } else {
        comment.created_at.0
    };
    let opening = read.issue.opening();
    Decision::Runs {
        action: if edited { "edited" } else { "created" },
        triggers: found
            .into_iter()
            .take(MOST_COMMANDS)
            .map(|found| Trigger {
                command: found.command,
                actor: read.sender.actor(),
                place: place.clone(),
                origin: Origin::Comment {
                    id: comment.id,
                    text: comment.body.to_string(),
                    url: comment.html_url.to_string(),
                },
                options: found.options,
                guidance: found.guidance,
                inline: found.inline,
                opening: opening.clone(),
                at,
            })
            .collect(),
    }
}

/// The commands an edit put into a comment. People with write access can edit what others wrote, and an agreed comment
/// can be changed later; so only the author, only soon, and only what was not asked for before.
fn added_by_edit(read: &IssueComment<'_>) -> Result<Vec<Invocation>, &'static str> {
    let Some(before) = &read.changes.body else {
        return Err("the edit left the comment's text as it was");
    };
    let author = read.comment.user.as_ref().map(|user| user.id);
    if author != Some(read.sender.id) {
        return Err("commands in a comment that somebody else edited do not count");
    }
    let age = read.comment.updated_at.0.since(read.comment.created_at.0);
    if age >= EDIT_WINDOW {
        return Err(
            "commands put into a comment ten minutes or more after it was made do not count",
        );
    }
    let asked_before = command::parse(&before.from);
    let mut found = command::parse(&read.comment.body);
    found.retain(|new| !asked_before.iter().any(|old| old.command == new.command));
    if found.is_empty() {
        return Err("the edit adds no command");
    }
    Ok(found)
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
    // GitHub keeps the case of a label's name but does not tell names apart by it.
    let wanted = read.label.name.to_lowercase();
    let Some((command, _)) = facts
        .labels
        .iter()
        .find(|(_, name)| name.to_lowercase() == wanted)
    else {
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
            command: *command,
            actor: read.sender.actor(),
            place: read
                .repository
                .place(installation.id, read.issue.number, is_pull_request),
            origin: Origin::Label {
                name: read.label.name.to_string(),
            },
            options: Vec::new(),
            guidance: String::new(),
            inline: None,
            opening: read.issue.opening(),
            at: read.issue.updated_at.0,
        }],
    }
}

/// Why `sender` is not listened to: ourselves, so that no loop can start, and bots that nobody allowed.
fn unwelcome(sender: &Account<'_>, facts: &Facts) -> Option<String> {
    let own = facts.app_slug.as_ref().is_some_and(|slug| {
        sender
            .login
            .strip_suffix("[bot]")
            .is_some_and(|login| login.eq_ignore_ascii_case(slug))
    });
    if own {
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
