//! The durable memory: deliveries, runs (the queue), effects, audit. Adapters: `adapters::store`.
//!
//! Rules every implementation keeps:
//! - [`Store::accept`] returns only after the delivery and its runs are on disk.
//! - At most one run per `place` is ready, running or waiting; the others are blocked and promoted in order of
//!   acceptance, in the same transaction that ends their predecessor. Runs without a place key are never blocked.
//! - A write under a [`Lease`] is refused with [`StoreError::Fenced`] once the lease is somebody else's.
//! - Effects and audit rows are never deleted before their run.

mod asks;
mod budget;
mod saved;

use std::time::Duration;

use async_trait::async_trait;

pub use self::asks::{AnswerLimits, Ask, Heard, Standing};
pub use self::budget::{Budget, Exceeded, Payer};
pub use self::saved::{MAX_SAVED, SavedPlan};
use crate::engine::model::agent::Spent;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too many deliveries wait to be written: try again later.
    #[error("the store has too many deliveries waiting to be written")]
    Busy,
    /// The lease is no longer ours: stop, write nothing.
    #[error("run {0} is no longer leased by this worker")]
    Fenced(RunId),
    /// The database refused or failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The database holds less than was recorded of it: acknowledged work would be missing.
    #[error("the database has lost changes: {0}")]
    Lost(String),
    /// A row holds something this version cannot read.
    #[error("the store holds an unreadable {what}: {why}")]
    Corrupt {
        /// Which row and column.
        what: String,
        /// Why it cannot be read.
        why: String,
    },
}

/// One webhook request on its way in.
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
    /// What was said where and when (`Trigger::said`): known once, whatever the GUID of the delivery, which is not signed.
    pub said: Option<String>,
    /// The text that all runs have in common. Their triggers come without it, and are handed out with it.
    pub text: Option<String>,
    /// When it arrived.
    pub received: Millis,
    /// The raw body, when the operator keeps payloads for replay.
    pub payload: Option<Vec<u8>>,
    /// The runs it asks for, in order; may be empty when `installation_gone`.
    pub runs: Vec<NewRun>,
    /// The installation was deleted: its unfinished runs are cancelled.
    pub installation_gone: bool,
}

/// One run on its way in.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Id.
    pub id: RunId,
    /// Command word for listings, e.g. `save-plan`.
    pub command: String,
    /// Runs with the same place run one after another; `None` for commands that must not wait (`/cancel`, …).
    pub serial: Option<String>,
    /// Key of the place, always set (`Place::key`).
    pub place: String,
    /// Repository id, for fairness.
    pub repo_id: u64,
    /// Installation id.
    pub installation: u64,
    /// The trigger as JSON.
    pub trigger: String,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// Stored; these runs will be worked on.
    New,
    /// Seen before and not failed: nothing to do.
    Duplicate,
    /// Seen before and its runs had failed: they run again from where they stopped.
    Requeued,
}

/// The right to work on one run until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Run.
    pub run: RunId,
    /// Worker process that holds it.
    pub owner: String,
    /// Counts claims of this run; an older fence is refused.
    pub fence: i64,
}

/// A run that was claimed.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The right to work on it.
    pub lease: Lease,
    /// The trigger as JSON.
    pub trigger: String,
    /// What earlier attempts remembered, as JSON; `None` on the first.
    pub progress: Option<String>,
    /// How often it was claimed to run, this time included. Releases and rate-limit parks do not count.
    pub attempt: u32,
    /// How often it was put back in line after it had ended (`/retry`, redelivery).
    pub round: u32,
    /// Somebody asked to stop it: login of who did.
    pub cancel_requested: Option<String>,
    /// When it was accepted.
    pub created: Millis,
    /// GUID of its delivery.
    pub guid: String,
}

/// How a worker gives a run back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// Ended well.
    Succeeded,
    /// Ended with an error code and the operator's sentence.
    Failed {
        /// Error code of design.md.
        code: String,
        /// What happened, for the operator.
        message: String,
    },
    /// Stopped.
    Cancelled,
    /// Not now: back to waiting until `until`.
    Park {
        /// When it may be claimed again.
        until: Millis,
        /// Why, for `/plan-status` and the operator.
        reason: String,
        /// Whether this counts as an attempt (a fault) or not (a rate limit).
        counts: bool,
    },
    /// Back in line at once; does not count as an attempt.
    Yield,
}

/// What a heartbeat says of one lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// Run.
    pub run: RunId,
    /// Still ours. False: stop and write nothing.
    pub held: bool,
    /// Login of who asked to stop it.
    pub cancel_requested: Option<String>,
}

