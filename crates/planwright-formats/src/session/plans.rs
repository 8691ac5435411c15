//! Follows the plans of a log, entry by entry, holding the best one and what may still change it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use memchr::memmem::{self, Finder};

use super::entry::Entry;
use super::message::{Answer, Block, Call, Change, Edit, approved_plan, blocks, change, plan_of};
use super::paths::plan_slug;
use super::plan::{MAX_PLAN_BYTES, PlanSource, SessionPlan};

/// Calls without an answer that are remembered. A session has one or two; beyond it the oldest counts as answered.
const MAX_OPEN: usize = 16;
/// Plan files whose text is remembered, the latest ones. A session has one or two.
const MAX_FILES: usize = 16;
/// Bytes of plan files that the edits of one log may go over and write: an edit costs the whole text, however short its
/// entry is. A thousand edits of a plan of 64 KiB cost half of it.
const EDIT_WORK_BYTES: usize = 256 * 1024 * 1024;

/// Where an entry stands, which all its plans share: an entry may hold many, and its members may be long.
#[derive(Debug)]
struct Place {
    timestamp: Option<String>,
    line: u64,
    session: Option<String>,
}

/// The best plan so far.
#[derive(Debug)]
struct Best {
    text: Arc<str>,
    place: Arc<Place>,
    source: PlanSource,
    approved: Option<bool>,
    stale_edits: u32,
    /// The `ExitPlanMode` call that put it to the person.
    call: Option<String>,
}

/// A change of a plan file that has no result yet.
#[derive(Debug)]
struct Pending {
    id: Option<String>,
    slug: String,
    change: Change,
    place: Arc<Place>,
}

/// A plan file as the log knows it.
#[derive(Debug)]
struct File {
    slug: String,
    text: Arc<str>,
    is_blank: bool,
    stale_edits: u32,
}

