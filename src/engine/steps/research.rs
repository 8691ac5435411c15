//! `/research`, and the research before a plan: a summary that is edited in place, and one comment for each topic, in the
//! order they were asked for. The work itself is [`super::super::research`].

use std::sync::Arc;

use async_trait::async_trait;

use super::super::agent::{Agent, Session, Spent, Task};
use super::super::effects::Stop;
use super::super::knowledge::Knowledge;
use super::super::progress::Progress;
use super::super::prompt::{self, Around, Indexed, Role, Try, new_words};
use super::super::research::{self, Desk, Research, ResearchSettings, State, TOPIC_MAX, Team};
use super::super::say::agent as about_agents;
use super::super::say::research as sentences;
use super::super::stop::StopFlag;
use super::super::store::Payer;
use super::{Context, planning, prepare, report};

/// The topics, when there are some and not too many.
///
/// # Errors
/// [`Stop::Failed`] with `invalid_input`.
pub fn checked(topics: Vec<String>, settings: &ResearchSettings) -> Result<Vec<String>, Stop> {
    let failure = if topics.is_empty() {
        sentences::no_topics()
    } else if topics.len() > settings.most_topics {
        sentences::too_many_topics(topics.len(), settings.most_topics)
    } else if let Some(long) = topics.iter().find(|one| one.chars().count() > TOPIC_MAX) {
        sentences::long_topic(long)
    } else {
        return Ok(topics);
    };
    Err(Stop::Failed(failure))
}

/// `/research`: the topics behind the command.
///
/// # Errors
/// As [`research`].
pub async fn command(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    stop: &StopFlag,
) -> Result<Research, Stop> {
    let topics = research::topics(&context.trigger.guidance);
    let topics = checked(topics, &context.settings.research)?;
    let knowledge = planning::read(context).await?;
    let thread = prepare::thread(context).await?;
    stop.heed()?;
    let opening = thread.posts.iter().find(|post| post.id.is_none());
    let body = opening.map_or("", |post| post.body.as_str());
    let place = Some((thread.title.as_str(), body));
    research(context, agent, &topics, place, &knowledge, stop).await
}

/// Research on `topics`: agents, comments, summary. What is remembered as done is not done again.
///
/// # Errors
/// [`Stop::Failed`] when too few topics have a report, or a limit is reached; [`Stop::Wait`], [`Stop::Cancelled`];
/// [`Stop::Forge`] and [`Stop::Store`] when GitHub or the store does not answer.
pub(super) async fn research(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    topics: &[String],
    place: Option<(&str, &str)>,
    knowledge: &Knowledge,
    stop: &StopFlag,
) -> Result<Research, Stop> {
    let mut research = begin(context, topics).await?;
    let laid_out = planning::lay_out(knowledge, None, &research.nonce);
    let mut inline = String::new();
    if agent.about().writes {
        planning::give(context, agent, laid_out.documents).await?;
    } else {
        inline = planning::inline(&laid_out.documents);
    }
    let team = Team {
        agent: Arc::clone(agent),
        clock: Arc::clone(&context.effects.clock),
        settings: context.settings.research.clone(),
    };
    let mut desk = OnGitHub {
        context,
        place,
        documents: &laid_out.index,
        inline: &inline,
        writes: agent.about().writes,
    };
    desk.announce(&mut research).await?;
    let worked = research::work(&mut research, &team, &mut desk, stop).await;
    context.progress.research = Some(research.clone());
    context.remember().await?;
    worked?;
    finish(context, &research).await?;
    if !research.tally().passes() {
        return Err(Stop::Failed(sentences::too_few(&research)));
    }
    Ok(research)
}

/// What is remembered, or a new beginning.
async fn begin(context: &mut Context, topics: &[String]) -> Result<Research, Stop> {
    if let Some(mut known) = context.progress.research.clone() {
        known.stopped = false;
        return Ok(known);
    }
    let mut new = Research::on(topics);
    (new.nonce, new.canary) = new_words();
    context.progress.research = Some(new.clone());
    context.remember().await?;
    Ok(new)
}

/// Every topic's comment shows what came of it: exactly once, whatever was shown while agents worked.
async fn finish(context: &mut Context, research: &Research) -> Result<(), Stop> {
    let repo = context.trigger.place.repo.clone();
    for (at, topic) in research.topics.iter().enumerate() {
        let Some(comment) = topic.comment else {
            continue;
        };
        let body = sentences::comment(&context.trigger, context.run(), research, at);
        let made_by = comment_key(at);
        let key = format!("{made_by}-final-{}", context.round);
        let edited = context
            .effects
            .edit_comment(&key, &repo, comment, &made_by, &body)
            .await;
        gone_is_fine(edited)?;
    }
    Ok(())
}

