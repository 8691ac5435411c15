//! Finds what a comment requests: the commands of a new comment, commands that an edit added, and
//! boxes ticked in one of the bot's comments.

use std::time::Duration;
use std::{iter, mem};

use super::payload::IssueComment;
use super::{
    AppIdentity, Decision, MAX_COMMANDS, NO_COMMAND, NO_INSTALLATION, is_our_login, other_action,
    unwelcome,
};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::formats::command::{self, Command, Execution, Invocation};
use crate::formats::markdown;
use crate::formats::question::boxes;

/// The time after the creation of a comment during which commands added by an edit are executed.
///
/// It is long enough to correct a typo, and too short to turn an old, agreed comment into a
/// command.
const EDIT_WINDOW: Duration = Duration::from_mins(10);

/// Maximum size of an edited comment, in bytes before and after the edit together, for which both
/// versions are parsed to find new commands. In longer comments, a command that was at the start of
/// any line before the edit is not treated as new.
const MAX_EDIT_BYTES: usize = 64 * 1024;

/// The reason why a comment that is too complex to parse is ignored.
const TOO_COMPLEX: &str = "the comment nests quotes or lists too deeply, or its tables omit too many cells: commands in it \
are ignored";

const UNCHANGED: &str = "the edit left the comment's text as it was";

pub(super) fn comment(mut read: IssueComment<'_>, facts: &AppIdentity) -> Decision {
    let comment = &read.comment;
    let edited = match read.action.as_ref() {
        "created" => false,
        "edited" => true,
        other => return other_action("issue_comment", other),
    };
    let by_our_app = comment
        .performed_via_github_app
        .as_ref()
        .is_some_and(|app| app.id == facts.app_id);
    // This precedes the search for a slash, because answers to questions need none.
    if edited && (by_our_app || is_ours(&read, facts)) {
        return ticked(&read, facts);
    }
    // Most comments contain no slash, so this cheap check comes first.
    if !comment.body.contains('/') {
        return Decision::ignore(NO_COMMAND);
    }
    if by_our_app {
        return Decision::ignore("this App wrote the comment itself");
    }
    if let Some(why) = unwelcome(&read.sender, facts) {
        return Decision::ignore(why);
    }
    let mut found = if edited {
        match added_by_edit(&read) {
            Ok(found) => found,
            Err(why) => return Decision::ignore(why),
        }
    } else {
        command::parse(&comment.body)
    };
    found.truncate(MAX_COMMANDS);
    let Some(first) = found.first() else {
        return Decision::ignore(if markdown::too_complex(&comment.body) {
            TOO_COMPLEX
        } else {
            NO_COMMAND
        });
    };
    let origin = Origin::Comment {
        id: comment.id,
        url: comment.html_url.to_string(),
        text: mem::take(&mut read.comment.body).into_owned(),
    };
    let Some(bare) = bare(&read, edited, first.command, origin) else {
        return Decision::ignore(NO_INSTALLATION);
    };
    // Each copy contains the whole comment. The last one is not a copy.
    let bare = iter::repeat_n(bare, found.len());
    let triggers = found.into_iter().zip(bare).map(|(found, bare)| Trigger {
        command: found.command,
        options: found.options,
        guidance: found.guidance,
        inline: found.inline,
        ..bare
    });
    Decision::Runs {
        action: if edited { "edited" } else { "created" },
        triggers: together(triggers),
    }
}

/// Combines adjacent commands that only post an answer into one run, so that they are answered with
/// one comment.
fn together(triggers: impl Iterator<Item = Trigger>) -> Vec<Trigger> {
    let replies = |command: Command| command.spec().execution == Execution::Reply;
    let mut found: Vec<Trigger> = Vec::new();
    for trigger in triggers {
        match found.last_mut() {
            Some(last) if replies(last.command) && replies(trigger.command) => {
                if !last.commands().any(|command| command == trigger.command) {
                    last.also.push(trigger.command);
                }
            }
            _ => found.push(trigger),
        }
    }
    found
}

/// Creates the trigger of a command without options and guidance; `None` if the payload has no
/// installation.
fn bare(
    read: &IssueComment<'_>,
    edited: bool,
    command: Command,
    origin: Origin,
) -> Option<Trigger> {
    let installation = read.installation.as_ref()?;
    Some(Trigger {
        command,
        actor: read.sender.actor(),
        place: read.repository.place(
            installation.id,
            read.issue.number,
            read.issue.pull_request.is_some(),
        ),
        origin,
        options: Vec::new(),
        guidance: None,
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: read.issue.opening(),
        at: if edited {
            read.comment.updated_at.0
        } else {
            read.comment.created_at.0
        },
    })
}

/// Returns whether the App's own account wrote the comment.
fn is_ours(read: &IssueComment<'_>, facts: &AppIdentity) -> bool {
    let author = read.comment.user.as_ref();
    author.is_some_and(|author| is_our_login(&author.login, facts))
}

/// Handles an edit of one of the bot's comments. It answers the questions in the comment if it
/// ticks the box that sends the answers. Any other change, including added commands, has no effect.
fn ticked(read: &IssueComment<'_>, facts: &AppIdentity) -> Decision {
    // Most such edits are updates of the status comment by the App itself.
    if let Some(why) = unwelcome(&read.sender, facts) {
        return Decision::ignore(why);
    }
    let Some(before) = &read.changes.body else {
        return Decision::ignore(UNCHANGED);
    };
    let after = &read.comment.body;
    let ticks = boxes::parse(after);
    let complete = ticks.as_ref().is_some_and(|ticks| ticks.send);
    if complete && boxes::sent(&before.from, after) {
        let origin = Origin::Boxes {
            id: read.comment.id,
            text: after.to_string(),
            url: read.comment.html_url.to_string(),
        };
        return match bare(read, true, Command::Answer, origin) {
            Some(answer) => Decision::Runs {
                action: "edited",
                triggers: vec![answer],
            },
            None => Decision::ignore(NO_INSTALLATION),
        };
    }
    Decision::ignore(if ticks.is_some() {
        "checkboxes were ticked; the answers count once *Send these answers* is ticked"
    } else {
        "somebody edited a comment of this App that asks nothing"
    })
}

/// Returns the commands that an edit added. People with write access can edit the comments of
/// others, and an agreed comment can be changed later. Therefore only edits by the author within
/// [`EDIT_WINDOW`] count, and only commands that were not in the comment before.
fn added_by_edit(read: &IssueComment<'_>) -> Result<Vec<Invocation>, &'static str> {
    let Some(before) = &read.changes.body else {
        return Err(UNCHANGED);
    };
    let author = read.comment.user.as_ref().map(|user| user.id);
    if author != Some(read.sender.id) {
        return Err("commands in a comment that somebody else edited do not count");
    }
    let age = read.comment.updated_at.0.since(read.comment.created_at.0);
    if age >= EDIT_WINDOW {
        return Err(
            "the comment was edited ten minutes or more after it was written; commands in such edits do not count",
        );
    }
    let after = &read.comment.body;
    let mut found = command::parse(after);
    let mut asked_before = command::at_line_starts(&before.from);
    asked_before.retain(|old| found.iter().any(|new| new.command == *old));
    if !asked_before.is_empty() && before.from.len() + after.len() <= MAX_EDIT_BYTES {
        let old = command::parse(&before.from);
        asked_before = old.into_iter().map(|old| old.command).collect();
    }
    found.retain(|new| !asked_before.contains(&new.command));
    if found.is_empty() {
        if markdown::too_complex(after) {
            return Err(TOO_COMPLEX);
        }
        return Err("the edit adds no command");
    }
    Ok(found)
}
