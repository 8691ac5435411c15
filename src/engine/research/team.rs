//! Runs the agents of a research run: starts their turns, and records each start and end before
//! continuing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::judge;
use crate::engine::agent::{Agent, Task, TurnObserver};
use crate::engine::clock::Clock;
use crate::engine::effects::StepError;
use crate::engine::messages::failures;
use crate::engine::metrics;
use crate::engine::model::agent::{Report, Spent};
use crate::engine::model::research::{Next, Research, TopicState};
use crate::engine::settings::ResearchSettings;
use crate::engine::stop::StopFlag;
use crate::engine::trace;
use crate::formats::command::Command;

/// Time after which a run that waits for a free agent checks again. It holds no worker meanwhile.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The agent with the clock and the settings for using it.
#[derive(Clone)]
pub struct ResearchDeps {
    /// The agent that executes all turns.
    pub agent: Arc<dyn Agent>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The settings.
    pub settings: ResearchSettings,
}

/// Stores the progress of research and shows it to people.
#[async_trait]
pub trait ResearchHost: Send {
    /// Prepares a turn on topic `at` and returns its task, or an error if the turn may not start.
    /// `research` already includes the start, and must be saved before this returns. This must not
    /// update the display, so that agents do not wait for it.
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, StepError>;

    /// Saves the result of a turn on topic `at`. This must not update the display, because the
    /// results of other turns that end meanwhile are not saved yet.
    async fn ended(
        &mut self,
        research: &Research,
        at: usize,
        spent: &Spent,
    ) -> Result<(), StepError>;

    /// Shows the state of these topics while the agents continue. An update that fails is made up
    /// for by the final report.
    fn show(&mut self, research: &Research, topics: &BTreeSet<usize>) -> BoxFuture<'static, ()>;
}

/// Checks whether a turn can start now. Call it before reading anything for the agents.
///
/// # Errors
/// Returns [`StepError::Wait`] while the backoff after a fault lasts, or if all agents are busy
/// with other runs.
pub fn ready(research: &Research, team: &ResearchDeps) -> Result<(), StepError> {
    let now = team.clock.now();
    match research.next(now) {
        Next::Wait(until) => {
            let why = "the agent failed temporarily; retrying".to_owned();
            Err(StepError::Wait { until, why })
        }
        Next::Begin(_) if team.agent.full() => {
            let until = now.plus(POLL_INTERVAL);
            let why = "waiting for a free agent".to_owned();
            Err(StepError::Wait { until, why })
        }
        Next::Begin(_) | Next::Done => Ok(()),
    }
}

/// Works until every topic is finished. Finished topics are not changed.
///
/// # Errors
/// Returns [`StepError::Wait`] as [`ready`] does, [`StepError::Cancelled`], and errors of `host`.
/// Running turns are awaited first (and cancelled if the run was asked to stop), and their results
/// are saved, because they have been paid for.
pub async fn work(
    research: &mut Research,
    team: &ResearchDeps,
    host: &mut dyn ResearchHost,
    stop: &StopFlag,
) -> Result<(), StepError> {
    research.end_impossible_waits(team.clock.now(), team.settings.longest_wait());
    for topic in &mut research.topics {
        // Reset the turns of an interrupted attempt.
        topic.at_work = false;
        topic.reserved = 0;
    }
    loop {
        stop.check_cancelled()?;
        ready(research, team)?;
        let Next::Begin(topics) = research.next(team.clock.now()) else {
            return Ok(());
        };
        let mut crew = TopicRunner {
            research,
            team,
            host: &mut *host,
            stop,
            running: JoinSet::new(),
            showing: None,
            changed: BTreeSet::new(),
        };
        let worked = crew.side_by_side(topics).await;
        crew.running.shutdown().await;
        if let Some(showing) = crew.showing.take() {
            // Complete an edit that was started, since it could otherwise arrive after the final
            // one.
            showing.await;
        }
        worked?;
    }
}

