//! The prompt of a turn, derived from the stored state.

use std::sync::Arc;

use super::{read_thread, turn, work};
use crate::engine::effects::StepError;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::progress::SearchResult;
use crate::engine::planner;
use crate::engine::prompt::{self, Form, Project, PromptInput};
use crate::engine::steps::{Context, planning, prepare};

/// Returns the prompt of this turn. `goes_on`: the session already knows the earlier turns.
/// `writes`: the agent has tools to write files.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn ask(
    context: &mut Context,
    thread: &mut Option<Arc<Conversation>>,
    goes_on: bool,
    writes: bool,
) -> Result<String, StepError> {
    let rounds = turn::rounds_left(context);
    let work_now = work(context).clone();
    let form = match (&work_now.brief, writes) {
        (None, _) => Form::Extracted,
        (Some(_), true) => Form::Files,
        (Some(_), false) => Form::Printed,
    };
    let later = planner::follow_up(&work_now, rounds, goes_on, form);
    if let (true, Some(later)) = (goes_on, &later) {
        return Ok(later.clone());
    }
    let earlier = planner::earlier_rounds(&work_now, later.as_ref());
    let first = if let Some(brief) = &work_now.brief {
        let given = planning::specified(context, &work_now, brief, rounds, writes);
        prompt::plan(&given, &earlier)
    } else {
        let thread = read_thread(context, thread).await?;
        let (trigger, work) = (context.trigger.clone(), work_now.clone());
        let most = context.settings.agent.max_prompt;
        let checkout = context.checkout.clone();
        let begins = later.is_none() && earlier.is_empty();
        prepare::computing(move || {
            let found = work.found.as_ref();
            let given = PromptInput {
                trigger: &trigger,
                thread: &thread,
                candidates: found.map_or(&[], SearchResult::candidates),
                unconfirmed: found.map_or(&[], |found| &found.unconfirmed),
                nonce: &work.nonce,
                canary: &work.canary,
                project: checkout.as_deref().map(Project::Copy),
                rounds,
                most,
            };
            if begins {
                prompt::first(&given)
            } else {
                prompt::afresh(&given, &earlier)
            }
        })
        .await?
    };
    Ok(planner::restarted(&work_now, first, later))
}
