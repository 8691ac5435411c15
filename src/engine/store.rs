//! The store contract: deliveries, runs (the queue), effects and the audit. Adapters: `adapters::store`.
//!
//! Rules that every implementation keeps:
//! - [`Store::accept`] returns only after the delivery and its runs are on disk.
//! - At most one run per `serial` key is ready, running or waiting; the others are blocked. They are
//!   promoted in order of acceptance, in the same transaction that ends their predecessor. Runs
//!   without a `serial` key are never blocked.
//! - A write under a [`Lease`] fails with [`StoreError::Fenced`] once another worker holds the lease.
//! - Effects and audit entries are never deleted before their run.
//! - Leases end by expiry only. A store that belongs to one process may also take back every lease
//!   when it is opened.

use std::time::Duration;

use async_trait::async_trait;

use crate::engine::model::agent::{Micros, Spent};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;

/// Number of saved plans that are remembered for each issue or pull request, newest first. Each
/// takes some 300 bytes and outlives its run.
pub const MAX_SAVED_PLANS: u32 = 20;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too many deliveries wait to be written: try again later.
    #[error("the store has too many deliveries waiting to be written")]
    Busy,
    /// Another worker holds the lease: stop and write nothing.
    #[error("run {0} is no longer leased by this worker")]
    Fenced(RunId),
    /// The database refused the operation or failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The database holds fewer changes than were recorded: acknowledged work would be missing.
    #[error("the database has lost changes: {0}")]
    Lost(String),
    /// A row holds a value that this version cannot read.
    #[error("the store holds an unreadable {what}: {why}")]
    Corrupt {
        /// Row and column.
        what: String,
        /// Why it cannot be read.
        why: String,
    },
}

/// A webhook request to be stored.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// `X-GitHub-Delivery`.
    pub guid: String,
    /// `X-GitHub-Event`.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// Installation id of the payload.
    pub installation: u64,
    /// Identifies the comment, label or push itself ([`Trigger::said`]). A second delivery with the
    /// same key is a duplicate whatever its GUID, which GitHub does not sign.
    pub dedup_key: Option<String>,
    /// When it arrived.
    pub received: Millis,
    /// The raw body, where the operator keeps payloads for replay.
    pub payload: Option<Vec<u8>>,
    /// The runs that it asks for, in order; may be empty when `installation_gone`.
    pub runs: Vec<NewRun>,
    /// The installation was deleted: its unfinished runs are cancelled.
    pub installation_gone: bool,
}

/// A run to be stored with its delivery.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Id.
    pub id: RunId,
    /// Command word for listings, e.g. `save-plan`.
    pub command: String,
    /// Runs with the same key run one after another; `None` for commands that must not wait
    /// (`/cancel`, …).
    pub serial: Option<String>,
    /// Key of the issue or pull request (`Place::key`); always set.
    pub place: String,
    /// Repository id, for fairness.
    pub repo_id: u64,
    /// Installation id.
    pub installation: u64,
    /// What the run was asked for.
    pub trigger: Trigger,
}

/// How a delivery was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// Stored; its runs are queued.
    New,
    /// Known, and not all of its runs failed: nothing was done.
    Duplicate,
    /// Known, and all of its runs had failed: they are queued again and resume where they stopped.
    Requeued,
}

/// The exclusive right to work on one run until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Run.
    pub run: RunId,
    /// Worker process that holds it.
    pub owner: String,
    /// Number of claims of this run so far; writes with an older fence are refused.
    pub fence: i64,
}

/// A claimed run.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The lease on it.
    pub lease: Lease,
    /// What it was asked for.
    pub trigger: Trigger,
    /// Progress saved by earlier attempts.
    pub progress: Progress,
    /// Number of claims to run it, this one included. Releases and rate-limit parks do not count.
    pub attempt: u32,
    /// Number of times it was queued again after it had ended (`/retry`, redelivery).
    pub round: u32,
    /// Login of the person who asked to cancel it.
    pub cancel_requested: Option<String>,
    /// When it was accepted.
    pub created: Millis,
    /// GUID of its delivery.
    pub guid: String,
}

