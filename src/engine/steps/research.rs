//! `/research`, and the research before a plan: a summary that is edited in place, and one comment
//! for each topic, in the order of the topics. [`super::super::research`] does the work.

use crate::engine::settings::Role;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::{Context, planning, report, repository};
use crate::engine::agent::{Agent, Task};
use crate::engine::effects::StepError;
use crate::engine::forge::ForgeError;
use crate::engine::messages::{agent as about_agents, research as sentences};
use crate::engine::model::agent::{Session, Spent};
use crate::engine::model::progress::Progress;
use crate::engine::model::research::{MAX_TOPIC, Research};
use crate::engine::prompt::{self, Project, PromptContext, Try, new_words};
use crate::engine::research::{self, ResearchDeps, ResearchHost};
use crate::engine::settings::ResearchSettings;
use crate::engine::stop::StopFlag;
use crate::engine::store::BudgetScope;

/// Returns the topics if their number and length are within the limits.
///
/// # Errors
/// Returns [`StepError::Failed`] with `invalid_input`.
pub fn checked(topics: Vec<String>, settings: &ResearchSettings) -> Result<Vec<String>, StepError> {
    let failure = if topics.is_empty() {
        sentences::no_topics()
    } else if topics.len() > settings.max_topics {
        sentences::too_many_topics(topics.len(), settings.max_topics)
    } else if let Some(long) = topics.iter().find(|one| one.chars().count() > MAX_TOPIC) {
        sentences::long_topic(long)
    } else {
        return Ok(topics);
    };
    Err(StepError::Failed(failure))
}

/// Stores the topics to research, and the title and text of the place they come from.
///
/// # Errors
/// Returns [`StepError::Store`] if the store fails.
pub(in crate::engine) async fn begin(
    context: &mut Context,
    topics: &[String],
    (title, text): (&str, &str),
) -> Result<(), StepError> {
    let mut new = Research::on(topics);
    (new.nonce, new.canary) = new_words();
    title.clone_into(&mut new.title);
    new.text = prompt::place(text);
    context.progress.research = Some(new);
    context.remember().await
}

/// Runs or continues the stored research: agents, comments and summary. Finished topics are not
/// researched again.
///
/// # Errors
/// Returns [`StepError::Failed`] if too few topics have a report or a limit is reached,
/// [`StepError::Wait`] if the agents have to wait, [`StepError::Cancelled`] if the run is
/// cancelled, and [`StepError::Forge`] or [`StepError::Store`] if GitHub or the store fails.
pub(in crate::engine) async fn research(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    stop: &StopFlag,
) -> Result<Research, StepError> {
    let mut research = context.progress.research.clone().unwrap_or_default();
    research.stopped = false;
    announce(context, &mut research).await?;
    let team = ResearchDeps {
        agent: Arc::clone(agent),
        clock: Arc::clone(&context.effects.clock),
        settings: context.settings.research.clone(),
    };
    research.end_impossible_waits(team.clock.now(), team.settings.longest_wait());
    research::ready(&research, &team)?;
    if research.is_open() {
        let inline = documents(context, agent, &mut research).await?;
        repository::provide(context).await?;
        let mut host = OnGitHub {
            context,
            inline: &inline,
            writes: agent.about().writes,
        };
        let worked = research::work(&mut research, &team, &mut host, stop).await;
        context.progress.research = Some(research.clone());
        context.remember().await?;
        worked?;
        for topic in &mut research.topics {
            if let (Some(report), None) = (&topic.report, &topic.files) {
                topic.files = repository::checked_files(context, report).await?;
            }
        }
        context.progress.research = Some(research.clone());
    }
    finish(context, &research).await?;
    if !research.tally().passes() {
        return Err(StepError::Failed(sentences::too_few(&research)));
    }
    Ok(research)
}

/// Provides the repository's documents to the agents: as files or, for agents without tools, as the
/// text returned.
async fn documents(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    research: &mut Research,
) -> Result<String, StepError> {
    let writes = agent.about().writes;
    if writes && research.documents.is_some() && agent.given(context.run()).await {
        return Ok(String::new());
    }
    let knowledge = planning::read(context).await?;
    let laid_out = planning::lay_out(&knowledge, None, &research.nonce);
    if !writes {
        return Ok(planning::inline(&laid_out.documents));
    }
    planning::give(context, agent, laid_out.documents).await?;
    research.documents = Some(laid_out.index);
    Ok(String::new())
}

