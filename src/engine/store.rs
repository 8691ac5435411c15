//! The store interface: deliveries, runs (the queue), effects and the audit log. The adapters that
//! implement it are in `adapters::store`.
//!
//! Rules for every implementation:
//! - [`Store::accept`] returns only after the delivery and its runs are on disk.
//! - At most one run per `serial` key is ready, running or waiting; the others are blocked. They
//!   are promoted in the order of the time at which GitHub says they were requested, then of
//!   acceptance, in the same transaction that ends their predecessor. Runs without a `serial` key are
//!   never blocked. A run from another source than a webhook also precedes a later requested one that
//!   is ready and was never started.
//! - A write under a [`Lease`] fails with [`StoreError::Fenced`] once another worker holds the
//!   lease.
//! - Effects and audit entries are never deleted before their run.
//! - Leases end by expiry only. A store that is used by a single process may also revoke all leases
//!   when it is opened.

mod answers;
mod budget;
mod delivery;
mod error;
mod queue;
mod records;
mod run;

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use crate::engine::model::agent::Spent;
use crate::engine::model::intake::{DecisionRecord, LogState, LoggedAttempt, ScanState};
use crate::engine::model::plan_entry::PlanEntry;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;

pub use answers::{ActorStanding, AnswerDecision, AnswerLimits, CommandRequest};
pub use budget::{Budget, BudgetScope, CommandUsage, Exceeded, USAGE_DAYS};
pub use delivery::{Accepted, NewDelivery, NewRun};
pub use error::StoreError;
pub use queue::{ClaimLimits, QueueCounts, QueuePosition};
pub use records::{
    AuditEntry, MAX_OUTPUT, MAX_OUTPUT_PORTION, MAX_SAVED_PLANS, OUTPUT_ENDS, SavedPlan,
};
pub use run::{Change, Claimed, EffectState, Lease, LeaseStatus, RunOutcome, RunView};

