//! Deliveries with the runs that they request, and the result of storing them.

use crate::engine::model::intake::Source;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;

/// A delivery to be stored.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// The way in which it was received.
    pub source: Source,
    /// The GUID of the delivery.
    pub guid: String,
    /// The name of the event.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// The installation id of the payload.
    pub installation: u64,
    /// Identifies the comment, label or push itself ([`Trigger::dedup_key`]), or the request of an operator.
    /// A second delivery with the same key is a duplicate even with a different GUID, because GitHub
    /// does not sign the GUID.
    pub dedup_key: Option<String>,
    /// The time of arrival.
    pub received: Millis,
    /// The raw body, if the operator has configured the bot to keep payloads for replay.
    pub payload: Option<Vec<u8>>,
    /// The runs that it requests, in order; may be empty if `installation_gone`.
    pub runs: Vec<NewRun>,
    /// Whether the installation was deleted, so that its unfinished runs are cancelled.
    pub installation_gone: bool,
}

/// A run to be stored with its delivery.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The id.
    pub id: RunId,
    /// The command word for listings, e.g. `save-plan`.
    pub command: String,
    /// The key of runs that are executed one after another; `None` for commands that must not wait
    /// (`/cancel`, …).
    pub serial: Option<String>,
    /// The key of the issue or pull request (`IssueRef::key`); always set.
    pub place: String,
    /// The repository id, for fair scheduling.
    pub repo_id: u64,
    /// The installation id.
    pub installation: u64,
    /// The command that started the run.
    pub trigger: Trigger,
}

/// The result of accepting a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// New: it was stored, and its runs are queued.
    New,
    /// Already known, and not all of its runs failed: nothing was done.
    Duplicate,
    /// Already known, and all of its runs had failed: they are queued again and resume at the step
    /// that failed.
    Requeued,
}