/// How a worker returns a claimed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed {
        /// Error code.
        code: Code,
        /// What happened, for the operator.
        message: String,
    },
    /// It was cancelled.
    Cancelled,
    /// It waits and may be claimed again at `until`.
    Park {
        /// When it may be claimed again.
        until: Millis,
        /// Reason, for `/plan-status` and the operator.
        reason: String,
        /// Whether this counts as an attempt (a fault) or not (a rate limit).
        counts: bool,
    },
    /// It is ready again at once; this does not count as an attempt.
    Yield,
}

/// The state of one lease after a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Run.
    pub run: RunId,
    /// Whether the lease is still held. If not, stop and write nothing.
    pub held: bool,
    /// Login of the person who asked to cancel the run.
    pub cancel_requested: Option<String>,
}

/// What is recorded of an effect before it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectState {
    /// Recorded now, for the first time.
    New,
    /// Recorded before with unknown outcome: look for it on GitHub before trying again.
    Tried {
        /// When it was first tried.
        since: Millis,
        /// When it was last tried.
        last: Millis,
    },
    /// Known to have happened, with its result as JSON.
    Done(String),
}

/// A run as shown to people: `/plan-status`, pages, logs.
#[derive(Debug, Clone)]
pub struct RunView {
    /// Id.
    pub id: RunId,
    /// Command word.
    pub command: String,
    /// State.
    pub state: State,
    /// What it was asked for; `None` if this version cannot read it.
    pub trigger: Option<Trigger>,
    /// Saved progress; `None` if there is none or this version cannot read it.
    pub progress: Option<Progress>,
    /// Attempts so far.
    pub attempt: u32,
    /// Error code of a failed run.
    pub code: Option<Code>,
    /// Why it waits, or what went wrong.
    pub note: Option<String>,
    /// When it was accepted.
    pub created: Millis,
    /// When it ended.
    pub finished: Option<Millis>,
}

/// An entry of the append-only audit.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// Time.
    pub at: Millis,
    /// Run, if any.
    pub run: Option<RunId>,
    /// Delivery GUID, if any.
    pub guid: Option<String>,
    /// Login of the requester; empty for the bot itself.
    pub actor: String,
    /// What was decided: `accepted`, `refused`, `authorised`, `cancelled`, `saved`, `failed`, …
    pub decision: String,
    /// The reason, in one sentence.
    pub why: String,
}

/// Number of runs in each state, and the age of the oldest ready one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// `(state, runs)` for the states that have any.
    pub by_state: Vec<(State, u64)>,
    /// When the oldest ready run was accepted.
    pub oldest_ready: Option<Millis>,
}

/// A command, and the people and places whose answer budgets it counts against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// Installation id.
    pub installation: u64,
    /// Key of the issue or pull request (`Place::key`).
    pub place: String,
    /// Account id of the requester.
    pub actor: u64,
    /// Id of the comment that holds the command; `None` for labels and pushes.
    pub comment: Option<u64>,
}

/// What the requester's permission means for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActorStanding {
    /// The actor has no triage permission.
    pub outsider: bool,
    /// The actor lacks the permission that the command needs.
    pub refused: bool,
}

/// Maximum number of commands by people without triage permission that are answered within a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// For one person in one installation.
    pub person: u64,
    /// For one issue or pull request.
    pub place: u64,
    /// For one installation.
    pub installation: u64,
    /// Length of the window. A refusal is posted to a person once per window, whatever their role.
    pub window: Duration,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self {
            person: 3,
            place: 5,
            installation: 20,
            window: Duration::from_hours(1),
        }
    }
}

/// Whether a command is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerDecision {
    /// Not decided yet: ask GitHub for the actor's permission.
    Undecided,
    /// It is executed or refused.
    Answer,
    /// It is ignored, with one sentence for the audit.
    Ignore(String),
}

/// The repository and the person whose budgets pay for an agent turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetScope {
    /// Repository id.
    pub repo: u64,
    /// Account id of the person who asked for the run.
    pub actor: u64,
}

