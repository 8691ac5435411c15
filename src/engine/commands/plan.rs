//! `/plan`: lets the agent write a plan for the specification in the issue, and saves it.

use super::{CommandRun, save};
use crate::engine::effects::StepError;
use crate::engine::messages::planning as sentences;
use crate::engine::steps::enrich;
use crate::engine::steps::prepare::Ready;
use crate::engine::trace;
use crate::formats::command::Command;

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    save(run, |run| Box::pin(work_out(run))).await
}

async fn work_out(run: &mut CommandRun<'_>) -> Result<Ready, StepError> {
    let (context, stop) = (&mut *run.context, run.stop);
    let prepared = match &run.parts.agent {
        Some(agent) => {
            let enriching = enrich::enrich(context, agent, None, stop);
            trace::step("enrich", enriching).await?
        }
        // The run may have begun before the agent was removed from the configuration.
        None => match enrich::without_agent(context, stop).await? {
            Some(prepared) => prepared,
            None => return Err(StepError::Failed(sentences::needs_agent(Command::Plan))),
        },
    };
    Ok(Ready::Plan(Box::new(prepared)))
}
