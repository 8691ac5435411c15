//! From bytes to events.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::LINE_MAX;
use super::event::{Event, read};
use super::summary::Summary;
use crate::session::lines::{Line, Lines};
use crate::session::members::elements;

/// Reads a stream as it comes. Holds one line at most, and the texts of the [`Summary`].
///
/// Lines may end in `\n` or `\r\n`, the last one in nothing; a byte order mark in front of the first and blank lines are
/// passed over.
#[derive(Debug)]
pub struct Stream {
    lines: Lines,
    summary: Summary,
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

impl Stream {
    /// Reads lines up to [`LINE_MAX`].
    pub fn new() -> Self {
        Self::with_line_max(LINE_MAX)
    }

    /// Reads lines up to `bytes` (without their `\n`).
    pub fn with_line_max(bytes: usize) -> Self {
        Self {
            lines: Lines::with_limit(bytes),
            summary: Summary::default(),
        }
    }

    /// Takes the next bytes, cut anywhere, and gives `on` each event that is whole with them.
    pub fn push(&mut self, bytes: &[u8], on: &mut dyn FnMut(&Event)) {
        let Self { lines, summary } = self;
        lines.push(bytes, |line| take(summary, line, on));
    }

    /// The stream is over. What stands after the last line end counts when it is whole.
    pub fn finish(self, on: &mut dyn FnMut(&Event)) -> Summary {
        let Self { lines, mut summary } = self;
        lines.finish(|line| take(&mut summary, line, on));
        summary
    }

    /// What the stream said so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

fn take(summary: &mut Summary, line: Line<'_>, on: &mut dyn FnMut(&Event)) {
    summary.lines += 1;
    let Line::Bytes(line) = line else {
        summary.too_long += 1;
        on(&Event::TooLong);
        return;
    };
    let line = match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if summary.lines == 1 => rest,
        _ => line,
    };
    if line.trim_ascii().is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(line);
    if matches!(text, Cow::Owned(_)) {
        summary.not_utf8 += 1;
    }
    let text = text.trim_ascii();
    if text.starts_with('[') {
        array(summary, text, on);
    } else {
        object(summary, text, on);
    }
}

fn object(summary: &mut Summary, json: &str, on: &mut dyn FnMut(&Event)) {
    match read(json, summary.wants_answers()) {
        Some(read) => {
            let event = summary.add(read);
            on(&event);
            summary.keep(event);
        }
        None => malformed(summary, on),
    }
}

/// An array is read as its elements, unless it is empty or not whole: then it is one malformed line.
fn array(summary: &mut Summary, json: &str, on: &mut dyn FnMut(&Event)) {
    let mut has_elements = false;
    if serde_json::from_str::<IgnoredAny>(json).is_ok() {
        elements(json, |element| {
            has_elements = true;
            object(summary, element, on);
        });
    }
    if !has_elements {
        malformed(summary, on);
    }
}

fn malformed(summary: &mut Summary, on: &mut dyn FnMut(&Event)) {
    summary.malformed += 1;
    on(&Event::Malformed);
}