/// The state of a set of parallel turns.
struct TopicRunner<'w> {
    research: &'w mut Research,
    team: &'w ResearchDeps,
    host: &'w mut dyn ResearchHost,
    stop: &'w StopFlag,
    running: JoinSet<(usize, Report)>,
    showing: Option<BoxFuture<'static, ()>>,
    /// The topics that have changed since they were last shown.
    changed: BTreeSet<usize>,
}

impl TopicRunner<'_> {
    /// Works on `topics` with at most as many parallel turns as the settings allow. Returns when
    /// all of these turns have ended, even if no further one may start.
    async fn side_by_side(&mut self, topics: Vec<usize>) -> Result<(), StepError> {
        let mut waiting = topics.into_iter();
        let mut over = Ok(());
        loop {
            while over.is_ok() && self.running.len() < self.team.settings.concurrency.max(1) {
                let Some(at) = waiting.next() else {
                    break;
                };
                over = match self.stop.check_cancelled() {
                    Ok(()) => self.begin(at).await,
                    stopped => stopped,
                };
                if let Err(StepError::Store(error)) = over {
                    return Err(StepError::Store(error));
                }
            }
            if self.showing.is_none() && !self.changed.is_empty() {
                let changed = std::mem::take(&mut self.changed);
                self.showing = Some(self.host.show(self.research, &changed));
            }
            let ended = tokio::select! {
                biased;
                ended = self.running.join_next() => ended,
                () = shown(&mut self.showing), if self.showing.is_some() => {
                    self.showing = None;
                    continue;
                }
            };
            match ended {
                None => return over,
                Some(Ok((at, result))) => self.judge(at, result).await?,
                Some(Err(error)) => {
                    let why = format!("A turn of the agent ended early: {error}");
                    over = over.and(Err(StepError::Failed(failures::internal(&why))));
                }
            }
        }
    }

    /// Judges the result of a turn and saves it.
    async fn judge(&mut self, at: usize, result: Report) -> Result<(), StepError> {
        let Some(topic) = self.research.topics.get(at).cloned() else {
            return Ok(());
        };
        let spent = result.spent;
        let judging = judge::Judging {
            canary: self.research.canary.clone(),
            settings: self.team.settings.clone(),
            now: self.team.clock.now(),
            chance: f64::from(rand::random::<u16>()) / f64::from(u16::MAX),
            agent: self.team.agent.about().name,
        };
        // Judging can read files of a million bytes, so it runs on a blocking thread.
        let judged = tokio::task::spawn_blocking(move || judging.judge(topic, &result)).await;
        let judged = judged.map_err(|error| {
            let why = format!("A report could not be judged: {error}");
            StepError::Failed(failures::internal(&why))
        })?;
        self.research.topics[at] = judged;
        self.changed.insert(at);
        self.host.ended(self.research, at, &spent).await
    }

    async fn begin(&mut self, at: usize) -> Result<(), StepError> {
        let Some(topic) = self.research.topics.get_mut(at) else {
            return Ok(());
        };
        debug_assert_eq!(topic.state, TopicState::Open, "only open topics are begun");
        let before = topic.clone();
        topic.turns += 1;
        topic.at_work = true;
        topic.reserved = 0;
        topic.not_before = None;
        let task = match self.host.begin(self.research, at).await {
            Ok(task) => task,
            Err(stop) => {
                // The turn has not started, so restore the topic.
                self.research.topics[at] = before;
                return Err(stop);
            }
        };
        self.research.topics[at].reserved = task.limits.cost.unwrap_or_default();
        self.changed.insert(at);
        let agent = Arc::clone(&self.team.agent);
        let token = self.stop.token();
        let turn = async move {
            let (seen, _) = TurnObserver::new();
            let work = agent.work(&task, &seen, token);
            (at, metrics::agent_turn(Command::Research, work).await)
        };
        self.running
            .spawn(trace::in_current_span(turn).in_current_span());
        Ok(())
    }
}

async fn shown(showing: &mut Option<BoxFuture<'static, ()>>) {
    match showing {
        Some(showing) => showing.await,
        None => std::future::pending().await,
    }
}
