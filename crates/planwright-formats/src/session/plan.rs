//! The plan of a session: where its text may stand, and which of several texts it is.
//!
//! Three places, by the age of the log:
//!
//! | source | where | since |
//! |---|---|---|
//! | [`PlanSource::ExitPlanMode`] | `input.plan` of the call that ends plan mode | always, not in every version |
//! | [`PlanSource::PlanFile`] | a `Write` to `…/.claude/plans/<slug>.md`, with the later edits of that file | plan files |
//! | [`PlanSource::ApprovedPlan`] | `toolUseResult.plan` of the answer to `ExitPlanMode`, as the person approved it | plan files |
//!
//! **Which one.** The greatest timestamp, compared as strings; no timestamp is the least. Of equals the first, except
//! that a later state of the same thing (the plan file changed again, the approval of the same call) replaces it.
//! erk's rule (2.3), which knows the first source only. In one entry the first `ExitPlanMode` with a plan counts.
//!
//! A plan the person rejected stays the plan: its text is the latest there is. [`SessionPlan::approved`] tells.
//!
//! A write counts when its result says it worked, or when the log ends before the result; a refused one does not. An
//! edit is applied when its old text stands there exactly once (or `replace_all` is set); an edit that worked in the
//! session and cannot be applied here means that the file had been changed from outside: it is left out and counted in
//! [`SessionPlan::stale_edits`]. So is one that would make the text longer than [`MAX_PLAN_BYTES`], and one that comes when
//! the edits of the log have gone over more text than any real ones do.

/// A text longer than this is not taken for a plan: 1 MiB, sixteen times what one GitHub comment holds.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;

/// The plan of a session log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlan {
    /// The text, byte for byte.
    pub text: String,
    /// Time of its entry, in a form that is compared as a string.
    pub timestamp: Option<String>,
    /// Line of its entry, from 1.
    pub line: u64,
    /// `sessionId` of its entry.
    pub session: Option<String>,
    /// Where it stood.
    pub source: PlanSource,
    /// What the person said when asked: approved, not approved; `None` when the log does not say.
    pub approved: Option<bool>,
    /// Edits of the plan file that could not be applied: if not 0, the text is older than the file was.
    pub stale_edits: u32,
}

impl SessionPlan {
    /// What plans are compared by.
    fn time(&self) -> &str {
        self.timestamp.as_deref().unwrap_or_default()
    }

    /// Whether this plan is newer than `other`, by timestamps alone: how plans of several logs are compared, in the
    /// order in which the logs are read.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.time() > other.time()
    }
}

/// Where a plan stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanSource {
    /// In the call that ends plan mode.
    ExitPlanMode,
    /// In the answer to that call.
    ApprovedPlan,
    /// In writes to the plan file of that name.
    PlanFile {
        /// File name without `.md`; safe to use as one.
        slug: String,
    },
}