/// The run ends here: comments of topics that have not come to an end say so, and nobody waits for them.
///
/// # Errors
/// GitHub or the store did not do it.
pub(super) async fn stopped(context: &mut Context) -> Result<(), Stop> {
    let Some(research) = &mut context.progress.research else {
        return Ok(());
    };
    if research.topics.iter().all(|one| one.state != State::Open) {
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

/// Somebody deleted the comment: the run has its report all the same.
fn gone_is_fine(edited: Result<(), Stop>) -> Result<(), Stop> {
    match edited {
        Err(Stop::Forge(super::super::forge::ForgeError::NotFound { .. })) => Ok(()),
        done => done,
    }
}

/// Name of the effect that makes the comment of topic `at`.
fn comment_key(at: usize) -> String {
    format!("report-{}", at + 1)
}

/// Remembers in the run and shows on GitHub.
struct OnGitHub<'c> {
    context: &'c mut Context,
    place: Option<(&'c str, &'c str)>,
    documents: &'c [Indexed],
    inline: &'c str,
    writes: bool,
}

impl OnGitHub<'_> {
    async fn remember(&mut self, research: &Research) -> Result<(), Stop> {
        self.context.progress.research = Some(research.clone());
        self.context.remember().await
    }

    /// The summary, then a comment for each topic: made in order before any agent begins, so that they stand in order.
    async fn announce(&mut self, research: &mut Research) -> Result<(), Stop> {
        self.summary(research, "research").await?;
        let place = self.context.trigger.place.clone();
        for at in 0..research.topics.len() {
            if research.topics[at].comment.is_some() {
                continue;
            }
            let body = sentences::comment(&self.context.trigger, self.context.run(), research, at);
            let posted = self
                .context
                .effects
                .create_comment(&comment_key(at), &place.repo, place.number, &body)
                .await?;
            research.topics[at].comment = Some(posted.id());
            posted.url().clone_into(&mut research.topics[at].url);
            self.remember(research).await?;
        }
        self.context.progress.outage = None;
        self.summary(research, "research-announced").await
    }

    async fn summary(&mut self, research: &Research, stage: &str) -> Result<(), Stop> {
        let body = sentences::working(&self.context.trigger, self.context.run(), research);
        report::show(self.context, stage, &body).await
    }

    /// Shows where topic `at` stands. A run that ends sees to it that all is shown: this may fail.
    async fn show(&mut self, research: &Research, at: usize) -> Result<(), Stop> {
        let repo = self.context.trigger.place.repo.clone();
        if let Some(comment) = research.topics.get(at).and_then(|topic| topic.comment) {
            let body = sentences::comment(&self.context.trigger, self.context.run(), research, at);
            let made_by = comment_key(at);
            let effects = &self.context.effects;
            let edited = effects
                .edit_unrecorded(&repo, comment, &made_by, &body)
                .await;
            later(edited)?;
        }
        later(self.summary(research, "research-progress").await)
    }
}

/// An edit that GitHub did not do now is made up for at the end.
fn later(edited: Result<(), Stop>) -> Result<(), Stop> {
    match edited {
        Err(Stop::Forge(error)) => {
            tracing::debug!(error = %error, "the progress of research was not shown");
            Ok(())
        }
        done => done,
    }
}

/// Name of a turn in the run's budget.
fn turn_key(research: &Research, at: usize) -> String {
    let turns = research.topics.get(at).map_or(0, |topic| topic.turns);
    format!("report-{}-{turns}", at + 1)
}

#[async_trait]
impl Desk for OnGitHub<'_> {
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, Stop> {
        let key = turn_key(research, at);
        let settings = Arc::clone(&self.context.settings);
        let agent = &settings.agent;
        let spent = research.spent().cost;
        let command = self.context.trigger.command;
        if let Some(most) = agent.run_cost.filter(|most| spent >= *most) {
            return Err(Stop::Failed(about_agents::run_cost(command, most)));
        }
        let place = self.context.trigger.place.clone();
        let payer = Payer {
            repo: place.repo.id,
            actor: self.context.trigger.actor.id,
        };
        let repo = place.repo.full_name();
        let effects = &self.context.effects;
        let now = effects.clock.now();
        let judged = effects
            .store
            .begin_turn(&effects.lease, &key, payer, &agent.budget, now)
            .await?;
        judged.map_err(|which| Stop::Failed(about_agents::exceeded(command, &which, &repo)))?;
        self.remember(research).await?;
        self.show(research, at).await?;
        let mut limits = agent.limits;
        limits.cost = agent.run_cost.map(|most| most.saturating_sub(spent));
        let attempt = attempt(research, at, self.place);
        let around = Around {
            nonce: &research.nonce,
            canary: &research.canary,
            documents: self.documents,
            inline: self.inline,
            project: None,
            writes: self.writes,
        };
        let prompt = prompt::report(&attempt.borrowed(), &around);
        let system = agent.prompts.system(Role::Researcher, &place.repo);
        let run = self.context.run().clone();
        Ok(task(run, research, at, limits, system, prompt))
    }

    async fn ended(&mut self, research: &Research, at: usize, spent: &Spent) -> Result<(), Stop> {
        self.remember(research).await?;
        let effects = &self.context.effects;
        effects
            .store
            .end_turn(&effects.lease, &turn_key(research, at), spent)
            .await?;
        self.show(research, at).await
    }
}

/// What a research agent is asked, with the texts that it borrows.
pub struct Attempt<'a> {
    others: Vec<String>,
    topic: &'a research::Topic,
    place: Option<(&'a str, &'a str)>,
}

/// The next try at topic `at`.
pub fn attempt<'a>(
    research: &'a Research,
    at: usize,
    place: Option<(&'a str, &'a str)>,
) -> Attempt<'a> {
    let others = research.topics.iter().enumerate();
    let others = others.filter(|(other, _)| *other != at);
    Attempt {
        others: others.map(|(_, topic)| topic.topic.clone()).collect(),
        topic: &research.topics[at],
        place,
    }
}

impl Attempt<'_> {
    /// For the prompt.
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

/// The task of the next try at topic `at`: a session and folders of its own.
pub fn task(
    run: super::super::run::RunId,
    research: &Research,
    at: usize,
    limits: super::super::agent::Limits,
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
    }
}

/// A new round of the run does the missing topics again, unless they were enough to go on with.
pub fn again(progress: &mut Progress) {
    if let Some(research) = &mut progress.research
        && !research.tally().passes()
    {
        research.again();
    }
}
