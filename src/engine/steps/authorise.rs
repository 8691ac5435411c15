//! Permission check: the sender's permission is checked when the run starts, and GitHub's response
//! must be about the same account.
//!
//! Commands of people without triage permission are answered within budgets (`[outsiders]` in the
//! configuration), one at a time and after all other commands. A flood of such comments therefore
//! neither causes endless notifications nor delays the people who work on the repository.

use super::Context;
use crate::engine::effects::StepError;
use crate::engine::forge::{Forge, ForgeError};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::store::{ActorStanding, AnswerDecision, CommandRequest};
use crate::formats::command::Permission;

/// Proof that GitHub confirmed the sender's permission for this command. Only [`authorise`] creates it.
#[derive(Debug)]
pub struct Authorised {
    has: Option<Permission>,
}

impl Authorised {
    /// Returns the sender's permission.
    pub fn has(&self) -> Option<Permission> {
        self.has
    }
}

/// Decision about a command.
#[derive(Debug)]
pub enum Verdict {
    /// Execute the command.
    Allowed(Authorised),
    /// Refuse the command: the sender's permission is lower than required.
    Denied {
        /// Sender's permission.
        has: Option<Permission>,
    },
    /// Defer the command until no other work is ready.
    Later,
    /// Ignore the command.
    Ignored {
        /// Reason, one sentence for the audit log.
        why: String,
    },
}

/// Decides whether the command is executed, refused, deferred or ignored. Sets
/// [`Context::outsider`].
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn authorise(context: &mut Context) -> Result<Verdict, StepError> {
    let trigger = &context.trigger;
    let limits = context.settings.outsiders.answers();
    let request = command_request(trigger);
    let store = context.effects.store.clone();
    let lease = context.effects.lease.clone();
    let now = context.effects.clock.now();
    let decided = if trigger.repeated {
        AnswerDecision::Answer
    } else {
        store
            .decide_answer(&lease, &request, None, &limits, now)
            .await?
    };
    if let AnswerDecision::Ignore(why) = decided {
        return Ok(Verdict::Ignored { why });
    }
    let has = role(context.effects.forge.as_ref(), trigger).await?;
    let pushed = matches!(trigger.origin, Origin::Push { .. });
    let standing = ActorStanding {
        outsider: has.is_none_or(|has| has < Permission::Triage),
        // The check of a push was requested with a label, which only people with triage permission
        // can set. Everyone who can comment can read.
        refused: !pushed && has.unwrap_or(Permission::Read) < needed(trigger),
    };
    context.outsider = standing.outsider;
    if decided == AnswerDecision::Undecided {
        let heard = store
            .decide_answer(&lease, &request, Some(standing), &limits, now)
            .await?;
        if let AnswerDecision::Ignore(why) = heard {
            return Ok(Verdict::Ignored { why });
        }
        if standing.outsider && request.comment.is_some() {
            return Ok(Verdict::Later);
        }
    }
    Ok(if standing.refused {
        Verdict::Denied { has }
    } else {
        Verdict::Allowed(Authorised { has })
    })
}

/// Returns the lowest permission that any of the trigger's commands requires.
fn needed(trigger: &Trigger) -> Permission {
    let commands = trigger.commands();
    let permissions = commands.map(|command| command.spec().permission);
    permissions.min().unwrap_or(Permission::Admin)
}

fn command_request(trigger: &Trigger) -> CommandRequest {
    CommandRequest {
        installation: trigger.place.repo.installation,
        place: trigger.place.key(),
        actor: trigger.actor.id,
        comment: match &trigger.origin {
            Origin::Comment { id, .. } => Some(*id),
            // Boxes are in a comment of the bot, which only people with write permission can edit.
            Origin::Boxes { .. }
            | Origin::Label { .. }
            | Origin::Push { .. }
            | Origin::Local { .. } => None,
        },
    }
}

/// Returns the sender's permission.
///
/// A login can be given up and taken by someone else, so the id in the response must be the
/// sender's
/// (<https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user>).
async fn role(forge: &dyn Forge, trigger: &Trigger) -> Result<Option<Permission>, ForgeError> {
    let place = &trigger.place;
    let access = forge.access(&place.repo, &trigger.actor.login).await?;
    let has = access
        .permission
        .filter(|_| access.user_id == trigger.actor.id);
    let outsider = has.is_none_or(|has| has < Permission::Triage);
    if outsider && matches!(trigger.origin, Origin::Push { .. }) {
        // Everyone who pushes to a branch of the repository has write permission, including Apps,
        // which have no role.
        let pull = forge.pull_request(place).await?;
        if pull.head_repo == Some(place.repo.id) {
            return Ok(Some(Permission::Write));
        }
    }
    Ok(has)
}
