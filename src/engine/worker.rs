//! Loops that process the queue. Each loop repeats a `step` that returns its result, so tests can
//! drive the steps without sleeping.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::execute::{self};
use super::metrics;
use super::services::Services;
use super::stop::{Shutdown, StopFlag};
use super::store::{Claimed, Lease, RunOutcome, Store, StoreError};
use super::trace;
use crate::engine::model::failure::{Code, Remedy};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;

/// Maximum time a loop waits before it checks the queue again, in case a wake-up is missed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Minimum time a ready run stays unclaimed before it is acknowledged separately.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_secs(2);
/// Interval between deletions of finished runs past their retention.
const PRUNE_EVERY: Duration = Duration::from_hours(1);
/// Retention of deliveries whose runs were all refused. It is short because anyone who can comment
/// can create them, and covers the three days during which GitHub redelivers.
const REFUSED_RETENTION: Duration = Duration::from_hours(72);
/// Time that runs have at a shutdown to record and report the end of a turn that was ended.
const PAUSE_TIME: Duration = Duration::from_secs(5);

/// Result of one step of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A run was processed. Holds its new state, or `None` if its lease was lost or it was only
    /// acknowledged.
    Did(RunId, Option<State>),
    /// Nothing to do.
    Idle,
    /// Nothing to do before this time.
    Wait(Millis),
}

/// A worker, which claims a run, works on it and gives it back.
#[derive(Clone)]
pub struct Worker {
    parts: Services,
    owner: Arc<str>,
    shutdown: Shutdown,
}

impl Worker {
    /// Creates a worker of the process `owner`, which must be unique per process start.
    pub fn new(parts: Services, owner: &str) -> Self {
        Self {
            parts,
            owner: owner.into(),
            shutdown: Shutdown::default(),
        }
    }

    /// Pauses the worker's runs on this `shutdown`.
    #[must_use]
    pub fn pausing_on(mut self, shutdown: &Shutdown) -> Self {
        self.shutdown = shutdown.clone();
        self
    }

    /// Claims and works on at most one run.
    ///
    /// # Errors
    /// Returns an error if the store fails; the caller may try again later.
    pub async fn step(&self) -> Result<Outcome, StoreError> {
        let now = self.parts.clock.now();
        let lease = self.parts.settings.worker.lease;
        let limits = self.parts.settings.worker.limits();
        let Some(claimed) = self
            .parts
            .store
            .claim(&self.owner, now, lease, &limits)
            .await?
        else {
            return Ok(match self.parts.store.next_due().await? {
                Some(due) => Outcome::Wait(due),
                None => Outcome::Idle,
            });
        };
        let run = claimed.lease.run.clone();
        let span = span(&claimed);
        let work = trace::attempt("run", &claimed, self.work(&claimed, now));
        let state = work.instrument(span).await?;
        Ok(Outcome::Did(run, state))
    }

    /// Acknowledges at most one run that cannot start at once.
    ///
    /// # Errors
    /// Returns an error if the store fails; the caller may try again later.
    pub async fn acknowledge_step(&self) -> Result<Outcome, StoreError> {
        let now = self.parts.clock.now();
        let lease = self.parts.settings.worker.lease;
        let before = now.minus(ACKNOWLEDGE_AFTER);
        let store = &self.parts.store;
        let claimed = store
            .claim_unacknowledged(&self.owner, now, lease, before)
            .await?;
        let Some(claimed) = claimed else {
            return Ok(Outcome::Idle);
        };
        let span = span(&claimed);
        let work = self.acknowledge(&claimed, now);
        let work = trace::attempt("acknowledge", &claimed, work);
        work.instrument(span).await?;
        Ok(Outcome::Did(claimed.lease.run, None))
    }

