//! What the processes that share a database agree on. A process that has its database to itself
//! needs none of it.

mod agents;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::engine::clock::Clock;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

pub use agents::SharedAgents;

/// A write to GitHub for which a start time is to be reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedWrite {
    /// The installation id.
    pub installation: u64,
    /// Minimum time between the starts of two writes.
    pub gap: Duration,
    /// Minimum time between the starts of two writes that notify people; `None` if this one does
    /// not.
    pub notify_gap: Option<Duration>,
}

/// When a write to GitHub may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The write may start at this time.
    At(Millis),
    /// GitHub accepts no requests of the installation until this time.
    LimitedUntil(Millis),
}

/// Agreements between the processes that share a database.
#[async_trait]
pub trait Replicas: Send + Sync + 'static {
    /// Makes `owner` the only process that performs `task`, until `lease` from `now`, or longer if
    /// it already is. Returns false while another process is.
    async fn lead(
        &self,
        task: &str,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Reserves the time at which a write may start. The times of two writes of an installation
    /// are as far apart as both ask for, whichever processes they come from.
    async fn reserve_write(&self, write: PlannedWrite, now: Millis) -> Result<Slot, StoreError>;

    /// Records that GitHub accepts no requests of an installation until a time.
    async fn limit_requests(&self, installation: u64, until: Millis) -> Result<(), StoreError>;
}

/// How long a process leads a task without a sign of life.
const LEASE: Duration = Duration::from_secs(30);

/// A task that one process performs at a time.
pub struct Leader {
    replicas: Option<Arc<dyn Replicas>>,
    clock: Arc<dyn Clock>,
    task: &'static str,
    owner: String,
}

impl Leader {
    /// Creates the candidate of this process. Without `replicas` it always leads.
    pub fn new(
        replicas: Option<Arc<dyn Replicas>>,
        clock: Arc<dyn Clock>,
        task: &'static str,
    ) -> Self {
        Self {
            replicas,
            clock,
            task,
            owner: RunId::new().0,
        }
    }

    /// Takes or extends the lead. Returns false while another process has it, or if the store fails.
    pub async fn leads(&self) -> bool {
        let Some(replicas) = &self.replicas else {
            return true;
        };
        let now = self.clock.now();
        match replicas.lead(self.task, &self.owner, now, LEASE).await {
            Ok(leads) => leads,
            Err(error) => {
                tracing::warn!(task = self.task, %error, "it is not known which process performs the task");
                false
            }
        }
    }

    /// Performs `work` whenever this process leads, until `stop` is cancelled. The token that `work`
    /// gets is cancelled when the lead is lost.
    pub async fn drive<F: Future<Output = ()>>(
        &self,
        stop: &CancellationToken,
        work: impl Fn(CancellationToken) -> F,
    ) {
        while !stop.is_cancelled() {
            if self.leads().await {
                let term = stop.child_token();
                let keep = async {
                    while self.pause(&term).await && self.leads().await {}
                    term.cancel();
                };
                tokio::join!(work(term.clone()), keep);
            }
            self.pause(stop).await;
        }
    }

    /// Waits for a third of the lease. Returns false if `stop` is cancelled.
    async fn pause(&self, stop: &CancellationToken) -> bool {
        tokio::select! {
            biased;
            () = stop.cancelled() => false,
            () = self.clock.sleep(LEASE / 3) => true,
        }
    }
}
