//! What an agent prints, read while it comes, in either form.

use super::OutputFormat;
use crate::engine::agent::{Limit, Limits, Micros, Spent};
use crate::formats::agent_stream::{Final, Stream, TEXTS_MAX};

/// How much of standard error is kept: its end, where programs say why they give up.
const TAIL: usize = 16 * 1024;

/// Reads standard output up to the first result.
pub(super) struct Reading {
    form: Form,
    bytes: u64,
    most: u64,
    cost_before: Micros,
}

enum Form {
    Json(Box<Stream>),
    Text(Vec<u8>),
}

/// What was read in the end.
pub(super) enum Read {
    /// Events.
    Json(Box<crate::formats::agent_stream::Summary>),
    /// The answer itself.
    Text(String),
}

impl Reading {
    pub(super) fn new(
        output: OutputFormat,
        max_line_bytes: usize,
        most: u64,
        cost_before: Micros,
    ) -> Self {
        Self {
            form: match output {
                OutputFormat::StreamJson => {
                    Form::Json(Box::new(Stream::with_line_max(max_line_bytes)))
                }
                OutputFormat::Markdown => Form::Text(Vec::new()),
            },
            bytes: 0,
            most,
            cost_before,
        }
    }

    /// Takes the next bytes. A limit that is passed ends the turn; behind a result nothing is read.
    pub(super) fn push(&mut self, bytes: &[u8], limits: &Limits) -> Result<(), Limit> {
        if self.has_result() {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let too_much = match &mut self.form {
            Form::Json(stream) => {
                // Line by line, so that nothing behind a result is counted or kept.
                let mut rest = bytes;
                while !rest.is_empty() && stream.summary().first.is_none() {
                    let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
                    let (line, behind) = rest.split_at(end);
                    stream.push(line, &mut |_| {});
                    rest = behind;
                }
                stream.summary().first.is_none() && stream.summary().too_long > 0
            }
            Form::Text(text) => {
                text.extend_from_slice(bytes);
                text.len() > TEXTS_MAX
            }
        };
        if self.has_result() {
            return Ok(());
        }
        if too_much || self.bytes > self.most {
            return Err(Limit::Output);
        }
        if self.spent().turns > limits.turns {
            return Err(Limit::Turns);
        }
        Ok(())
    }

    /// There is a result: what was asked is answered.
    pub(super) fn has_result(&self) -> bool {
        matches!(&self.form, Form::Json(stream) if stream.summary().first.is_some())
    }

    /// Turns, calls and costs so far; the time is somebody else's.
    pub(super) fn spent(&self) -> Spent {
        match &self.form {
            Form::Json(stream) => spent(stream.summary(), self.cost_before),
            Form::Text(_) => Spent::default(),
        }
    }

    /// The output is over.
    pub(super) fn finish(self) -> Read {
        match self.form {
            // What stands behind a result without a line end is not read either.
            Form::Json(stream) if stream.summary().first.is_some() => {
                Read::Json(Box::new(stream.summary().clone()))
            }
            Form::Json(stream) => Read::Json(Box::new(stream.finish(&mut |_| {}))),
            Form::Text(text) => Read::Text(String::from_utf8_lossy(&text).into_owned()),
        }
    }
}

/// Counted from the events; the costs are those that the result names.
pub(super) fn spent(summary: &crate::formats::agent_stream::Summary, cost_before: Micros) -> Spent {
    let session_cost = summary.first.as_ref().map_or(0, reported);
    Spent {
        turns: u32::try_from(summary.turns).unwrap_or(u32::MAX),
        tools: u32::try_from(summary.tools).unwrap_or(u32::MAX),
        cost: session_cost.saturating_sub(cost_before),
        session_cost,
        millis: 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float becomes the nearest whole number that there is, and what is no number becomes zero"
)]
fn reported(last: &Final) -> Micros {
    last.cost_usd
        .map_or(0, |dollars| (dollars * 1e6).round() as Micros)
}

/// The end of what a program writes to standard error.
#[derive(Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    /// Something before them is gone.
    cut: bool,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cut now and then, not at each write.
        if self.bytes.len() > 4 * TAIL {
            self.bytes.drain(..self.bytes.len() - TAIL);
            self.cut = true;
        }
    }

    /// The last [`TAIL`] bytes as text. A word that is cut is left out: the rest of a secret is not known for one.
    pub(super) fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(TAIL);
        let mut last = self.bytes.get(from..).unwrap_or_default();
        if self.cut || from > 0 {
            let end = last.iter().position(u8::is_ascii_whitespace);
            last = end.and_then(|end| last.get(end..)).unwrap_or_default();
        }
        String::from_utf8_lossy(last).trim().to_owned()
    }
}

#[cfg(test)]
mod tests;
