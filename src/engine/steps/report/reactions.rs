//! Reactions on the comment or issue of a command: 👀 at the start, 🚀 or 😕 at the end.

use super::{Context, unless_refused};
use crate::engine::effects::StepError;
use crate::engine::forge::{ForgeError, ReactTo, Reaction};
use crate::engine::model::trigger::Origin;

/// Number of consecutive failures after which a closing reaction is given up: about five minutes
/// with the default pauses.
const REACTION_TRIES: u32 = 6;
/// Reaction target; `None` for pushes.
fn target(context: &Context) -> Option<ReactTo> {
    match &context.trigger.origin {
        Origin::Comment { id, .. } | Origin::Boxes { id, .. } => Some(ReactTo::Comment(*id)),
        Origin::Label { .. } | Origin::Local { .. } => Some(ReactTo::Issue),
        Origin::Push { .. } => None,
    }
}

/// Adds the 👀 reaction and removes the label, so that it can be set again, unless the command keeps
/// it (see [`Reporting`](super::Reporting)). Does nothing for people without triage permission.
///
/// # Errors
/// Returns an error if GitHub or the store fails. A failed reaction is ignored unless a rate limit
/// is the reason.
pub async fn acknowledge(context: &Context) -> Result<(), StepError> {
    if context.outsider {
        return Ok(());
    }
    let place = context.home();
    match react(context, Reaction::Eyes).await {
        // Only rate limits and a lost lease stop the run here; the command itself will meet any
        // other error.
        Err(StepError::Forge(error)) if !matches!(error, ForgeError::Limited { .. }) => {
            tracing::debug!(run.id = %context.run(), error = %error, "no reaction yet");
        }
        done => {
            done?;
        }
    }
    let stays = context.reporting.keeps_label_on_pull_request && place.pull_request;
    if let Origin::Label { name } = &context.trigger.origin
        && !stays
    {
        let forge = &context.effects.forge;
        let removing = async { unless_refused(forge.remove_label(place, name).await) };
        context.effects.idempotent("label-off", removing).await?;
    }
    Ok(())
}

/// Replaces 👀, and the 😕 of an earlier round, by the closing reaction. Gives up after repeated
/// failures, because the outcome has been reported.
pub(in crate::engine) async fn close(
    context: &Context,
    reaction: Reaction,
) -> Result<(), StepError> {
    match swap(context, reaction).await {
        Err(StepError::Forge(error)) if is_given_up(context, &error) => {
            tracing::warn!(run.id = %context.run(), error = %error, "the closing reaction is left out");
            Ok(())
        }
        done => done,
    }
}

fn is_given_up(context: &Context, error: &ForgeError) -> bool {
    let failed = context.progress.outage.map_or(0, |(_, faults)| faults);
    !matches!(error, ForgeError::Limited { .. }) && failed >= REACTION_TRIES
}

async fn swap(context: &Context, reaction: Reaction) -> Result<(), StepError> {
    react(context, reaction).await?;
    if context.outsider {
        return Ok(());
    }
    take_off(context, Reaction::Eyes).await?;
    if context.round > 0 && reaction != Reaction::Confused {
        take_off(context, Reaction::Confused).await?;
    }
    Ok(())
}

/// Removes a reaction of the bot. Adds it again first, because only that request returns its id.
async fn take_off(context: &Context, reaction: Reaction) -> Result<(), StepError> {
    let id = react(context, reaction).await?;
    if id == 0 {
        return Ok(());
    }
    let Some(to) = target(context) else {
        return Ok(());
    };
    let key = format!("unreact-{reaction:?}-{}", context.round).to_lowercase();
    let forge = &context.effects.forge;
    let removing = async { unless_refused(forge.unreact(context.home(), &to, id).await) };
    context.effects.idempotent(&key, removing).await
}

/// Adds a reaction and returns its id, or 0 if GitHub refuses it (for example because the comment
/// is deleted or the conversation is locked), which does not stop the run.
async fn react(context: &Context, reaction: Reaction) -> Result<u64, StepError> {
    let Some(to) = target(context) else {
        return Ok(0);
    };
    let key = format!("react-{reaction:?}-{}", context.round).to_lowercase();
    let forge = &context.effects.forge;
    let reacting = async { unless_refused(forge.react(context.home(), &to, reaction).await) };
    context.effects.idempotent(&key, reacting).await
}
