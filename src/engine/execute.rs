//! One attempt at a run, from the claimed row to its outcome.
//!
//! An attempt can end at any point (crash, lost lease, rate limit). The next attempt starts from
//! the top and skips everything that is recorded as done in the progress and the effects.

use std::sync::Arc;
use std::time::Duration;

use super::commands::{self, CommandRun};
use super::effects::{Effects, StepError};
use super::forge::{ForgeError, Reaction};
use super::messages::{failures, late, replies, sources};
use super::services::Services;
use super::steps::authorise::{self, Verdict};
use super::steps::{Context, report, research};
use super::stop::StopFlag;
use super::store::{Claimed, Lease, RunOutcome};
use super::trace;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::time::Millis;
use crate::formats::command::{Execution, read_options};

/// Reason of a short wait, for `/plan-status` and the operator.
const CATCHING_UP: &str = "waiting for GitHub to show an earlier write";

/// Works on a claimed run until it ends or has to wait. Returns `None` if the lease is lost or the
/// store fails; the caller must then leave the run alone.
pub async fn attempt(parts: &Services, claimed: &Claimed, stop: &StopFlag) -> Option<RunOutcome> {
    let mut context = context(parts, claimed);
    let poisoned = claimed.attempt > parts.settings.worker.max_attempts;
    let result = if poisoned {
        let failure = failures::internal(&format!(
            "The run was started {} times and never finished.",
            claimed.attempt - 1
        ));
        Err(StepError::Failed(failure))
    } else {
        work(parts, &mut context, stop).await
    };
    let finish = match result {
        Ok(finish) => Some(finish),
        Err(stop) => conclude(&mut context, stop, claimed.attempt).await,
    };
    if let (Some(agent), Some(finish)) = (&parts.agent, &finish)
        && (context.progress.work.is_some() || context.progress.research.is_some())
        && !matches!(finish, RunOutcome::Park { .. } | RunOutcome::Yield)
    {
        agent.forget(&claimed.lease.run).await;
    }
    finish
}

/// Adds the 👀 reaction and, if the run has to wait, posts its place in the queue. Best effort: the
/// run itself repeats what is missing.
///
/// Does nothing if the run was already started or its final report has begun: a newer status is
/// posted.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn acknowledge(parts: &Services, claimed: &Claimed) -> Result<(), StepError> {
    let mut context = context(parts, claimed);
    if claimed.attempt > 0 || context.progress.closing == Some(context.round) {
        return Ok(());
    }
    let verdict = authorise::authorise(&mut context).await?;
    if context.outsider || matches!(verdict, Verdict::Ignored { .. }) {
        return Ok(());
    }
    report::acknowledge(&context).await?;
    if matches!(verdict, Verdict::Allowed(_)) && context.trigger.serial().is_some() {
        let ahead = parts
            .store
            .queue_position(&claimed.lease.run)
            .await?
            .at_place;
        let waits = commands::waits_at(&context).await?;
        report::queued(&mut context, ahead, waits.as_deref()).await?;
    }
    Ok(())
}

/// Creates the context for the steps of a claimed run.
pub(super) fn context(parts: &Services, claimed: &Claimed) -> Context {
    Context {
        round: claimed.round,
        accepted: claimed.created,
        effects: effects(parts, &claimed.lease, claimed.trigger.at),
        trigger: claimed.trigger.clone(),
        progress: claimed.progress.clone(),
        settings: Arc::clone(&parts.settings),
        status_written: None,
        outsider: false,
        reporting: commands::reporting(claimed.trigger.command),
        checkouts: parts.checkouts.clone(),
        checkout: None,
        base_files: None,
    }
}

fn effects(parts: &Services, lease: &Lease, since: Millis) -> Effects {
    Effects {
        store: Arc::clone(&parts.store),
        forge: Arc::clone(&parts.forge),
        clock: Arc::clone(&parts.clock),
        lease: lease.clone(),
        adopt_delay: parts.settings.worker.adopt_delay,
        since,
        search_first: parts.search_first,
    }
}

