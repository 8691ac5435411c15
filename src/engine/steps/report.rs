//! Feedback on GitHub: 👀 at the start, one status comment that is edited in place, 🚀 or 😕 at the
//! end.
//!
//! A failed report does not change the outcome of a run. A reaction that GitHub refuses is left
//! out; if the conversation is locked or deleted, the run goes on without a status comment and its
//! report is posted on the plan issue.

mod reactions;

use std::time::Duration;

use super::Context;
use crate::engine::effects::{PostKind, Posted, StepError};
use crate::engine::forge::{ForgeError, Reaction};
use crate::engine::messages;
use crate::engine::model::failure::Failure;
use crate::engine::trace;

pub use self::reactions::acknowledge;
pub(in crate::engine) use self::reactions::close;

/// Key of the effect that creates the status comment.
const STATUS: &str = "status";
/// Maximum number of earlier runs of a place that are searched for the comment that they share.
const MAX_EARLIER_RUNS: u32 = 20;
/// The step of a run that was paused before its first one.
const CONTINUING: &str = "continuing after a restart";
/// Minimum interval between edits that show progress.
pub(super) const EDIT_GAP: Duration = Duration::from_secs(15);

/// How a command reports, apart from its messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reporting {
    /// Whether the label that requests the command stays on pull requests, so that the command also
    /// runs for new commits.
    pub keeps_label_on_pull_request: bool,
    /// Whether all runs of the command at one place update the same status comment.
    pub shares_comment: bool,
}

/// Replaces a refusal by the default value.
fn unless_refused<T: Default>(done: Result<T, ForgeError>) -> Result<T, ForgeError> {
    match done {
        Err(error) if error.is_refusal() => {
            tracing::debug!(error = %error, "left out");
            Ok(T::default())
        }
        done => done,
    }
}

/// Returns the key of the effect that created the current status comment.
fn status_key(context: &Context) -> String {
    status_name(context.progress.status_lost)
}

fn status_name(lost: u32) -> String {
    match lost {
        0 => STATUS.to_owned(),
        lost => format!("{STATUS}-{}", lost + 1),
    }
}

/// Creates or edits the status comment; `stage` names the edit among this run's effects. Creates a
/// new comment if it was deleted, and follows a transferred issue.
async fn write(context: &mut Context, stage: &str, body: &str) -> Result<(), StepError> {
    loop {
        let error = match write_once(context, stage, body).await {
            Err(StepError::Forge(error)) if error.is_absence() => error,
            done => return done,
        };
        if follow(context).await? {
            continue;
        }
        let there = context.progress.status_comment.is_some();
        if !there || !matches!(error, ForgeError::NotFound { .. }) {
            return Err(error.into());
        }
        // Deleted, or not yet on this replica: wait before a new comment is created.
        let now = context.effects.clock.now();
        let since = *context.progress.status_missing.get_or_insert(now);
        context.remember().await?;
        let until = since.plus(context.effects.adopt_delay);
        if let Some(until) = context.pause(since, until) {
            return Err(StepError::Settling { until });
        }
        lose_status(context, None).await?;
    }
}

/// Records that the remembered status comment is gone: it is `found` under another id, or must be
/// created again.
async fn lose_status(context: &mut Context, found: Option<u64>) -> Result<(), StepError> {
    context.progress.status_comment = found;
    context.progress.status_missing = None;
    if found.is_none() {
        context.progress.status_lost += 1;
    }
    context.remember().await
}

/// Adds a comment once, at the current place of the conversation.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn comment(
    context: &mut Context,
    key: &str,
    body: &str,
) -> Result<Posted, StepError> {
    loop {
        let place = context.home();
        let posted = context
            .effects
            .create_comment(key, &place.repo, place.number, body)
            .await;
        match posted {
            Err(StepError::Forge(error)) if error.is_absence() => {
                if !follow(context).await? {
                    return Err(error.into());
                }
            }
            done => return done,
        }
    }
}

/// Checks whether the issue was transferred to another repository, and continues there. Returns
/// false if it was not.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn follow(context: &mut Context) -> Result<bool, StepError> {
    let forge = context.effects.forge.clone();
    let home = context.home().clone();
    let place = match forge.locate(&home).await {
        Ok(place) => place,
        Err(error) if error.is_refusal() => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    if place.number == home.number && place.repo.id == home.repo.id {
        return Ok(false);
    }
    tracing::info!(
        run.id = %context.run(), repository = place.repo.full_name(), number = place.number,
        "the issue was transferred; continuing there"
    );
    context.progress.moved = Some(place.clone());
    // Transferred comments may have new ids.
    if context.progress.status_comment.is_some() {
        let key = status_key(context);
        let found = context.effects.find_comment(&key, &place).await?;
        lose_status(context, found).await?;
    }
    context.remember().await?;
    Ok(true)
}