/// Posts the summary and a comment for each topic before any agent begins, so that the comments are
/// in the order of the topics. Existing comments are kept.
async fn announce(context: &mut Context, research: &mut Research) -> Result<(), StepError> {
    if research.topics.iter().all(|one| one.comment.is_some()) {
        return Ok(());
    }
    let summary = sentences::working(&context.trigger, context.run(), research);
    report::show(context, "research", &summary).await?;
    for at in 0..research.topics.len() {
        if research.topics[at].comment.is_some() {
            continue;
        }
        let body = sentences::comment(&context.trigger, context.run(), research, at);
        let posted = report::comment(context, &comment_key(at), &body).await?;
        research.topics[at].comment = Some(posted.id());
        context.progress.created = Some(context.effects.clock.now());
        posted.url().clone_into(&mut research.topics[at].url);
        context.progress.research = Some(research.clone());
        context.remember().await?;
    }
    context.progress.outage = None;
    let summary = sentences::working(&context.trigger, context.run(), research);
    report::show(context, "research-announced", &summary).await
}

/// Writes the final state of every topic to its comment, exactly once, whatever was shown while
/// agents worked.
async fn finish(context: &mut Context, research: &Research) -> Result<(), StepError> {
    for (at, topic) in research.topics.iter().enumerate() {
        let Some(comment) = topic.comment else {
            continue;
        };
        let body = sentences::comment(&context.trigger, context.run(), research, at);
        let made_by = comment_key(at);
        let key = format!("{made_by}-final-{}", context.round);
        let repo = context.home().repo.clone();
        let edited = context
            .effects
            .edit_comment(&key, &repo, comment, &made_by, &body)
            .await;
        if !matches!(edited, Err(StepError::Forge(ForgeError::NotFound { .. }))) {
            edited?;
            continue;
        }
        // Either the comment was deleted, and the report remains with the run, or the issue was
        // transferred and its comments have new ids.
        report::follow(context).await?;
        if context.progress.moved.is_none() {
            continue;
        }
        let home = context.home().clone();
        if let Some(moved) = context.effects.find_comment(&made_by, &home).await? {
            let edited = context
                .effects
                .edit_comment(&key, &home.repo, moved, &made_by, &body)
                .await;
            ignore_deleted_comment(edited)?;
        }
    }
    Ok(())
}

/// Ends the research: the comments of unfinished topics say that they were stopped.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn stopped(context: &mut Context) -> Result<(), StepError> {
    let Some(research) = &mut context.progress.research else {
        return Ok(());
    };
    if !research.is_open() {
        return Ok(());
    }
    research.stopped = true;
    for topic in &mut research.topics {
        topic.at_work = false;
    }
    let research = research.clone();
    context.remember().await?;
    finish(context, &research).await
}

/// Ignores that a comment was deleted, because the report remains with the run.
fn ignore_deleted_comment(edited: Result<(), StepError>) -> Result<(), StepError> {
    match edited {
        Err(StepError::Forge(ForgeError::NotFound { .. })) => Ok(()),
        done => done,
    }
}

/// Returns the key of the effect that creates the comment of topic `at`.
fn comment_key(at: usize) -> String {
    format!("report-{}", at + 1)
}

/// A [`ResearchHost`] that stores progress in the run and shows it on GitHub.
struct OnGitHub<'c> {
    context: &'c mut Context,
    inline: &'c str,
    writes: bool,
}

impl OnGitHub<'_> {
    async fn remember(&mut self, research: &Research) -> Result<(), StepError> {
        self.context.progress.research = Some(research.clone());
        self.context.remember().await
    }
}

/// Returns the key of a turn in the run's budget.
fn turn_key(research: &Research, at: usize) -> String {
    let turns = research.topics.get(at).map_or(0, |topic| topic.turns);
    format!("report-{}-{turns}", at + 1)
}

