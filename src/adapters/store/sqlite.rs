//! The store on SQLite: one connection writes, a small pool reads.
//!
//! Writes wait for the single writing connection (first come, first served), so that no two writes
//! meet in the database. Reads see the last commit and never wait.

mod accept;
mod answers;
mod changes;
mod errors;
mod group_commit;
mod history;
mod inspect;
mod intake;
mod lease;
mod open;
mod queue;
mod records;
mod spending;
mod upkeep;
mod views;
mod writer;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::SqlitePool;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::accept::EncodedDelivery;
use self::group_commit::Pending;
use self::writer::Writer;
use crate::engine::model::agent::Spent;
use crate::engine::model::intake::{DecisionRecord, LogState, LoggedAttempt, ScanState};
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{
    Accepted, ActorStanding, AnswerDecision, AnswerLimits, AuditEntry, Budget, BudgetScope,
    Claimed, CommandRequest, CommandUsage, EffectState, Exceeded, Lease, LeaseStatus, NewDelivery,
    QueueCounts, RunOutcome, RunView, SavedPlan, Store, StoreError,
};

pub use history::History;
pub use inspect::{Inspected, SCHEMA, inspect};

/// Longest time that a waiting run waits after the start before it is looked at: the longest
/// default pause after a fault. A run that has to wait longer, for people or a limit, then waits
/// again.
pub const MAX_WAIT_AFTER_START: Duration = Duration::from_mins(5);

/// Options of a SQLite store.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Maximum number of deliveries that wait to be written before [`Store::accept`] returns
    /// [`StoreError::Busy`]; at least 1.
    pub queue_depth: usize,
    /// Maximum time to wait for another program that holds the database's lock (a backup, a shell).
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
/// [`Store::work_arrived`] keeps one permit, so that an event between a fruitless [`Store::claim`]
/// and the wait is not lost. It wakes one waiter, and every fruitful claim wakes the next, so that
/// any number of workers share a burst.
#[derive(Debug)]
pub struct SqliteStore {
    queue: mpsc::Sender<Pending>,
    core: Arc<Core>,
    stop: CancellationToken,
    writing: Mutex<Option<JoinHandle<()>>>,
}

/// The part that the store shares with its writing task.
#[derive(Debug)]
struct Core {
    writer: Writer,
    reader: SqlitePool,
    work: Notify,
}

/// Runs an operation on the writing connection.
macro_rules! write {
    ($store:ident, $operation:path $(, $argument:expr)*) => {{
        let mut turn = $store.core.writer.turn().await?;
        let result = $operation(&mut turn.connection $(, $argument)*).await;
        turn.end(result)
    }};
}

impl SqliteStore {
    /// Opens or creates the database at `path`, migrates its schema, and takes back every lease of
    /// an earlier process. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] with path and remedy: another process uses it, the directory is
    /// missing or not writable, the file is something else, or a newer version of this program
    /// wrote it (it is left untouched). [`StoreError::Lost`]: the database holds fewer changes than
    /// were recorded.
    pub async fn open(
        path: &Path,
        options: SqliteOptions,
        now: Millis,
    ) -> Result<Self, StoreError> {
        let core = Arc::new(open::open(path, &options).await?);
        let (queue, pending) = mpsc::channel(options.queue_depth.max(1));
        let stop = CancellationToken::new();
        let writing = tokio::spawn(group_commit::run(core.clone(), pending, stop.clone()));
        let store = Self {
            queue,
            core,
            stop,
            writing: Mutex::new(Some(writing)),
        };
        let runs = write!(store, lease::recover_all, now)?;
        if runs > 0 {
            tracing::info!(runs, "resuming runs of an earlier process");
        }
        Ok(store)
    }

