//! Finds the plan of a session.
//!
//! A log can contain a plan in three places, depending on its age:
//!
//! | source | where | since |
//! |---|---|---|
//! | [`PlanSource::ExitPlanMode`] | `input.plan` of the call that ends plan mode | always, but not in every version |
//! | [`PlanSource::PlanFile`] | a `Write` to `…/.claude/plans/<slug>.md`, with the later edits of that file | plan files |
//! | [`PlanSource::ApprovedPlan`] | `toolUseResult.plan` of the result of `ExitPlanMode`, as the user approved it | plan files |
//!
//! **Precedence.** The plan with the greatest timestamp wins; timestamps are compared as strings,
//! and a missing one is the least. Among equal timestamps the first plan wins, unless a later one
//! is a new state of the same plan (the plan file changed again, the approval of the same call).
//! This is erk's rule (2.3), which knows the first source only. In one entry the first
//! `ExitPlanMode` with a plan counts.
//!
//! A plan that the user rejected remains the plan, because its text is the latest.
//! [`SessionPlan::approved`] tells.
//!
//! **Plan files.** A write counts if its result reports success or if the log ends before the
//! result. An edit is applied if its old text occurs exactly once, or if `replace_all` is set. An
//! edit that succeeded in the session and cannot be applied here means that the file was changed
//! from outside: it is skipped and counted in [`SessionPlan::stale_edits`]. So is an edit that
//! would make the text longer than [`MAX_PLAN_BYTES`], and one after the edits of the log have
//! processed more text than those of any real session.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use memchr::memmem::{self, Finder};

use super::entry::Entry;
use super::message::{
    Block, Edit, FileChange, ToolResult, ToolUse, for_each_block, parse_change, parse_plan,
};
use super::paths::plan_slug;

/// Maximum size of a plan, in bytes: 1 MiB, sixteen times the size of one GitHub comment. Longer
/// texts are no plans.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;

/// Maximum number of unanswered calls that are tracked; beyond it the oldest counts as answered. A
/// session has one or two.
const MAX_OPEN_CALLS: usize = 16;
/// Maximum number of plan files whose text is tracked, the latest ones. A session has one or two.
const MAX_FILES: usize = 16;
/// Maximum amount of plan text that the edits of one log may read and write, in bytes. An edit
/// costs the whole text, however short its entry is. A thousand edits of a plan of 64 KiB cost half
/// of the limit.
const MAX_EDIT_WORK_BYTES: usize = 256 * 1024 * 1024;

/// The plan of a session log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlan {
    /// The text, byte for byte.
    pub text: String,
    /// Time of the entry, in a form that is compared as a string.
    pub timestamp: Option<String>,
    /// Line number of the entry, from 1.
    pub line: u64,
    /// `sessionId` of the entry.
    pub session: Option<String>,
    /// Where the plan was found.
    pub source: PlanSource,
    /// Whether the user approved the plan; `None` if the log does not say.
    pub approved: Option<bool>,
    /// Number of edits of the plan file that could not be applied. If it is not 0, the text is
    /// older than the file was.
    pub stale_edits: u32,
}

impl SessionPlan {
    /// Whether this plan has a later timestamp than `other`. Plans of several logs are compared
    /// this way, in the order in which the logs are read.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        self.timestamp.as_deref().unwrap_or_default()
            > other.timestamp.as_deref().unwrap_or_default()
    }
}

/// Where a plan was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanSource {
    /// In the call that ends plan mode.
    ExitPlanMode,
    /// In the result of that call.
    ApprovedPlan,
    /// In writes to a plan file.
    PlanFile {
        /// File name without `.md`; safe to use in a path.
        slug: String,
    },
}

/// The origin of an entry, shared by all its plans: an entry may hold many, and its members may be
/// long.
#[derive(Debug)]
struct EntryOrigin {
    timestamp: Option<String>,
    line: u64,
    session: Option<String>,
}

/// A plan that was found, as long as later entries can change or replace it.
#[derive(Debug)]
struct Candidate {
    text: Arc<str>,
    origin: Arc<EntryOrigin>,
    source: PlanSource,
    approved: Option<bool>,
    stale_edits: u32,
    /// Id of the `ExitPlanMode` call that presented the plan to the user.
    call: Option<String>,
}

impl Candidate {
    fn new(text: Arc<str>, origin: Arc<EntryOrigin>, source: PlanSource) -> Self {
        Self {
            text,
            origin,
            source,
            approved: None,
            stale_edits: 0,
            call: None,
        }
    }

    /// As [`SessionPlan::is_newer_than`]. All plans of an entry have the same time; no timestamp is
    /// less than any.
    fn is_newer_than(&self, other: &Self) -> bool {
        !Arc::ptr_eq(&self.origin, &other.origin) && self.origin.timestamp > other.origin.timestamp
    }

    /// Whether this is a later state of the plan `best`.
    fn is_revision_of(&self, best: &Self) -> bool {
        match &self.source {
            PlanSource::PlanFile { .. } => best.source == self.source,
            PlanSource::ApprovedPlan => self.call.is_some() && best.call == self.call,
            PlanSource::ExitPlanMode => false,
        }
    }
}