/// Durable storage of deliveries, runs, effects and the audit log. See the module documentation for
/// the rules.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a delivery and its runs unless it is already known. Fails with [`StoreError::Busy`]
    /// if too many deliveries are waiting to be written.
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError>;

    /// Records decisions about events that were not accepted as new. Those are recorded by
    /// [`Store::accept`] itself.
    async fn record_decisions(&self, decisions: &[DecisionRecord]) -> Result<(), StoreError>;

    /// Returns at most `limit` decisions about an issue or pull request, newest first, with the
    /// accepted ones.
    async fn decisions_at(
        &self,
        repo: u64,
        number: u64,
        limit: u32,
    ) -> Result<Vec<DecisionRecord>, StoreError>;

    /// Returns those of `guids` that were accepted at any time, or about which something else was
    /// decided at `since` or later.
    async fn decided(&self, guids: &[&str], since: Millis) -> Result<HashSet<String>, StoreError>;

    /// Returns those of the comments of a repository, given as the number of the issue and the id
    /// of the comment, that were accepted, or about which something was decided when they were
    /// created.
    async fn decided_comments(
        &self,
        repo: u64,
        comments: &[(u64, u64)],
    ) -> Result<HashSet<u64>, StoreError>;

    /// Returns whether a delivery was accepted for a label that was set at `place` (`IssueRef::key`)
    /// within a period, both ends included.
    async fn label_accepted(
        &self,
        place: &str,
        label: &str,
        period: (Millis, Millis),
    ) -> Result<bool, StoreError>;

    /// Returns the state of reading GitHub's delivery log; `None` before the first time.
    async fn log_state(&self) -> Result<Option<LogState>, StoreError>;

    /// Replaces the state of reading GitHub's delivery log, and adds attempts whose payloads are
    /// to be fetched, in one transaction. One attempt is kept per GUID: the first added.
    async fn save_log_state(
        &self,
        state: &LogState,
        missed: &[LoggedAttempt],
    ) -> Result<(), StoreError>;

    /// Returns at most `limit` attempts whose payloads are to be fetched, the oldest first.
    async fn missed(&self, limit: u32) -> Result<Vec<LoggedAttempt>, StoreError>;

    /// Removes an attempt whose payload was handled.
    async fn drop_missed(&self, id: u64) -> Result<(), StoreError>;

    /// Returns how far the comments and issues of a repository have been scanned.
    async fn scan_state(&self, repo: u64) -> Result<Option<ScanState>, StoreError>;

    /// Replaces the result of [`Store::scan_state`].
    async fn save_scan_state(&self, repo: u64, state: &ScanState) -> Result<(), StoreError>;

    /// Claims one ready run, or a waiting one that is due: of the installation with the fewest
    /// running ones, then of the repository with the fewest, then the one that has waited longest.
    /// Installations and repositories that have as many running as `limits` allow are skipped. A run
    /// whose trigger or progress cannot be read is failed with
    /// [`Internal`](crate::engine::model::failure::Code::Internal), and [`StoreError::Corrupt`] is
    /// returned.
    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        limits: &ClaimLimits,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Claims a run that is not acknowledged and cannot start at once because it is blocked, or has
    /// been ready since before `ready_before`. Its state does not change, and it cannot be claimed
    /// for execution until [`Store::acknowledged`] is called or the lease expires.
    async fn claim_unacknowledged(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        ready_before: Millis,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Marks the run as acknowledged and releases a claim made to acknowledge it. A running run
    /// keeps its lease.
    async fn acknowledged(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Extends the leases and returns the status of each, in order.
    async fn heartbeat(
        &self,
        leases: &[Lease],
        now: Millis,
        lease: Duration,
    ) -> Result<Vec<LeaseStatus>, StoreError>;

    /// Replaces the saved progress of the leased run.
    async fn save_progress(&self, lease: &Lease, progress: &Progress) -> Result<(), StoreError>;

    /// Records the outcome of the leased run and releases it. If the run ended, the next one with
    /// its `serial` key is promoted in the same transaction. Nobody is woken: a worker that
    /// has finished a run claims the next one.
    async fn finish(
        &self,
        lease: &Lease,
        outcome: &RunOutcome,
        now: Millis,
    ) -> Result<(), StoreError>;

    /// Makes every run leased by `owner` ready again without counting the attempt (for a graceful
    /// shutdown). Returns the number of runs.
    async fn release(&self, owner: &str) -> Result<u64, StoreError>;

    /// Makes runs whose lease has expired claimable again. Returns the number of runs.
    async fn recover_expired(&self, now: Millis) -> Result<u64, StoreError>;

    /// Returns the time at which the next waiting run is due.
    async fn next_due(&self) -> Result<Option<Millis>, StoreError>;

    /// Waits until new work may be claimable. Spurious wake-ups are possible, and no event since
    /// the last unsuccessful claim is missed. One waiter is woken, and its claim wakes the next.
    /// Only idle workers may wait here: a woken caller must try to claim.
    async fn work_arrived(&self);

    /// Records an effect before it is tried.
    async fn begin_effect(
        &self,
        lease: &Lease,
        key: &str,
        now: Millis,
    ) -> Result<EffectState, StoreError>;

    /// Records another try of an effect of unknown outcome whose result was not found on GitHub.
    async fn retry_effect(&self, lease: &Lease, key: &str, now: Millis) -> Result<(), StoreError>;

    /// Deletes the record of an effect that GitHub refused, so that nothing was done. An effect
    /// that is known to be done is kept.
    async fn drop_effect(&self, lease: &Lease, key: &str) -> Result<(), StoreError>;

    /// Returns the keys and results (JSON) of the run's effects that are known to be done, sorted
    /// by key.
    async fn effects(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError>;

    /// Records that the effect is done, with its result (JSON).
    async fn end_effect(
        &self,
        lease: &Lease,
        key: &str,
        result: &str,
        now: Millis,
    ) -> Result<(), StoreError>;

    /// Returns the run with this id.
    async fn run(&self, id: &RunId) -> Result<Option<RunView>, StoreError>;

    /// Returns at most `limit` serial runs at a place, newest first. Runs that were refused for
    /// lack of permission are left out.
    async fn runs_at(&self, place: &str, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// Returns at most `limit` runs of all places, newest first, for operators.
    async fn recent_runs(&self, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// Returns what a run waits for in the queue. Nothing precedes a run that does not exist.
    async fn queue_position(&self, run: &RunId) -> Result<QueuePosition, StoreError>;

    /// Requests the cancellation of every unfinished serial run at `place` that precedes `before`. Ready and waiting ones become claimable at once so that they can report. Returns
    /// the affected runs.
    async fn request_cancel(
        &self,
        place: &str,
        before: &RunId,
        by: &str,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Queues the newest failed or cancelled serial run at `place` again, with its attempts reset
    /// and the cancellation request cleared. A run refused for lack of permission is not queued
    /// again.
    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError>;

    /// Requests the cancellation of one run by the actor of `entry`, as [`Store::request_cancel`]
    /// does. If that is done, the entry is appended to the audit log in the same transaction.
    async fn cancel_run(&self, run: &RunId, entry: &AuditEntry) -> Result<Change, StoreError>;

    /// Queues one failed or cancelled run again, as [`Store::requeue_failed`] does. If that is done,
    /// `entry` is appended to the audit log in the same transaction.
    async fn retry_run(&self, run: &RunId, entry: &AuditEntry) -> Result<Change, StoreError>;

    /// Stores `repetition`, whose only run gives the command of the ended run `run` again, unless an
    /// earlier repetition of `run` has not ended. If that is done, `entry` is appended to the audit
    /// log in the same transaction. The GUID of every repetition begins with
    /// [`repetition_prefix`](crate::engine::operate::repetition_prefix).
    ///
    /// Returns the run that executes the command: the new one, the earlier repetition, or `run`.
    async fn run_again(
        &self,
        run: &RunId,
        repetition: NewDelivery,
        entry: &AuditEntry,
    ) -> Result<(Change, RunId), StoreError>;

    /// Stores a message (JSON) for an unfinished run. A waiting run becomes claimable at once, and
    /// a running one as soon as it parks. Returns false if the run has ended.
    async fn send_message(
        &self,
        run: &RunId,
        message: &str,
        now: Millis,
    ) -> Result<bool, StoreError>;

    /// Returns the messages stored for a run, oldest first.
    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError>;

    /// Decides whether the command of the leased run is answered, and records the decision, which
    /// is final. Without a `standing` the result is [`AnswerDecision::Undecided`] unless the
    /// comment or the actor has already used up its limit.
    ///
    /// Each comment of an outsider is answered at most once, and its run is deferred: it loses its
    /// `serial` key and is claimed only when nothing else is ready, and at most one deferred run of
    /// an installation runs at a time.
    async fn decide_answer(
        &self,
        lease: &Lease,
        request: &CommandRequest,
        standing: Option<ActorStanding>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Result<AnswerDecision, StoreError>;

    /// Records that the agent turn `key` (unique within the run) begins, unless a limit of `budget`
    /// is reached. The check and the record are one transaction.
    ///
    /// Calling it again with the same key is allowed and counts once. A run that was allowed an
    /// earlier turn is not counted again against the limits on runs, but costs are checked again.
    /// An entry expires when it is as old as the window of its limit.
    async fn begin_turn(
        &self,
        lease: &Lease,
        key: &str,
        scope: BudgetScope,
        budget: &Budget,
        now: Millis,
    ) -> Result<Result<(), Exceeded>, StoreError>;

    /// Records the usage of a turn, replacing an earlier record of it. Fails with
    /// [`StoreError::Failed`] for a turn that was never begun.
    async fn end_turn(&self, lease: &Lease, key: &str, spent: &Spent) -> Result<(), StoreError>;

    /// Returns what agents have used in the repository with this id since the day of `since` (UTC), by
    /// command, the most expensive one first. Turns that have not ended are not included. The figures
    /// are kept for [`USAGE_DAYS`] days, longer than the runs.
    async fn usage(&self, repo: u64, since: Millis) -> Result<Vec<CommandUsage>, StoreError>;

    /// Records a repository in which a run is started, by its present name, for lists.
    async fn record_repository(&self, repo: &Repo) -> Result<(), StoreError>;

    /// Records the plan that the leased run has saved, replacing an earlier record of this run, with
    /// its `entry` in the list of plans. The newest [`MAX_SAVED_PLANS`] of a place are kept,
    /// regardless of age.
    async fn record_saved(
        &self,
        lease: &Lease,
        saved: &SavedPlan,
        entry: &PlanEntry,
    ) -> Result<(), StoreError>;

    /// Returns the plans saved from `place`, newest first, at most [`MAX_SAVED_PLANS`].
    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError>;

    /// Appends a portion of what an agent has printed, redacted. Once a run has [`MAX_OUTPUT`] bytes,
    /// nothing more is stored; the last portion ends with [`OUTPUT_ENDS`]. Deleted with the run.
    async fn append_output(&self, run: &RunId, text: &str, now: Millis) -> Result<(), StoreError>;

    /// Appends to the audit log.
    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// Returns the audit log of one run, oldest first.
    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError>;

    /// Returns queue statistics for health checks and metrics.
    async fn counts(&self) -> Result<QueueCounts, StoreError>;

    /// Deletes runs that ended before `before`, with their effects, messages, audit entries and
    /// deliveries, and decisions made before it. Their spending is kept for another day, because budgets cover 24 hours. Returns
    /// the number of deleted deliveries.
    async fn prune(&self, before: Millis) -> Result<u64, StoreError>;

    /// Deletes deliveries whose runs were all refused for lack of permission and ended before
    /// `before`, with everything that belongs to those runs. These are pruned separately because
    /// anybody can cause such deliveries. Returns the number of deleted deliveries.
    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError>;

    /// Performs one write and one read, for `/readyz`.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Flushes and closes the store; later calls fail.
    async fn close(&self);
}
