//! Parses one entry of a session log, and the timestamps of entries.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::jsonl::{json_members, string};

/// Maximum length of a directory name, in bytes: `PATH_MAX` of Linux.
const MAX_CWD_BYTES: usize = 4096;

/// Unix times above this are in milliseconds: as seconds they would lie after the year 5138.
const MAX_UNIX_SECONDS: f64 = 1e11;

/// The error for a line that is not UTF-8, not JSON, or not an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the line is not a JSON object")]
pub struct Malformed;

json_members! {
    EntryMembers {
        session: "sessionId", session_id: "session_id", slug: "slug", timestamp: "timestamp",
        cwd: "cwd", message: "message", result: "toolUseResult", tool_use_result: "tool_use_result",
    }
}

/// An entry of a session log, borrowed from its line. Parsing checks the whole line and copies
/// nothing.
///
/// Only members of the entry itself count: `"slug"` in the text of a tool result is text. Logs
/// contain `sessionId` and `toolUseResult`; a saved `--output-format stream-json` contains
/// `session_id` and `tool_use_result` instead.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a>(EntryMembers<'a>);

impl<'a> Entry<'a> {
    /// Parses one line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        let line = std::str::from_utf8(line).map_err(|_| Malformed)?;
        EntryMembers::parse(line).map(Self).map_err(|_| Malformed)
    }

    /// Returns the JSON text of the session id.
    pub(super) fn session_json(&self) -> Option<&'a str> {
        self.0.session.or(self.0.session_id)
    }

    /// Returns the id of the session that the entry belongs to.
    pub fn session(&self) -> Option<Cow<'a, str>> {
        non_empty(self.session_json())
    }

    /// Returns the name of the session's plan file, without `.md`.
    pub fn slug(&self) -> Option<Cow<'a, str>> {
        non_empty(self.0.slug)
    }

    /// Returns the time of the entry in a form that is compared as a string.
    ///
    /// A string is returned as it is. A Unix time in seconds or milliseconds, which some old logs
    /// have, becomes a timestamp such as `2025-11-23T10:00:00.000Z`.
    pub fn timestamp(&self) -> Option<String> {
        normalized_timestamp(self.0.timestamp?)
    }

    /// Returns the working directory; `None` if its name is longer than any directory's can be
    /// (4096 bytes).
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        non_empty(self.0.cwd).filter(|cwd| cwd.len() <= MAX_CWD_BYTES)
    }

    /// Returns the JSON text of `message`.
    pub fn message(&self) -> Option<&'a str> {
        self.0.message
    }

    /// Returns the JSON text of `toolUseResult`: the result of a tool in a form for programs.
    pub fn tool_use_result(&self) -> Option<&'a str> {
        self.0.result.or(self.0.tool_use_result)
    }
}

fn non_empty(json: Option<&str>) -> Option<Cow<'_, str>> {
    string(json?).filter(|text| !text.is_empty())
}

fn normalized_timestamp(json: &str) -> Option<String> {
    if let Some(text) = string(json) {
        return (!text.is_empty()).then(|| text.into_owned());
    }
    let number: f64 = json.parse().ok()?;
    let is_millis = number > MAX_UNIX_SECONDS;
    format_timestamp(if is_millis { number / 1000.0 } else { number })
}

/// Returns the Unix time in seconds of an RFC 3339 timestamp; `None` if it is not one.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of the next 200,000 years fit 2^53"
)]
pub fn parse_timestamp(timestamp: &str) -> Option<f64> {
    let time = DateTime::parse_from_rfc3339(timestamp).ok()?;
    Some(time.timestamp_millis() as f64 / 1000.0)
}

/// Formats a Unix time in seconds as logs do: RFC 3339, UTC, with milliseconds. `None` outside the
/// range of chrono.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, and chrono rejects values out of range"
)]
pub fn format_timestamp(seconds: f64) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp_millis((seconds * 1000.0).round() as i64)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests;