async fn write_once(context: &mut Context, stage: &str, body: &str) -> Result<(), StepError> {
    let place = context.home().clone();
    let made_by = status_key(context);
    if context.progress.status_comment.is_none()
        && context.progress.status_lost == 0
        && context.reporting.shares_comment
    {
        context.progress.status_comment = last_comment(context).await?;
    }
    let mut earlier = context.progress.status_comment;
    if earlier.is_none() {
        let posted = context
            .effects
            .create_comment(&made_by, &place.repo, place.number, body)
            .await?;
        context.progress.status_comment = Some(posted.id());
        context.progress.created = Some(context.effects.clock.now());
        context.remember().await?;
        // A comment left by an interrupted attempt may be out of date, so edit it.
        earlier = (!posted.fresh()).then(|| posted.id());
    }
    if let Some(id) = earlier {
        let key = format!("{made_by}-{stage}-{}", context.round);
        context
            .effects
            .edit_comment(&key, &place.repo, id, &made_by, body)
            .await?;
    }
    context.progress.status_missing = None;
    context.status_written = Some(context.effects.clock.now());
    Ok(())
}

/// Writes a progress message to the status comment. Because a newer message follows, an edit that
/// GitHub refuses is skipped; if nothing can be posted, the run continues without a status comment.
async fn write_progress(context: &mut Context, stage: &str, body: &str) -> Result<(), StepError> {
    if context.progress.unheard.is_some() {
        return Ok(());
    }
    match write_once(context, stage, body).await {
        Err(StepError::Forge(error)) if error.is_absence() => {
            if follow(context).await? {
                return write_once(context, stage, body).await;
            }
            let edited = context.progress.status_comment.is_some();
            if edited && matches!(error, ForgeError::NotFound { .. }) {
                return Ok(());
            }
            // The plan is ready: save it even if the conversation is gone.
            if context.progress.prepared.is_some() && context.again_at(&error).is_none() {
                return record_cannot_comment(context, &error).await;
            }
            Err(error.into())
        }
        Err(StepError::Forge(error @ ForgeError::Locked { .. })) => {
            record_cannot_comment(context, &error).await
        }
        done => done,
    }
}

/// Records why the run cannot write to the conversation.
async fn record_cannot_comment(context: &mut Context, error: &ForgeError) -> Result<(), StepError> {
    tracing::info!(run.id = %context.run(), error = %error, "the conversation cannot be written to");
    context.progress.unheard = Some(messages::cannot_comment(error));
    context.remember().await
}

/// Returns the status comment of the last run of the same command at this place.
async fn last_comment(context: &Context) -> Result<Option<u64>, StepError> {
    let place = context.trigger.place.key();
    let runs = context
        .effects
        .store
        .runs_at(&place, MAX_EARLIER_RUNS)
        .await?;
    let word = context.trigger.command.name();
    let mut others = runs
        .into_iter()
        .filter(|run| run.command == word && run.id != *context.run());
    Ok(others.find_map(|run| run.progress?.status_comment))
}

/// Shows in the status comment that the run is queued and, in `waits`, which human input the run
/// ahead needs.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn queued(
    context: &mut Context,
    ahead: u64,
    waits: Option<&str>,
) -> Result<(), StepError> {
    let body = messages::queued(&context.trigger, context.run(), ahead, waits);
    write_progress(context, "queued", &body).await
}

/// Shows the current step in the status comment, unless it was written less than `EDIT_GAP` ago.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn step(context: &mut Context, step: &str) -> Result<(), StepError> {
    let now = context.effects.clock.now();
    context.progress.start_step(step, now);
    if context.progress.closing == Some(context.round) {
        return Ok(());
    }
    if context
        .status_written
        .is_some_and(|written| now.since(written) < EDIT_GAP)
    {
        return Ok(());
    }
    let body = messages::working(&context.trigger, context.run(), step);
    let stage = format!("step-{}", step.split_whitespace().next().unwrap_or("next"));
    write_progress(context, &stage, &body).await
}

/// Shows the agent's progress in the status comment, if there is one. The edit is not recorded,
/// because later edits and the final report overwrite it.
///
/// # Errors
/// Returns an error if GitHub fails.
pub(super) fn progress(
    context: &Context,
    said: &str,
) -> impl Future<Output = Result<(), StepError>> + Send + use<> {
    rewrite(
        context,
        messages::working(&context.trigger, context.run(), said),
    )
}