#[async_trait]
impl ResearchHost for OnGitHub<'_> {
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, StepError> {
        let settings = Arc::clone(&self.context.settings);
        let agent = &settings.agent;
        let command = self.context.trigger.command;
        let mut limits = agent.limits();
        if let Some(most) = agent.run_cost {
            let places = settings.research.concurrency;
            limits.cost = research.share(most, 0, places);
            if limits.cost.is_none() {
                return Err(StepError::Failed(about_agents::run_cost(command, most)));
            }
        }
        let place = self.context.trigger.place.clone();
        let scope = BudgetScope {
            repo: place.repo.id,
            actor: self.context.trigger.actor.id,
        };
        let key = turn_key(research, at);
        let effects = &self.context.effects;
        let now = effects.clock.now();
        let judged = effects
            .store
            .begin_turn(&effects.lease, &key, scope, &agent.budget(), now)
            .await?;
        let repo = place.repo.full_name();
        judged
            .map_err(|which| StepError::Failed(about_agents::exceeded(command, &which, &repo)))?;
        self.remember(research).await?;
        let attempt = attempt(research, at);
        let around = PromptContext {
            nonce: &research.nonce,
            canary: &research.canary,
            documents: research.documents.as_deref().unwrap_or_default(),
            inline: self.inline,
            project: self.context.checkout.as_deref().map(Project::Copy),
            writes: self.writes,
        };
        let prompt = prompt::report(&attempt.borrowed(), &around, agent.max_prompt);
        let system = agent.prompts.system(Role::Researcher, &place.repo);
        let run = self.context.run().clone();
        let checkout = self.context.checkout.as_ref();
        Ok(Task {
            repository: checkout.map(|copy| copy.path.clone()),
            ..task(run, research, at, limits, system, prompt)
        })
    }

    async fn ended(
        &mut self,
        research: &Research,
        at: usize,
        spent: &Spent,
    ) -> Result<(), StepError> {
        // Record the costs first: a topic that is stored as done is not looked at again.
        let effects = &self.context.effects;
        effects
            .store
            .end_turn(&effects.lease, &turn_key(research, at), spent)
            .await?;
        self.remember(research).await
    }

    fn show(&mut self, research: &Research, topics: &BTreeSet<usize>) -> BoxFuture<'static, ()> {
        let context = &self.context;
        let mut edits = Vec::new();
        for at in topics {
            if let Some(comment) = research.topics.get(*at).and_then(|topic| topic.comment) {
                let body = sentences::comment(&context.trigger, context.run(), research, *at);
                edits.push((comment, comment_key(*at), body));
            }
        }
        let summary = sentences::working(&context.trigger, context.run(), research);
        let summary = report::rewrite(context, summary);
        let effects = context.effects.clone();
        let repo = context.home().repo.clone();
        Box::pin(async move {
            for (comment, made_by, body) in edits {
                let edited = effects
                    .edit_unrecorded(&repo, comment, &made_by, &body)
                    .await;
                log_failed_edit(edited);
            }
            log_failed_edit(summary.await);
        })
    }
}

/// Logs a failed progress edit, which the final report makes up for.
fn log_failed_edit(edited: Result<(), StepError>) {
    if let Err(stop) = edited {
        tracing::debug!(error = %stop, "the progress of research was not shown");
    }
}

/// Prompt data for a try at a topic, with the texts that [`Try`] borrows.
pub struct Attempt<'a> {
    others: Vec<String>,
    topic: &'a crate::engine::model::research::Topic,
    place: Option<(&'a str, &'a str)>,
}

/// Returns the prompt data for the next try at topic `at`.
pub fn attempt(research: &Research, at: usize) -> Attempt<'_> {
    let others = research.topics.iter().enumerate();
    let others = others.filter(|(other, _)| *other != at);
    let place = (research.title.as_str(), research.text.as_str());
    Attempt {
        others: others.map(|(_, topic)| topic.topic.clone()).collect(),
        topic: &research.topics[at],
        place: (!research.title.is_empty()).then_some(place),
    }
}

impl Attempt<'_> {
    /// Returns the borrowed form for the prompt.
    pub fn borrowed(&self) -> Try<'_> {
        Try {
            topic: &self.topic.topic,
            others: &self.others,
            place: self.place,
            file: &self.topic.file,
            wording: self.topic.tries,
            complaints: &self.topic.complaints,
        }
    }
}

/// Returns the task of the next try at topic `at`, in a new session and with its own folders.
pub fn task(
    run: crate::engine::model::run::RunId,
    research: &Research,
    at: usize,
    limits: crate::engine::model::agent::Limits,
    system: String,
    prompt: String,
) -> Task {
    let file = research.topics.get(at).map(|topic| topic.file.clone());
    Task {
        run,
        part: u32::try_from(at + 1).unwrap_or(u32::MAX),
        system,
        prompt,
        session: Session::New(uuid::Uuid::new_v4().to_string()),
        cost_before: 0,
        limits,
        wanted: file.into_iter().collect(),
        files: Vec::new(),
        model: None,
        repository: None,
    }
}

/// Resets the missing topics in a new round of the run, unless the research was already sufficient.
pub fn again(progress: &mut Progress) {
    if let Some(research) = &mut progress.research
        && !research.tally().passes()
    {
        research.again();
    }
}
