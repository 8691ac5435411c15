//! The agent's part of a run: it is prompted for a plan, its answer is checked, and corrections are
//! requested.
//!
//! ```text
//! find ─▶ turn ─▶ questions? ─▶ ask people, wait ─┐
//!          ▲  └─▶ plan? check ─▶ good: document   │
//!          └───── correction (twice, then what was found) ◀┘
//! ```
//!
//! All state is stored before it is acted on, so a later attempt continues where an earlier one was
//! interrupted.

mod ask;
mod judge;
mod prompts;
mod turn;

use std::sync::Arc;

pub(super) use judge::{notes_on_work, open_questions};

use super::{Context, find, known, planning, prepare, verify};
use crate::engine::agent::Agent;
use crate::engine::effects::StepError;
use crate::engine::messages::failures;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::progress::{AgentState, Next, Prepared, SearchResult};
use crate::engine::planner;
use crate::engine::stop::StopFlag;
use crate::engine::trace;
use crate::formats::command::Command;
use crate::formats::plan::document::is_success_document;

/// Result of one iteration of the loop.
enum Step {
    /// The plan is ready.
    Done(Box<Prepared>),
    /// Continue according to the stored state.
    Again,
}

/// Works with the agent until there is a plan that may be saved. For a plan from a conversation,
/// the caller must have called `begin`; `thread` is that conversation if it has already been
/// read.
///
/// # Errors
/// Returns [`StepError::Wait`] while people are asked or a fault is waited out,
/// [`StepError::Failed`] if the run fails, [`StepError::Cancelled`] if it is cancelled, and
/// [`StepError::Forge`] or [`StepError::Store`] if GitHub or the store fails.
pub async fn enrich(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    mut thread: Option<Arc<Conversation>>,
    stop: &StopFlag,
) -> Result<Prepared, StepError> {
    if context.trigger.command == Command::Plan {
        planning::begin(context, agent, stop).await?;
    } else if let Some(prepared) = nothing_to_do(context)? {
        return Ok(prepared);
    }
    loop {
        stop.check_cancelled()?;
        ask::conclude(context).await?;
        if let Next::Nothing { .. } = work(context).next {
            // The agent did not choose one of several plans, so ask people.
            ask_which(context).await?;
        }
        let open = work(context).open_round().is_some();
        let done = if open {
            ask::wait(context, stop).await?
        } else if let Next::Nothing { why } = work(context).next.clone() {
            if let Some(accepted) = work(context).accepted.take() {
                return Ok(*accepted);
            }
            let held = work(context).rounds.last().is_some_and(|it| it.hold);
            let fallback = match context.trigger.command {
                Command::Plan => planning::fallback(context, &why),
                _ => judge::fallback(context, &why),
            };
            match fallback {
                Ok(prepared) => Step::Done(Box::new(prepared)),
                Err(stop) => {
                    if !held {
                        // Otherwise a retry would only repeat the stored failure.
                        planner::restart(work(context));
                    }
                    return Err(stop);
                }
            }
        } else {
            turn::turn(context, agent, &mut thread, stop).await?
        };
        if let Step::Done(prepared) = done {
            return Ok(*prepared);
        }
    }
}

/// Returns the plan of a run that began with an agent, if no agent is configured any more: the plan
/// as found, with the answers given, and marked as a fallback. A held run stays held. Returns
/// `None` if no agent was asked or no plan was found.
///
/// # Errors
/// See [`enrich`].
pub async fn without_agent(
    context: &mut Context,
    stop: &StopFlag,
) -> Result<Option<Prepared>, StepError> {
    let begun = |work: &AgentState| {
        let found = work.found.as_ref().and_then(|it| it.candidate.as_ref());
        work.turns > 0 && found.is_some()
    };
    if !context.progress.work.as_ref().is_some_and(begun) {
        return Ok(None);
    }
    match work(context).open_round().map(|(_, round)| round.hold) {
        Some(true) => {
            ask::wait(context, stop).await?;
        }
        Some(false) => ask::take_answers(context).await?,
        None => {}
    }
    ask::conclude(context).await?;
    let why = match work(context).next.clone() {
        Next::Nothing { why } => why,
        _ => super::super::messages::agent::AGENT_GONE.to_owned(),
    };
    judge::fallback(context, &why).map(Some)
}