async fn work(
    parts: &Services,
    context: &mut Context,
    stop: &StopFlag,
) -> Result<RunOutcome, StepError> {
    if let Some((round, failure)) = context.progress.failure.clone() {
        if round == context.round {
            return Err(StepError::Failed(failure));
        }
        // Failures of an earlier round do not count in a new one.
        context.progress.failure = None;
        // The plan issue may have been closed since.
        context.progress.known = None;
        context.progress.outage = None;
        context.progress.limited = 0;
        if context.progress.prepared.is_none() {
            // The logs may have caused the failure, so read them again.
            context.progress.logs = None;
        }
        research::again(&mut context.progress);
        context.progress.resumed = Some(context.effects.clock.now());
        context.remember().await?;
    }
    if context.progress.started.is_none() {
        let repo = &context.trigger.place.repo;
        context.effects.store.record_repository(repo).await?;
        context.progress.started = Some(context.effects.clock.now());
        context.remember().await?;
    }
    let verdict = trace::step("authorise", authorise::authorise(context)).await?;
    if matches!(verdict, Verdict::Allowed(_) | Verdict::Denied { .. }) {
        report::acknowledge(context).await?;
    }
    report::continued(context).await?;
    let allowed = match verdict {
        Verdict::Allowed(allowed) => allowed,
        Verdict::Later => return Ok(RunOutcome::Yield),
        Verdict::Ignored { why } => {
            context.audit("ignored", &why).await?;
            return Ok(RunOutcome::Failed {
                code: Code::PermissionDenied,
                message: why,
            });
        }
        Verdict::Denied { has } => {
            let body = replies::refusal(&context.trigger, has);
            report::reply(context, &body, Reaction::Confused).await?;
            context.audit("refused", &body).await?;
            return Ok(RunOutcome::Failed {
                code: Code::PermissionDenied,
                message: body,
            });
        }
    };
    if context.trigger.expired {
        let limit = context.settings.late.max_age;
        let body = late::too_old(&context.trigger, context.accepted, limit);
        report::reply(context, &body, Reaction::Confused).await?;
        context.audit("expired", &body).await?;
        return Ok(RunOutcome::Succeeded);
    }
    let trigger = &context.trigger;
    read_options(trigger.command, &trigger.options).map_err(|error| {
        StepError::Failed(sources::invalid_option(trigger.command.spec(), &error))
    })?;
    commands::run(CommandRun {
        parts,
        context,
        stop,
        allowed: &allowed,
    })
    .await?;
    Ok(RunOutcome::Succeeded)
}

/// Converts the reason why the work stopped into the run's outcome, and reports a final failure.
async fn conclude(context: &mut Context, stop: StepError, attempt: u32) -> Option<RunOutcome> {
    let now = context.effects.clock.now();
    let failure = match stop {
        StepError::Store(error) => {
            tracing::warn!(run.id = %context.run(), error = %error, "the run is released when its lease expires");
            return None;
        }
        StepError::Settling { until } => return Some(park(until, CATCHING_UP)),
        StepError::Wait { until, why } => {
            // GitHub has responded since; reset the outage timer.
            if context.progress.outage.take().is_some() {
                context.remember().await.ok()?;
            }
            return Some(park(until, &why));
        }
        StepError::Failed(failure) => failure,
        StepError::Cancelled(by) => failures::cancelled(&by),
        StepError::Paused => {
            tracing::info!("run paused, because the process shuts down");
            // The report is only for people; the run continues without it.
            if let Err(error) = report::paused(context).await {
                tracing::debug!(error = %error, "the pause was not shown");
            }
            return Some(RunOutcome::Yield);
        }
        StepError::Forge(error) => match decide_retry(context, &error, now) {
            RetryDecision::Later(finish) => {
                return match context.remember().await {
                    Ok(()) => Some(finish),
                    Err(_) => None,
                };
            }
            RetryDecision::Over(_) if decided(context) => return unreported(context, &error).await,
            RetryDecision::Over(failure) => failure,
        },
    };
    end(context, failure, attempt).await
}

/// Returns whether the work is done and only its report is missing. A failed report does not fail
/// the run.
fn decided(context: &Context) -> bool {
    context.progress.closing == Some(context.round) && context.progress.failure.is_none()
}

/// Ends a run as succeeded although its report could not be posted.
async fn unreported(context: &Context, error: &ForgeError) -> Option<RunOutcome> {
    tracing::warn!(run.id = %context.run(), error = %error, "the outcome could not be reported");
    context.audit("unreported", &error.to_string()).await.ok()?;
    Some(RunOutcome::Succeeded)
}

/// Decision after a GitHub error: retry the run later, or end it.
enum RetryDecision {
    Later(RunOutcome),
    Over(Failure),
}

