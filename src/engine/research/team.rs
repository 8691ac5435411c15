//! The agents at work: who begins when, and what is remembered before anything else happens.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::super::agent::{Agent, Ending, Report, Spent, Task};
use super::super::clock::Clock;
use super::super::effects::Stop;
use super::super::stop::StopFlag;
use super::{Next, Research, ResearchSettings, State, judge};

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
    /// be remembered before this returns.
    async fn begin(&mut self, research: &Research, at: usize) -> Result<Task, Stop>;

    /// A turn on topic `at` has ended: to be remembered before anything is written to GitHub, and shown.
    async fn ended(&mut self, research: &Research, at: usize, spent: &Spent) -> Result<(), Stop>;
}

/// Works until every topic has come to an end. Topics that have are left alone.
///
/// # Errors
/// [`Stop::Wait`] until a passing fault is waited out or an agent is free, [`Stop::Cancelled`], and what the desk says. Turns
/// under way are ended then; what was finished stays in `research`.
pub async fn work(
    research: &mut Research,
    team: &Team,
    desk: &mut dyn Desk,
    stop: &StopFlag,
) -> Result<(), Stop> {
    for topic in &mut research.topics {
        topic.at_work = false;
    }
    loop {
        stop.heed()?;
        let now = team.clock.now();
        match research.next(now) {
            Next::Done => return Ok(()),
            Next::Wait(until) => {
                let why =
                    "the agent failed for a reason that may pass, and is tried again".to_owned();
                return Err(Stop::Wait { until, why });
            }
            Next::Begin(_) if team.agent.full() => {
                let until = now.plus(PLACE);
                let why = "all agents are at work for others".to_owned();
                return Err(Stop::Wait { until, why });
            }
            Next::Begin(topics) => side_by_side(research, topics, team, desk, stop).await?,
        }
    }
}

/// Works on `topics`, so many at once as the settings allow; returns when all of these turns have ended, also where a limit
/// lets no further one begin: those under way are paid for.
async fn side_by_side(
    research: &mut Research,
    topics: Vec<usize>,
    team: &Team,
    desk: &mut dyn Desk,
    stop: &StopFlag,
) -> Result<(), Stop> {
    // Dropped with whatever ends this: that ends the agents, too.
    let mut running: JoinSet<(usize, Report)> = JoinSet::new();
    let mut waiting = topics.into_iter();
    let mut over = Ok(());
    loop {
        while over.is_ok() && running.len() < team.settings.concurrency.max(1) {
            let Some(at) = waiting.next() else {
                break;
            };
            match begin(research, at, &mut running, team, desk, stop).await {
                Err(Stop::Failed(failure)) => over = Err(Stop::Failed(failure)),
                begun => begun?,
            }
        }
        let Some(ended) = running.join_next().await else {
            return over;
        };
        let (at, came) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let why = format!("A turn of the agent ended early: {error}");
                return Err(Stop::Failed(super::super::say::failures::internal(&why)));
            }
        };
        let chance = f64::from(rand::random::<u16>()) / f64::from(u16::MAX);
        let canary = research.canary.clone();
        let now = team.clock.now();
        let name = team.agent.about().name;
        if let Some(topic) = research.topics.get_mut(at) {
            let settings = &team.settings;
            judge::take(topic, &came, &canary, settings, now, chance, &name);
        }
        desk.ended(research, at, &came.spent).await?;
        if came.ending == Ending::Cancelled {
            stop.heed()?;
        }
    }
}

async fn begin(
    research: &mut Research,
    at: usize,
    running: &mut JoinSet<(usize, Report)>,
    team: &Team,
    desk: &mut dyn Desk,
    stop: &StopFlag,
) -> Result<(), Stop> {
    let Some(topic) = research.topics.get_mut(at) else {
        return Ok(());
    };
    debug_assert_eq!(topic.state, State::Open, "only open topics are begun");
    let before = topic.clone();
    topic.turns += 1;
    topic.at_work = true;
    topic.not_before = None;
    let task = match desk.begin(research, at).await {
        Ok(task) => task,
        Err(stop) => {
            // It has not begun.
            research.topics[at] = before;
            return Err(stop);
        }
    };
    let agent = Arc::clone(&team.agent);
    let token = stop.token();
    running.spawn(async move {
        let (seen, _) = watch::channel(Spent::default());
        let report = agent.work(&task, &seen, token).await;
        (at, report)
    });
    Ok(())
}
