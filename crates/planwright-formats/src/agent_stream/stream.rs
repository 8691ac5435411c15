//! Reads the stream and accumulates its summary.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::event::{AssistantEvent, Event, ParsedEvent, ResultEvent, ToolResult, parse};
use super::{MAX_TEXTS_BYTES, MAX_WRITES, MAX_WRITTEN_BYTES};
use crate::jsonl::{Line, Lines, elements, non_blank};

/// Reads a stream incrementally. Holds at most one line, and what the [`Summary`] keeps.
///
/// Lines end in `\n` or `\r\n`; the last one may have no line end. A byte order mark before the
/// first line and blank lines are skipped.
#[derive(Debug, Default)]
pub struct Stream {
    lines: Lines,
    summary: Summary,
}

impl Stream {
    /// Creates a reader of lines up to [`super::MAX_LINE_BYTES`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a reader of lines up to `bytes` bytes, without their `\n`.
    pub fn with_line_max(bytes: usize) -> Self {
        Self {
            lines: Lines::with_limit(bytes),
            ..Self::default()
        }
    }

    /// Reads the next bytes, split anywhere, and calls `on` for each event that they complete.
    pub fn push(&mut self, bytes: &[u8], on: &mut dyn FnMut(&Event)) {
        let Self { lines, summary } = self;
        lines.push(bytes, |line| summary.add_line(line, on));
    }

    /// Ends the stream. A last line without a line end counts if it is complete.
    pub fn finish(self, on: &mut dyn FnMut(&Event)) -> Summary {
        let Self { lines, mut summary } = self;
        lines.finish(|line| summary.add_line(line, on));
        summary
    }

    /// Returns the summary of the stream so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

/// What a stream contained.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Number of lines, including blank ones.
    pub lines: u64,
    /// Number of JSON objects: lines and elements of arrays.
    pub events: u64,
    /// Number of lines, and elements of arrays, that are not JSON objects.
    pub malformed: u64,
    /// Number of events whose type is missing, or not one that clients are known to print.
    pub unknown: u64,
    /// Number of lines over the limit.
    pub too_long: u64,
    /// Number of lines that were not UTF-8; invalid bytes are replaced by U+FFFD.
    pub not_utf8: u64,
    /// Number of sessions, or turns of them, that began.
    pub inits: u64,
    /// Number of requests to the model that were repeated.
    pub retries: u64,
    /// Number of calls that were denied for lack of permission. [`ResultEvent::denials`] is the
    /// client's own count.
    pub denials: u64,
    /// Number of `result` events.
    pub results: u64,
    /// Number of messages of the model, without those of sub-agents. Events of one message are
    /// consecutive.
    pub turns: u64,
    /// Number of tool calls, including those of sub-agents.
    pub tools: u64,
    /// The session id of the latest event that has one.
    pub session: Option<String>,
    /// The first result. It belongs to the prompt; later results belong to something else.
    pub first: Option<ResultEvent>,
    /// The texts of the model, one per event, in order; without those of sub-agents and of the
    /// client itself. Whole texts up to [`MAX_TEXTS_BYTES`] in total.
    pub texts: Vec<String>,
    /// Number of texts that did not fit into [`Self::texts`].
    pub texts_left_out: u64,
    writes: Vec<FileWrite>,
    /// Bytes used of [`MAX_TEXTS_BYTES`].
    texts_bytes: usize,
    /// Id of the latest message of the model.
    message: Option<String>,
}

/// A file that the agent claims to have written: a `Write` call and its result.
///
/// The file on disk may differ. This tells an agent that wrote to another place from one that never
/// tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// Id of the call.
    id: String,
    /// The path, as the agent wrote it.
    pub path: String,
    /// The whole text.
    pub content: String,
    /// Whether the call succeeded; `None` if no result was seen.
    pub ok: Option<bool>,
}

impl Summary {
    /// Returns the `Write` calls, in order: the latest [`MAX_WRITES`] with at most
    /// [`MAX_WRITTEN_BYTES`] in total.
    pub fn writes(&self) -> &[FileWrite] {
        &self.writes
    }

    fn add_line(&mut self, line: Line<'_>, on: &mut dyn FnMut(&Event)) {
        self.lines += 1;
        let Line::Bytes(line) = line else {
            self.too_long += 1;
            on(&Event::TooLong);
            return;
        };
        let Some(line) = non_blank(line, self.lines) else {
            return;
        };
        let text = String::from_utf8_lossy(line);
        self.not_utf8 += u64::from(matches!(text, Cow::Owned(_)));
        let text = text.trim_ascii();
        if !text.starts_with('[') {
            self.add_object(text, on);
            return;
        }
        // An array is read as its elements. An empty or incomplete one is one malformed line.
        let mut has_elements = false;
        if serde_json::from_str::<IgnoredAny>(text).is_ok() {
            elements(text, |element| {
                has_elements = true;
                self.add_object(element, on);
            });
        }
        if !has_elements {
            self.add_malformed(on);
        }
    }