/// Decides whether a GitHub error is retried: limits and outages are waited out, refusals are
/// final.
fn decide_retry(context: &mut Context, error: &ForgeError, now: Millis) -> RetryDecision {
    match error {
        ForgeError::Limited { until, .. } => {
            let give_up = context.settings.worker.give_up_after;
            // Without this limit, a run that needs more than GitHub allows would wait forever.
            if Duration::from_millis(context.progress.limited) >= give_up {
                return RetryDecision::Over(failures::gave_up(error, give_up.as_secs() / 3600));
            }
            let wait = u64::try_from(until.since(now).as_millis()).unwrap_or(u64::MAX);
            context.progress.limited = context.progress.limited.saturating_add(wait);
            RetryDecision::Later(park(*until, &error.to_string()))
        }
        // Credentials may recover: a suspended installation is resumed or a key is replaced.
        ForgeError::Unreachable { .. }
        | ForgeError::Unknown { .. }
        | ForgeError::Unauthorized { .. }
        | ForgeError::Unreadable { .. } => {
            let (since, faults) = context.progress.outage.unwrap_or((now, 0));
            // The clock may have been set between two attempts: `since` is then in the future or
            // too long ago. The elapsed time is therefore capped by `waited`, which depends only on
            // the number of faults.
            let since = since.min(now);
            let waited = context.settings.worker.waited_after(faults);
            let give_up = context.settings.worker.give_up_after;
            if now.since(since).min(waited) >= give_up {
                if matches!(error, ForgeError::Unauthorized { .. }) {
                    return RetryDecision::Over(failures::refused(error, &context.trigger.place));
                }
                return RetryDecision::Over(failures::gave_up(error, give_up.as_secs() / 3600));
            }
            context.progress.outage = Some((since, faults + 1));
            let wait = context.settings.worker.delays().after(faults + 1);
            if matches!(error, ForgeError::Unauthorized { .. }) {
                tracing::error!(%error, faults = faults + 1, "GitHub refuses the App; the run waits");
            } else {
                tracing::warn!(%error, faults = faults + 1, "GitHub does not answer; the run waits");
            }
            RetryDecision::Later(park(now.plus(wait), &error.to_string()))
        }
        _ => match context.again_at(error) {
            Some(until) => RetryDecision::Later(park(until, &error.to_string())),
            None => RetryDecision::Over(failures::refused(error, &context.trigger.place)),
        },
    }
}

fn park(until: Millis, reason: &str) -> RunOutcome {
    RunOutcome::Park {
        until,
        reason: reason.to_owned(),
        counts: false,
    }
}

/// Stores the failure, reports it, and ends the run. A report that fails temporarily is retried;
/// one that GitHub refuses permanently is only logged and audited.
async fn end(context: &mut Context, failure: Failure, attempt: u32) -> Option<RunOutcome> {
    if context.progress.failure.is_none() {
        // The report gets a time limit of its own, because the outage that ended the run may last.
        context.progress.outage = None;
        context.progress.limited = 0;
    }
    context.progress.failure = Some((context.round, failure.clone()));
    if let Some(work) = &mut context.progress.work {
        // The agent's session is deleted at the end of the run.
        work.forget_session();
    }
    context.remember().await.ok()?;
    let reported = if context.trigger.command.spec().execution == Execution::Queued {
        report::failed(context, &failure).await
    } else {
        let body = format!(
            "😕 {}: {} {}",
            failure.code.name(),
            failure.message,
            failure.remedy
        );
        report::reply(context, &super::messages::plain(&body), Reaction::Confused)
            .await
            .map(|_| ())
    };
    let now = context.effects.clock.now();
    match reported {
        Err(StepError::Store(_)) => return None,
        Err(StepError::Settling { until } | StepError::Wait { until, .. }) => {
            return Some(park(until, CATCHING_UP));
        }
        Err(StepError::Forge(ref error)) => match decide_retry(context, error, now) {
            RetryDecision::Later(finish) if attempt <= context.settings.worker.max_attempts + 5 => {
                context.remember().await.ok()?;
                return Some(finish);
            }
            _ => {
                tracing::warn!(run.id = %context.run(), error = %error, "the failure could not be reported");
            }
        },
        Ok(()) | Err(StepError::Failed(_) | StepError::Cancelled(_) | StepError::Paused) => {}
    }
    let why = format!("{}: {}", failure.code.name(), failure.message);
    context.audit("failed", &why).await.ok()?;
    if failure.code == Code::Cancelled {
        return Some(RunOutcome::Cancelled);
    }
    Some(RunOutcome::Failed {
        code: failure.code,
        message: failure.message,
    })
}
