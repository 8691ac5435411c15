//! Preparation of a plan for saving: gather, extract, enrich, verify. Every result is stored before
//! the next step uses it.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::{Context, known, report, source};
use crate::engine::effects::{LIST_LAG, StepError};
use crate::engine::messages::failures;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::progress::{Known, Logs, Prepared};
use crate::engine::model::trigger::Origin;
use crate::engine::trace;

/// Result of preparing a plan.
#[derive(Debug)]
pub enum Ready {
    /// The plan is to be saved.
    Plan(Box<Prepared>),
    /// The plan is already saved.
    Known(Known),
}

/// Returns the result of an earlier attempt, if there is one.
pub fn begun(context: &Context) -> Option<Ready> {
    let progress = &context.progress;
    let known = progress.known.clone().map(Ready::Known);
    known.or_else(|| Some(Ready::Plan(Box::new(progress.prepared.clone()?))))
}

/// Stores the plan before the first write that saves it, so that later attempts do not prepare it
/// again.
///
/// # Errors
/// Returns [`StepError::Store`] if the store fails.
pub async fn remember(context: &mut Context, ready: &Ready) -> Result<(), StepError> {
    let Ready::Plan(prepared) = ready else {
        return Ok(());
    };
    context.progress.prepared = Some((**prepared).clone());
    context.progress.logs = None;
    context.progress.outage = None;
    context.remember().await
}

/// Returns the plan, or its issue if it has been saved in the meantime.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub async fn unless_saved(context: &mut Context, ready: Ready) -> Result<Ready, StepError> {
    let Ready::Plan(mut prepared) = ready else {
        return Ok(ready);
    };
    if !context.progress.publishing
        && let Some(known) = known::before_saving(context, &mut prepared).await?
    {
        return Ok(Ready::Known(known));
    }
    Ok(Ready::Plan(prepared))
}

/// Reads the session logs that the command names, and stores the result.
///
/// # Errors
/// See [`source::look`].
pub(super) async fn logs(context: &mut Context) -> Result<Logs, StepError> {
    if let Some(logs) = context.progress.logs.clone() {
        return Ok(logs);
    }
    if !source::has_options_or_logs(&context.trigger, &context.settings) {
        return Ok(Logs::default());
    }
    if source::reads_log(&context.trigger, &context.settings) {
        report::step(context, "reading the session log").await?;
    }
    let forge = context.effects.forge.as_ref();
    let faults = context.progress.outage.map_or(0, |(_, faults)| faults);
    let look = source::look(forge, &context.trigger, &context.settings, faults);
    let logs = trace::step("gather", look).await?;
    context.progress.logs = Some(logs.clone());
    context.progress.outage = None;
    context.remember().await?;
    Ok(logs)
}

/// Updates the status comment and reads the conversation.
///
/// # Errors
/// See [`current_thread`].
pub(in crate::engine) async fn thread(context: &mut Context) -> Result<Conversation, StepError> {
    report::step(context, "reading the conversation").await?;
    trace::step("gather", current_thread(context)).await
}

/// Reads the conversation, unless GitHub's list of comments is older than the command: webhooks can
/// be faster than lists.
///
/// The list is stale if it lacks the command's own comment although that comment exists. It is
/// probably stale if it is shorter than the comment count, apart from the bot's own status
/// comment; that case only justifies a short wait.
///
/// # Errors
/// Returns [`StepError::Settling`] if the list must be read again, and [`StepError::Forge`] if
/// GitHub does not respond.
pub(in crate::engine) async fn current_thread(
    context: &Context,
) -> Result<Conversation, StepError> {
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
        return Err(StepError::Settling { until });
    }
    let own = context.progress.status_comment;
    let own_unlisted = own.is_some_and(|id| !listed(id));
    if thread.unlisted > usize::from(own_unlisted)
        && let Some(until) = wait(1)
    {
        return Err(StepError::Settling { until });
    }
    Ok(thread)
}

/// Limit on concurrent computations in the process. A conversation crafted for it can take seconds
/// of CPU time and tens of megabytes.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Timeout of one computation, far longer than the limits on its input should allow.
const COMPUTE_TIMEOUT: Duration = Duration::from_mins(1);

/// Runs `work` on a blocking thread, apart from the threads that serve connections.
///
/// # Errors
/// Returns [`StepError::Failed`] if the computation panics or takes too long.
pub(in crate::engine) async fn computing<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StepError> {
    let turn = TURNS.acquire().await;
    let computation = tokio::task::spawn_blocking(move || {
        // Held until the work is done, even if the caller no longer waits for it.
        let _turn = turn;
        work()
    });
    match tokio::time::timeout(COMPUTE_TIMEOUT, computation).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(StepError::Failed(failures::internal(&format!(
            "A computation ended early: {error}"
        )))),
        Err(_) => Err(StepError::Failed(failures::internal(
            "Reading the plan took longer than 60 seconds. Put the plan into the comment with the command, so that the \
             conversation need not be searched.",
        ))),
    }
}
