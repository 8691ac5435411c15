//! The store on SQLite: one connection writes, a small pool reads.
//!
//! Everything that writes waits its turn for the one writing connection (first come, first served), so no two writes
//! ever meet in the database. Reads see the last commit and wait for nobody.

mod accept;
mod asks;
mod changes;
mod effects;
mod errors;
mod group_commit;
mod lease;
mod messages;
mod open;
mod queue;
mod saved;
mod spending;
mod upkeep;
mod views;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::SqlitePool;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::group_commit::Pending;
use self::writer::Writer;
use crate::engine::model::agent::Spent;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{
    Accepted, AnswerLimits, Ask, AuditEntry, Beat, Budget, Claimed, EffectState, Exceeded, Finish,
    Heard, Lease, NewDelivery, Payer, QueueCounts, RunView, SavedPlan, Standing, Store, StoreError,
};

/// How to open a SQLite store.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Deliveries that may wait to be written before [`Store::accept`] says [`StoreError::Busy`]; at least 1.
    pub queue_depth: usize,
    /// How long to wait for another program that holds the database's lock (a backup, a shell).
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            queue_depth: 1024,
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// The store on one SQLite file, which belongs to this process alone while it is open.
///
/// [`Store::work_arrived`] keeps one permit: an event between a fruitless [`Store::claim`] and the wait is not lost.
/// It wakes one waiter; every fruitful claim wakes the next, so any number of workers share a burst. Whoever returns
/// from it must therefore try to claim.
#[derive(Debug)]
pub struct SqliteStore {
    queue: mpsc::Sender<Pending>,
    core: Arc<Core>,
    stop: CancellationToken,
    writing: Mutex<Option<JoinHandle<()>>>,
}

/// What the store and its writing task share.
#[derive(Debug)]
struct Core {
    writer: Writer,
    reader: SqlitePool,
    work: Notify,
}

impl SqliteStore {
    /// Opens the database at `path`, made if it does not exist, and brings its schema up to date. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] with the path and the remedy: another process has it, the directory is missing or not
    /// writable, the file is something else, or a newer version of this program wrote it (it is left untouched).
    /// [`StoreError::Lost`]: the database holds less than an earlier process has recorded.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let core = Arc::new(open::open(path, &options).await?);
        let (queue, pending) = mpsc::channel(options.queue_depth.max(1));
        let stop = CancellationToken::new();
        let writing = tokio::spawn(group_commit::run(core.clone(), pending, stop.clone()));
        Ok(Self {
            queue,
            core,
            stop,
            writing: Mutex::new(Some(writing)),
        })
    }

    /// Looks whether [`SqliteStore::open`] would find a usable place at `path`. Opens and changes nothing.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], as far as it can be told from outside.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        open::check(path)
    }
}

