//! Plans that were saved: what recognises the same plan when it is asked for again.

use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;

/// How many saved plans of a place are remembered, the newest ones. Each is a row of some 300 bytes
/// that outlives its run.
pub const MAX_SAVED: u32 = 20;

/// A plan that was saved from a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPlan {
    /// The run that saved it.
    pub run: RunId,
    /// When.
    pub at: Millis,
    /// Digest of the plan's text as it was found.
    pub text: String,
    /// Digest of the text and of what was asked for.
    pub request: String,
    /// It is what was asked for; false for a fallback.
    pub complete: bool,
    /// Number of the plan issue.
    pub issue: u64,
    /// Permalink of the plan issue.
    pub url: String,
    /// Number of the plan issue that this one replaces.
    pub replaces: Option<u64>,
}