/// What is known of an effect before it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectState {
    /// Recorded now, for the first time.
    New,
    /// Recorded before, outcome unknown: look before you try again.
    Tried {
        /// When it was first tried.
        since: Millis,
        /// When it was last tried.
        last: Millis,
    },
    /// Known to have happened, with its result as JSON.
    Done(String),
}

/// A run for people: `/plan-status`, pages, logs.
#[derive(Debug, Clone)]
pub struct RunView {
    /// Id.
    pub id: RunId,
    /// Command word.
    pub command: String,
    /// State.
    pub state: State,
    /// The trigger as JSON.
    pub trigger: String,
    /// What it remembers, as JSON.
    pub progress: Option<String>,
    /// Attempts so far.
    pub attempt: u32,
    /// Error code of a failed run.
    pub code: Option<String>,
    /// Why it waits, or what went wrong.
    pub note: Option<String>,
    /// Accepted.
    pub created: Millis,
    /// Ended.
    pub finished: Option<Millis>,
}

/// One line of the append-only audit: who, what, decision, why.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When.
    pub at: Millis,
    /// Run, where there is one.
    pub run: Option<RunId>,
    /// Delivery GUID, where there is one.
    pub guid: Option<String>,
    /// Login of who asked; empty for the bot itself.
    pub actor: String,
    /// What was decided: `accepted`, `refused`, `authorised`, `cancelled`, `saved`, `failed`, …
    pub decision: String,
    /// Why, in one sentence.
    pub why: String,
}

/// Number of runs in each state, and how long the oldest ready one waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// `(state, runs)` for the states that have any.
    pub by_state: Vec<(State, u64)>,
    /// When the oldest ready run was accepted.
    pub oldest_ready: Option<Millis>,
}

/// The longest that a waiting run waits after a start before it is looked at: the longest pause after a fault by default. A
/// run that has to wait longer, for people or a limit, waits on then.
pub const MAX_WAIT_AFTER_START: Duration = Duration::from_mins(5);

