//! `/save-plan`: finds the plan of the conversation, lets the agent complete it, and saves it.

use std::sync::Arc;

use super::{CommandRun, save, save_raw_plan};
use crate::engine::agent::Agent;
use crate::engine::effects::StepError;
use crate::engine::steps::prepare::Ready;
use crate::engine::steps::{enrich, known, verify};
use crate::engine::trace;

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    save(run, |run| Box::pin(work_out(run))).await
}

async fn work_out(run: &mut CommandRun<'_>) -> Result<Ready, StepError> {
    if let Some(agent) = &run.parts.agent {
        return with_agent(run, agent).await;
    }
    // The run may have begun before the agent was removed from the configuration.
    match enrich::without_agent(run.context, run.stop).await? {
        Some(prepared) => Ok(Ready::Plan(Box::new(prepared))),
        None => save_raw_plan::as_found(run, Some(verify::NO_AGENT)).await,
    }
}

async fn with_agent(run: &mut CommandRun<'_>, agent: &Arc<dyn Agent>) -> Result<Ready, StepError> {
    let (context, stop) = (&mut *run.context, run.stop);
    let mut thread = None;
    enrich::begin(context, &mut thread, stop).await?;
    let unpaid = enrich::work(context).turns == 0;
    if unpaid && let Some(known) = known::same(context).await? {
        return Ok(Ready::Known(known));
    }
    let enriching = enrich::enrich(context, agent, thread, stop);
    let prepared = trace::step("enrich", enriching).await?;
    Ok(Ready::Plan(Box::new(prepared)))
}
