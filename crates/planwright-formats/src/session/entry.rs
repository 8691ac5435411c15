//! One entry of a session log: the members of a line that say whose it is and when, and where its message stands.

use std::borrow::Cow;

use super::{members, time};

/// The longest name of a folder, in bytes: `PATH_MAX` of Linux.
const MAX_CWD_BYTES: usize = 4096;

/// Why a line is no entry: it is not UTF-8, not JSON, or not an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the line is not a JSON object")]
pub struct Malformed;

/// An entry, borrowed from its line. Reading it checks the whole line and copies nothing.
///
/// Only members of the entry itself count: `"slug"` in the text of a tool's answer is text. Logs write `sessionId` and
/// `toolUseResult`; a saved `--output-format stream-json` writes `session_id` and `tool_use_result`, which is read too.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub(super) session_json: Option<&'a str>,
    slug_json: Option<&'a str>,
    timestamp_json: Option<&'a str>,
    cwd_json: Option<&'a str>,
    message: Option<&'a str>,
    tool_use_result: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Reads one line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        const NAMES: [&str; 8] = [
            "sessionId",
            "session_id",
            "slug",
            "timestamp",
            "cwd",
            "message",
            "toolUseResult",
            "tool_use_result",
        ];
        let line = std::str::from_utf8(line).map_err(|_| Malformed)?;
        let found = members::members(line, &NAMES).map_err(|_| Malformed)?;
        let [
            session,
            session_id,
            slug,
            timestamp,
            cwd,
            message,
            result,
            tool_use_result,
        ] = found;
        Ok(Self {
            session_json: session.or(session_id),
            slug_json: slug,
            timestamp_json: timestamp,
            cwd_json: cwd,
            message,
            tool_use_result: result.or(tool_use_result),
        })
    }

    /// The session the entry belongs to.
    pub fn session(&self) -> Option<Cow<'a, str>> {
        not_empty(self.session_json)
    }

    /// The name of the session's plan file, without `.md`.
    pub fn slug(&self) -> Option<Cow<'a, str>> {
        not_empty(self.slug_json)
    }

    /// When it was written, in a form that is compared as a string; see [`time`].
    pub fn timestamp(&self) -> Option<String> {
        time::timestamp(self.timestamp_json?)
    }

    /// The folder the session worked in; `None` where its name is longer than 4096 bytes, as no folder's is.
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        not_empty(self.cwd_json).filter(|cwd| cwd.len() <= MAX_CWD_BYTES)
    }

    /// The JSON text of `message`.
    pub fn message(&self) -> Option<&'a str> {
        self.message
    }

    /// The JSON text of `toolUseResult`: what a tool gave, for programs.
    pub fn tool_use_result(&self) -> Option<&'a str> {
        self.tool_use_result
    }
}

fn not_empty(json: Option<&str>) -> Option<Cow<'_, str>> {
    members::text(json?).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
