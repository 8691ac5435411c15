//! The agents at work: who begins when, and what is remembered before anything else happens.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::judge;
use crate::engine::agent::{Agent, Task};
use crate::engine::clock::Clock;
use crate::engine::effects::Stop;
use crate::engine::model::agent::{Report, Spent};
use crate::engine::model::research::{Next, Research, State};
use crate::engine::say::failures;
use crate::engine::settings::ResearchSettings;
use crate::engine::stop::StopFlag;

/// How long a run waits before it looks again whether an agent is free. Meanwhile it holds no worker.
const PLACE: Duration = Duration::from_secs(5);

/// Who works, and under which rules.
#[derive(Clone)]
pub struct Team {
    /// The agents.
    pub agent: Arc<dyn Agent>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Rules.
    pub settings: ResearchSettings,
}

/// Where research is remembered and shown.
#[async_trait]
pub trait Desk: Send {
    /// A turn on topic `at` is about to begin: whether it may, and the task for it. Its beginning is in `research` and is to
    /// be remembered before this returns. Nothing is shown here: agents do not wait for that.
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, Stop>;

    /// A turn on topic `at` has ended: to be remembered. Nothing is shown here: what others finish meanwhile is not
    /// remembered yet.
    async fn ended(&mut self, research: &Research, at: usize, spent: &Spent) -> Result<(), Stop>;

    /// Shows where these topics stand, while the agents go on. What cannot be shown now is shown at the end.
    fn show(&mut self, research: &Research, topics: &BTreeSet<usize>) -> BoxFuture<'static, ()>;
}

/// Whether nothing can be done at the moment: a fault is waited out, or all agents are at work for others. To be asked
/// before anything is read for the agents.
///
/// # Errors
/// [`Stop::Wait`].
pub fn ready(research: &Research, team: &Team) -> Result<(), Stop> {
    let now = team.clock.now();
    match research.next(now) {
        Next::Wait(until) => {
            let why = "the agent failed for a reason that may pass, and is tried again".to_owned();
            Err(Stop::Wait { until, why })
        }
        Next::Begin(_) if team.agent.full() => {
            let until = now.plus(PLACE);
            let why = "all agents are at work for others".to_owned();
            Err(Stop::Wait { until, why })
        }
        Next::Begin(_) | Next::Done => Ok(()),
    }
}

/// Works until every topic has come to an end. Topics that have are left alone.
///
/// # Errors
/// [`Stop::Wait`] as [`ready`] says, [`Stop::Cancelled`], and what the desk says. Turns under way are waited for (and told
/// to end where the run is to stop), and what they came to is remembered: it is paid for.
pub async fn work(
    research: &mut Research,
    team: &Team,
    desk: &mut dyn Desk,
    stop: &StopFlag,
) -> Result<(), Stop> {
    research.end_impossible_waits(team.clock.now(), team.settings.longest_wait());
    for topic in &mut research.topics {
        // Turns of an attempt that was cut short.
        topic.at_work = false;
        topic.reserved = 0;
    }
    loop {
        stop.heed()?;
        ready(research, team)?;
        let Next::Begin(topics) = research.next(team.clock.now()) else {
            return Ok(());
        };
        let mut crew = Crew {
            research,
            team,
            desk: &mut *desk,
            stop,
            running: JoinSet::new(),
            showing: None,
            changed: BTreeSet::new(),
        };
        let worked = crew.side_by_side(topics).await;
        crew.running.shutdown().await;
        if let Some(showing) = crew.showing.take() {
            // An edit that was begun is finished, or it could arrive after the final one.
            showing.await;
        }
        worked?;
    }
}

/// Agents at work side by side.
struct Crew<'w> {
    research: &'w mut Research,
    team: &'w Team,
    desk: &'w mut dyn Desk,
    stop: &'w StopFlag,
    running: JoinSet<(usize, Report)>,
    showing: Option<BoxFuture<'static, ()>>,
    /// Topics that have changed since they were shown.
    changed: BTreeSet<usize>,
}

impl Crew<'_> {
    /// Works on `topics`, so many at once as the settings allow; returns when all of these turns have ended, also where no
    /// further one may begin.
    async fn side_by_side(&mut self, topics: Vec<usize>) -> Result<(), Stop> {
        let mut waiting = topics.into_iter();
        let mut over = Ok(());
        loop {
            while over.is_ok() && self.running.len() < self.team.settings.concurrency.max(1) {
                let Some(at) = waiting.next() else {
                    break;
                };
                over = match self.stop.heed() {
                    Ok(()) => self.begin(at).await,
                    stopped => stopped,
                };
                if let Err(Stop::Store(error)) = over {
                    return Err(Stop::Store(error));
                }
            }
            if self.showing.is_none() && !self.changed.is_empty() {
                let changed = std::mem::take(&mut self.changed);
                self.showing = Some(self.desk.show(self.research, &changed));
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
                Some(Ok((at, came))) => self.take(at, came).await?,
                Some(Err(error)) => {
                    let why = format!("A turn of the agent ended early: {error}");
                    over = over.and(Err(Stop::Failed(failures::internal(&why))));
                }
            }
        }
    }

    /// Judges and remembers what came of a turn.
    async fn take(&mut self, at: usize, came: Report) -> Result<(), Stop> {
        let Some(topic) = self.research.topics.get(at).cloned() else {
            return Ok(());
        };
        let spent = came.spent;
        let judging = judge::Judging {
            canary: self.research.canary.clone(),
            settings: self.team.settings.clone(),
            now: self.team.clock.now(),
            chance: f64::from(rand::random::<u16>()) / f64::from(u16::MAX),
            agent: self.team.agent.about().name,
        };
        // Files of a million bytes are read: on a thread of its own.
        let judged = tokio::task::spawn_blocking(move || judging.take(topic, &came)).await;
        let judged = judged.map_err(|error| {
            let why = format!("A report could not be judged: {error}");
            Stop::Failed(failures::internal(&why))
        })?;
        self.research.topics[at] = judged;
        self.changed.insert(at);
        self.desk.ended(self.research, at, &spent).await
    }

    async fn begin(&mut self, at: usize) -> Result<(), Stop> {
        let Some(topic) = self.research.topics.get_mut(at) else {
            return Ok(());
        };
        debug_assert_eq!(topic.state, State::Open, "only open topics are begun");
        let before = topic.clone();
        topic.turns += 1;
        topic.at_work = true;
        topic.reserved = 0;
        topic.not_before = None;
        let task = match self.desk.begin(self.research, at).await {
            Ok(task) => task,
            Err(stop) => {
                // It has not begun.
                self.research.topics[at] = before;
                return Err(stop);
            }
        };
        self.research.topics[at].reserved = task.limits.cost.unwrap_or_default();
        self.changed.insert(at);
        let agent = Arc::clone(&self.team.agent);
        let token = self.stop.token();
        self.running.spawn(async move {
            let (seen, _) = watch::channel(Spent::default());
            let report = agent.work(&task, &seen, token).await;
            (at, report)
        });
        Ok(())
    }
}

async fn shown(showing: &mut Option<BoxFuture<'static, ()>>) {
    match showing {
        Some(showing) => showing.await,
        None => std::future::pending().await,
    }
}