/// Overwrites the status comment with `body`, unless there is none or it holds the final report.
/// The edit is not recorded, see [`progress()`].
///
/// # Errors
/// Returns an error if GitHub fails.
pub(super) fn rewrite(
    context: &Context,
    body: String,
) -> impl Future<Output = Result<(), StepError>> + Send + use<> {
    let effects = context.effects.clone();
    let comment = context.progress.status_comment;
    let comment = comment.filter(|_| context.progress.closing != Some(context.round));
    let repo = context.home().repo.clone();
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

/// Shows in the status comment, if there is one, that the run is paused.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn paused(context: &mut Context) -> Result<(), StepError> {
    let shown = context.progress.status_comment.is_some() && context.progress.unheard.is_none();
    if !shown || context.progress.closing == Some(context.round) {
        return Ok(());
    }
    context.progress.paused = true;
    context.remember().await?;
    let body = messages::paused(context.run());
    rewrite(context, body).await
}

/// Shows the step of a paused run in the status comment again. An edit that GitHub refuses is left
/// out, because the next step is shown anyway.
///
/// # Errors
/// Returns an error if the store fails.
pub async fn continued(context: &mut Context) -> Result<(), StepError> {
    if !std::mem::take(&mut context.progress.paused) {
        return Ok(());
    }
    let research = context.progress.research.as_ref();
    let body = if let Some(research) = research.filter(|research| research.is_open()) {
        messages::research::working(&context.trigger, context.run(), research)
    } else {
        let step = context.progress.step.as_deref().unwrap_or(CONTINUING);
        messages::working(&context.trigger, context.run(), step)
    };
    if let Err(error) = rewrite(context, body).await {
        tracing::debug!(error = %error, "the status comment was not updated");
    }
    context.remember().await
}

/// Shows `body` in the status comment now, whatever it showed before. Creates a new comment if it
/// was deleted; `stage` names its creation among this run's effects. Never overwrites a final
/// report, which would not be written again after a crash.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn show(context: &mut Context, stage: &str, body: &str) -> Result<(), StepError> {
    if context.progress.closing == Some(context.round) {
        return Ok(());
    }
    if context.progress.unheard.is_some() {
        return Ok(());
    }
    if let Some(comment) = context.progress.status_comment {
        let repo = context.home().repo.clone();
        let made_by = status_key(context);
        let effects = &context.effects;
        match effects
            .edit_unrecorded(&repo, comment, &made_by, body)
            .await
        {
            Err(StepError::Forge(error)) if error.is_absence() => {
                // Agents wait for this message, so create a new comment at once; [`tidy`] deletes
                // the old one if it reappears.
                if !follow(context).await? {
                    lose_status(context, None).await?;
                }
            }
            Err(StepError::Forge(error @ ForgeError::Locked { .. })) => {
                return record_cannot_comment(context, &error).await;
            }
            done => {
                context.status_written = Some(context.effects.clock.now());
                return done;
            }
        }
    }
    match write(context, stage, body).await {
        Err(StepError::Forge(error @ ForgeError::Locked { .. })) => {
            record_cannot_comment(context, &error).await
        }
        done => done,
    }
}

/// Turns the status comment into the final report. The start is stored first, so that no later
/// attempt overwrites it with an earlier step. If GitHub refuses the report permanently, it is
/// posted on the plan issue, if there is one.
async fn finish(context: &mut Context, body: &str) -> Result<(), StepError> {
    let body = &noting_lateness(context, body);
    if context.progress.closing != Some(context.round) {
        context.progress.closing = Some(context.round);
        context.remember().await?;
    }
    match write(context, "final", body).await {
        Err(StepError::Forge(error))
            if error.is_refusal() && context.again_at(&error).is_none() =>
        {
            record_cannot_comment(context, &error).await?;
            report_on_plan_issue(context, body).await
        }
        done => done,
    }
}

/// Posts a report on the plan issue, because the conversation cannot be written to.
async fn report_on_plan_issue(context: &Context, body: &str) -> Result<(), StepError> {
    let Some(saved) = &context.progress.saved else {
        return Ok(());
    };
    let why = context.progress.unheard.as_deref().unwrap_or_default();
    let body = messages::elsewhere(&context.trigger.place, why, body);
    let key = format!("report-elsewhere-{}", context.round);
    let repo = &context.trigger.place.repo;
    let posted = context
        .effects
        .create_comment(&key, repo, saved.number, &body)
        .await;
    match posted {
        Err(StepError::Forge(error))
            if error.is_refusal() && context.again_at(&error).is_none() =>
        {
            tracing::warn!(run.id = %context.run(), error = %error, "the report could not be posted anywhere");
            Ok(())
        }
        done => done.map(|_| ()),
    }
}

