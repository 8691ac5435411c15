//! What is kept beside the runs: the audit log, saved plans and the output of agents.

use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;

/// An entry of the append-only audit log.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// The time.
    pub at: Millis,
    /// The run, if any.
    pub run: Option<RunId>,
    /// The delivery GUID, if any.
    pub guid: Option<String>,
    /// The login of the requester; empty for the bot itself.
    pub actor: String,
    /// The decision: `accepted`, `refused`, `authorised`, `cancelled`, `saved`, `failed`, …
    pub decision: String,
    /// The reason, in one sentence.
    pub why: String,
}

/// Maximum number of saved plans that are remembered for each issue or pull request, newest first.
/// Each takes about 300 bytes and is kept when its run is deleted.
pub const MAX_SAVED_PLANS: u32 = 20;

/// A record of a saved plan, used to detect that the same plan is saved again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPlan {
    /// The run that saved it.
    pub run: RunId,
    /// The time at which it was saved.
    pub at: Millis,
    /// The digest of the plan's text as it was found.
    pub text: String,
    /// The digest of the text and the request.
    pub request: String,
    /// Whether it is the requested plan; false for a fallback.
    pub complete: bool,
    /// The number of the plan issue.
    pub issue: u64,
    /// The permalink of the plan issue.
    pub url: String,
    /// The number of the plan issue that this one replaces.
    pub replaces: Option<u64>,
}

/// Maximum size of a portion of an agent's output, in bytes (16 KiB).
pub const MAX_OUTPUT_PORTION: usize = 16 * 1024;

/// Size of a run's output after which nothing more is stored, in bytes (4 MiB).
pub const MAX_OUTPUT: u32 = 4 * 1024 * 1024;

/// The end of the output of a run that has printed more than is stored.
pub const OUTPUT_ENDS: &str = "\n[what is printed from here on is not kept]\n";
