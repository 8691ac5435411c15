//! Inputs of a plan: the checked specification, the repository's documents, and research on
//! request.

use super::documents;
use crate::engine::agent::Agent;
use crate::engine::effects::StepError;
use crate::engine::extract::late;
use crate::engine::messages::planning as sentences;
use crate::engine::model::agent::Spent;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::progress::Brief;
use crate::engine::model::research::Research;
use crate::engine::model::trigger::Trigger;
use crate::engine::steps::enrich::work;
use crate::engine::steps::{Context, prepare, research as researching};
use crate::engine::stop::StopFlag;
use crate::engine::{planner, research, trace};
use crate::formats::command::{Command, read_options};
use crate::formats::specification::{self, Specification};
use std::sync::Arc;

/// Gathers the inputs, storing each part before the next one is begun.
///
/// # Errors
/// Returns [`StepError::Failed`] for a specification that is empty or was changed after the
/// command, for an invalid option, and for research with too few reports; otherwise see
/// [`super::super::enrich::enrich`].
pub(in crate::engine::steps) async fn begin(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    stop: &StopFlag,
) -> Result<(), StepError> {
    if work(context).brief.is_none() {
        specified(context, stop).await?;
    }
    let Some(mut brief) = work(context).brief.clone().filter(|brief| !brief.ready) else {
        return Ok(());
    };
    let research = context.progress.research.as_ref();
    if research.is_some_and(|research| !research.adopted) {
        trace::step("research", researching::research(context, agent, stop)).await?;
    }
    let knowledge = documents::read(context).await?;
    stop.check_cancelled()?;
    brief
        .notes
        .extend(crate::engine::messages::knowledge::left_out(
            &knowledge.left_out,
        ));
    let nonce = work(context).nonce.clone();
    let laid_out = documents::lay_out(&knowledge, context.progress.research.as_ref(), &nonce);
    brief.documents = laid_out.index;
    brief.reports = laid_out.reports;
    if agent.about().writes {
        documents::give(context, agent, laid_out.documents).await?;
    } else {
        brief.inline = documents::inline(&laid_out.documents);
    }
    brief.ready = true;
    work(context).brief = Some(brief);
    context.progress.outage = None;
    context.remember().await
}

/// Stores the specification as it was at the command, with new or earlier research.
async fn specified(context: &mut Context, stop: &StopFlag) -> Result<(), StepError> {
    let topics = topics(context)?;
    let thread = prepare::thread(context).await?;
    stop.check_cancelled()?;
    let specification = specification(&context.trigger, thread).await?;
    let (title, text) = (specification.title.clone(), specification.text().to_owned());
    if topics.is_empty() {
        context.progress.research = earlier(context).await?;
    } else {
        researching::begin(context, &topics, (&title, &text)).await?;
    }
    planner::renew_words(work(context));
    work(context).brief = Some(Brief {
        title,
        text,
        notes: sentences::placeholders(&specification.placeholders)
            .into_iter()
            .collect(),
        ..Brief::default()
    });
    context.remember().await
}

/// Returns the topics of the `research=` option; empty if it is not given.
fn topics(context: &Context) -> Result<Vec<String>, StepError> {
    let trigger = &context.trigger;
    let options = read_options(trigger.command, &trigger.options).map_err(|error| {
        let spec = trigger.command.spec();
        StepError::Failed(super::super::super::messages::sources::invalid_option(
            spec, &error,
        ))
    })?;
    match options.research {
        None => Ok(Vec::new()),
        Some(text) => researching::checked(research::topics(&text), &context.settings.research),
    }
}

/// Maximum number of earlier runs of the place that are searched for reports.
const RUNS: u32 = 20;

/// Returns the newest sufficient research at this place, from a `/research` or an earlier plan.
async fn earlier(context: &Context) -> Result<Option<Research>, StepError> {
    let place = context.trigger.place.key();
    let runs = context.effects.store.runs_at(&place, RUNS).await?;
    let words = [Command::Research.name(), Command::Plan.name()];
    let mut done = runs
        .into_iter()
        .filter(|run| words.contains(&run.command.as_str()) && run.id != *context.run())
        .filter_map(|run| run.progress?.research)
        .filter(|research| !research.adopted && research.tally().passes());
    let Some(mut found) = done.next() else {
        return Ok(None);
    };
    found.adopted = true;
    for topic in &mut found.topics {
        // The earlier run has accounted for the costs.
        topic.spent = Spent::default();
    }
    Ok(Some(found))
}

/// Parses the specification: title and opening text of the place.
async fn specification(
    trigger: &Trigger,
    thread: Conversation,
) -> Result<Specification, StepError> {
    let opening = thread.posts.iter().find(|post| post.id.is_none());
    if opening.is_some_and(|post| late(post, trigger).is_some()) {
        return Err(StepError::Failed(sentences::changed_since()));
    }
    let body = opening.map(|post| post.body.clone()).unwrap_or_default();
    let title = thread.title;
    let read = prepare::computing(move || specification::parse(&title, &body)).await?;
    if read.is_empty() {
        return Err(StepError::Failed(sentences::empty_specification(&read)));
    }
    Ok(read)
}
