//! The operations of the store: each one executes statements of [`queries`](super::super::queries)
//! and is measured.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

use super::SqlStore;
use crate::adapters::store::group_commit::Pending;
use crate::adapters::store::queries::accept::EncodedDelivery;
use crate::adapters::store::queries::{
    accept, answers, claim, intake, lease, overview, queue, records, replicas, spending, upkeep,
    views,
};
use crate::adapters::store::sqlite::Flush;
use crate::adapters::store::{MAX_CONFLICTS, errors};
use crate::engine::metrics::StoreOperation;
use crate::engine::model::agent::Spent;
use crate::engine::model::intake::{DecisionRecord, LogState, LoggedAttempt, ScanState};
use crate::engine::model::plan_entry::PlanEntry;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::replicas::{PlannedWrite, Replicas, Slot};
use crate::engine::store::{
    Accepted, ActorStanding, AnswerDecision, AnswerLimits, AuditEntry, Budget, BudgetScope, Change,
    ClaimLimits, Claimed, CommandRequest, CommandUsage, EffectState, Exceeded, Lease, LeaseStatus,
    NewDelivery, QueueCounts, QueuePosition, RunOutcome, RunView, SavedPlan, Store, StoreError,
};

#[async_trait]
impl Store for SqlStore {
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError> {
        measure!(self, StoreOperation::Accept, {
            let (result, stored) = oneshot::channel();
            let delivery = EncodedDelivery::new(delivery)?;
            self.queue
                .try_send(Pending { delivery, result })
                .map_err(|error| match error {
                    TrySendError::Full(_) => StoreError::Busy,
                    TrySendError::Closed(_) => errors::closed(),
                })?;
            stored.await.unwrap_or_else(|_| Err(errors::closed()))
        })
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
        read!(self, intake::at_place, repo, number, limit)
    }

    async fn decided(&self, guids: &[&str], since: Millis) -> Result<HashSet<String>, StoreError> {
        read!(self, intake::decided, guids, since)
    }

    async fn decided_comments(
        &self,
        repo: u64,
        comments: &[(u64, u64)],
    ) -> Result<HashSet<u64>, StoreError> {
        read!(self, intake::decided_comments, repo, comments)
    }

    async fn label_accepted(
        &self,
        place: &str,
        label: &str,
        period: (Millis, Millis),
    ) -> Result<bool, StoreError> {
        read!(self, intake::label_accepted, place, label, period)
    }

    async fn log_state(&self) -> Result<Option<LogState>, StoreError> {
        read!(self, intake::log_state)
    }

    async fn save_log_state(
        &self,
        state: &LogState,
        missed: &[LoggedAttempt],
    ) -> Result<(), StoreError> {
        write!(self, intake::save_log_state, state, missed)
    }

    async fn missed(&self, limit: u32) -> Result<Vec<LoggedAttempt>, StoreError> {
        read!(self, intake::missed, limit)
    }

    async fn drop_missed(&self, id: u64) -> Result<(), StoreError> {
        write!(self, intake::drop_missed, id)
    }

    async fn scan_state(&self, repo: u64) -> Result<Option<ScanState>, StoreError> {
        read!(self, intake::scan_state, repo)
    }

