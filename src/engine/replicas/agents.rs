//! A limit on the agents of all processes that share a database.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{LEASE, Replicas};
use crate::engine::agent::{About, Agent, Task, TurnObserver};
use crate::engine::clock::Clock;
use crate::engine::model::agent::{Document, Report};
use crate::engine::model::run::RunId;

/// Pause between two attempts to begin a turn while all slots are in use.
const RETRY: Duration = Duration::from_secs(1);

/// An agent whose turns take one of a number of slots that all processes share. A slot is held
/// under a lease, so that it becomes free when its process ends.
pub struct SharedAgents {
    inner: Arc<dyn Agent>,
    replicas: Arc<dyn Replicas>,
    clock: Arc<dyn Clock>,
    slots: usize,
    waiting: AtomicUsize,
}

impl SharedAgents {
    /// Limits the turns of `inner`, in all processes, to `slots` at the same time.
    pub fn new(
        inner: Arc<dyn Agent>,
        replicas: Arc<dyn Replicas>,
        clock: Arc<dyn Clock>,
        slots: usize,
    ) -> Self {
        Self {
            inner,
            replicas,
            clock,
            slots,
            waiting: AtomicUsize::new(0),
        }
    }

    /// Takes a slot, or extends the lease on it. Returns false if another turn has it, or if the
    /// store fails.
    async fn take(&self, slot: &str, turn: &str, lease: Duration) -> bool {
        let taken = self.replicas.lead(slot, turn, self.clock.now(), lease);
        taken.await.unwrap_or_else(|error| {
            tracing::warn!(slot, %error, "it is not known whether the agent may start");
            false
        })
    }

    /// Waits for a free slot and returns its name.
    async fn wait(&self, turn: &str) -> String {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        scopeguard::defer!({
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        });
        loop {
            for number in 1..=self.slots {
                let slot = format!("agent {number}");
                if self.take(&slot, turn, LEASE).await {
                    return slot;
                }
            }
            self.clock.sleep(RETRY).await;
        }
    }

    /// Extends the lease on a slot until it is dropped.
    async fn keep(&self, slot: &str, turn: &str) -> Infallible {
        loop {
            self.clock.sleep(LEASE / 3).await;
            if !self.take(slot, turn, LEASE).await {
                tracing::debug!(slot, "the lease on an agent's slot was not extended");
            }
        }
    }
}