/// Removes duplicate posts, which lost responses can cause: issues are closed with a link to the
/// first one, comments are deleted.
///
/// # Errors
/// Returns an error if GitHub or the store fails, or if GitHub's lists may still be out of date.
pub async fn tidy(context: &mut Context) -> Result<(), StepError> {
    let place = context.trigger.place.clone();
    let home = context.home().clone();
    let forge = context.effects.forge.clone();
    for stray in context.effects.strays(&place.repo, &home).await? {
        let removed = match stray.kind {
            PostKind::Issue => {
                let body = messages::duplicate(&place.repo, context.run(), stray.kept);
                forge.retire_issue(&place.repo, stray.id, &body).await
            }
            PostKind::Comment(number) if number == home.number => {
                forge.delete_comment(&home.repo, stray.id).await
            }
            PostKind::Comment(_) => forge.delete_comment(&place.repo, stray.id).await,
            PostKind::CheckRun => Ok(()),
        };
        tracing::warn!(run.id = %context.run(), id = stray.id, kept = stray.kept, "a post existed twice");
        unless_refused(removed)?;
    }
    // A status comment that was considered deleted may have reappeared.
    for lost in 0..context.progress.status_lost {
        let key = status_name(lost);
        let found = unless_refused(context.effects.find_comment(&key, &home).await)?;
        if let Some(id) = found.filter(|id| Some(*id) != context.progress.status_comment) {
            unless_refused(forge.delete_comment(&home.repo, id).await)?;
        }
    }
    Ok(())
}

/// Returns the duration of the current round, in seconds.
pub(in crate::engine) fn seconds(context: &Context) -> f64 {
    let started = context.progress.resumed.or(context.progress.started);
    let started = started.unwrap_or(context.trigger.at);
    context.effects.clock.now().since(started).as_secs_f64()
}

/// Writes the final report of a run that succeeded.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn succeeded(context: &mut Context, body: &str) -> Result<(), StepError> {
    trace::step("report", async {
        finish(context, body).await?;
        close(context, Reaction::Rocket).await?;
        tidy(context).await
    })
    .await
}

/// Writes the final report of a run that failed or was cancelled.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn failed(context: &mut Context, failure: &Failure) -> Result<(), StepError> {
    super::research::stopped(context).await?;
    let reports = context.progress.research.as_ref();
    let exists = match &context.progress.saved {
        Some(saved) => messages::Exists::Issue(saved.clone()),
        None if context.progress.publishing => messages::Exists::Perhaps,
        None => reports
            .and_then(messages::research::left)
            .map_or(messages::Exists::Nothing, messages::Exists::Reports),
    };
    let used = context.progress.spent();
    let body = messages::failed(
        &context.trigger,
        context.run(),
        failure,
        &exists,
        messages::Used {
            total: used.as_ref(),
            turns: context.progress.spent_by_turn(),
        },
    );
    trace::step("report", async {
        finish(context, &body).await?;
        close(context, Reaction::Confused).await?;
        tidy(context).await
    })
    .await
}

/// Replies with one comment instead of a status comment, and adds the closing reaction. If GitHub
/// refuses the comment permanently, returns its refusal: the effects of the command remain.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn reply(
    context: &mut Context,
    body: &str,
    reaction: Reaction,
) -> Result<Option<ForgeError>, StepError> {
    let key = format!("reply-{}", context.round);
    let body = &noting_lateness(context, body);
    let posted = trace::step("report", comment(context, &key, body)).await;
    let refused = match posted {
        Ok(_) => None,
        Err(StepError::Forge(error))
            if error.is_refusal() && context.again_at(&error).is_none() =>
        {
            record_cannot_comment(context, &error).await?;
            Some(error)
        }
        Err(stop) => return Err(stop),
    };
    close(context, reaction).await?;
    tidy(context).await?;
    Ok(refused)
}

/// Adds a line to a report if the command was received late. A repeated run has been reported
/// before, and the reply to an expired command says it itself.
fn noting_lateness(context: &Context, body: &str) -> String {
    let note = messages::late::note(&context.trigger, context.accepted);
    match note.filter(|_| context.round == 0 && !context.trigger.expired) {
        Some(note) => format!("{}\n\n{note}", body.trim_end()),
        None => body.to_owned(),
    }
}