/// Limits on what agents may spend; `None` means no limit.
///
/// A run counts once, however many turns it takes, from the moment its first turn is allowed. Costs
/// count from the moment they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Runs of one actor in an hour.
    pub actor_hour_runs: Option<u64>,
    /// Runs of one repository in 24 hours.
    pub repo_day_runs: Option<u64>,
    /// Cost of one repository in 24 hours.
    pub repo_day_cost: Option<Micros>,
    /// Runs of all repositories in 24 hours.
    pub day_runs: Option<u64>,
    /// Cost of all repositories in 24 hours.
    pub day_cost: Option<Micros>,
}

/// The limit of a [`Budget`] that is reached, and when the oldest entry stops counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the same in every variant")]
pub enum Exceeded {
    /// [`Budget::actor_hour_runs`]
    ActorHourRuns { limit: u64, until: Millis },
    /// [`Budget::repo_day_runs`]
    RepoDayRuns { limit: u64, until: Millis },
    /// [`Budget::repo_day_cost`]
    RepoDayCost { limit: Micros, until: Millis },
    /// [`Budget::day_runs`]
    DayRuns { limit: u64, until: Millis },
    /// [`Budget::day_cost`]
    DayCost { limit: Micros, until: Millis },
}

/// A saved plan, remembered so that the same plan is recognised when it is asked for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPlan {
    /// The run that saved it.
    pub run: RunId,
    /// When it was saved.
    pub at: Millis,
    /// Digest of the plan's text as it was found.
    pub text: String,
    /// Digest of the text and of the request.
    pub request: String,
    /// Whether it is what was asked for; false for a fallback.
    pub complete: bool,
    /// Number of the plan issue.
    pub issue: u64,
    /// Permalink of the plan issue.
    pub url: String,
    /// Number of the plan issue that this one replaces.
    pub replaces: Option<u64>,
}