#[async_trait]
impl Agent for SharedAgents {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn full(&self) -> bool {
        self.inner.full() || self.waiting.load(Ordering::Relaxed) > 0
    }

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        let turn = RunId::new().0;
        let slot = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            slot = self.wait(&turn) => Some(slot),
        };
        let work = self.inner.work(task, seen, stop);
        let Some(slot) = slot else {
            // It reports that it was cancelled.
            return work.await;
        };
        let report = tokio::select! {
            report = work => report,
            never = self.keep(&slot, &turn) => match never {},
        };
        self.take(&slot, &turn, Duration::ZERO).await;
        report
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        self.inner.give(run, documents).await
    }

    async fn given(&self, run: &RunId) -> bool {
        self.inner.given(run).await
    }

    async fn forget(&self, run: &RunId) {
        self.inner.forget(run).await;
    }

    async fn kept(&self) -> Vec<RunId> {
        self.inner.kept().await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::collections::HashMap;
    use std::sync::Mutex;

    use tokio::sync::Notify;

    use super::*;
    use crate::engine::model::agent::Spent;
    use crate::engine::model::agent::{Ending, Limits, Micros, Session};
    use crate::engine::model::time::Millis;
    use crate::engine::replicas::{PlannedWrite, Slot};
    use crate::engine::store::StoreError;

    /// Leases in memory, and a clock that every wait moves.
    #[derive(Default)]
    struct World {
        tasks: Mutex<HashMap<String, (String, Millis)>>,
        now: Mutex<i64>,
    }

    #[async_trait]
    impl Replicas for World {
        async fn lead(
            &self,
            task: &str,
            owner: &str,
            now: Millis,
            lease: Duration,
        ) -> Result<bool, StoreError> {
            let mut tasks = self.tasks.lock().unwrap();
            let held = tasks.get(task);
            let free = held.is_none_or(|(held_by, until)| held_by == owner || *until <= now);
            if free {
                tasks.insert(task.to_owned(), (owner.to_owned(), now.plus(lease)));
            }
            Ok(free)
        }

        async fn reserve_write(&self, _: PlannedWrite, now: Millis) -> Result<Slot, StoreError> {
            Ok(Slot::At(now))
        }

        async fn limit_requests(&self, _: u64, _: Millis) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[async_trait]
    impl Clock for World {
        fn now(&self) -> Millis {
            Millis(*self.now.lock().unwrap())
        }

        async fn sleep(&self, duration: Duration) {
            *self.now.lock().unwrap() += i64::try_from(duration.as_millis()).unwrap();
            tokio::task::yield_now().await;
        }
    }

    /// Works until it is told to finish.
    #[derive(Default)]
    struct Fake {
        working: AtomicUsize,
        finish: Notify,
    }

    #[async_trait]
    impl Agent for Fake {
        fn about(&self) -> About {
            About {
                name: "fake".to_owned(),
                resumes: false,
                writes: false,
            }
        }

        fn full(&self) -> bool {
            false
        }

        async fn work(&self, _: &Task, _: &TurnObserver, stop: CancellationToken) -> Report {
            if !stop.is_cancelled() {
                self.working.fetch_add(1, Ordering::Relaxed);
                self.finish.notified().await;
                self.working.fetch_sub(1, Ordering::Relaxed);
            }
            Report {
                ending: Ending::Cancelled,
                texts: Vec::new(),
                session: None,
                spent: Spent::default(),
                stderr: String::new(),
                redacted: 0,
                files: Vec::new(),
                wrote: Vec::new(),
            }
        }

        async fn give(&self, _: &RunId, _: Vec<Document>) -> Result<(), String> {
            Ok(())
        }

        async fn given(&self, _: &RunId) -> bool {
            false
        }

        async fn forget(&self, _: &RunId) {}

        async fn kept(&self) -> Vec<RunId> {
            Vec::new()
        }
    }

    struct Process {
        agent: Arc<Fake>,
        shared: Arc<SharedAgents>,
    }

    fn process(world: &Arc<World>) -> Process {
        let agent = Arc::new(Fake::default());
        let (replicas, clock) = (Arc::clone(world) as _, Arc::clone(world) as _);
        let shared = SharedAgents::new(Arc::clone(&agent) as _, replicas, clock, 2);
        Process {
            agent,
            shared: Arc::new(shared),
        }
    }

    impl Process {
        fn begin(&self, stop: &CancellationToken) -> tokio::task::JoinHandle<()> {
            let (shared, stop) = (Arc::clone(&self.shared), stop.clone());
            tokio::spawn(async move {
                let task = Task {
                    run: RunId::new(),
                    part: 0,
                    system: String::new(),
                    prompt: String::new(),
                    session: Session::New(String::new()),
                    cost_before: Micros::default(),
                    limits: Limits {
                        deadline: Duration::ZERO,
                        silence: Duration::ZERO,
                        turns: 0,
                        cost: None,
                    },
                    wanted: Vec::new(),
                    files: Vec::new(),
                    model: None,
                    repository: None,
                };
                let (seen, _) = TurnObserver::new();
                shared.work(&task, &seen, stop).await;
            })
        }

        fn working(&self) -> usize {
            self.agent.working.load(Ordering::Relaxed)
        }
    }

    /// Lets every task run for some ten minutes of the clock.
    async fn settle() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn agents_of_all_processes_share_the_slots() {
        let world = Arc::new(World::default());
        let (a, b) = (process(&world), process(&world));
        let stop = CancellationToken::new();
        let first = a.begin(&stop);
        a.begin(&stop);
        settle().await;
        let waiting = b.begin(&stop);
        settle().await;
        assert_eq!((a.working(), b.working()), (2, 0), "leases are extended");
        assert!(b.shared.full() && !a.shared.full());

        a.agent.finish.notify_one();
        settle().await;
        assert_eq!((a.working(), b.working()), (1, 1), "free at once");
        assert!(!b.shared.full());
        first.await.unwrap();

        // The slot of a process that ends is free when its lease ends.
        waiting.abort();
        let next = a.begin(&stop);
        settle().await;
        assert_eq!(a.working(), 2);
        next.abort();
    }

    #[tokio::test]
    async fn a_turn_that_is_cancelled_while_it_waits_does_not_start() {
        let world = Arc::new(World::default());
        let (a, b) = (process(&world), process(&world));
        let stop = CancellationToken::new();
        a.begin(&stop);
        a.begin(&stop);
        settle().await;
        let cancelled = CancellationToken::new();
        let turn = b.begin(&cancelled);
        settle().await;
        cancelled.cancel();
        turn.await.unwrap();
        assert_eq!(b.working(), 0);
        assert!(!b.shared.full());
    }
}