    /// Takes back every lease, as [`SqliteStore::open`] does. Returns the number of runs.
    ///
    /// Times ahead of `now` count as set by a clock that has been put back since: no waiting run is
    /// due later than [`MAX_WAIT_AFTER_START`] from `now`, and nothing was spent after `now`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn recover_all(&self, now: Millis) -> Result<u64, StoreError> {
        let recovered = write!(self, lease::recover_all, now)?;
        self.core.work.notify_one();
        Ok(recovered)
    }

    /// Checks whether [`SqliteStore::open`] could use `path`. Opens and changes nothing.
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`] that can be detected without opening the database.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        open::check(path)
    }

    /// Deletes the rows that `which` selects, in portions, so that other writes can happen in
    /// between.
    async fn prune_all(&self, which: &'static str, before: Millis) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let (deliveries, is_last) = write!(self, upkeep::prune_some, which, before)?;
            pruned += deliveries;
            if is_last {
                return Ok(pruned);
            }
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError> {
        let (result, stored) = oneshot::channel();
        let delivery = EncodedDelivery::new(delivery)?;
        self.queue
            .try_send(Pending { delivery, result })
            .map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Busy,
                TrySendError::Closed(_) => errors::closed(),
            })?;
        stored.await.unwrap_or_else(|_| Err(errors::closed()))
    }

    async fn record_decisions(&self, decisions: &[DecisionRecord]) -> Result<(), StoreError> {
        if decisions.is_empty() {
            return Ok(());
        }
        write!(self, intake::record, decisions)
    }

    async fn decisions_at(
        &self,
        repo: u64,
        number: u64,
        limit: u32,
    ) -> Result<Vec<DecisionRecord>, StoreError> {
        intake::at_place(&self.core.reader, repo, number, limit).await
    }

    async fn decided(&self, guids: &[&str], since: Millis) -> Result<HashSet<String>, StoreError> {
        intake::decided(&self.core.reader, guids, since).await
    }

    async fn decided_comments(
        &self,
        repo: u64,
        comments: &[(u64, u64)],
    ) -> Result<HashSet<u64>, StoreError> {
        intake::decided_comments(&self.core.reader, repo, comments).await
    }

    async fn label_accepted(
        &self,
        place: &str,
        label: &str,
        period: (Millis, Millis),
    ) -> Result<bool, StoreError> {
        intake::label_accepted(&self.core.reader, place, label, period).await
    }

    async fn log_state(&self) -> Result<Option<LogState>, StoreError> {
        intake::log_state(&self.core.reader).await
    }

    async fn save_log_state(
        &self,
        state: &LogState,
        missed: &[LoggedAttempt],
    ) -> Result<(), StoreError> {
        write!(self, intake::save_log_state, state, missed)
    }

    async fn missed(&self, limit: u32) -> Result<Vec<LoggedAttempt>, StoreError> {
        intake::missed(&self.core.reader, limit).await
    }

    async fn drop_missed(&self, id: u64) -> Result<(), StoreError> {
        write!(self, intake::drop_missed, id)
    }

    async fn scan_state(&self, repo: u64) -> Result<Option<ScanState>, StoreError> {
        intake::scan_state(&self.core.reader, repo).await
    }

    async fn save_scan_state(&self, repo: u64, state: &ScanState) -> Result<(), StoreError> {
        write!(self, intake::save_scan_state, repo, state)
    }

    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<Option<Claimed>, StoreError> {
        let claimed = write!(self, lease::claim, owner, now, now.plus(lease))?;
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
        let until = now.plus(lease);
        write!(
            self,
            lease::claim_unacknowledged,
            owner, now, until, ready_before
        )
    }

    async fn acknowledged(&self, lease: &Lease) -> Result<(), StoreError> {
        write!(self, lease::acknowledged, lease)?;
        self.core.work.notify_one();
        Ok(())
    }

    async fn heartbeat(
        &self,
        leases: &[Lease],
        now: Millis,
        lease: Duration,
    ) -> Result<Vec<LeaseStatus>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        write!(self, lease::heartbeat, leases, now.plus(lease))
    }

    async fn save_progress(&self, lease: &Lease, progress: &Progress) -> Result<(), StoreError> {
        write!(self, records::save_progress, lease, progress)
    }

    async fn finish(
        &self,
        lease: &Lease,
        outcome: &RunOutcome,
        now: Millis,
    ) -> Result<(), StoreError> {
        write!(self, queue::finish, lease, outcome, now)?;
        self.core.work.notify_one();
        Ok(())
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        let released = write!(self, lease::release, owner)?;
        self.core.work.notify_one();
        Ok(released)
    }

    async fn recover_expired(&self, now: Millis) -> Result<u64, StoreError> {
        let recovered = write!(self, lease::recover_expired, now)?;
        self.core.work.notify_one();
        Ok(recovered)
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
        write!(self, records::begin_effect, lease, key, now)
    }

    async fn retry_effect(&self, lease: &Lease, key: &str, now: Millis) -> Result<(), StoreError> {
        write!(self, records::retry_effect, lease, key, now)
    }

    async fn drop_effect(&self, lease: &Lease, key: &str) -> Result<(), StoreError> {
        write!(self, records::drop_effect, lease, key)
    }

    async fn effects(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError> {
        records::effects(&self.core.reader, run).await
    }

    async fn end_effect(
        &self,
        lease: &Lease,
        key: &str,
        result: &str,
        now: Millis,
    ) -> Result<(), StoreError> {
        write!(self, records::end_effect, lease, key, result, now)
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
        let asked = write!(self, queue::request_cancel, place, before, by)?;
        self.core.work.notify_one();
        Ok(asked)
    }

    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError> {
        let requeued = write!(self, queue::requeue_failed, place)?;
        self.core.work.notify_one();
        Ok(requeued)
    }

    async fn send_message(
        &self,
        run: &RunId,
        message: &str,
        now: Millis,
    ) -> Result<bool, StoreError> {
        let sent = write!(self, records::send_message, run, message, now)?;
        self.core.work.notify_one();
        Ok(sent)
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError> {
        records::messages(&self.core.reader, run).await
    }

    async fn decide_answer(
        &self,
        lease: &Lease,
        request: &CommandRequest,
        standing: Option<ActorStanding>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Result<AnswerDecision, StoreError> {
        let decision = write!(
            self,
            answers::decide_answer,
            lease, request, standing, limits, now
        )?;
        // The next run of the place may be ready now.
        self.core.work.notify_one();
        Ok(decision)
    }

    async fn begin_turn(
        &self,
        lease: &Lease,
        key: &str,
        scope: BudgetScope,
        budget: &Budget,
        now: Millis,
    ) -> Result<Result<(), Exceeded>, StoreError> {
        write!(self, spending::begin_turn, lease, key, scope, budget, now)
    }

    async fn end_turn(&self, lease: &Lease, key: &str, spent: &Spent) -> Result<(), StoreError> {
        write!(self, spending::end_turn, lease, key, spent)
    }

    async fn usage(&self, repo: u64, since: Millis) -> Result<Vec<CommandUsage>, StoreError> {
        spending::usage(&self.core.reader, repo, since).await
    }

    async fn record_saved(&self, lease: &Lease, saved: &SavedPlan) -> Result<(), StoreError> {
        write!(self, records::record_saved, lease, saved)
    }

    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError> {
        records::saved_at(&self.core.reader, place).await
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        write!(self, records::audit, &entry)
    }

    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError> {
        records::audit_of(&self.core.reader, run).await
    }

    async fn counts(&self) -> Result<QueueCounts, StoreError> {
        views::counts(&self.core.reader).await
    }

    async fn prune(&self, before: Millis) -> Result<u64, StoreError> {
        let pruned = self.prune_all(upkeep::OLD_DELIVERIES, before).await?;
        while !write!(self, upkeep::prune_decisions, before)? {}
        Ok(pruned)
    }

    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError> {
        self.prune_all(upkeep::OLD_REFUSED, before).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        write!(self, upkeep::ping_writer)?;
        upkeep::ping_reader(&self.core.reader).await
    }

    async fn close(&self) {
        self.stop.cancel();
        let writing = self
            .writing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writing) = writing {
            // It ends once everything queued has been written.
            if let Err(error) = writing.await {
                tracing::error!(%error, "the store's writer task failed");
            }
        }
        // Readers first: a reader would prevent the last checkpoint from truncating the WAL.
        self.core.reader.close().await;
        self.core.writer.close().await;
    }
}

#[cfg(test)]
mod tests;
