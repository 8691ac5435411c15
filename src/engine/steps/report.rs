//! Telling people: 👀 at once, one status comment edited in place, 🚀 or 😕 at the end.

use std::time::Duration;

use super::super::code::Failure;
use super::super::effects::Stop;
use super::super::forge::{ForgeError, ReactTo, Reaction};
use super::super::progress::{Checked, Progress, Saved};
use super::super::research::Research;
use super::super::say;
use super::super::trigger::Origin;
use super::Context;
use crate::formats::command::Command;

/// Effect under which the status comment is created.
const STATUS: &str = "status";
/// How many earlier runs of a place are looked at for the comment of a check.
const CHECKS: u32 = 20;
/// Progress edits come no closer together than this.
pub(super) const EDIT_GAP: Duration = Duration::from_secs(15);

/// What reactions go to; nothing for commits, which nobody made for the bot.
fn target(context: &Context) -> Option<ReactTo> {
    match &context.trigger.origin {
        Origin::Comment { id, .. } | Origin::Boxes { id, .. } => Some(ReactTo::Comment(*id)),
        Origin::Label { .. } | Origin::Local { .. } => Some(ReactTo::Place),
        Origin::Push { .. } => None,
    }
}

/// 👀, and the label comes off so that it can be set again. The one that asks for checks of a pull request stays: while it
/// is there, new commits are checked, too.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn acknowledge(context: &Context) -> Result<(), Stop> {
    let place = &context.trigger.place;
    react(context, Reaction::Eyes).await?;
    let stays = context.trigger.command == Command::CheckPlan && place.pull_request;
    if let Origin::Label { name } = &context.trigger.origin
        && !stays
    {
        context
            .effects
            .idempotent("label-off", context.effects.forge.remove_label(place, name))
            .await?;
    }
    Ok(())
}

/// Adds a reaction; 0 when what it would hang on is gone, which is no reason to stop.
async fn react(context: &Context, reaction: Reaction) -> Result<u64, Stop> {
    let Some(to) = target(context) else {
        return Ok(0);
    };
    let key = format!("react-{reaction:?}-{}", context.round).to_lowercase();
    let forge = &context.effects.forge;
    let reacting = async {
        match forge.react(&context.trigger.place, &to, reaction).await {
            Err(ForgeError::NotFound { .. }) => Ok(0),
            done => done,
        }
    };
    context.effects.idempotent(&key, reacting).await
}

/// Name of the effect that made the present status comment.
fn status_key(context: &Context) -> String {
    match context.progress.status_lost {
        0 => STATUS.to_owned(),
        lost => format!("{STATUS}-{}", lost + 1),
    }
}

/// Writes the status comment for the first time, or edits it; `stage` names the edit among this run's effects. One that
/// somebody has deleted is written anew.
async fn write(context: &mut Context, stage: &str, body: &str) -> Result<(), Stop> {
    loop {
        match write_once(context, stage, body).await {
            Err(Stop::Forge(ForgeError::NotFound { .. }))
                if context.progress.status_comment.is_some() =>
            {
                context.progress.status_comment = None;
                context.progress.status_lost += 1;
                context.remember().await?;
            }
            done => return done,
        }
    }
}

async fn write_once(context: &mut Context, stage: &str, body: &str) -> Result<(), Stop> {
    let place = context.trigger.place.clone();
    let made_by = status_key(context);
    if context.progress.status_comment.is_none()
        && context.progress.status_lost == 0
        && context.trigger.command == Command::CheckPlan
    {
        context.progress.status_comment = last_check(context).await?;
    }
    let mut earlier = context.progress.status_comment;
    if earlier.is_none() {
        let posted = context
            .effects
            .create_comment(&made_by, &place.repo, place.number, body)
            .await?;
        context.progress.status_comment = Some(posted.id());
        context.remember().await?;
        // A comment left by an attempt that was cut short says what was true then.
        earlier = (!posted.fresh()).then(|| posted.id());
    }
    if let Some(id) = earlier {
        let key = format!("{made_by}-{stage}-{}", context.round);
        context
            .effects
            .edit_comment(&key, &place.repo, id, &made_by, body)
            .await?;
    }
    context.status_written = Some(context.effects.clock.now());
    Ok(())
}

/// The comment of the last check here: one comment is kept up to date.
async fn last_check(context: &Context) -> Result<Option<u64>, Stop> {
    let place = context.trigger.place.key();
    let runs = context.effects.store.runs_at(&place, CHECKS).await?;
    let word = Command::CheckPlan.name();
    let mut others = runs
        .iter()
        .filter(|run| run.command == word && run.id != *context.run());
    Ok(others.find_map(|run| Progress::read(run.progress.as_deref()).ok()?.status_comment))
}

/// The final report of plans that can be executed.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn passed(context: &mut Context, checked: &Checked) -> Result<(), Stop> {
    let body = say::check::passed(&context.trigger, context.run(), checked);
    finish(context, &body).await?;
    close(context, Reaction::Rocket).await
}

/// The status comment says that the run waits for its turn, and what the one before it `waits` for, where that is people.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn queued(context: &mut Context, ahead: u64, waits: Option<&str>) -> Result<(), Stop> {
    let body = say::queued(&context.trigger, context.run(), ahead, waits);
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