impl SqliteStore {
    /// Deletes what `which` selects, in portions, so that deliveries and workers get their turns in between.
    async fn prune_all(&self, which: &'static str, before: Millis) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let mut turn = self.core.writer.turn().await?;
            let result = upkeep::prune_some(&mut turn.connection, which, before).await;
            let some = turn.end(result)?;
            pruned += some.deliveries;
            if some.is_last() {
                return Ok(pruned);
            }
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.queue
            .try_send(Pending { delivery, answer })
            .map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Busy,
                TrySendError::Closed(_) => errors::closed(),
            })?;
        answered.await.unwrap_or_else(|_| Err(errors::closed()))
    }

    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<Option<Claimed>, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = lease::claim(&mut turn.connection, owner, now, now.plus(lease)).await;
        let claimed = turn.end(result)?;
        if claimed.is_some() {
            self.core.work.notify_one();
        }
        Ok(claimed)
    }

    async fn claim_unacknowledged(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        ready_before: Millis,
    ) -> Result<Option<Claimed>, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let until = now.plus(lease);
        let result =
            lease::claim_unacknowledged(&mut turn.connection, owner, now, until, ready_before)
                .await;
        turn.end(result)
    }

    async fn acknowledged(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = lease::acknowledged(&mut turn.connection, lease).await;
        turn.end(result)?;
        self.core.work.notify_one();
        Ok(())
    }

    async fn heartbeat(
        &self,
        leases: &[Lease],
        now: Millis,
        lease: Duration,
    ) -> Result<Vec<Beat>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let mut turn = self.core.writer.turn().await?;
        let result = lease::heartbeat(&mut turn.connection, leases, now.plus(lease)).await;
        turn.end(result)
    }

    async fn remember(&self, lease: &Lease, progress: &str) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::remember(&mut turn.connection, lease, progress).await;
        turn.end(result)
    }

    async fn finish(&self, lease: &Lease, how: &Finish, now: Millis) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = queue::finish(&mut turn.connection, lease, how, now).await;
        turn.end(result)?;
        self.core.work.notify_one();
        Ok(())
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = lease::release(&mut turn.connection, owner).await;
        let done = turn.end(result)?;
        self.core.work.notify_one();
        Ok(done)
    }

    async fn recover(&self, now: Millis, all: bool) -> Result<u64, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = lease::recover(&mut turn.connection, now, all).await;
        let done = turn.end(result)?;
        self.core.work.notify_one();
        Ok(done)
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        views::next_due(&self.core.reader).await
    }

    async fn work_arrived(&self) {
        self.core.work.notified().await;
    }

    async fn begin_effect(
        &self,
        lease: &Lease,
        key: &str,
        now: Millis,
    ) -> Result<EffectState, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::begin(&mut turn.connection, lease, key, now).await;
        turn.end(result)
    }

    async fn retry_effect(&self, lease: &Lease, key: &str, now: Millis) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::retry(&mut turn.connection, lease, key, now).await;
        turn.end(result)
    }

    async fn drop_effect(&self, lease: &Lease, key: &str) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::drop_one(&mut turn.connection, lease, key).await;
        turn.end(result)
    }

    async fn effects(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError> {
        views::effects(&self.core.reader, run).await
    }

    async fn end_effect(
        &self,
        lease: &Lease,
        key: &str,
        result: &str,
        now: Millis,
    ) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::end(&mut turn.connection, lease, key, result, now).await;
        turn.end(result)
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunView>, StoreError> {
        views::run(&self.core.reader, id).await
    }

    async fn runs_at(&self, place: &str, limit: u32) -> Result<Vec<RunView>, StoreError> {
        views::runs_at(&self.core.reader, place, limit).await
    }

    async fn recent_runs(&self, limit: u32) -> Result<Vec<RunView>, StoreError> {
        views::recent_runs(&self.core.reader, limit).await
    }

    async fn ahead_of(&self, run: &RunId) -> Result<u64, StoreError> {
        views::ahead_of(&self.core.reader, run).await
    }

    async fn request_cancel(
        &self,
        place: &str,
        before: &RunId,
        by: &str,
    ) -> Result<Vec<RunId>, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = queue::request_cancel(&mut turn.connection, place, before, by).await;
        let done = turn.end(result)?;
        self.core.work.notify_one();
        Ok(done)
    }

    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = queue::requeue_failed(&mut turn.connection, place).await;
        let done = turn.end(result)?;
        self.core.work.notify_one();
        Ok(done)
    }

    async fn tell(&self, run: &RunId, message: &str, now: Millis) -> Result<bool, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = messages::tell(&mut turn.connection, run, message, now).await;
        let told = turn.end(result)?;
        self.core.work.notify_one();
        Ok(told)
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError> {
        messages::messages(&self.core.reader, run).await
    }

    async fn hear(
        &self,
        lease: &Lease,
        ask: &Ask,
        standing: Option<Standing>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Result<Heard, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = asks::hear(&mut turn.connection, lease, ask, standing, limits, now).await;
        let heard = turn.end(result)?;
        // The next run of the place may be ready now.
        self.core.work.notify_one();
        Ok(heard)
    }

    async fn begin_turn(
        &self,
        lease: &Lease,
        key: &str,
        payer: Payer,
        budget: &Budget,
        now: Millis,
    ) -> Result<Result<(), Exceeded>, StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = spending::begin(&mut turn.connection, lease, key, payer, budget, now).await;
        turn.end(result)
    }

    async fn end_turn(&self, lease: &Lease, key: &str, spent: &Spent) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = spending::end(&mut turn.connection, lease, key, spent).await;
        turn.end(result)
    }

    async fn record_saved(&self, lease: &Lease, saved: &SavedPlan) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = saved::record(&mut turn.connection, lease, saved).await;
        turn.end(result)
    }

    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError> {
        saved::at(&self.core.reader, place).await
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = effects::audit(&mut turn.connection, &entry).await;
        turn.end(result)
    }

    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError> {
        views::audit_of(&self.core.reader, run).await
    }

    async fn counts(&self) -> Result<QueueCounts, StoreError> {
        views::counts(&self.core.reader).await
    }

    async fn prune(&self, before: Millis) -> Result<u64, StoreError> {
        self.prune_all(upkeep::OLD_DELIVERIES, before).await
    }

    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError> {
        self.prune_all(upkeep::OLD_REFUSED, before).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let mut turn = self.core.writer.turn().await?;
        let result = upkeep::beat(&mut turn.connection).await;
        turn.end(result)?;
        upkeep::read_beats(&self.core.reader).await
    }

    async fn close(&self) {
        self.stop.cancel();
        let writing = self
            .writing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writing) = writing {
            // It ends once everything that was queued has been written and answered.
            if let Err(error) = writing.await {
                tracing::error!(%error, "the store's writing task ended badly");
            }
        }
        // Readers first: a reader would keep the last checkpoint from emptying the WAL.
        self.core.reader.close().await;
        self.core.writer.close().await;
    }
}

#[cfg(test)]
mod tests;
