//! Telling people: 👀 at once, one status comment edited in place, 🚀 or 😕 at the end.

use std::time::Duration;

use super::super::code::Failure;
use super::super::effects::Stop;
use super::super::forge::{ReactTo, Reaction};
use super::super::progress::Saved;
use super::super::say;
use super::super::trigger::Origin;
use super::Context;

/// Effect under which the status comment is created.
const STATUS: &str = "status";
/// Progress edits come no closer together than this.
const EDIT_GAP: Duration = Duration::from_secs(15);

fn target(context: &Context) -> ReactTo {
    match &context.trigger.origin {
        Origin::Comment { id, .. } => ReactTo::Comment(*id),
        Origin::Label { .. } => ReactTo::Place,
    }
}

/// 👀, and the label comes off so that it can be set again.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn acknowledge(context: &Context) -> Result<(), Stop> {
    let place = &context.trigger.place;
    react(context, Reaction::Eyes).await?;
    if let Origin::Label { name } = &context.trigger.origin {
        context
            .effects
            .idempotent("label-off", context.effects.forge.remove_label(place, name))
            .await?;
    }
    Ok(())
}

async fn react(context: &Context, reaction: Reaction) -> Result<u64, Stop> {
    let to = target(context);
    let key = format!("react-{reaction:?}-{}", context.round).to_lowercase();
    context
        .effects
        .idempotent(
            &key,
            context
                .effects
                .forge
                .react(&context.trigger.place, &to, reaction),
        )
        .await
}

/// Writes the status comment for the first time, or edits it; `stage` names the edit among this run's effects.
async fn write(context: &mut Context, stage: &str, body: &str) -> Result<(), Stop> {
    let place = context.trigger.place.clone();
    let mut earlier = context.progress.status_comment;
    if earlier.is_none() {
        let posted = context
            .effects
            .create_comment(STATUS, &place.repo, place.number, body)
            .await?;
        context.progress.status_comment = Some(posted.id());
        context.remember().await?;
        // A comment left by an attempt that was cut short says what was true then.
        earlier = (!posted.fresh()).then(|| posted.id());
    }
    if let Some(id) = earlier {
        let key = format!("status-{stage}-{}", context.round);
        context
            .effects
            .edit_comment(&key, &place.repo, id, STATUS, body)
            .await?;
    }
    context.status_written = Some(context.effects.clock.now());
    Ok(())
}

/// The status comment says that the run waits for its turn.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn queued(context: &mut Context, ahead: u64) -> Result<(), Stop> {
    let body = say::queued(&context.trigger, context.run(), ahead);
    write(context, "queued", &body).await
}

/// The status comment says what is being done; skipped when it was written moments ago.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn step(context: &mut Context, step: &str) -> Result<(), Stop> {
    context.progress.step = Some(step.to_owned());
    if context.progress.closing == Some(context.round) {
        return Ok(());
    }
    let now = context.effects.clock.now();
    if context
        .status_written
        .is_some_and(|written| now.since(written) < EDIT_GAP)
    {
        return Ok(());
    }
    let body = say::working(&context.trigger, context.run(), step);
    let stage = format!("step-{}", step.split_whitespace().next().unwrap_or("next"));
    write(context, &stage, &body).await
}

/// The status comment becomes the final report; remembered first, so that a later attempt writes no earlier step over it.
async fn finish(context: &mut Context, body: &str) -> Result<(), Stop> {
    if context.progress.closing != Some(context.round) {
        context.progress.closing = Some(context.round);
        context.remember().await?;
    }
    write(context, "final", body).await
}

/// The final report of a saved plan.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn saved(context: &mut Context, saved: &Saved) -> Result<(), Stop> {
    let Some(prepared) = context.progress.prepared.clone() else {
        return Ok(());
    };
    let started = context.progress.started.unwrap_or(context.trigger.at);
    let seconds = context.effects.clock.now().since(started).as_secs_f64();
    let body = say::saved(&context.trigger, context.run(), &prepared, saved, seconds);
    finish(context, &body).await?;
    close(context, Reaction::Rocket).await
}

/// The final report of a run that failed or was stopped.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn failed(context: &mut Context, failure: &Failure) -> Result<(), Stop> {
    let saved = context.progress.saved.clone();
    let body = say::failed(&context.trigger, context.run(), failure, saved.as_ref());
    finish(context, &body).await?;
    close(context, Reaction::Confused).await
}

/// A one-comment answer instead of a status comment, then the closing reaction.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn reply(context: &Context, body: &str, reaction: Reaction) -> Result<(), Stop> {
    let place = &context.trigger.place;
    context
        .effects
        .create_comment("reply", &place.repo, place.number, body)
        .await?;
    close(context, reaction).await
}

/// Swaps 👀 for the closing reaction, so that one glance is enough.
async fn close(context: &Context, reaction: Reaction) -> Result<(), Stop> {
    react(context, reaction).await?;
    let eyes = react(context, Reaction::Eyes).await?;
    let place = &context.trigger.place;
    let to = target(context);
    let key = format!("unreact-{}", context.round);
    context
        .effects
        .idempotent(&key, context.effects.forge.unreact(place, &to, eyes))
        .await
}
