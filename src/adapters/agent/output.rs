//! Reads the output of an agent as it arrives, in either format.

use memchr::memmem;

use super::OutputFormat;
use crate::engine::model::agent::{Limit, Limits, Micros, Spent, Tokens};
use crate::formats::agent_stream::{Event, MAX_TEXTS_BYTES, ResultEvent, Stream, Summary};

/// Maximum length of the end of standard error that is kept, in bytes. Programs say there why they
/// give up.
const MAX_TAIL_BYTES: usize = 16 * 1024;

/// Begin and end of a key in PEM form.
const PEM_BEGIN: &[u8] = b"-----BEGIN ";
const PEM_END: &[u8] = b"-----END ";

/// Maximum size of what people are shown and was not taken yet, in bytes (1 MiB).
const MAX_SHOWN_BYTES: usize = 1024 * 1024;

/// Reads standard output up to the first result.
pub(super) struct OutputReader {
    format: Format,
    bytes: u64,
    max_bytes: u64,
    cost_before: Micros,
    /// What people are shown and was not taken yet; at most [`MAX_SHOWN_BYTES`].
    shown: Vec<u8>,
}

enum Format {
    Json(Box<Stream>),
    Text(Vec<u8>),
}

/// The complete output of a turn.
pub(super) enum Output {
    /// A summary of the events.
    Json(Box<Summary>),
    /// The answer itself.
    Text(String),
}

impl OutputReader {
    /// Creates a reader. `cost_before` is what the session has cost before this turn.
    pub(super) fn new(
        format: OutputFormat,
        max_line_bytes: usize,
        max_bytes: u64,
        cost_before: Micros,
    ) -> Self {
        Self {
            format: match format {
                OutputFormat::StreamJson => {
                    Format::Json(Box::new(Stream::with_line_max(max_line_bytes)))
                }
                OutputFormat::Markdown => Format::Text(Vec::new()),
            },
            bytes: 0,
            max_bytes,
            cost_before,
            shown: Vec::new(),
        }
    }

    /// Processes the next bytes. What follows a result is ignored.
    ///
    /// # Errors
    /// The limit that is exceeded, which ends the turn.
    pub(super) fn push(&mut self, bytes: &[u8], limits: &Limits) -> Result<(), Limit> {
        if self.has_result() {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let is_too_long = match &mut self.format {
            Format::Json(stream) => {
                // Line by line, so that nothing after a result is counted or kept.
                for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                    stream.push(line, &mut |event| show(&mut self.shown, event));
                    if stream.summary().first.is_some() {
                        return Ok(());
                    }
                }
                stream.summary().too_long > 0
            }
            Format::Text(text) => {
                text.extend_from_slice(bytes);
                if self.shown.len() + bytes.len() <= MAX_SHOWN_BYTES {
                    self.shown.extend_from_slice(bytes);
                }
                text.len() > MAX_TEXTS_BYTES
            }
        };
        if is_too_long || self.bytes > self.max_bytes {
            return Err(Limit::Output);
        }
        if self.spent().turns > limits.turns {
            return Err(Limit::Turns);
        }
        Ok(())
    }

