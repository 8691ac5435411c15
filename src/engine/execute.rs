//! One attempt at one run: from the claimed row to how it is given back.
//!
//! An attempt can end anywhere (crash, lost lease, rate limit); the next one starts from the top, skips what is remembered
//! in the progress and in the effects, and goes on.

use std::sync::Arc;
use std::time::Duration;

use super::commands::{self, CommandRun};
use super::effects::{Effects, Stop};
use super::forge::{ForgeError, Reaction};
use super::say::{failures, replies, sources};
use super::services::Services;
use super::steps::authorise::{self, Verdict};
use super::steps::{Context, report, research};
use super::stop::StopFlag;
use super::store::{Claimed, Lease, RunOutcome};
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::time::Millis;
use crate::formats::command::read_options;

/// Why a run waits that looks again in a moment.
const CATCHING_UP: &str = "GitHub is given time to catch up with an earlier write";

/// Works on a claimed run until it ends or has to wait. `None`: the lease is lost, or the store fails; touch nothing more.
pub async fn attempt(parts: &Services, claimed: &Claimed, stop: &StopFlag) -> Option<RunOutcome> {
    let mut context = context(parts, claimed);
    let poisoned = claimed.attempt > parts.settings.max_attempts;
    let result = if poisoned {
        let failure = failures::internal(&format!(
            "The run was started {} times and never came to an end.",
            claimed.attempt - 1
        ));
        Err(Stop::Failed(failure))
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

/// Says 👀 and, where the run has to wait, its place in the queue. Best effort: the run itself repeats what is missing.
///
/// A run that has begun (and was cut short by a crash) has said more than that already, perhaps even how it ended.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn acknowledge(parts: &Services, claimed: &Claimed) -> Result<(), Stop> {
    let mut context = context(parts, claimed);
    if claimed.attempt > 0 || context.progress.closing == Some(context.round) {
        return Ok(());
    }
    let verdict = authorise::hear(&mut context).await?;
    if context.outsider || matches!(verdict, Verdict::Ignored { .. }) {
        return Ok(());
    }
    report::acknowledge(&context).await?;
    if matches!(verdict, Verdict::Allowed(_)) && context.trigger.serial().is_some() {
        let ahead = parts.store.ahead_of(&claimed.lease.run).await?;
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
    }
}

fn effects(parts: &Services, lease: &Lease, since: Millis) -> Effects {
    Effects {
        store: Arc::clone(&parts.store),
        forge: Arc::clone(&parts.forge),
        clock: Arc::clone(&parts.clock),
        lease: lease.clone(),
        adopt_delay: parts.settings.adopt_delay,
        since,
    }
}

async fn work(
    parts: &Services,
    context: &mut Context,
    stop: &StopFlag,
) -> Result<RunOutcome, Stop> {
    if let Some((round, failure)) = context.progress.failure.clone() {
        if round == context.round {
            return Err(Stop::Failed(failure));
        }
        // A new round: old faults do not count against it.
        context.progress.failure = None;
        // The plan issue may have been closed since.
        context.progress.known = None;
        context.progress.outage = None;
        context.progress.limited = 0;
        if context.progress.prepared.is_none() {
            // What the logs hold may have been the fault.
            context.progress.logs = None;
        }
        research::again(&mut context.progress);
        context.progress.resumed = Some(context.effects.clock.now());
        context.remember().await?;
    }
    if context.progress.started.is_none() {
        context.progress.started = Some(context.effects.clock.now());
        context.remember().await?;
    }
    let verdict = authorise::hear(context).await?;
    if matches!(verdict, Verdict::Allowed(_) | Verdict::Denied { .. }) {
        report::acknowledge(context).await?;
    }
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
    let trigger = &context.trigger;
    read_options(trigger.command, &trigger.options)
        .map_err(|error| Stop::Failed(sources::invalid_option(trigger.command.spec(), &error)))?;
    commands::run(CommandRun {
        parts,
        context,
        stop,
        allowed: &allowed,
    })
    .await?;
    Ok(RunOutcome::Succeeded)
}

/// Turns what stopped the work into how the run is given back, reporting to people where it ends.
async fn conclude(context: &mut Context, stop: Stop, attempt: u32) -> Option<RunOutcome> {
    let now = context.effects.clock.now();
    let failure = match stop {
        Stop::Store(error) => {
            tracing::warn!(run.id = %context.run(), error = %error, "the run is left to its lease");
            return None;
        }
        Stop::Settling { until } => return Some(park(until, CATCHING_UP)),
        Stop::Wait { until, why } => {
            // GitHub has answered on the way here: two hiccups with days between them are no outage of days.
            if context.progress.outage.take().is_some() {
                context.remember().await.ok()?;
            }
            return Some(park(until, &why));
        }
        Stop::Failed(failure) => failure,
        Stop::Cancelled(by) => failures::cancelled(&by),
        Stop::Forge(error) => match weigh(context, &error, now) {
            Weighed::Later(finish) => {
                return match context.remember().await {
                    Ok(()) => Some(finish),
                    Err(_) => None,
                };
            }
            Weighed::Over(_) if decided(context) => return unreported(context, &error).await,
            Weighed::Over(failure) => failure,
        },
    };
    end(context, failure, attempt).await
}

/// The work is done, and only the report of it is not: a report decides nothing.
fn decided(context: &Context) -> bool {
    context.progress.closing == Some(context.round) && context.progress.failure.is_none()
}

/// Ends a run well whose report could not be posted.
async fn unreported(context: &Context, error: &ForgeError) -> Option<RunOutcome> {
    tracing::warn!(run.id = %context.run(), error = %error, "the outcome could not be reported");
    context.audit("unreported", &error.to_string()).await.ok()?;
    Some(RunOutcome::Succeeded)
}

enum Weighed {
    Later(RunOutcome),
    Over(Failure),
}

/// Later, or over? Limits and outages are waited out; refusals are final.
fn weigh(context: &mut Context, error: &ForgeError, now: Millis) -> Weighed {
    match error {
        ForgeError::Limited { until, .. } => {
            let give_up = context.settings.give_up_after;
            // A run that asks for more than GitHub allows would wait for ever.
            if Duration::from_millis(context.progress.limited) >= give_up {
                return Weighed::Over(failures::gave_up(error, give_up.as_secs() / 3600));
            }
            let wait = u64::try_from(until.since(now).as_millis()).unwrap_or(u64::MAX);
            context.progress.limited = context.progress.limited.saturating_add(wait);
            Weighed::Later(park(*until, &error.to_string()))
        }
        // Credentials come back too: a suspended installation is resumed, a key replaced.
        ForgeError::Unreachable { .. }
        | ForgeError::Unknown { .. }
        | ForgeError::Unauthorized { .. }
        | ForgeError::Unreadable { .. } => {
            let (since, faults) = context.progress.outage.unwrap_or((now, 0));
            // The clock may have been set between two processes: back, and the mark lies ahead; forward, and it
            // seems long ago. What was waited in all is known without it.
            let since = since.min(now);
            let waited = context.settings.waited_after(faults);
            let give_up = context.settings.give_up_after;
            if now.since(since).min(waited) >= give_up {
                if matches!(error, ForgeError::Unauthorized { .. }) {
                    return Weighed::Over(failures::refused(error, &context.trigger.place));
                }
                return Weighed::Over(failures::gave_up(error, give_up.as_secs() / 3600));
            }
            context.progress.outage = Some((since, faults + 1));
            let wait = context.settings.backoff_after(faults + 1);
            if matches!(error, ForgeError::Unauthorized { .. }) {
                tracing::error!(%error, faults = faults + 1, "GitHub refuses the App; the run waits");
            } else {
                tracing::warn!(%error, faults = faults + 1, "GitHub does not answer; the run waits");
            }
            Weighed::Later(park(now.plus(wait), &error.to_string()))
        }
        _ => match context.again_at(error) {
            Some(until) => Weighed::Later(park(until, &error.to_string())),
            None => Weighed::Over(failures::refused(error, &context.trigger.place)),
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

/// Remembers the failure, reports it, and ends the run. A report that cannot be made now is made later; one that GitHub
/// refuses for good is left to the log and the audit.
async fn end(context: &mut Context, failure: Failure, attempt: u32) -> Option<RunOutcome> {
    if context.progress.failure.is_none() {
        // The report has a time of its own to be made in: what ended the run may last.
        context.progress.outage = None;
        context.progress.limited = 0;
    }
    context.progress.failure = Some((context.round, failure.clone()));
    if let Some(work) = &mut context.progress.work {
        // What the agent keeps is deleted with the end of the run.
        work.forget_session();
    }
    context.remember().await.ok()?;
    let reported = if context.trigger.command.spec().serial {
        report::failed(context, &failure).await
    } else {
        let body = format!("😕 {}: {}", failure.code.name(), failure.message);
        report::reply(context, &super::say::plain(&body), Reaction::Confused)
            .await
            .map(|_| ())
    };
    let now = context.effects.clock.now();
    match reported {
        Err(Stop::Store(_)) => return None,
        Err(Stop::Settling { until } | Stop::Wait { until, .. }) => {
            return Some(park(until, CATCHING_UP));
        }
        Err(Stop::Forge(ref error)) => match weigh(context, error, now) {
            Weighed::Later(finish) if attempt <= context.settings.max_attempts + 5 => {
                context.remember().await.ok()?;
                return Some(finish);
            }
            _ => {
                tracing::warn!(run.id = %context.run(), error = %error, "the failure could not be reported");
            }
        },
        Ok(()) | Err(Stop::Failed(_) | Stop::Cancelled(_)) => {}
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