/// A change of a plan file whose result has not been seen.
#[derive(Debug)]
struct PendingChange {
    id: Option<String>,
    slug: String,
    change: FileChange,
    origin: Arc<EntryOrigin>,
}

/// The state of a plan file according to the log.
#[derive(Debug, Default)]
struct PlanFile {
    slug: String,
    text: Arc<str>,
    is_blank: bool,
    stale_edits: u32,
}

impl PlanFile {
    fn set_text(&mut self, text: &str) {
        self.is_blank = text.trim().is_empty();
        self.text = text.into();
    }
}

/// Finds the plan of a log, entry by entry. Holds the best plan so far and what may still change
/// it.
#[derive(Debug, Default)]
pub(super) struct PlanFinder {
    best: Option<Candidate>,
    pending: VecDeque<PendingChange>,
    /// Ids of `ExitPlanMode` calls without a result.
    open_exits: VecDeque<String>,
    files: VecDeque<PlanFile>,
    /// Number of texts over [`MAX_PLAN_BYTES`].
    too_large: u64,
    /// Bytes used of [`MAX_EDIT_WORK_BYTES`].
    edit_work: usize,
    needles: Needles,
}

/// Substrings of the JSON text of messages that concern plans; a message without them is not
/// parsed.
///
/// With their quotes these are strings or keys of the message itself, because quotes within a text
/// are escaped. Real clients write none of them with escapes; plans of a log that does are not
/// found.
#[derive(Debug)]
struct Needles {
    exit: Finder<'static>,
    folder: Finder<'static>,
    tool_use: Finder<'static>,
    tool_result: Finder<'static>,
    plan: Finder<'static>,
}

impl Default for Needles {
    fn default() -> Self {
        Self {
            exit: Finder::new("\"ExitPlanMode\""),
            folder: Finder::new(".claude"),
            tool_use: Finder::new("\"tool_use\""),
            tool_result: Finder::new("\"tool_result\""),
            plan: Finder::new("\"plan\""),
        }
    }
}

impl PlanFinder {
    /// Processes the entry on line `line`.
    pub(super) fn add_entry(&mut self, entry: &Entry<'_>, line: u64) {
        let message = entry
            .message()
            .filter(|message| self.concerns_plans(message));
        let result = entry
            .tool_use_result()
            .filter(|json| self.needles.plan.find(json.as_bytes()).is_some());
        if message.is_none() && result.is_none() {
            return;
        }
        let origin = Arc::new(EntryOrigin {
            timestamp: entry.timestamp(),
            line,
            session: entry.session().map(Cow::into_owned),
        });
        let mut exit_seen = false;
        let mut answered = None;
        let message = message.or(entry.message()).unwrap_or_default();
        for_each_block(message, |block| match block {
            Block::ToolUse(call) if call.name == "ExitPlanMode" => {
                exit_seen |= self.add_exit(&call, &origin, exit_seen);
            }
            Block::ToolUse(call) => self.add_file_call(&call, &origin),
            Block::ToolResult(result) => {
                if let Some(exit) = self.add_result(&result) {
                    answered = Some(exit);
                }
            }
        });
        if let Some((plan, file)) = result.and_then(parse_plan)
            && (answered.is_some() || file.is_some_and(|file| plan_slug(&file).is_some()))
            && self.fits(&plan)
            && !plan.trim().is_empty()
        {
            let mut plan = Candidate::new((&*plan).into(), origin, PlanSource::ApprovedPlan);
            plan.call = answered.as_ref().map(|(id, _)| id.clone());
            self.offer(plan);
        }
        if let (Some((id, approved)), Some(best)) = (answered, &mut self.best)
            && best.call.as_ref() == Some(&id)
        {
            best.approved = approved;
        }
    }

    /// Ends the log. Returns the plan and the number of texts that were too large for one.
    pub(super) fn finish(mut self) -> (Option<SessionPlan>, u64) {
        while let Some(pending) = self.pending.pop_front() {
            self.commit(pending);
        }
        let plan = self.best.map(|best| SessionPlan {
            text: best.text.as_ref().to_owned(),
            timestamp: best.origin.timestamp.clone(),
            line: best.origin.line,
            session: best.origin.session.clone(),
            source: best.source,
            approved: best.approved,
            stale_edits: best.stale_edits,
        });
        (plan, self.too_large)
    }

    fn concerns_plans(&self, message: &str) -> bool {
        let message = message.as_bytes();
        let has = |needle: &Finder<'_>| needle.find(message).is_some();
        let needles = &self.needles;
        let pending = self
            .pending
            .iter()
            .filter_map(|pending| pending.id.as_ref());
        let mut open_ids = self.open_exits.iter().chain(pending);
        has(&needles.exit)
            || (has(&needles.folder) && has(&needles.tool_use))
            || (!(self.open_exits.is_empty() && self.pending.is_empty())
                && has(&needles.tool_result)
                && open_ids.any(|id| memmem::find(message, id.as_bytes()).is_some()))
    }