    /// Takes the complete lines for people that have not been taken yet: what the agent writes, and
    /// the names of the tools that it uses. A part of a line, and of a key in PEM form, stays until
    /// the rest has come or the output `is_complete`, because a part of a secret would not be
    /// recognised.
    pub(super) fn take_lines(&mut self, is_complete: bool) -> String {
        let end = if is_complete {
            self.shown.len()
        } else {
            let lines = self.shown.iter().rposition(|byte| *byte == b'\n');
            let lines = lines.map_or(0, |end| end + 1);
            match memmem::rfind(&self.shown, PEM_BEGIN) {
                Some(begin) if memmem::find(&self.shown[begin..], PEM_END).is_none() => {
                    lines.min(begin)
                }
                _ => lines,
            }
        };
        let lines: Vec<u8> = self.shown.drain(..end).collect();
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// Whether the output contains a result. Only event streams have one before their end.
    pub(super) fn has_result(&self) -> bool {
        matches!(&self.format, Format::Json(stream) if stream.summary().first.is_some())
    }

    /// Returns turns, calls and costs so far, without the time.
    pub(super) fn spent(&self) -> Spent {
        match &self.format {
            Format::Json(stream) => spent(stream.summary(), self.cost_before),
            Format::Text(_) => Spent::default(),
        }
    }

    /// Returns the complete output.
    pub(super) fn finish(self) -> Output {
        match self.format {
            // A partial line after the result is ignored like everything after it.
            Format::Json(stream) if stream.summary().first.is_some() => {
                Output::Json(Box::new(stream.summary().clone()))
            }
            Format::Json(stream) => Output::Json(Box::new(stream.finish(&mut |_| {}))),
            Format::Text(text) => Output::Text(String::from_utf8_lossy(&text).into_owned()),
        }
    }
}

/// Adds an event to what people are shown.
fn show(shown: &mut Vec<u8>, event: &Event) {
    let mut line = |text: &str| {
        if shown.len() + text.len() <= MAX_SHOWN_BYTES {
            shown.extend_from_slice(text.as_bytes());
            shown.push(b'\n');
        }
    };
    match event {
        Event::Assistant(event) => {
            if let Some(text) = &event.text {
                line(text);
            }
            for tool in &event.tools {
                line(&format!("[tool: {}]", tool.name));
            }
        }
        Event::Retry { attempt, status } => {
            let attempt = attempt.map_or_else(String::new, |attempt| format!(" {attempt}"));
            let status = status.map_or_else(String::new, |status| format!(", status {status}"));
            line(&format!("[request to the model repeated{attempt}{status}]"));
        }
        Event::Denied { tool } => line(&format!("[tool denied: {tool}]")),
        Event::TooLong => line("[a line that is too long]"),
        Event::Init { .. } | Event::Result(_) | Event::Other { .. } | Event::Malformed => {}
    }
}

/// Returns what a turn has used: counts from the events, costs from the result.
pub(super) fn spent(summary: &Summary, cost_before: Micros) -> Spent {
    let session_cost = summary.first.as_ref().map_or(0, reported_cost);
    let tokens = summary.first.as_ref().map(|result| result.tokens);
    Spent {
        turns: u32::try_from(summary.turns).unwrap_or(u32::MAX),
        tools: u32::try_from(summary.tools).unwrap_or(u32::MAX),
        cost: session_cost.saturating_sub(cost_before),
        tokens: tokens.map_or_else(Tokens::default, |tokens| Tokens {
            input: [tokens.input, tokens.cache_read, tokens.cache_write]
                .into_iter()
                .fold(0, u64::saturating_add),
            cached: tokens.cache_read,
            output: tokens.output,
        }),
        session_cost,
        millis: 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate, and NaN becomes zero"
)]
fn reported_cost(last: &ResultEvent) -> Micros {
    last.cost_usd
        .map_or(0, |dollars| (dollars * 1e6).round() as Micros)
}

/// The end of the standard error of a program.
#[derive(Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    /// Whether earlier bytes have been dropped.
    is_cut: bool,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Dropping the beginning only now and then keeps the cost linear.
        if self.bytes.len() > 4 * MAX_TAIL_BYTES {
            self.bytes.drain(..self.bytes.len() - MAX_TAIL_BYTES);
            self.is_cut = true;
        }
    }

    /// Returns the last [`MAX_TAIL_BYTES`] as text. A word at the cut is left out: a partial secret
    /// would not be recognised.
    pub(super) fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(MAX_TAIL_BYTES);
        let mut last = self.bytes.get(from..).unwrap_or_default();
        if self.is_cut || from > 0 {
            let end = last.iter().position(u8::is_ascii_whitespace);
            last = end.and_then(|end| last.get(end..)).unwrap_or_default();
        }
        String::from_utf8_lossy(last).trim().to_owned()
    }
}

#[cfg(test)]
mod tests;