    fn add_object(&mut self, json: &str, on: &mut dyn FnMut(&Event)) {
        let expects_results = self.writes.iter().any(|write| write.ok.is_none());
        match parse(json, expects_results) {
            Some(parsed) => {
                let event = self.count_event(parsed);
                on(&event);
                self.keep_event(event);
            }
            None => self.add_malformed(on),
        }
    }

    fn add_malformed(&mut self, on: &mut dyn FnMut(&Event)) {
        self.malformed += 1;
        on(&Event::Malformed);
    }

    /// Counts an event, and sets whether it begins a turn.
    fn count_event(&mut self, parsed: ParsedEvent) -> Event {
        let mut event = parsed.event;
        self.events += 1;
        self.unknown += u64::from(parsed.unknown);
        if parsed.session.is_some() {
            self.session = parsed.session;
        }
        self.add_tool_results(&parsed.tool_results);
        match &mut event {
            Event::Init { .. } => self.inits += 1,
            Event::Retry { .. } => self.retries += 1,
            Event::Denied { .. } => self.denials += 1,
            Event::Assistant(event) => self.count_assistant_event(event),
            Event::Result(_) => self.results += 1,
            Event::Other { .. } | Event::Malformed | Event::TooLong => {}
        }
        event
    }

    fn count_assistant_event(&mut self, event: &mut AssistantEvent) {
        self.tools += event.calls;
        // A sub-agent's writes count too: it works in the same directory.
        self.add_writes(event);
        if event.sub_agent || event.synthetic {
            return;
        }
        // An event without a message id is a message of its own.
        if event.message.is_none() || event.message != self.message {
            event.new_turn = true;
            self.turns += 1;
            self.message.clone_from(&event.message);
        }
    }

    /// Moves the contents of a counted event that the summary keeps.
    fn keep_event(&mut self, event: Event) {
        match event {
            Event::Result(result) if self.first.is_none() => self.first = Some(*result),
            Event::Assistant(AssistantEvent {
                text: Some(text),
                sub_agent: false,
                synthetic: false,
                ..
            }) => {
                let bytes = self.texts_bytes + text.len() + size_of::<String>();
                if bytes <= MAX_TEXTS_BYTES {
                    self.texts_bytes = bytes;
                    self.texts.push(text);
                } else {
                    self.texts_left_out += 1;
                }
            }
            _ => {}
        }
    }

    fn add_writes(&mut self, event: &mut AssistantEvent) {
        for tool in &mut event.tools {
            if let Some(write) = tool.write.take() {
                self.writes.push(FileWrite {
                    id: tool.id.clone(),
                    path: write.path,
                    content: write.content,
                    ok: None,
                });
            }
        }
        let is_over_limits = |all: &[FileWrite]| {
            let bytes: usize = all.iter().map(|write| write.content.len()).sum();
            all.len() > MAX_WRITES || bytes > MAX_WRITTEN_BYTES
        };
        while is_over_limits(&self.writes) {
            self.writes.remove(0);
        }
    }

    fn add_tool_results(&mut self, results: &[ToolResult]) {
        for result in results {
            let write = self.writes.iter_mut().rfind(|write| write.id == result.id);
            if let Some(write) = write {
                write.ok = Some(!result.is_error);
            }
        }
    }
}

/// How an agent's process ended, by its stream and its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamOutcome {
    /// The result reports success in every field, and the process did not fail.
    Success,
    /// There is a result, and it does not report success.
    AgentError,
    /// The process failed, and no result says why.
    ProcessError,
    /// The process ended without a failure and without a result.
    NoResult,
}

/// Determines the outcome from the first result and the exit code.
///
/// `code` is the exit code, or any non-zero number for a signal; `None` if it says nothing because
/// the process was killed after its result. Both are needed: an interrupted client exits with 0 and
/// an error as its result, and an API that never answers gives the subtype `success`.
pub fn outcome(summary: &Summary, code: Option<i32>) -> StreamOutcome {
    match &summary.first {
        Some(first) if first.failed() => StreamOutcome::AgentError,
        _ if code.is_some_and(|code| code != 0) => StreamOutcome::ProcessError,
        Some(_) => StreamOutcome::Success,
        None => StreamOutcome::NoResult,
    }
}
