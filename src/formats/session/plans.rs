//! Follows the plans of a log, entry by entry, holding the best one and what may still change it.

use std::borrow::Cow;
use std::collections::VecDeque;

use memchr::memmem::{self, Finder};

use super::entry::Entry;
use super::message::{Answer, Block, Call, Change, approved_plan, blocks, change, plan_of};
use super::paths::plan_slug;
use super::plan::{MAX_PLAN_BYTES, PlanSource, SessionPlan};

/// Calls without an answer that are remembered. A session has one or two; beyond it the oldest counts as answered.
const MAX_OPEN: usize = 16;
/// Plan files whose text is remembered, the latest ones. A session has one or two.
const MAX_FILES: usize = 16;

/// Where an entry stands, which all its plans share.
#[derive(Debug, Clone)]
struct Place {
    timestamp: Option<String>,
    line: u64,
    session: Option<String>,
}

/// The best plan so far.
#[derive(Debug)]
struct Best {
    plan: SessionPlan,
    /// The `ExitPlanMode` call that put it to the person.
    call: Option<String>,
}

/// A change of a plan file that has no result yet.
#[derive(Debug)]
struct Pending {
    id: Option<String>,
    slug: String,
    change: Change,
    place: Place,
}

/// A plan file as the log knows it.
#[derive(Debug)]
struct File {
    slug: String,
    text: String,
    stale_edits: u32,
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
        let place = Place {
            timestamp: entry.timestamp(),
            line,
            session: entry.session().map(Cow::into_owned),
        };
        let mut exit_seen = false;
        let mut answered = None;
        for block in blocks(message.or(entry.message()).unwrap_or_default()) {
            match block {
                Block::Call(call) if call.name == EXIT => {
                    exit_seen |= self.exit(&call, &place, exit_seen);
                }
                Block::Call(call) => self.file_call(&call, &place),
                Block::Result(answer) => answered = self.answer(&answer).or(answered),
            }
        }
        if let Some((plan, file)) = result.and_then(approved_plan)
            && (answered.is_some()
                || file
                    .as_deref()
                    .is_some_and(|file| plan_slug(file).is_some()))
        {
            self.offer(
                &plan,
                &place,
                PlanSource::ApprovedPlan,
                answered.as_ref().map(|(id, _)| id.clone()),
                0,
            );
        }
        if let (Some((id, verdict)), Some(best)) = (answered, &mut self.best)
            && best.call.as_ref() == Some(&id)
        {
            best.plan.approved = verdict;
        }
    }

    /// The log is over.
    pub(super) fn finish(mut self) -> (Option<SessionPlan>, u64) {
        while let Some(pending) = self.pending.pop_front() {
            self.commit(pending);
        }
        (self.best.map(|best| best.plan), self.too_large)
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
    fn exit(&mut self, call: &Call<'_>, place: &Place, seen: bool) -> bool {
        let id = call.id.as_deref().map(str::to_owned);
        if let Some(id) = &id {
            if self.exits.len() == MAX_OPEN {
                self.exits.pop_front();
            }
            self.exits.push_back(id.clone());
        }
        match call.input.and_then(plan_of) {
            Some(plan) if !seen => {
                self.offer(&plan, place, PlanSource::ExitPlanMode, id, 0);
                true
            }
            Some(_) => false,
            None => {
                if let Some(best) = self
                    .best
                    .as_mut()
                    .filter(|best| matches!(best.plan.source, PlanSource::PlanFile { .. }))
                {
                    best.call = id;
                }
                false
            }
        }
    }

    fn file_call(&mut self, call: &Call<'_>, place: &Place) {
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
                text: String::new(),
                stale_edits: 0,
            },
            (None, Change::Edits(_)) => return,
        };
        match change {
            Change::Write(text) => (file.text, file.stale_edits) = (text, 0),
            Change::Edits(edits) => {
                let edited = edits
                    .iter()
                    .try_fold(file.text.clone(), |text, edit| edit.apply(&text));
                match edited.filter(|text| text.len() <= MAX_PLAN_BYTES) {
                    Some(text) => file.text = text,
                    None => file.stale_edits += 1,
                }
            }
        }
        let source = PlanSource::PlanFile {
            slug: file.slug.clone(),
        };
        self.offer(&file.text, &place, source, None, file.stale_edits);
        if file.text.len() <= MAX_PLAN_BYTES {
            if self.files.len() == MAX_FILES {
                self.files.pop_front();
            }
            self.files.push_back(file);
        }
    }

    fn offer(
        &mut self,
        text: &str,
        place: &Place,
        source: PlanSource,
        call: Option<String>,
        stale_edits: u32,
    ) {
        if text.len() > MAX_PLAN_BYTES {
            self.too_large += 1;
            return;
        }
        if text.trim().is_empty() && source != PlanSource::ExitPlanMode {
            return;
        }
        let Place {
            timestamp,
            line,
            session,
        } = place.clone();
        let plan = SessionPlan {
            text: text.to_owned(),
            timestamp,
            line,
            session,
            source,
            approved: None,
            stale_edits,
        };
        let wins = self.best.as_ref().is_none_or(|best| {
            plan.is_newer_than(&best.plan)
                || (!best.plan.is_newer_than(&plan)
                    && (best.plan.line > line || same(best, &plan, call.as_ref())))
        });
        if wins {
            self.best = Some(Best { plan, call });
        }
    }
}

/// Whether `plan` is a later state of the best one.
fn same(best: &Best, plan: &SessionPlan, call: Option<&String>) -> bool {
    match &plan.source {
        PlanSource::PlanFile { .. } => best.plan.source == plan.source,
        PlanSource::ApprovedPlan => call.is_some() && best.call.as_ref() == call,
        PlanSource::ExitPlanMode => false,
    }
}
