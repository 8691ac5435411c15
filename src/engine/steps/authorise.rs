//! Permission: GitHub is asked for the sender's role at the time of acting, and the answer must be
//! about the same account.
//!
//! What people without triage permission ask for is answered within budgets (`[outsiders]` of the
//! configuration), one after another, and behind everybody else: a flood of their comments neither
//! costs notifications without end nor delays the people who work on the repository.

use super::Context;
use crate::engine::effects::Stop;
use crate::engine::forge::{Forge, ForgeError};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::store::{ActorStanding, AnswerDecision, CommandRequest};
use crate::formats::command::Permission;

/// Proof that GitHub confirmed the sender's permission for this command. Only [`hear`] makes one.
#[derive(Debug)]
pub struct Authorised {
    has: Option<Permission>,
}

impl Authorised {
    /// The sender's role.
    pub fn has(&self) -> Option<Permission> {
        self.has
    }
}

/// What is to be done about a command.
#[derive(Debug)]
pub enum Verdict {
    /// Go on.
    Allowed(Authorised),
    /// The sender has less than the command needs: refuse.
    Denied {
        /// What the sender has.
        has: Option<Permission>,
    },
    /// Go on when nobody else has anything to do.
    Later,
    /// Say nothing.
    Ignored {
        /// Why, one sentence for the audit.
        why: String,
    },
}

/// Decides whether the command is worked on, refused, or not answered. Sets [`Context::outsider`].
///
/// # Errors
/// GitHub or the store did not answer.
pub async fn hear(context: &mut Context) -> Result<Verdict, Stop> {
    let trigger = &context.trigger;
    let limits = context.settings.outsiders.answers;
    let ask = ask(trigger);
    let store = context.effects.store.clone();
    let lease = context.effects.lease.clone();
    let now = context.effects.clock.now();
    let decided = store
        .decide_answer(&lease, &ask, None, &limits, now)
        .await?;
    if let AnswerDecision::Ignore(why) = decided {
        return Ok(Verdict::Ignored { why });
    }
    let has = role(context.effects.forge.as_ref(), trigger).await?;
    let pushed = matches!(trigger.origin, Origin::Push { .. });
    let standing = ActorStanding {
        outsider: has.is_none_or(|has| has < Permission::Triage),
        // The label on the pull request asks for the check, and people with triage permission have
        // set it. Whoever can comment can read.
        refused: !pushed && has.unwrap_or(Permission::Read) < needed(trigger),
    };
    context.outsider = standing.outsider;
    if decided == AnswerDecision::Undecided {
        let heard = store
            .decide_answer(&lease, &ask, Some(standing), &limits, now)
            .await?;
        if let AnswerDecision::Ignore(why) = heard {
            return Ok(Verdict::Ignored { why });
        }
        if standing.outsider && ask.comment.is_some() {
            return Ok(Verdict::Later);
        }
    }
    Ok(if standing.refused {
        Verdict::Denied { has }
    } else {
        Verdict::Allowed(Authorised { has })
    })
}

/// The least permission with which any of the trigger's commands can be given.
fn needed(trigger: &Trigger) -> Permission {
    let commands = trigger.commands();
    let permissions = commands.map(|command| command.spec().permission);
    permissions.min().unwrap_or(Permission::Admin)
}

fn ask(trigger: &Trigger) -> CommandRequest {
    CommandRequest {
        installation: trigger.place.repo.installation,
        place: trigger.place.key(),
        actor: trigger.actor.id,
        comment: match &trigger.origin {
            Origin::Comment { id, .. } => Some(*id),
            // Boxes stand in a comment of the bot's own, which only people with write permission
            // can edit.
            Origin::Boxes { .. }
            | Origin::Label { .. }
            | Origin::Push { .. }
            | Origin::Local { .. } => None,
        },
    }
}

/// The sender's role.
///
/// A login can be given up and taken by somebody else, so the id in the answer must be the sender's
/// (<https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user>).
async fn role(forge: &dyn Forge, trigger: &Trigger) -> Result<Option<Permission>, ForgeError> {
    let place = &trigger.place;
    let access = forge.access(&place.repo, &trigger.actor.login).await?;
    let has = access
        .permission
        .filter(|_| access.user_id == trigger.actor.id);
    let outsider = has.is_none_or(|has| has < Permission::Triage);
    if outsider && matches!(trigger.origin, Origin::Push { .. }) {
        // Whoever pushes to a branch of the repository itself can write there, also an App, which
        // has no role.
        let pull = forge.pull_request(place).await?;
        if pull.head_repo == Some(place.repo.id) {
            return Ok(Some(Permission::Write));
        }
    }
    Ok(has)
}
