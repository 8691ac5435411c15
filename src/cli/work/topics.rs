//! Runs research from the command line, and saves and shows the state of its topics.

use crate::engine::settings::Role;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::progress::{Progress, Shown};
use super::run_state::Run;
use super::{Project, failed, stopped};
use crate::cli::Failure;
use crate::engine::agent::{Agent, Task};
use crate::engine::clock::Clock;
use crate::engine::effects::StepError;
use crate::engine::knowledge::Knowledge;
use crate::engine::messages;
use crate::engine::model::agent::{Micros, Spent};
use crate::engine::model::failure::{Code, Failure as Decided};
use crate::engine::model::research::{Research, Topic, TopicState};
use crate::engine::prompt::{self, PromptContext, new_words};
use crate::engine::research::{self, ResearchDeps, ResearchHost};
use crate::engine::settings::{AgentSettings, ResearchSettings};
use crate::engine::steps::planning;
use crate::engine::steps::research::{attempt, checked, task};
use crate::engine::stop::StopFlag;

/// Remedy if the research failed.
const REMEDY: &str =
    "run the same command again to repeat the missing topics; existing reports are kept";

/// Returns the research settings, with the limits of the project.
pub(in crate::cli) fn settings(project: &Project) -> ResearchSettings {
    let limits = &project.config.limits;
    ResearchSettings {
        concurrency: limits.concurrency,
        faults: limits.tries,
        ..ResearchSettings::default()
    }
}

/// Splits `texts` into topics.
///
/// # Errors
/// Returns [`Failure::Usage`] if there are no topics, too many, or one is not valid.
pub(in crate::cli) fn read(
    texts: &str,
    settings: &ResearchSettings,
) -> Result<Vec<String>, Failure> {
    checked(research::topics(texts), settings).map_err(|stop| match stop {
        StepError::Failed(Decided { message, .. }) => Failure::Usage(format!(
            "{}; give at most {} topics, one sentence each, separated by `;`",
            message.trim_end_matches('.'),
            settings.max_topics
        )),
        other => Failure::Usage(other.to_string()),
    })
}

/// Everything that is needed to run research.
pub(in crate::cli) struct Researchers<'p> {
    pub(in crate::cli) project: &'p Project,
    /// The agent for the topics.
    pub(in crate::cli) agent: Arc<dyn Agent>,
    pub(in crate::cli) clock: Arc<dyn Clock>,
    pub(in crate::cli) progress: Arc<Progress>,
    /// Documents of the project that agents may read.
    pub(in crate::cli) knowledge: &'p Knowledge,
    /// Title and text of the specification that the topics belong to.
    pub(in crate::cli) place: Option<(&'p str, &'p str)>,
}

impl Researchers<'_> {
    /// Works on the topics until each has ended, starting from the saved state if there is one. If
    /// all topics had ended with too few reports, those without a report are repeated. The caller
    /// checks whether there are enough reports.
    ///
    /// # Errors
    /// Returns [`Failure::Stopped`] if the command was stopped, and another failure if the research
    /// fails or its state cannot be written.
    pub(in crate::cli) async fn work(
        &self,
        run: &mut Run,
        topics: &[String],
        stop: &StopFlag,
    ) -> Result<Research, Failure> {
        let mut research = if let Some(mut known) = run.kept.research.clone() {
            let ended = known
                .topics
                .iter()
                .all(|topic| topic.state != TopicState::Open);
            if ended && !known.tally().passes() {
                known.again();
            }
            known
        } else {
            let mut new = Research::on(topics);
            (new.nonce, new.canary) = new_words();
            if let Some((title, text)) = self.place {
                title.clone_into(&mut new.title);
                new.text = prompt::place(text);
            }
            new
        };
        run.kept.research = Some(research.clone());
        run.save()?;
        let laid_out = planning::lay_out(self.knowledge, None, &research.nonce);
        research.documents = Some(laid_out.index);
        let writes = self.agent.about().writes;
        let mut inline = String::new();
        if writes {
            let given = self.agent.give(&run.id, laid_out.documents).await;
            given.map_err(Failure::Failed)?;
        } else {
            inline = planning::inline(&laid_out.documents);
        }
        let count = research.topics.len();
        let names = research.topics.iter().enumerate();
        let names = names.map(|(at, topic)| name(at, count, topic));
        let team = ResearchDeps {
            agent: Arc::new(Shown {
                agent: Arc::clone(&self.agent),
                progress: Arc::clone(&self.progress),
                names: std::iter::once(String::new()).chain(names).collect(),
            }),
            clock: Arc::clone(&self.clock),
            settings: settings(self.project),
        };
        let spent = research.topics.iter().map(|topic| topic.spent.cost);
        let mut host = AtTerminal {
            with: self,
            run,
            before: spent.collect(),
            inline: &inline,
            writes,
        };
        loop {
            match research::work(&mut research, &team, &mut host, stop).await {
                Ok(()) => break,
                Err(StepError::Wait { until, why }) => {
                    self.progress.say(&why);
                    let wait = until.since(self.clock.now());
                    let token = stop.token();
                    tokio::select! {
                        () = self.clock.sleep(wait) => {}
                        () = token.cancelled() => {}
                    }
                }
                Err(error) => {
                    host.save_progress(&research).map_err(Failure::Failed)?;
                    return Err(failed(error, REMEDY));
                }
            }
        }
        host.save_progress(&research).map_err(Failure::Failed)?;
        if stop.token().is_cancelled() {
            return Err(stopped());
        }
        Ok(research)
    }
}

