//! Scans a whole log for its plan, plan files and sessions.

use std::borrow::Cow;

use super::entry::Entry;
use super::plan::{PlanFinder, SessionPlan};
use crate::jsonl::{Line, Lines, non_blank};

/// Maximum number of line numbers of malformed lines that are kept.
const MAX_MALFORMED_LISTED: usize = 100;
/// Maximum number of session ids that are kept.
const MAX_SESSIONS: usize = 256;
/// Maximum number of slugs that are kept, the latest ones.
const MAX_SLUGS: usize = 64;

/// What a log contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanResult {
    /// The plan; see [`super::plan`] for its definition.
    pub plan: Option<SessionPlan>,
    /// Slugs of the session's plan files, without duplicates, in the order of their **last**
    /// mention: the last one is current. At most 64. Slugs are as logged: see
    /// [`super::paths::is_safe_name`].
    ///
    /// (erk orders by first mention, so a session that returned to an earlier file would get the
    /// wrong one.)
    pub slugs: Vec<String>,
    /// Session ids, without duplicates, in order of appearance, including those that were not
    /// requested. At most 256.
    pub sessions: Vec<String>,
    /// The greatest timestamp of the entries that count.
    pub last_timestamp: Option<String>,
    /// The directory that the session started in: the first `cwd` of the entries that count.
    pub cwd: Option<String>,
    /// Number of entries that count: those of the requested session and those without a session id.
    pub entries: u64,
    /// Number of lines, including blank and skipped ones.
    pub lines: u64,
    /// Line numbers (from 1) of lines that are not JSON objects, the first 100.
    pub malformed: Vec<u64>,
    /// Number of lines that are not JSON objects.
    pub malformed_count: u64,
    /// Number of lines over [`super::MAX_LINE_BYTES`], which were skipped.
    pub too_long: u64,
    /// Number of texts over [`super::plan::MAX_PLAN_BYTES`], which were not accepted as plans.
    pub too_large_plans: u64,
}

/// Scans a log in chunks of any size. Holds at most one line.
#[derive(Debug)]
pub struct Scanner {
    lines: Lines,
    scan: Scan,
}

impl Scanner {
    /// Creates a scanner for the entries of `session` and those without a session id; for all
    /// entries if `None`.
    pub fn new(session: Option<&str>) -> Self {
        Self {
            lines: Lines::default(),
            scan: Scan {
                requested: session.map(str::to_owned),
                ..Scan::default()
            },
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk, |line| self.scan.add_line(line));
    }

    /// Returns [`ScanResult::cwd`] for the lines so far.
    pub fn cwd(&self) -> Option<&str> {
        self.scan.result.cwd.as_deref()
    }

    /// Ends the log, with or without a line end.
    pub fn finish(self) -> ScanResult {
        let Self { lines, mut scan } = self;
        lines.finish(|line| scan.add_line(line));
        (scan.result.plan, scan.result.too_large_plans) = scan.plans.finish();
        scan.result
    }
}

/// Scans a log that is in memory; see [`Scanner::new`].
pub fn scan(log: &[u8], session: Option<&str>) -> ScanResult {
    let mut scanner = Scanner::new(session);
    scanner.push(log);
    scanner.finish()
}

/// The state of a scan between lines.
#[derive(Debug, Default)]
struct Scan {
    requested: Option<String>,
    plans: PlanFinder,
    result: ScanResult,
    /// JSON text of the previous session id, and whether it counts: lines of one session are
    /// consecutive.
    last_session: Option<(String, bool)>,
}

impl Scan {
    fn add_line(&mut self, line: Line<'_>) {
        let result = &mut self.result;
        result.lines += 1;
        let Line::Bytes(line) = line else {
            result.too_long += 1;
            return;
        };
        let Some(line) = non_blank(line, result.lines) else {
            return;
        };
        let Ok(entry) = Entry::parse(line) else {
            result.malformed_count += 1;
            if result.malformed.len() < MAX_MALFORMED_LISTED {
                result.malformed.push(result.lines);
            }
            return;
        };
        if !self.is_requested(&entry) {
            return;
        }
        let result = &mut self.result;
        result.entries += 1;
        let timestamp = entry.timestamp();
        // No timestamp is less than any.
        if timestamp > result.last_timestamp {
            result.last_timestamp = timestamp;
        }
        if result.cwd.is_none() {
            result.cwd = entry.cwd().map(Cow::into_owned);
        }
        if let Some(slug) = entry.slug() {
            add_slug(&mut result.slugs, &slug);
        }
        self.plans.add_entry(&entry, result.lines);
    }

    /// Whether the entry belongs to the requested session, or to none.
    fn is_requested(&mut self, entry: &Entry<'_>) -> bool {
        let Some(json) = entry.session_json() else {
            return true;
        };
        if let Some((_, counts)) = self.last_session.as_ref().filter(|(last, _)| last == json) {
            return *counts;
        }
        let Some(session) = entry.session() else {
            return true;
        };
        let requested = self.requested.as_deref();
        let counts = requested.is_none_or(|requested| requested == session);
        let sessions = &mut self.result.sessions;
        if sessions.len() < MAX_SESSIONS && !sessions.iter().any(|known| *known == session) {
            sessions.push(session.into_owned());
        }
        self.last_session = Some((json.to_owned(), counts));
        counts
    }
}

/// Moves `slug` to the end of `slugs`, or adds it there.
fn add_slug(slugs: &mut Vec<String>, slug: &str) {
    if slugs.last().is_some_and(|last| last == slug) {
        return;
    }
    let slug = match slugs.iter().position(|known| known == slug) {
        Some(index) => slugs.remove(index),
        None => slug.to_owned(),
    };
    if slugs.len() == MAX_SLUGS {
        slugs.remove(0);
    }
    slugs.push(slug);
}

#[cfg(test)]
mod tests;