/// The durable memory of the bot.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a delivery and its runs, or says that it is known. [`StoreError::Busy`] instead of queueing without bound.
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError>;

    /// Claims one ready run (or a waiting one that is due), fairly across repositories, oldest first within one.
    async fn claim(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Claims a run that nobody has acknowledged and that cannot start at once: blocked, or ready since before
    /// `ready_before`. Its state stays; it cannot be claimed to run until [`Store::acknowledged`] or expiry.
    async fn claim_unacknowledged(
        &self,
        owner: &str,
        now: Millis,
        lease: Duration,
        ready_before: Millis,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Ends an acknowledgement and marks the run acknowledged (also while it is running: its lease stays).
    async fn acknowledged(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Extends the leases; one [`Beat`] for each.
    async fn heartbeat(
        &self,
        leases: &[Lease],
        now: Millis,
        lease: Duration,
    ) -> Result<Vec<Beat>, StoreError>;

    /// Remembers progress (JSON) under the lease.
    async fn remember(&self, lease: &Lease, progress: &str) -> Result<(), StoreError>;

    /// Gives the run back and, when it ended, promotes the next one of its place in the same transaction.
    async fn finish(&self, lease: &Lease, how: &Finish, now: Millis) -> Result<(), StoreError>;

    /// Gives every run of `owner` back as ready, the attempt not counted (graceful shutdown). Returns how many.
    async fn release(&self, owner: &str) -> Result<u64, StoreError>;

    /// Makes runs with an expired lease claimable again; `all` at start of a store that is ours alone. Returns how many.
    ///
    /// With `all`, times that lie ahead count as set by a clock that has been put back since: nothing that waits is due
    /// later than [`MAX_WAIT_AFTER_START`] from `now`, and what was spent was not spent after `now`.
    async fn recover(&self, now: Millis, all: bool) -> Result<u64, StoreError>;

    /// When the next waiting run is due.
    async fn next_due(&self) -> Result<Option<Millis>, StoreError>;

    /// Returns when something may be claimable that was not before. A hint: spurious returns are fine, and nothing that
    /// happened since the last fruitless claim is missed. One waiter is woken, and its claim wakes the next: whoever
    /// returns must try to claim. Call it only with a free hand.
    async fn work_arrived(&self);

    /// Records an effect before it is tried.
    async fn begin_effect(
        &self,
        lease: &Lease,
        key: &str,
        now: Millis,
    ) -> Result<EffectState, StoreError>;

    /// Records that an effect of unknown outcome, looked for and not found, is tried once more.
    async fn retry_effect(&self, lease: &Lease, key: &str, now: Millis) -> Result<(), StoreError>;

    /// Deletes the record of an effect that is not known to have happened and that GitHub refused: nothing was done.
    async fn drop_effect(&self, lease: &Lease, key: &str) -> Result<(), StoreError>;

    /// The effects of a run that are known to have happened: key and result, in order of their keys.
    async fn effects(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError>;

    /// Records that the effect is known to have happened.
    async fn end_effect(
        &self,
        lease: &Lease,
        key: &str,
        result: &str,
        now: Millis,
    ) -> Result<(), StoreError>;

    /// The run with this id.
    async fn run(&self, id: &RunId) -> Result<Option<RunView>, StoreError>;

    /// Serial runs at a place, newest first, at most `limit`; those that were refused are left out.
    async fn runs_at(&self, place: &str, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// The newest runs of all places, for operators, at most `limit`.
    async fn recent_runs(&self, limit: u32) -> Result<Vec<RunView>, StoreError>;

    /// How many unfinished runs of the same place were accepted before this one.
    async fn ahead_of(&self, run: &RunId) -> Result<u64, StoreError>;

    /// Asks every unfinished serial run at `place` that was accepted before `before` to stop; ready and waiting ones
    /// become claimable at once so that they can report. Returns the runs asked.
    async fn request_cancel(
        &self,
        place: &str,
        before: &RunId,
        by: &str,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Puts the newest failed or cancelled serial run at `place` back in line, attempts at zero, cancel cleared.
    async fn requeue_failed(&self, place: &str) -> Result<Option<RunId>, StoreError>;

    /// Leaves a message (JSON) for an unfinished run. A waiting run becomes claimable at once; a running one that parks
    /// afterwards is claimable at once, so no message is slept over. False when the run has ended.
    async fn tell(&self, run: &RunId, message: &str, now: Millis) -> Result<bool, StoreError>;

    /// The messages left for a run, oldest first.
    async fn messages(&self, run: &RunId) -> Result<Vec<String>, StoreError>;

    /// Decides whether the command of the leased run is answered, and records that; what was
    /// decided stays decided. Without a `standing` it says [`Heard::Undecided`] unless the comment
    /// or the actor has asked too often already. A comment of an outsider is answered once, and its
    /// run is deferred: it leaves the line of its place, is claimed when nothing else is ready, and
    /// at most one deferred run of an installation is running.
    async fn hear(
        &self,
        lease: &Lease,
        ask: &Ask,
        standing: Option<Standing>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Result<Heard, StoreError>;

    /// Records that an agent's turn `key` (unique in the run) of the leased run begins, unless a limit of `budget` is
    /// reached: judged and recorded in one transaction. The same key again is allowed and counts once; a run that was
    /// allowed a turn before is not counted a second time against the limits of runs, but costs are judged anew.
    /// Something counts until its age is the hour or the day of its limit.
    async fn begin_turn(
        &self,
        lease: &Lease,
        key: &str,
        payer: Payer,
        budget: &Budget,
        now: Millis,
    ) -> Result<Result<(), Exceeded>, StoreError>;

    /// Records what the turn used, in place of what was recorded of it before. [`StoreError::Failed`] for one that never
    /// began.
    async fn end_turn(&self, lease: &Lease, key: &str, spent: &Spent) -> Result<(), StoreError>;

    /// Records the plan that the leased run has saved, in place of what was recorded of this run before. The newest
    /// [`MAX_SAVED`] of a place are kept, however old they are.
    async fn record_saved(&self, lease: &Lease, saved: &SavedPlan) -> Result<(), StoreError>;

    /// The plans that were saved from `place`, newest first, at most [`MAX_SAVED`].
    async fn saved_at(&self, place: &str) -> Result<Vec<SavedPlan>, StoreError>;

    /// Appends to the audit.
    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// The audit of one run, oldest first.
    async fn audit_of(&self, run: &RunId) -> Result<Vec<AuditEntry>, StoreError>;

    /// Numbers for health checks and metrics.
    async fn counts(&self) -> Result<QueueCounts, StoreError>;

    /// Deletes finished runs, their effects, messages, audit and deliveries that ended before `before`, and what they
    /// spent where it is older by a day, so that no budget forgets. Returns deliveries deleted.
    async fn prune(&self, before: Millis) -> Result<u64, StoreError>;

    /// Deletes deliveries whose runs were all refused for lack of permission and ended before `before`, with everything of
    /// those runs. Anybody can make such deliveries. Returns deliveries deleted.
    async fn prune_refused(&self, before: Millis) -> Result<u64, StoreError>;

    /// A write and a read, for `/readyz`.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Flushes and closes; later calls fail.
    async fn close(&self);
}
