//! `/research`: several research agents in parallel, one report for each topic.

use std::sync::Arc;

use super::CommandRun;
use crate::engine::agent::Agent;
use crate::engine::effects::StepError;
use crate::engine::extract::late;
use crate::engine::messages::{self, planning as sentences};
use crate::engine::model::research::Research;
use crate::engine::research as engine_research;
use crate::engine::steps::research::{begin, checked, research};
use crate::engine::steps::{Context, prepare, report};
use crate::engine::stop::StopFlag;
use crate::engine::trace;
use crate::formats::command::Command;

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    let Some(agent) = &run.parts.agent else {
        return Err(StepError::Failed(sentences::needs_agent(Command::Research)));
    };
    let research = reports(run.context, agent, run.stop).await?;
    let context = &mut *run.context;
    let seconds = report::seconds(context);
    let unseen = context.progress.repository.unseen.as_deref();
    let (trigger, id) = (&context.trigger, context.run());
    let body = messages::research::done(trigger, id, &research, unseen, seconds);
    report::succeeded(context, &body).await?;
    run.context
        .audit("researched", "reports are posted")
        .await?;
    Ok(())
}

/// Researches the topics of the command.
async fn reports(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    stop: &StopFlag,
) -> Result<Research, StepError> {
    if let Some(known) = &context.progress.research
        && context.progress.closing == Some(context.round)
        && known.tally().passes()
    {
        // Only the final report may be missing.
        return Ok(known.clone());
    }
    if context.progress.research.is_none() {
        let topics =
            engine_research::topics(context.trigger.guidance.as_deref().unwrap_or_default());
        let topics = checked(topics, &context.settings.research)?;
        let thread = prepare::thread(context).await?;
        stop.check_cancelled()?;
        let opening = thread.posts.iter().find(|post| post.id.is_none());
        // An opening text changed after the command may hold instructions for the agents, so leave
        // it out.
        let opening = opening.filter(|post| late(post, &context.trigger).is_none());
        let body = opening.map_or("", |post| post.body.as_str());
        begin(context, &topics, (&thread.title, body)).await?;
    }
    trace::step("research", research(context, agent, stop)).await
}