/// The status comment says how far the agent is; nothing where there is none yet. Not recorded: the next one says more, and
/// the final report is written over all of them.
///
/// # Errors
/// GitHub did not do it.
pub(super) fn progress(
    context: &Context,
    said: &str,
) -> impl Future<Output = Result<(), Stop>> + Send + use<> {
    rewrite(context, say::working(&context.trigger, context.run(), said))
}

/// The status comment shows `body`; nothing where there is none yet, and nothing over a final report. Not recorded, as
/// [`progress`].
///
/// # Errors
/// GitHub did not do it.
pub(super) fn rewrite(
    context: &Context,
    body: String,
) -> impl Future<Output = Result<(), Stop>> + Send + use<> {
    let effects = context.effects.clone();
    let comment = context.progress.status_comment;
    let comment = comment.filter(|_| context.progress.closing != Some(context.round));
    let repo = context.trigger.place.repo.clone();
    let made_by = status_key(context);
    async move {
        match comment {
            Some(comment) => {
                effects
                    .edit_unrecorded(&repo, comment, &made_by, &body)
                    .await
            }
            None => Ok(()),
        }
    }
}

/// The status comment shows `body` now, whatever it showed before; written anew where somebody has deleted it. `stage` names
/// its first writing among this run's effects. Never over a final report: after a crash that one is not written again.
///
/// # Errors
/// GitHub or the store did not do it.
pub(super) async fn show(context: &mut Context, stage: &str, body: &str) -> Result<(), Stop> {
    if context.progress.closing == Some(context.round) {
        return Ok(());
    }
    if let Some(comment) = context.progress.status_comment {
        let repo = context.trigger.place.repo.clone();
        let made_by = status_key(context);
        let effects = &context.effects;
        match effects
            .edit_unrecorded(&repo, comment, &made_by, body)
            .await
        {
            Err(Stop::Forge(ForgeError::NotFound { .. })) => {}
            done => {
                context.status_written = Some(context.effects.clock.now());
                return done;
            }
        }
    }
    write(context, stage, body).await
}

/// The status comment becomes the final report; remembered first, so that a later attempt writes no earlier step over it.
async fn finish(context: &mut Context, body: &str) -> Result<(), Stop> {
    if context.progress.closing != Some(context.round) {
        context.progress.closing = Some(context.round);
        context.remember().await?;
    }
    write(context, "final", body).await
}

/// The final report of research.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn researched(context: &mut Context, research: &Research) -> Result<(), Stop> {
    let seconds = seconds(context);
    let body = say::research::done(&context.trigger, context.run(), research, seconds);
    finish(context, &body).await?;
    close(context, Reaction::Rocket).await
}

/// How long the present round has taken.
fn seconds(context: &Context) -> f64 {
    let started = context.progress.resumed.or(context.progress.started);
    let started = started.unwrap_or(context.trigger.at);
    context.effects.clock.now().since(started).as_secs_f64()
}

/// The final report of a saved plan.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn saved(context: &mut Context, saved: &Saved) -> Result<(), Stop> {
    let Some(prepared) = context.progress.prepared.clone() else {
        return Ok(());
    };
    let seconds = seconds(context);
    let used = context.progress.spent();
    let body = say::saved(
        &context.trigger,
        context.run(),
        &prepared,
        saved,
        &say::next_steps(&context.settings, &context.trigger.place, saved),
        seconds,
        used.as_ref(),
    );
    finish(context, &body).await?;
    close(context, Reaction::Rocket).await
}

/// The final report of a run that failed or was stopped.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn failed(context: &mut Context, failure: &Failure) -> Result<(), Stop> {
    super::research::stopped(context).await?;
    let reports = context.progress.research.as_ref();
    let exists = match &context.progress.saved {
        Some(saved) => say::Exists::Issue(saved.clone()),
        None if context.progress.publishing => say::Exists::Perhaps,
        None => reports
            .and_then(say::research::left)
            .map_or(say::Exists::Nothing, say::Exists::Reports),
    };
    let used = context.progress.spent();
    let body = say::failed(
        &context.trigger,
        context.run(),
        failure,
        &exists,
        used.as_ref(),
    );
    finish(context, &body).await?;
    close(context, Reaction::Confused).await
}

/// A one-comment answer instead of a status comment, then the closing reaction.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn reply(context: &Context, body: &str, reaction: Reaction) -> Result<(), Stop> {
    let place = &context.trigger.place;
    let key = format!("reply-{}", context.round);
    context
        .effects
        .create_comment(&key, &place.repo, place.number, body)
        .await?;
    close(context, reaction).await
}

/// Swaps 👀, and the 😕 of an earlier round, for the closing reaction, so that one glance is enough.
pub(super) async fn close(context: &Context, reaction: Reaction) -> Result<(), Stop> {
    react(context, reaction).await?;
    take_off(context, Reaction::Eyes).await?;
    if context.round > 0 && reaction != Reaction::Confused {
        take_off(context, Reaction::Confused).await?;
    }
    Ok(())
}

/// Takes a reaction of ours off. Adding it again is how GitHub tells its id.
async fn take_off(context: &Context, reaction: Reaction) -> Result<(), Stop> {
    let id = react(context, reaction).await?;
    if id == 0 {
        return Ok(());
    }
    let Some(to) = target(context) else {
        return Ok(());
    };
    let key = format!("unreact-{reaction:?}-{}", context.round).to_lowercase();
    let forge = &context.effects.forge;
    let removing = forge.unreact(&context.trigger.place, &to, id);
    context.effects.idempotent(&key, removing).await
}
