//! From a command to a plan that may be saved: gather, extract, enrich, verify. Every result is remembered before the next
//! step needs it.

use std::sync::Arc;

use super::super::agent::Agent;
use super::super::effects::Stop;
use super::super::progress::{Logs, Prepared};
use super::super::say::{failures, planning};
use super::super::stop::StopFlag;
use super::super::thread::Thread;
use super::{Context, enrich, find, report, source, verify};
use crate::formats::command::Command;

/// The plan, ready to be saved: remembered from an earlier attempt, or worked out now.
///
/// # Errors
/// [`Stop::Failed`] with the decided failure, [`Stop::Wait`] while people are asked, [`Stop::Cancelled`]; [`Stop::Forge`] and
/// [`Stop::Store`] when GitHub or the store does not answer.
pub async fn prepare(
    context: &mut Context,
    agent: Option<&Arc<dyn Agent>>,
    stop: &StopFlag,
) -> Result<Prepared, Stop> {
    if let Some(prepared) = context.progress.prepared.clone() {
        return Ok(prepared);
    }
    stop.heed()?;
    let begun = match agent {
        None => enrich::without_agent(context, stop).await?,
        Some(_) => None,
    };
    let prepared = match (agent, begun) {
        (None, None) if context.trigger.command == Command::Plan => {
            return Err(Stop::Failed(planning::needs_agent(Command::Plan)));
        }
        (_, Some(prepared)) => prepared,
        (Some(agent), None)
            if matches!(context.trigger.command, Command::SavePlan | Command::Plan) =>
        {
            enrich::enrich(context, agent, stop).await?
        }
        _ => {
            let logs = logs(context).await?;
            stop.heed()?;
            let thread = thread(context).await?;
            stop.heed()?;
            let mut found = find::find(context, &thread, logs).await?;
            stop.heed()?;
            if context.trigger.command == Command::SavePlan {
                found.notes.push(verify::NO_AGENT.to_owned());
            }
            let trigger = context.trigger.clone();
            let prefix = context.settings.title_prefix.clone();
            computing(move || verify::as_found(&trigger, found, &prefix))
                .await?
                .map_err(Stop::Failed)?
        }
    };
    // Stored before the first write that saves it: whatever happens then, nobody works it out again.
    context.progress.prepared = Some(prepared.clone());
    context.progress.logs = None;
    context.progress.outage = None;
    context.remember().await?;
    Ok(prepared)
}

/// Reads the session logs that the command names, once.
///
/// # Errors
/// As [`source::look`].
pub(super) async fn logs(context: &mut Context) -> Result<Logs, Stop> {
    if let Some(logs) = context.progress.logs.clone() {
        return Ok(logs);
    }
    if !source::named(&context.trigger, &context.settings) {
        return Ok(Logs::default());
    }
    if source::reads_log(&context.trigger, &context.settings) {
        report::step(context, "reading the session log").await?;
    }
    let forge = context.effects.forge.as_ref();
    let faults = context.progress.outage.map_or(0, |(_, faults)| faults);
    let logs = source::look(forge, &context.trigger, &context.settings, faults).await?;
    context.progress.logs = Some(logs.clone());
    context.progress.outage = None;
    context.remember().await?;
    Ok(logs)
}

/// Reads the conversation.
///
/// # Errors
/// GitHub does not answer.
pub(super) async fn thread(context: &mut Context) -> Result<Thread, Stop> {
    report::step(context, "reading the conversation").await?;
    Ok(context.effects.forge.thread(&context.trigger.place).await?)
}

/// Computes on a thread of its own: a long conversation takes milliseconds of pure computing.
///
/// # Errors
/// The computation panicked.
pub(super) async fn computing<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stop> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Stop::Failed(failures::internal(&format!(
            "A computation ended early: {error}"
        )))
    })
}