    async fn acknowledge(&self, claimed: &Claimed, since: Millis) -> Result<(), StoreError> {
        let stop = StopFlag::default();
        let acknowledge = Box::pin(execute::acknowledge(&self.parts, claimed));
        let done = self.leased(&claimed.lease, since, &stop, acknowledge);
        if let Some(Err(stop)) = done.await {
            // The run adds 👀 itself when it starts; only the waiting message is missing.
            tracing::debug!(error = %stop, "not acknowledged ahead of its start");
        }
        match self.parts.store.acknowledged(&claimed.lease).await {
            Ok(()) | Err(StoreError::Fenced(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn work(&self, claimed: &Claimed, since: Millis) -> Result<Option<State>, StoreError> {
        let stop = StopFlag::new(&self.shutdown);
        if let Some(by) = &claimed.cancel_requested {
            stop.set(by);
        }
        tracing::info!(attempt = claimed.attempt, "run started");
        // Boxed because the future holds the state of every step, and each worker has one.
        let attempt = Box::pin(execute::attempt(&self.parts, claimed, &stop));
        let Some(Some(finish)) = self.leased(&claimed.lease, since, &stop, attempt).await else {
            tracing::warn!("run is released when its lease expires");
            return Ok(None);
        };
        let now = self.parts.clock.now();
        match self.parts.store.finish(&claimed.lease, &finish, now).await {
            Ok(()) => {}
            Err(StoreError::Fenced(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        // Logged and counted only after the outcome is stored, so that log and metrics are reliable.
        let count = |state, code| {
            trace::ended(state, code);
            let duration = (claimed.round == 0).then(|| now.since(claimed.created));
            metrics::run_ended(claimed.trigger.command, state, code, duration);
        };
        Ok(Some(match finish {
            RunOutcome::Succeeded => {
                count(State::Succeeded, None);
                tracing::info!("run ended");
                State::Succeeded
            }
            RunOutcome::Failed { code, message } => {
                count(State::Failed, Some(code));
                log_failure(code, &message);
                State::Failed
            }
            RunOutcome::Cancelled => {
                count(State::Cancelled, Some(Code::Cancelled));
                tracing::info!("run ended");
                State::Cancelled
            }
            RunOutcome::Yield => {
                trace::ended(State::Ready, None);
                tracing::debug!("run deferred");
                State::Ready
            }
            RunOutcome::Park { until, reason, .. } => {
                trace::ended(State::Waiting, None);
                tracing::info!(until = until.iso(), reason, "run waits");
                State::Waiting
            }
        }))
    }

    /// Runs `work` while renewing the lease. Returns `None`, and drops `work` at once, if the lease
    /// is lost. The lease was `claimed` at this time.
    ///
    /// A process that was stopped for longer than the lease does not continue with `work`, which
    /// might send a write to GitHub that another process has sent meanwhile, before it has renewed
    /// the lease.
    async fn leased<T>(
        &self,
        lease: &Lease,
        claimed: Millis,
        stop: &StopFlag,
        work: impl Future<Output = T> + Send,
    ) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let clock = self.parts.clock.as_ref();
        let mut valid_until = claimed.plus(self.parts.settings.worker.lease);
        loop {
            let mut work = std::future::poll_fn(|context| {
                if clock.now() < valid_until {
                    work.as_mut().poll(context)
                } else {
                    Poll::Pending
                }
            });
            let pause = clock.sleep(self.parts.settings.worker.lease / 3);
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = pause => {}
            }
            // Keep polling the work during the heartbeat, which may wait for a resource that the
            // work holds.
            let now = clock.now();
            let held = std::slice::from_ref(lease);
            let heartbeat = self
                .parts
                .store
                .heartbeat(held, now, self.parts.settings.worker.lease);
            let statuses = tokio::select! {
                biased;
                done = &mut work => return Some(done),
                statuses = heartbeat => statuses,
            };
            match statuses {
                Ok(statuses) => {
                    let Some(status) = statuses.first() else {
                        continue;
                    };
                    if !status.held {
                        return None;
                    }
                    valid_until = now.plus(self.parts.settings.worker.lease);
                    if let Some(by) = &status.cancel_requested {
                        stop.set(by);
                    }
                }
                // The lease outlives two missed heartbeats; after that, the fence rejects this
                // worker's writes.
                Err(error) => {
                    tracing::warn!(error = %error, "heartbeat failed");
                }
            }
        }
    }
}

/// Logs that a run failed, at a level that tells whether an operator has to act.
fn log_failure(code: Code, reason: &str) {
    let name = code.name();
    match code.remedied_by() {
        // Also commands that anyone can give.
        Remedy::User if code == Code::PermissionDenied => tracing::info!(reason, "run refused"),
        Remedy::User => tracing::info!(code = name, reason, "run failed"),
        Remedy::Operator => tracing::warn!(code = name, reason, "run failed"),
        Remedy::Developer => tracing::error!(code = name, reason, "run failed"),
    }
}

/// Returns the span whose fields are on every log line about the run.
fn span(claimed: &Claimed) -> tracing::Span {
    let trigger = &claimed.trigger;
    tracing::info_span!(
        "run",
        run.id = %claimed.lease.run,
        delivery.guid = %claimed.guid,
        repository = trigger.place.repo.full_name(),
        number = trigger.place.number,
        command = trigger.command.name(),
        actor = trigger.actor.login,
    )
}

/// All loops of one process.
pub struct Workers {
    parts: Services,
    owner: String,
    shutdown: Shutdown,
    hard: CancellationToken,
    tracker: TaskTracker,
}

impl Workers {
    /// Starts the workers, the acknowledger and the keeper, which recovers expired leases and
    /// deletes data older than `retention`.
    pub fn start(parts: Services, retention: Duration) -> Self {
        let owner = RunId::new().0;
        let shutdown = Shutdown::default();
        let token = shutdown.begun().clone();
        let hard = CancellationToken::new();
        let tracker = TaskTracker::new();
        let worker = Worker::new(parts.clone(), &owner).pausing_on(&shutdown);
        for _ in 0..parts.settings.worker.concurrency.max(1) {
            let (worker, token) = (worker.clone(), token.clone());
            spawn(&tracker, &hard, async move {
                drive(&worker.parts, &token, Wake::OnArrival, || worker.step()).await;
            });
        }
        let (acknowledger, stop) = (worker.clone(), token.clone());
        spawn(&tracker, &hard, async move {
            drive(&acknowledger.parts, &stop, Wake::ByTime, || {
                acknowledger.acknowledge_step()
            })
            .await;
        });
        let (keeper, stop) = (parts.clone(), token.clone());
        spawn(&tracker, &hard, async move {
            keep(&keeper, &stop, retention).await;
        });
        tracker.close();
        Self {
            parts,
            owner,
            shutdown,
            hard,
            tracker,
        }
    }

    /// Stops claiming and pauses runs at their next step. Turns of agents and runs that publish
    /// have `grace`; then the turns are ended and, after five more seconds, all work. Runs that are
    /// still unfinished are returned to the queue.
    pub async fn stop(self, grace: Duration) {
        self.shutdown.begin();
        if !self.ended_within(grace).await {
            self.shutdown.end_turns();
            if !self.ended_within(PAUSE_TIME).await {
                self.hard.cancel();
                self.tracker.wait().await;
            }
        }
        match self.parts.store.release(&self.owner).await {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs, "returned unfinished runs to the queue"),
            Err(error) => {
                tracing::warn!(error = %error, "leases could not be released; they expire");
            }
        }
    }

    /// Waits for all loops, at most for `time`. Returns whether they have ended.
    async fn ended_within(&self, time: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.tracker.wait() => true,
            () = self.parts.clock.sleep(time) => false,
        }
    }
}

/// Spawns `work`, which is dropped when `hard` is cancelled.
fn spawn(
    tracker: &TaskTracker,
    hard: &CancellationToken,
    work: impl Future<Output = ()> + Send + 'static,
) {
    let hard = hard.clone();
    tracker.spawn(async move {
        tokio::select! {
            () = work => {}
            () = hard.cancelled() => {}
        }
    });
}

/// Event that ends a loop's wait early.
#[derive(Clone, Copy)]
enum Wake {
    /// New work in the store. Only workers may use this: a woken caller must try to claim.
    OnArrival,
    /// No event; the wait ends only by timeout.
    ByTime,
}

async fn arrival(parts: &Services, wake: Wake) {
    match wake {
        Wake::OnArrival => parts.store.work_arrived().await,
        Wake::ByTime => std::future::pending().await,
    }
}

/// Repeats `step` until `end` is cancelled, waiting for work in between.
async fn drive<F, S>(parts: &Services, end: &CancellationToken, wake: Wake, mut step: F)
where
    F: FnMut() -> S,
    S: Future<Output = Result<Outcome, StoreError>>,
{
    while !end.is_cancelled() {
        // A panic must not end the loop: the run is left to its lease and fails after a few
        // attempts.
        let caught = AssertUnwindSafe(step()).catch_unwind().await;
        let wait = match caught
            .unwrap_or_else(|_| Err(StoreError::Failed("a step panicked".to_owned())))
        {
            Ok(Outcome::Did(..)) => continue,
            Ok(Outcome::Idle) => LOOK_AGAIN,
            Ok(Outcome::Wait(until)) => until.since(parts.clock.now()).min(LOOK_AGAIN),
            Err(error) => {
                tracing::error!(error = %error, "the queue cannot be processed");
                LOOK_AGAIN
            }
        };
        tokio::select! {
            () = end.cancelled() => {}
            () = arrival(parts, wake) => {}
            () = parts.clock.sleep(wait.max(Duration::from_millis(1))) => {}
        }
    }
}

/// Deletes the data that the agent keeps for ended runs, left behind by a killed process. Returns
/// the number of runs.
///
/// # Errors
/// Returns an error if the store fails.
pub async fn forget_ended(parts: &Services) -> Result<usize, StoreError> {
    let Some(agent) = &parts.agent else {
        return Ok(0);
    };
    let mut forgotten = 0;
    for run in agent.kept().await {
        let view = parts.store.run(&run).await?;
        if view.is_none_or(|view| view.state.is_terminal()) {
            agent.forget(&run).await;
            forgotten += 1;
        }
    }
    Ok(forgotten)
}

/// Deletes data past its retention at the time `now`. Returns the number of deliveries.
///
/// # Errors
/// Returns an error if the store fails.
pub async fn prune(store: &dyn Store, now: Millis, retention: Duration) -> Result<u64, StoreError> {
    let refused = now.minus(REFUSED_RETENTION.min(retention));
    let pruned = store.prune(now.minus(retention)).await?;
    Ok(pruned + store.prune_refused(refused).await?)
}

/// Recovers expired leases and deletes data past its retention.
async fn keep(parts: &Services, stop: &CancellationToken, retention: Duration) {
    let mut pruned = parts.clock.now();
    if let Err(error) = forget_ended(parts).await {
        tracing::error!(error = %error, "old agent folders cannot be deleted");
    }
    while !stop.is_cancelled() {
        let now = parts.clock.now();
        match parts.store.recover_expired(now).await {
            Ok(0) => {}
            Ok(runs) => tracing::warn!(runs, "reclaimed runs from workers that stopped responding"),
            Err(error) => tracing::error!(error = %error, "leases cannot be checked"),
        }
        if now.since(pruned) >= PRUNE_EVERY {
            pruned = now;
            if let Err(error) = prune(&*parts.store, now, retention).await {
                tracing::error!(error = %error, "old runs cannot be deleted");
            }
            if let Err(error) = forget_ended(parts).await {
                tracing::error!(error = %error, "old agent folders cannot be deleted");
            }
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = parts.clock.sleep(parts.settings.worker.lease / 3) => {}
        }
    }
}