/// Durable storage of deliveries, runs, effects and the audit. See the module documentation for the
/// rules.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a delivery and its runs unless it is known. Fails with [`StoreError::Busy`] instead of
    /// queueing without bound.
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError>;

    /// Claims one ready run (or a waiting one that is due), fairly across repositories, oldest first
    /// within one. A run whose trigger or progress cannot be read fails as
    /// [`Internal`](Code::Internal), and the error is [`StoreError::Corrupt`].
    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Claims a run that is not acknowledged and cannot start at once: blocked, or ready since before
    /// `ready_before`. Its state does not change; it cannot be claimed to run until
    /// [`Store::acknowledged`] or expiry.
    async fn claim_unacknowledged(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        ready_before: Millis,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Marks the run acknowledged and returns a claim made to acknowledge it. A running run keeps its
    /// lease.
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

    /// Returns the run and, if it ended, promotes the next one with its `serial` key in the same
    /// transaction.
    async fn finish(
        &self,
        lease: &Lease,
        outcome: &RunOutcome,
        now: Millis,
    ) -> Result<(), StoreError>;

    /// Makes every run leased by `owner` ready again without counting the attempt (graceful
    /// shutdown). Returns the number of runs.
    async fn release(&self, owner: &str) -> Result<u64, StoreError>;

    /// Makes runs whose lease has expired claimable again. Returns the number of runs.
    async fn recover_expired(&self, now: Millis) -> Result<u64, StoreError>;

    /// Returns when the next waiting run is due.
    async fn next_due(&self) -> Result<Option<Millis>, StoreError>;

    /// Returns when something may be claimable that was not before. Spurious returns are allowed, and
    /// nothing that happened since the last fruitless claim is missed. One waiter is woken, and its
    /// claim wakes the next. Only idle workers may wait here: a woken caller must try to claim.
    async fn work_arrived(&self);

    /// Records an effect before it is tried.
    async fn begin_effect(
        &self,
        lease: &Lease,
        key: &str,
        now: Millis,
    ) -> Result<EffectState, StoreError>;

    /// Records another try of an effect of unknown outcome that was not found on GitHub.
    async fn retry_effect(&self, lease: &Lease, key: &str, now: Millis) -> Result<(), StoreError>;

    /// Deletes the record of an effect that GitHub refused, so that nothing was done. An effect that
    /// is known to have happened is kept.
    async fn drop_effect(&self, lease: &Lease, key: &str) -> Result<(), StoreError>;

    /// Returns key and result (JSON) of the run's effects that are known to have happened, by key.
    async fn effects(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError>;

    /// Records that the effect is known to have happened, with its result (JSON).
    async fn end_effect(
        &self,
        lease: &Lease,
        key: &str,
        result: &str,
        now: Millis,
    ) -> Result<(), StoreError>;

    /// Returns the run with this id.
    async fn run(&self, id: &RunId) -> Result<Option<RunView>, StoreError>;

    /// Returns at most `limit` serial runs at a place, newest first, without those that were refused
    /// for lack of permission.
    async fn runs_at(&self, place: &str, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// Returns at most `limit` runs of all places, newest first, for operators.
    async fn recent_runs(&self, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// Returns the number of unfinished runs with the same `serial` key that were accepted before
    /// this one.
    async fn ahead_of(&self, run: &RunId) -> Result<u64, StoreError>;

    /// Asks every unfinished serial run at `place` that was accepted before `before` to stop. Ready
    /// and waiting ones become claimable at once so that they can report. Returns the runs asked.
    async fn request_cancel(
        &self,
        place: &str,
        before: &RunId,
        by: &str,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Queues the newest failed or cancelled serial run at `place` again, with attempts at zero and
    /// the request to cancel cleared. A run refused for lack of permission is not queued again.
    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError>;

    /// Leaves a message (JSON) for an unfinished run. A waiting run becomes claimable at once, and so
    /// does a running one as soon as it parks. Returns false when the run has ended.
    async fn send_message(
        &self,
        run: &RunId,
        message: &str,
        now: Millis,
    ) -> Result<bool, StoreError>;

    /// Returns the messages left for a run, oldest first.
    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError>;

    /// Decides whether the command of the leased run is answered, and records the decision, which is
    /// final. Without a `standing` the result is [`AnswerDecision::Undecided`] unless the comment or
    /// the actor has already used up its limit.
    ///
    /// A comment of an outsider is answered once, and its run is deferred: it loses its `serial` key
    /// and is claimed when nothing else is ready, and at most one deferred run of an installation
    /// runs at a time.
    async fn decide_answer(
        &self,
        lease: &Lease,
        request: &CommandRequest,
        standing: Option<ActorStanding>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Result<AnswerDecision, StoreError>;

    /// Records that an agent's turn `key` (unique in the run) begins, unless a limit of `budget` is
    /// reached; checked and recorded in one transaction.
    ///
    /// The same key again is allowed and counts once. A run that was allowed a turn before is not
    /// counted again against the limits of runs, but costs are checked again. An entry counts until
    /// it is as old as the window of its limit.
    async fn begin_turn(
        &self,
        lease: &Lease,
        key: &str,
        scope: BudgetScope,
        budget: &Budget,
        now: Millis,
    ) -> Result<Result<(), Exceeded>, StoreError>;

    /// Records what the turn used, replacing an earlier record of it. Fails with
    /// [`StoreError::Failed`] for a turn that never began.
    async fn end_turn(&self, lease: &Lease, key: &str, spent: &Spent) -> Result<(), StoreError>;

    /// Records the plan that the leased run has saved, replacing an earlier record of this run. The
    /// newest [`MAX_SAVED_PLANS`] of a place are kept, however old they are.
    async fn record_saved(&self, lease: &Lease, saved: &SavedPlan) -> Result<(), StoreError>;

    /// Returns the plans saved from `place`, newest first, at most [`MAX_SAVED_PLANS`].
    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError>;

    /// Appends to the audit.
    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// Returns the audit of one run, oldest first.
    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError>;

    /// Returns figures for health checks and metrics.
    async fn counts(&self) -> Result<QueueCounts, StoreError>;

    /// Deletes runs that ended before `before`, with their effects, messages, audit and deliveries.
    /// Spending is kept for another day so that no budget forgets it. Returns the number of
    /// deliveries deleted.
    async fn prune(&self, before: Millis) -> Result<u64, StoreError>;

    /// Deletes deliveries whose runs were all refused for lack of permission and ended before
    /// `before`, with everything of those runs: anybody can cause such deliveries. Returns the number
    /// of deliveries deleted.
    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError>;

    /// Writes and reads once, for `/readyz`.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Flushes and closes the store; later calls fail.
    async fn close(&self);
}
