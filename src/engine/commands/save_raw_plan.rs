//! `/save-raw-plan`: finds the plan in the conversation and saves it unchanged.

use super::{CommandRun, save};
use crate::engine::effects::StepError;
use crate::engine::steps::prepare::{Ready, computing};
use crate::engine::steps::{enrich, known, verify};
use crate::engine::trace;

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    save(run, |run| Box::pin(work_out(run))).await
}

async fn work_out(run: &mut CommandRun<'_>) -> Result<Ready, StepError> {
    if run.parts.agent.is_none()
        && let Some(prepared) = enrich::without_agent(run.context, run.stop).await?
    {
        return Ok(Ready::Plan(Box::new(prepared)));
    }
    as_found(run, None).await
}

/// Finds the plan and prepares it for saving unchanged, with a note for the reader.
pub(super) async fn as_found(
    run: &mut CommandRun<'_>,
    note: Option<&str>,
) -> Result<Ready, StepError> {
    let (context, stop) = (&mut *run.context, run.stop);
    let mut found = enrich::found(context, stop).await?;
    stop.check_cancelled()?;
    known::identify(context, &found, false);
    if found.candidate.is_some() {
        found.notes.extend(note.map(str::to_owned));
    }
    let trigger = context.trigger.clone();
    let prefix = context.settings.publish.title_prefix.clone();
    let verifying = async {
        computing(move || verify::as_found(&trigger, found, &prefix))
            .await?
            .map_err(StepError::Failed)
    };
    let prepared = trace::step("verify", verifying).await?;
    Ok(Ready::Plan(Box::new(prepared)))
}