/// Returns the failure for research with too few reports.
pub(in crate::cli) fn too_few(research: &Research) -> Failure {
    failed(
        StepError::Failed(messages::research::too_few(research)),
        REMEDY,
    )
}

fn name(at: usize, count: usize, topic: &Topic) -> String {
    format!("{}/{count} {}", at + 1, topic.topic)
}

/// Returns a short description of a topic's state.
pub(in crate::cli) fn state(topic: &Topic) -> &'static str {
    match topic.state {
        TopicState::Open => "not done",
        TopicState::Written => "written",
        TopicState::Recovered => "recovered from another path",
        TopicState::Degraded => "degraded: assembled from the agent's output",
        TopicState::Failed => "failed",
    }
}

/// A [`ResearchHost`] that saves the state in the run and prints progress on standard error.
struct AtTerminal<'d, 'p> {
    with: &'d Researchers<'p>,
    run: &'d mut Run,
    /// Cost of each topic before this command. The cost limit applies to this command only.
    before: Vec<Micros>,
    inline: &'d str,
    writes: bool,
}

impl AtTerminal<'_, '_> {
    fn save_progress(&mut self, research: &Research) -> Result<(), String> {
        self.run.kept.research = Some(research.clone());
        self.run.save().map_err(|failure| failure.to_string())
    }
}

/// Returns the error for state that cannot be saved, which ends the research.
fn cannot(message: String) -> StepError {
    StepError::Failed(Decided {
        code: Code::Internal,
        message,
        details: Vec::new(),
        remedy: String::new(),
    })
}

#[async_trait]
impl ResearchHost for AtTerminal<'_, '_> {
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, StepError> {
        self.save_progress(research).map_err(cannot)?;
        let project = self.with.project;
        let mut limits = project.limits();
        let spent = research.topics.get(at).map_or(0, |topic| topic.spent.cost);
        let spent = spent.saturating_sub(self.before.get(at).copied().unwrap_or(0));
        // A limit of at least one millionth of a dollar, so that a topic without budget left ends
        // at its first cost.
        let most = project.config.limits.max_cost;
        limits.cost = most.map(|most| most.saturating_sub(spent).max(1));
        let attempt = attempt(research, at);
        let around = PromptContext {
            nonce: &research.nonce,
            canary: &research.canary,
            documents: research.documents.as_deref().unwrap_or_default(),
            inline: self.inline,
            project: Some(prompt::Project::Folder(&project.shown)),
            writes: self.writes,
        };
        let prompt = prompt::report(
            &attempt.borrowed(),
            &around,
            AgentSettings::default().max_prompt,
        );
        let system = Role::Researcher.instructions().to_owned();
        Ok(task(
            self.run.id.clone(),
            research,
            at,
            limits,
            system,
            prompt,
        ))
    }

    async fn ended(
        &mut self,
        research: &Research,
        at: usize,
        _spent: &Spent,
    ) -> Result<(), StepError> {
        self.save_progress(research).map_err(cannot)?;
        let Some(topic) = research.topics.get(at) else {
            return Ok(());
        };
        let name = name(at, research.topics.len(), topic);
        let (mark, what) = match topic.state {
            // Stopped topics are not printed: one message for all of them follows.
            TopicState::Open if topic.wrong.is_empty() && topic.not_before.is_none() => {
                return Ok(());
            }
            TopicState::Open => ("…", format!("retrying: {}", topic.wrong.join("; "))),
            TopicState::Written | TopicState::Recovered => ("✓", state(topic).to_owned()),
            TopicState::Degraded | TopicState::Failed => {
                let why = topic.note.as_deref().unwrap_or_default();
                ("✗", format!("{}. {why}", state(topic)))
            }
        };
        self.with.progress.say(&format!("{mark} {name}: {what}"));
        Ok(())
    }

    fn show(&mut self, _: &Research, _: &BTreeSet<usize>) -> BoxFuture<'static, ()> {
        // The spinners of running agents update themselves.
        Box::pin(std::future::ready(()))
    }
}