/// Returns the plan without using an agent. Asks people if it is unclear which plan is meant.
///
/// # Errors
/// See [`enrich`].
pub async fn found(context: &mut Context, stop: &StopFlag) -> Result<SearchResult, StepError> {
    let remembered = context.progress.work.as_ref();
    if remembered.and_then(|work| work.found.as_ref()).is_none() {
        let logs = prepare::logs(context).await?;
        stop.check_cancelled()?;
        let thread = Arc::new(prepare::thread(context).await?);
        stop.check_cancelled()?;
        let found = trace::step("extract", find::find(context, &thread, logs)).await?;
        if found.unclear.is_none() {
            return Ok(found);
        }
        let work = work(context);
        planner::renew_words(work);
        work.found = Some(found);
    }
    loop {
        stop.check_cancelled()?;
        ask_which(context).await?;
        if work(context).open_round().is_none() {
            break;
        }
        ask::wait(context, stop).await?;
    }
    work(context)
        .found
        .clone()
        .ok_or_else(|| StepError::Failed(failures::internal("The plan that was found is lost.")))
}

/// Adds the question which plan is meant, if that is unclear and no round is open.
async fn ask_which(context: &mut Context) -> Result<(), StepError> {
    let work = work(context);
    let unclear = work.found.as_ref().and_then(|found| found.unclear.as_ref());
    if let (Some(unclear), None) = (unclear, work.open_round()) {
        let round = ask::which(unclear);
        work.rounds.push(round);
        context.remember().await?;
    }
    Ok(())
}

/// Returns the stored state of the agent's part, creating it if needed.
pub(in crate::engine) fn work(context: &mut Context) -> &mut AgentState {
    context.progress.work.get_or_insert_default()
}

/// Searches the session logs and the conversation for the plan, and stores the result, unless that
/// has been done.
///
/// # Errors
/// See [`enrich`].
pub(in crate::engine) async fn begin(
    context: &mut Context,
    thread: &mut Option<Arc<Conversation>>,
    stop: &StopFlag,
) -> Result<(), StepError> {
    if work(context).found.is_some() {
        return Ok(());
    }
    let logs = prepare::logs(context).await?;
    stop.check_cancelled()?;
    let read = read_thread(context, thread).await?;
    let found = trace::step("extract", find::find(context, &read, logs)).await?;
    known::identify(context, &found, true);
    let work = work(context);
    planner::renew_words(work);
    work.found = Some(found);
    context.progress.logs = None;
    context.progress.outage = None;
    context.remember().await
}

/// Returns the conversation, which is read at most once per attempt.
async fn read_thread(
    context: &mut Context,
    thread: &mut Option<Arc<Conversation>>,
) -> Result<Arc<Conversation>, StepError> {
    let read = match thread.take() {
        Some(read) => read,
        None => Arc::new(prepare::thread(context).await?),
    };
    Ok(Arc::clone(thread.insert(read)))
}

/// Returns the plan if it was enriched before and there is no new guidance, so that no agent is
/// needed.
fn nothing_to_do(context: &mut Context) -> Result<Option<Prepared>, StepError> {
    if context.trigger.guidance.is_some() || work(context).turns > 0 {
        return Ok(None);
    }
    let Some(mut found) = work(context).found.clone() else {
        return Ok(None);
    };
    let enriched = |found: &SearchResult| {
        let plan = found.candidate.as_ref()?;
        is_success_document(&plan.text).then_some(())
    };
    if enriched(&found).is_none() {
        return Ok(None);
    }
    found.notes.push(
        "The plan was enriched before and there is no guidance: it was saved as it is, without asking the agent."
            .to_owned(),
    );
    let prefix = context.settings.publish.title_prefix.clone();
    verify::as_found(&context.trigger, found, &prefix)
        .map(Some)
        .map_err(StepError::Failed)
}
