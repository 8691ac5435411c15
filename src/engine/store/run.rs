//! Runs: leases, claims, outcomes and what listings display.

use crate::engine::model::failure::Code;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;

/// The exclusive right to work on one run until it expires.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The worker process that holds the lease.
    pub owner: String,
    /// Number of claims of this run so far; writes with an older fence are refused.
    pub fence: i64,
}

/// A claimed run.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The lease on the run.
    pub lease: Lease,
    /// The command that started the run.
    pub trigger: Trigger,
    /// Progress saved by earlier attempts.
    pub progress: Progress,
    /// Number of claims to execute it, including this one. Releases and rate-limit waits do not
    /// count.
    pub attempt: u32,
    /// Number of times that it was queued again after it had ended (`/retry`, redelivery).
    pub round: u32,
    /// The login of the person who requested its cancellation.
    pub cancel_requested: Option<String>,
    /// The time of acceptance.
    pub created: Millis,
    /// The GUID of its delivery.
    pub guid: String,
}

/// The outcome with which a worker returns a claimed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// The run succeeded.
    Succeeded,
    /// The run failed.
    Failed {
        /// The error code.
        code: Code,
        /// A description for the operator.
        message: String,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run waits and may be claimed again at `until`.
    Park {
        /// The time from which it may be claimed again.
        until: Millis,
        /// The reason, for `/plan-status` and the operator.
        reason: String,
        /// Whether this counts as an attempt (a fault) or not (a rate limit).
        counts: bool,
    },
    /// The run is ready again at once. This does not count as an attempt.
    Yield,
}

/// The state of one lease after a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseStatus {
    /// The run.
    pub run: RunId,
    /// Whether the lease is still held. If not, the worker must stop and write nothing.
    pub held: bool,
    /// The login of the person who requested the run's cancellation.
    pub cancel_requested: Option<String>,
}

/// The recorded state of an effect before it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectState {
    /// Recorded now for the first time.
    New,
    /// Recorded before with unknown outcome: look for the result on GitHub before trying again.
    Tried {
        /// The time of the first try.
        since: Millis,
        /// The time of the last try.
        last: Millis,
    },
    /// Known to be done, with its result as JSON.
    Done(String),
}

/// A run as displayed in `/plan-status`, pages and logs.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The id.
    pub id: RunId,
    /// The command word.
    pub command: String,
    /// The state.
    pub state: State,
    /// The command that started the run; `None` if this version cannot read it.
    pub trigger: Option<Trigger>,
    /// Saved progress; `None` if there is none or this version cannot read it.
    pub progress: Option<Progress>,
    /// Number of attempts.
    pub attempt: u32,
    /// The error code of a failed run.
    pub code: Option<Code>,
    /// The reason why it waits or failed.
    pub note: Option<String>,
    /// The time of acceptance.
    pub created: Millis,
    /// The time at which it ended.
    pub finished: Option<Millis>,
}

/// The result of a request to change one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was done.
    Done,
    /// The run is not in a state in which it can be done.
    NotNow,
    /// There is no such run.
    Unknown,
}