    async fn save_scan_state(&self, repo: u64, state: &ScanState) -> Result<(), StoreError> {
        write!(self, intake::save_scan_state, repo, state)
    }

    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        limits: &ClaimLimits,
    ) -> Result<Option<Claimed>, StoreError> {
        let until = now.plus(lease);
        // After a power failure the run is claimed again. What is done with it is flushed, and the
        // claim with it.
        let claimed = write!(
            self as StoreOperation::Claim,
            Flush::Later,
            claim::claim,
            owner,
            now,
            until,
            limits
        )?;
        if claimed.is_some() {
            self.database.wake();
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
        self.database.wake();
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
        // After a power failure nobody holds a lease.
        write!(
            self as StoreOperation::Write,
            Flush::Later,
            lease::heartbeat,
            leases,
            now.plus(lease)
        )
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
        write!(self, queue::finish, lease, outcome, now)
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        let released = write!(self, lease::release, owner)?;
        self.database.wake();
        Ok(released)
    }

    async fn recover_expired(&self, now: Millis) -> Result<u64, StoreError> {
        let recovered = write!(self, lease::recover_expired, now)?;
        self.database.wake();
        Ok(recovered)
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        read!(self, views::next_due)
    }

    async fn work_arrived(&self) {
        self.database.work_arrived().await;
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
        read!(self, records::effects, run)
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
        read!(self, views::run, id)
    }

    async fn runs_at(&self, place: &str, limit: u32) -> Result<Vec<RunView>, StoreError> {
        read!(self, views::runs_at, place, limit)
    }

    async fn recent_runs(&self, limit: u32) -> Result<Vec<RunView>, StoreError> {
        read!(self, views::recent_runs, limit)
    }

    async fn queue_position(&self, run: &RunId) -> Result<QueuePosition, StoreError> {
        read!(self, views::queue_position, run)
    }

    async fn request_cancel(
        &self,
        place: &str,
        before: &RunId,
        by: &str,
    ) -> Result<Vec<RunId>, StoreError> {
        let asked = write!(self, queue::request_cancel, place, before, by)?;
        self.database.wake();
        Ok(asked)
    }

    async fn cancel_run(&self, run: &RunId, entry: &AuditEntry) -> Result<Change, StoreError> {
        let change = write!(self, queue::cancel_run, run, entry)?;
        self.database.wake();
        Ok(change)
    }

    async fn retry_run(&self, run: &RunId, entry: &AuditEntry) -> Result<Change, StoreError> {
        let change = write!(self, queue::retry_run, run, entry)?;
        self.database.wake();
        Ok(change)
    }

    async fn run_again(
        &self,
        run: &RunId,
        repetition: NewDelivery,
        entry: &AuditEntry,
    ) -> Result<(Change, RunId), StoreError> {
        let repetition = EncodedDelivery::new(repetition)?;
        let result = write!(self, accept::run_again, run, &repetition, entry)?;
        self.database.wake();
        Ok(result)
    }

    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError> {
        let requeued = write!(self, queue::requeue_failed, place)?;
        self.database.wake();
        Ok(requeued)
    }

    async fn send_message(
        &self,
        run: &RunId,
        message: &str,
        now: Millis,
    ) -> Result<bool, StoreError> {
        let sent = write!(self, records::send_message, run, message, now)?;
        self.database.wake();
        Ok(sent)
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError> {
        read!(self, records::messages, run)
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
        if standing.is_some_and(|standing| standing.outsider) {
            // The run was deferred, so that the next run of the place may be ready now.
            self.database.wake();
        }
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
        read!(self, spending::usage, repo, since)
    }

    async fn record_repository(&self, repo: &Repo) -> Result<(), StoreError> {
        write!(self, overview::record_repository, repo)
    }

    async fn record_saved(
        &self,
        lease: &Lease,
        saved: &SavedPlan,
        entry: &PlanEntry,
    ) -> Result<(), StoreError> {
        write!(self, records::record_saved, lease, saved, entry)
    }

    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError> {
        read!(self, records::saved_at, place)
    }

    async fn append_output(&self, run: &RunId, text: &str, now: Millis) -> Result<(), StoreError> {
        write!(self, records::append_output, run, text, now)
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        write!(self, records::audit, &entry)
    }

    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError> {
        read!(self, records::audit_of, run)
    }

    async fn counts(&self) -> Result<QueueCounts, StoreError> {
        read!(self, views::counts)
    }

    async fn prune(&self, before: Millis) -> Result<u64, StoreError> {
        let pruned = self
            .prune_all(upkeep::OLD_DELIVERIES.into(), before)
            .await?;
        while !write!(self, upkeep::prune_decisions, before)? {}
        Ok(pruned)
    }

    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError> {
        self.prune_all(upkeep::OLD_REFUSED, before).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        write!(self, upkeep::ping_writer)?;
        read!(self, upkeep::ping_reader)
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
        self.database.close().await;
    }
}

#[async_trait]
impl Replicas for SqlStore {
    async fn lead(
        &self,
        task: &str,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let until = now.plus(lease);
        write!(self, replicas::lead, task, owner, now, until)
    }

    async fn reserve_write(&self, write: PlannedWrite, now: Millis) -> Result<Slot, StoreError> {
        write!(self, replicas::reserve_write, write, now)
    }

    async fn limit_requests(&self, installation: u64, until: Millis) -> Result<(), StoreError> {
        write!(self, replicas::limit_requests, installation, until)
    }
}
