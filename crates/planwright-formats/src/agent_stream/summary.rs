//! What a stream amounts to.

use super::TEXTS_MAX;
use super::event::{Event, Final, Read, Said};
use super::writes::{Writes, Wrote};

/// What the stream said so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Lines, blank ones too.
    pub lines: u64,
    /// JSON objects: lines and elements of arrays.
    pub events: u64,
    /// Lines, and elements of arrays, that are no JSON objects.
    pub malformed: u64,
    /// Events of a kind that clients are not known to print, or of none.
    pub unknown: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Lines that were not UTF-8; what was wrong is replaced by U+FFFD.
    pub not_utf8: u64,
    /// Beginnings of a session or a turn of it.
    pub inits: u64,
    /// Requests to the model that were repeated.
    pub retries: u64,
    /// Calls that were refused for want of permission, as they happened. [`Final::denials`] is the client's own count.
    pub denials: u64,
    /// `result` events.
    pub results: u64,
    /// Messages of the model, sub-agents' left out. Events of one message follow each other.
    pub turns: u64,
    /// Calls of tools, sub-agents' too.
    pub tools: u64,
    /// The latest session id that any event named.
    pub session: Option<String>,
    /// The first result. It answers what was asked; what comes after it answers something else.
    pub first: Option<Final>,
    /// What the model said, one text for each event, in order; neither sub-agents' nor the client's own words. Whole
    /// texts up to [`TEXTS_MAX`] in all.
    pub texts: Vec<String>,
    /// Files that were written, see [`Self::writes`].
    writes: Writes,
    /// Texts that had no room in [`Self::texts`].
    pub texts_left_out: u64,
    /// Bytes used of [`TEXTS_MAX`].
    texts_bytes: usize,
    /// Id of the latest message of the model.
    message: Option<String>,
}

impl Summary {
    /// Calls of `Write`, in order: the latest [`super::WRITES_MAX`] with at most [`super::WRITTEN_MAX`] bytes in all.
    pub fn writes(&self) -> &[Wrote] {
        &self.writes.0
    }

    /// Whether results of calls are to be read.
    pub(super) fn wants_answers(&self) -> bool {
        self.writes.open()
    }

    /// Adds an event; tells it whether it begins a turn.
    pub(super) fn add(&mut self, read: Read) -> Event {
        let mut event = read.event;
        self.events += 1;
        self.unknown += u64::from(read.unknown);
        if read.session.is_some() {
            self.session = read.session;
        }
        self.writes.answered(&read.answers);
        match &mut event {
            Event::Init { .. } => self.inits += 1,
            Event::Retry { .. } => self.retries += 1,
            Event::Denied { .. } => self.denials += 1,
            Event::Assistant(said) => self.said(said),
            Event::Result(_) => self.results += 1,
            Event::Other { .. } | Event::Malformed | Event::TooLong => {}
        }
        event
    }

    fn said(&mut self, said: &mut Said) {
        self.tools += said.calls;
        self.writes.called(said);
        if said.sub_agent || said.synthetic {
            return;
        }
        // A message without an id is one of its own.
        if said.message.is_none() || said.message != self.message {
            said.new_turn = true;
            self.turns += 1;
            self.message.clone_from(&said.message);
        }
    }

    /// Keeps what is kept of an event that was added.
    pub(super) fn keep(&mut self, event: Event) {
        match event {
            Event::Result(last) if self.first.is_none() => self.first = Some(*last),
            Event::Assistant(said) if !said.sub_agent && !said.synthetic => {
                if let Some(text) = said.text {
                    self.text(text);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: String) {
        let bytes = self.texts_bytes + text.len() + size_of::<String>();
        if bytes <= TEXTS_MAX {
            self.texts_bytes = bytes;
            self.texts.push(text);
        } else {
            self.texts_left_out += 1;
        }
    }
}

/// What a stream and an exit code amount to together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is a result that says success in every place, and the process did not fail.
    Success,
    /// There is a result, and it does not say success.
    AgentError,
    /// The process failed, and no result says why.
    ProcessError,
    /// The process ended well without a result.
    NoResult,
}

/// Judges by the first result and by the exit code: `code` is zero or what the process failed with, for a signal any
/// other number; `None` where it says nothing because the process was ended after its result.
///
/// Neither is enough alone: an interrupted client exits with 0 and an error as its result, and an API that never answers
/// gives the subtype `success`.
pub fn outcome(summary: &Summary, code: Option<i32>) -> Outcome {
    let ended_well = code.is_none_or(|code| code == 0);
    match &summary.first {
        Some(first) if first.failed() => Outcome::AgentError,
        _ if !ended_well => Outcome::ProcessError,
        Some(_) => Outcome::Success,
        None => Outcome::NoResult,
    }
}
