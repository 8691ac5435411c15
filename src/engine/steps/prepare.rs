//! From a command to a plan that may be saved: gather, extract, enrich, verify. Every result is remembered before the next
//! step needs it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::{Context, enrich, known, report, source, verify};
use crate::engine::agent::Agent;
use crate::engine::effects::{LIST_LAG, Stop};
use crate::engine::model::conversation::Thread;
use crate::engine::model::progress::{Known, Logs, Prepared};
use crate::engine::model::trigger::Origin;
use crate::engine::say::{failures, planning};
use crate::engine::stop::StopFlag;
use crate::formats::command::Command;

/// What a run that saves a plan goes on with.
#[derive(Debug)]
pub enum Ready {
    /// This is to be saved.
    Plan(Box<Prepared>),
    /// It is saved already.
    Known(Known),
}

/// The plan, ready to be saved: remembered from an earlier attempt, or worked out now. Before an agent is paid, and again
/// before saving begins, it is looked for among what was saved from here before.
///
/// # Errors
/// [`Stop::Failed`] with the decided failure, [`Stop::Wait`] while people are asked, [`Stop::Cancelled`]; [`Stop::Forge`] and
/// [`Stop::Store`] when GitHub or the store does not answer.
pub async fn prepare(
    context: &mut Context,
    agent: Option<&Arc<dyn Agent>>,
    stop: &StopFlag,
) -> Result<Ready, Stop> {
    if let Some(known) = context.progress.known.clone() {
        return Ok(Ready::Known(known));
    }
    let mut prepared = match context.progress.prepared.clone() {
        Some(prepared) => prepared,
        None => match work_out(context, agent, stop).await? {
            Ready::Plan(prepared) => *prepared,
            known @ Ready::Known(_) => return Ok(known),
        },
    };
    if !context.progress.publishing
        && let Some(known) = known::before_saving(context, &mut prepared).await?
    {
        return Ok(Ready::Known(known));
    }
    Ok(Ready::Plan(Box::new(prepared)))
}

async fn work_out(
    context: &mut Context,
    agent: Option<&Arc<dyn Agent>>,
    stop: &StopFlag,
) -> Result<Ready, Stop> {
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
            let mut thread = None;
            if context.trigger.command == Command::SavePlan {
                enrich::begin(context, &mut thread, stop).await?;
                let unpaid = enrich::work(context).turns == 0;
                if unpaid && let Some(known) = known::same(context).await? {
                    return Ok(Ready::Known(known));
                }
            }
            enrich::enrich(context, agent, thread, stop).await?
        }
        _ => {
            let mut found = enrich::found(context, stop).await?;
            stop.heed()?;
            known::identify(context, &found, false);
            if context.trigger.command == Command::SavePlan && found.candidate.is_some() {
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
    Ok(Ready::Plan(Box::new(prepared)))
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
    current_thread(context).await
}

/// Reads the conversation, unless the list that GitHub gives is older than the command: webhooks can be faster than lists.
/// The list is old when the command's own comment is not in it although it exists. It is probably old when it is shorter than
/// the issue says, the bot's own status comment aside; that alone is worth only a short wait.
///
/// # Errors
/// [`Stop::Settling`] when it is to be read again, [`Stop::Forge`] when GitHub does not answer.
pub(super) async fn current_thread(context: &Context) -> Result<Thread, Stop> {
    let forge = &context.effects.forge;
    let place = context.home();
    let thread = forge.thread(place).await?;
    let accepted = context.accepted;
    let wait = |times| {
        let until = accepted.plus(context.effects.adopt_delay * times);
        context.pause(accepted, until)
    };
    let command = match &context.trigger.origin {
        Origin::Comment { id, .. } | Origin::Boxes { id, .. } => Some(*id),
        Origin::Label { .. } | Origin::Push { .. } | Origin::Local { .. } => None,
    };
    let listed = |id: u64| {
        thread.posts.iter().any(|post| post.id == Some(id))
            || thread.hidden.iter().any(|hidden| hidden.id == id)
    };
    if let Some(id) = command.filter(|id| !listed(*id))
        && let Some(until) = wait(LIST_LAG)
        && forge.comment_exists(&place.repo, id).await?
    {
        return Err(Stop::Settling { until });
    }
    let own = context.progress.status_comment;
    let own_unlisted = own.is_some_and(|id| !listed(id));
    if thread.unlisted > usize::from(own_unlisted)
        && let Some(until) = wait(1)
    {
        return Err(Stop::Settling { until });
    }
    Ok(thread)
}

/// How many computations run at a time in the process. One can take some seconds of a processor and tens of megabytes
/// when a conversation was made for it.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Longest time for one computation: far more than the limits on its input let it take.
const COMPUTE_TIMEOUT: Duration = Duration::from_mins(1);

/// Computes on a thread of its own, away from those that serve connections.
///
/// # Errors
/// The computation panicked or took too long.
pub(super) async fn computing<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stop> {
    let turn = TURNS.acquire().await;
    let computation = tokio::task::spawn_blocking(move || {
        // Kept until the work is done, also when nobody waits for it any more.
        let _turn = turn;
        work()
    });
    match tokio::time::timeout(COMPUTE_TIMEOUT, computation).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Stop::Failed(failures::internal(&format!(
            "A computation ended early: {error}"
        )))),
        Err(_) => Err(Stop::Failed(failures::internal(
            "Reading the plan took longer than 60 seconds. Put the plan into the comment with the command, so that the \
             conversation need not be searched.",
        ))),
    }
}