impl File {
    fn set(&mut self, text: &str) {
        self.is_blank = text.trim().is_empty();
        self.text = text.into();
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Plans {
    best: Option<Best>,
    pending: VecDeque<Pending>,
    exits: VecDeque<String>,
    files: VecDeque<File>,
    /// Texts over [`MAX_PLAN_BYTES`].
    too_large: u64,
    /// What is left of [`EDIT_WORK_BYTES`].
    work: usize,
    signs: Signs,
}

/// What a message that has to do with plans contains, as JSON text. With their quotes these are strings or keys of the
/// message itself: within a text the quotes are escaped. Looked for before anything is taken apart; tools write none of
/// them with escapes, and a log that does is read without those plans.
#[derive(Debug)]
struct Signs {
    exit: Finder<'static>,
    folder: Finder<'static>,
    call: Finder<'static>,
    result: Finder<'static>,
    plan: Finder<'static>,
}

const EXIT: &str = "ExitPlanMode";

impl Plans {
    pub(super) fn new() -> Self {
        Self {
            best: None,
            pending: VecDeque::new(),
            exits: VecDeque::new(),
            files: VecDeque::new(),
            too_large: 0,
            work: EDIT_WORK_BYTES,
            signs: Signs {
                exit: Finder::new("\"ExitPlanMode\""),
                folder: Finder::new(".claude"),
                call: Finder::new("\"tool_use\""),
                result: Finder::new("\"tool_result\""),
                plan: Finder::new("\"plan\""),
            },
        }
    }

    /// Looks at the entry on line `line`.
    pub(super) fn entry(&mut self, entry: &Entry<'_>, line: u64) {
        let message = entry.message().filter(|message| self.concerns(message));
        let result = entry
            .tool_use_result()
            .filter(|json| self.signs.plan.find(json.as_bytes()).is_some());
        if message.is_none() && result.is_none() {
            return;
        }
        let place = Arc::new(Place {
            timestamp: entry.timestamp(),
            line,
            session: entry.session().map(Cow::into_owned),
        });
        let mut exit_seen = false;
        let mut answered = None;
        blocks(
            message.or(entry.message()).unwrap_or_default(),
            |block| match block {
                Block::Call(call) if call.name == EXIT => {
                    exit_seen |= self.exit(&call, &place, exit_seen);
                }
                Block::Call(call) => self.file_call(&call, &place),
                Block::Result(answer) => {
                    if let Some(of_exit) = self.answer(&answer) {
                        answered = Some(of_exit);
                    }
                }
            },
        );
        if let Some((plan, file)) = result.and_then(approved_plan)
            && (answered.is_some()
                || file
                    .as_deref()
                    .is_some_and(|file| plan_slug(file).is_some()))
            && self.is_allowed(&plan)
            && !plan.trim().is_empty()
        {
            self.offer(Best {
                text: (&*plan).into(),
                place,
                source: PlanSource::ApprovedPlan,
                call: answered.as_ref().map(|(id, _)| id.clone()),
                approved: None,
                stale_edits: 0,
            });
        }
        if let (Some((id, verdict)), Some(best)) = (answered, &mut self.best)
            && best.call.as_ref() == Some(&id)
        {
            best.approved = verdict;
        }
    }

    /// The log is over.
    pub(super) fn finish(mut self) -> (Option<SessionPlan>, u64) {
        while let Some(pending) = self.pending.pop_front() {
            self.commit(pending);
        }
        let plan = self.best.map(|best| SessionPlan {
            text: best.text.as_ref().to_owned(),
            timestamp: best.place.timestamp.clone(),
            line: best.place.line,
            session: best.place.session.clone(),
            source: best.source,
            approved: best.approved,
            stale_edits: best.stale_edits,
        });
        (plan, self.too_large)
    }

    fn concerns(&self, message: &str) -> bool {
        let message = message.as_bytes();
        let has = |sign: &Finder<'_>| sign.find(message).is_some();
        let signs = &self.signs;
        let mut open = self.exits.iter().chain(
            self.pending
                .iter()
                .filter_map(|pending| pending.id.as_ref()),
        );
        has(&signs.exit)
            || (has(&signs.folder) && has(&signs.call))
            || (!(self.exits.is_empty() && self.pending.is_empty())
                && has(&signs.result)
                && open.any(|id| memmem::find(message, id.as_bytes()).is_some()))
    }

    /// An `ExitPlanMode` call; true when it brought a plan. One without a plan puts the plan file to the person.
    fn exit(&mut self, call: &Call<'_>, place: &Arc<Place>, seen: bool) -> bool {
        let id = call.id.as_deref().map(str::to_owned);
        if let Some(id) = &id {
            if self.exits.len() == MAX_OPEN {
                self.exits.pop_front();
            }
            self.exits.push_back(id.clone());
        }
        match call.input.and_then(plan_of) {
            Some(plan) if !seen => {
                if self.is_allowed(&plan) {
                    self.offer(Best {
                        text: (&*plan).into(),
                        place: place.clone(),
                        source: PlanSource::ExitPlanMode,
                        call: id,
                        approved: None,
                        stale_edits: 0,
                    });
                }
                true
            }
            Some(_) => false,
            None => {
                if let Some(best) = self
                    .best
                    .as_mut()
                    .filter(|best| matches!(best.source, PlanSource::PlanFile { .. }))
                {
                    best.call = id;
                }
                false
            }
        }
    }

    fn file_call(&mut self, call: &Call<'_>, place: &Arc<Place>) {
        let Some((path, change)) = call.input.and_then(|input| change(&call.name, input)) else {
            return;
        };
        let Some(slug) = plan_slug(&path) else { return };
        let id = call.id.as_deref().map(str::to_owned);
        let at_once = id.is_none();
        self.pending.push_back(Pending {
            id,
            slug: slug.to_owned(),
            change,
            place: place.clone(),
        });
        if at_once || self.pending.len() > MAX_OPEN {
            let index = if at_once { self.pending.len() - 1 } else { 0 };
            if let Some(pending) = self.pending.remove(index) {
                self.commit(pending);
            }
        }
    }

    /// A result; of an `ExitPlanMode` call its id and what the person said.
    fn answer(&mut self, answer: &Answer<'_>) -> Option<(String, Option<bool>)> {
        if let Some(index) = self
            .pending
            .iter()
            .position(|pending| pending.id.as_deref() == Some(&*answer.id))
            && let Some(pending) = self.pending.remove(index)
            && !answer.is_error
        {
            self.commit(pending);
        }
        let index = self.exits.iter().position(|id| **id == *answer.id)?;
        let id = self.exits.remove(index)?;
        Some((id, (!answer.is_tool_failure()).then_some(!answer.is_error)))
    }

    /// A change that was made.
    fn commit(&mut self, pending: Pending) {
        let Pending {
            slug,
            change,
            place,
            ..
        } = pending;
        let known = self.files.iter().position(|file| file.slug == slug);
        let mut file = match (known.and_then(|index| self.files.remove(index)), &change) {
            (Some(file), _) => file,
            (None, Change::Write(_)) => File {
                slug,
                text: Arc::default(),
                is_blank: true,
                stale_edits: 0,
            },
            (None, Change::Edits(_)) => return,
        };
        match change {
            Change::Write(Some(text)) => {
                file.set(&text);
                file.stale_edits = 0;
            }
            Change::Write(None) => {
                self.too_large += 1;
                return;
            }
            Change::Edits(edits) => {
                let before = file.text.clone();
                match edits.and_then(|edits| self.edited(&before, &edits)) {
                    Some(text) => file.set(&text),
                    None => file.stale_edits += 1,
                }
            }
        }
        if !file.is_blank {
            self.offer(Best {
                text: file.text.clone(),
                place,
                source: PlanSource::PlanFile {
                    slug: file.slug.clone(),
                },
                call: None,
                approved: None,
                stale_edits: file.stale_edits,
            });
        }
        if self.files.len() == MAX_FILES {
            self.files.pop_front();
        }
        self.files.push_back(file);
    }

    /// The text with all edits made, while the log has work left.
    fn edited<'t>(&mut self, text: &'t str, edits: &[Edit]) -> Option<Cow<'t, str>> {
        let mut text = Cow::Borrowed(text);
        for edit in edits {
            self.work = self.work.checked_sub(text.len())?;
            let edited = edit.apply(&text)?;
            self.work = self.work.saturating_sub(edited.len());
            text = Cow::Owned(edited);
        }
        Some(text)
    }

    /// Whether a text is short enough for a plan; counts it when it is not.
    fn is_allowed(&mut self, text: &str) -> bool {
        let is_allowed = text.len() <= MAX_PLAN_BYTES;
        self.too_large += u64::from(!is_allowed);
        is_allowed
    }

    fn offer(&mut self, plan: Best) {
        let wins = self.best.as_ref().is_none_or(|best| {
            is_newer(&plan.place, &best.place)
                || (!is_newer(&best.place, &plan.place)
                    && (best.place.line > plan.place.line || same(best, &plan)))
        });
        if wins {
            self.best = Some(plan);
        }
    }
}

/// As [`SessionPlan::is_newer_than`]. All plans of an entry are of one time.
fn is_newer(place: &Arc<Place>, other: &Arc<Place>) -> bool {
    // Nothing is less than any text.
    !Arc::ptr_eq(place, other) && place.timestamp > other.timestamp
}

/// Whether `plan` is a later state of the best one.
fn same(best: &Best, plan: &Best) -> bool {
    match &plan.source {
        PlanSource::PlanFile { .. } => best.source == plan.source,
        PlanSource::ApprovedPlan => plan.call.is_some() && best.call == plan.call,
        PlanSource::ExitPlanMode => false,
    }
}