    /// Processes an `ExitPlanMode` call. Returns whether it contained a plan that counts. A call
    /// without a plan presents the plan file to the user.
    fn add_exit(&mut self, call: &ToolUse<'_>, origin: &Arc<EntryOrigin>, seen: bool) -> bool {
        let id = call.id.as_deref().map(str::to_owned);
        if let Some(id) = &id {
            if self.open_exits.len() == MAX_OPEN_CALLS {
                self.open_exits.pop_front();
            }
            self.open_exits.push_back(id.clone());
        }
        let Some((plan, _)) = call.input.and_then(parse_plan) else {
            if let Some(best) = &mut self.best
                && matches!(best.source, PlanSource::PlanFile { .. })
            {
                best.call = id;
            }
            return false;
        };
        if !seen && self.fits(&plan) {
            let source = PlanSource::ExitPlanMode;
            let mut plan = Candidate::new((&*plan).into(), origin.clone(), source);
            plan.call = id;
            self.offer(plan);
        }
        !seen
    }

    fn add_file_call(&mut self, call: &ToolUse<'_>, origin: &Arc<EntryOrigin>) {
        let Some((path, change)) = call.input.and_then(|input| parse_change(&call.name, input))
        else {
            return;
        };
        let Some(slug) = plan_slug(&path) else { return };
        let pending = PendingChange {
            id: call.id.as_deref().map(str::to_owned),
            slug: slug.to_owned(),
            change,
            origin: origin.clone(),
        };
        if pending.id.is_none() {
            self.commit(pending);
            return;
        }
        self.pending.push_back(pending);
        if self.pending.len() > MAX_OPEN_CALLS
            && let Some(oldest) = self.pending.pop_front()
        {
            self.commit(oldest);
        }
    }

    /// Processes a result. For one of an `ExitPlanMode` call, returns the call's id and whether the
    /// user approved.
    fn add_result(&mut self, result: &ToolResult<'_>) -> Option<(String, Option<bool>)> {
        let is_answered = |pending: &PendingChange| pending.id.as_deref() == Some(&*result.id);
        if let Some(index) = self.pending.iter().position(is_answered)
            && let Some(pending) = self.pending.remove(index)
            && !result.is_error
        {
            self.commit(pending);
        }
        let index = self.open_exits.iter().position(|id| **id == *result.id)?;
        let id = self.open_exits.remove(index)?;
        Some((id, (!result.is_tool_failure()).then_some(!result.is_error)))
    }

    /// Applies a change to its plan file.
    fn commit(&mut self, pending: PendingChange) {
        let PendingChange { slug, change, .. } = pending;
        let known = self.files.iter().position(|file| file.slug == slug);
        let known = known.and_then(|index| self.files.remove(index));
        if known.is_none() && matches!(change, FileChange::Edits(_)) {
            return;
        }
        let mut file = known.unwrap_or_else(|| PlanFile {
            slug,
            ..PlanFile::default()
        });
        match change {
            FileChange::Write(Some(text)) => {
                file.set_text(&text);
                file.stale_edits = 0;
            }
            FileChange::Write(None) => {
                self.too_large += 1;
                return;
            }
            FileChange::Edits(edits) => {
                let before = file.text.clone();
                match edits.and_then(|edits| self.apply_edits(&before, &edits)) {
                    Some(text) => file.set_text(&text),
                    None => file.stale_edits += 1,
                }
            }
        }
        if !file.is_blank {
            let slug = file.slug.clone();
            let source = PlanSource::PlanFile { slug };
            let mut plan = Candidate::new(file.text.clone(), pending.origin, source);
            plan.stale_edits = file.stale_edits;
            self.offer(plan);
        }
        if self.files.len() == MAX_FILES {
            self.files.pop_front();
        }
        self.files.push_back(file);
    }

    /// Applies all edits; `None` if one fails or the log has used up its [`MAX_EDIT_WORK_BYTES`].
    fn apply_edits<'t>(&mut self, text: &'t str, edits: &[Edit]) -> Option<Cow<'t, str>> {
        let mut text = Cow::Borrowed(text);
        for edit in edits {
            if self.edit_work + text.len() > MAX_EDIT_WORK_BYTES {
                return None;
            }
            self.edit_work += text.len();
            let edited = edit.apply(&text)?;
            self.edit_work += edited.len();
            text = Cow::Owned(edited);
        }
        Some(text)
    }

    /// Whether a text is short enough for a plan; counts it if it is not.
    fn fits(&mut self, text: &str) -> bool {
        let fits = text.len() <= MAX_PLAN_BYTES;
        self.too_large += u64::from(!fits);
        fits
    }

    /// Replaces the best plan if `plan` takes precedence over it.
    fn offer(&mut self, plan: Candidate) {
        let wins = self.best.as_ref().is_none_or(|best| {
            plan.is_newer_than(best)
                || (!best.is_newer_than(&plan)
                    && (best.origin.line > plan.origin.line || plan.is_revision_of(best)))
        });
        if wins {
            self.best = Some(plan);
        }
    }
}
