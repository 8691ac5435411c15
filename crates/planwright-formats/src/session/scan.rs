//! Reads a whole log: line by line, in chunks, or at once.

use std::borrow::Cow;

use super::entry::Entry;
use super::lines::{Line, Lines};
use super::plan::SessionPlan;
use super::plans::Plans;

/// Line numbers of malformed lines that are kept.
pub const MAX_MALFORMED_LISTED: usize = 100;
/// Session ids that are kept.
pub const MAX_SESSIONS: usize = 256;
/// Slugs that are kept, the latest ones.
pub const MAX_SLUGS: usize = 64;

/// What a log says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The latest plan; see [`super::plan`] for which one that is.
    pub plan: Option<SessionPlan>,
    /// The plan files the session was given, without repetitions, in the order in which they were **last** named: the
    /// last one is the one in force. (erk orders by first naming, so a session that went back to an earlier file would
    /// get the other one.) At most [`MAX_SLUGS`]. Names are as logged: see [`super::paths::is_safe_name`].
    pub slugs: Vec<String>,
    /// Session ids, without repetitions, in the order in which they came; also those not asked for. At most
    /// [`MAX_SESSIONS`].
    pub sessions: Vec<String>,
    /// The greatest timestamp of the entries that count.
    pub last_timestamp: Option<String>,
    /// The folder that the first entry which counts and has a `cwd` names: where the session was begun.
    pub cwd: Option<String>,
    /// Entries that count: of the session asked for, or of none.
    pub entries: u64,
    /// All lines, blank and skipped ones too.
    pub lines: u64,
    /// Numbers (from 1) of lines that are not JSON objects, the first [`MAX_MALFORMED_LISTED`].
    pub malformed: Vec<u64>,
    /// How many lines are not JSON objects.
    pub malformed_count: u64,
    /// Lines over [`super::lines::MAX_LINE_BYTES`], which were skipped.
    pub too_long: u64,
    /// Texts over [`super::plan::MAX_PLAN_BYTES`], which were not taken for plans.
    pub too_large_plans: u64,
}

/// Reads lines.
#[derive(Debug)]
pub struct Scan {
    wanted: Option<String>,
    plans: Plans,
    found: Scanned,
    /// JSON text of the session id of the line before, and whether it counts: lines of one session follow each other.
    last_session: Option<(String, bool)>,
}

impl Scan {
    /// Reads the entries of `session`, and those that name none; without `session`, all.
    pub fn new(session: Option<&str>) -> Self {
        Self {
            wanted: session.map(str::to_owned),
            plans: Plans::new(),
            found: Scanned::default(),
            last_session: None,
        }
    }

    /// Takes the next line, without its end. Blank lines are skipped; a byte order mark in front of the first is, too.
    pub fn line(&mut self, line: &[u8]) {
        self.found.lines += 1;
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.found.lines == 1 => rest,
            _ => line,
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let Ok(entry) = Entry::parse(line) else {
            self.found.malformed_count += 1;
            if self.found.malformed.len() < MAX_MALFORMED_LISTED {
                self.found.malformed.push(self.found.lines);
            }
            return;
        };
        if !self.counts(&entry) {
            return;
        }
        self.found.entries += 1;
        if let Some(timestamp) = entry.timestamp()
            && self
                .found
                .last_timestamp
                .as_ref()
                .is_none_or(|last| *last < timestamp)
        {
            self.found.last_timestamp = Some(timestamp);
        }
        if self.found.cwd.is_none() {
            self.found.cwd = entry.cwd().map(Cow::into_owned);
        }
        if let Some(slug) = entry.slug() {
            self.slug(&slug);
        }
        self.plans.entry(&entry, self.found.lines);
    }

    /// Counts a line that was not kept because of its length.
    pub fn too_long_line(&mut self) {
        self.found.lines += 1;
        self.found.too_long += 1;
    }

    /// The log is over.
    pub fn finish(mut self) -> Scanned {
        (self.found.plan, self.found.too_large_plans) = self.plans.finish();
        self.found
    }

    fn take(&mut self, line: Line<'_>) {
        match line {
            Line::Bytes(bytes) => self.line(bytes),
            Line::TooLong => self.too_long_line(),
        }
    }

    /// Whether the entry is of the session asked for, or of none.
    fn counts(&mut self, entry: &Entry<'_>) -> bool {
        let Some(json) = entry.session_json else {
            return true;
        };
        if let Some((_, counts)) = self.last_session.as_ref().filter(|(last, _)| last == json) {
            return *counts;
        }
        let Some(session) = entry.session() else {
            return true;
        };
        let counts = self
            .wanted
            .as_deref()
            .is_none_or(|wanted| wanted == session);
        let sessions = &mut self.found.sessions;
        if sessions.len() < MAX_SESSIONS && !sessions.iter().any(|known| *known == session) {
            sessions.push(session.into_owned());
        }
        self.last_session = Some((json.to_owned(), counts));
        counts
    }

    fn slug(&mut self, slug: &str) {
        let slugs = &mut self.found.slugs;
        if slugs.last().is_some_and(|last| last == slug) {
            return;
        }
        let known = slugs.iter().position(|known| known == slug);
        let slug = match known {
            Some(index) => slugs.remove(index),
            None => slug.to_owned(),
        };
        if slugs.len() == MAX_SLUGS {
            slugs.remove(0);
        }
        slugs.push(slug);
    }
}

/// Reads a log in chunks of any size. Holds at most one line.
#[derive(Debug)]
pub struct Feed {
    lines: Lines,
    scan: Scan,
}

impl Feed {
    /// See [`Scan::new`].
    pub fn new(session: Option<&str>) -> Self {
        Self {
            lines: Lines::default(),
            scan: Scan::new(session),
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk, |line| self.scan.take(line));
    }

    /// [`Scanned::cwd`] of the lines so far.
    pub fn cwd(&self) -> Option<&str> {
        self.scan.found.cwd.as_deref()
    }

    /// The log is over, with or without a line end.
    pub fn finish(self) -> Scanned {
        let Self { lines, mut scan } = self;
        lines.finish(|line| scan.take(line));
        scan.finish()
    }
}

/// Reads a log that is in memory.
pub fn scan(log: &[u8], session: Option<&str>) -> Scanned {
    let mut feed = Feed::new(session);
    feed.push(log);
    feed.finish()
}

#[cfg(test)]
mod tests;
