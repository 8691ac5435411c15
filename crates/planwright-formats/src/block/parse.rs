//! Parses blocks: pairs of markers, and the markers that are left over.

use std::collections::HashMap;

use super::marker::{self, Marker, Markers, Name};
use super::pair::{Closers, DETAILS_END};
use super::{Block, Diagnostic, Parsed, TEXT_KEYS, WARNING, body};
use crate::markdown::Lines;

/// Maximum number of times that the rest of a text is parsed anew after a block in which a fence
/// was left open, which hides what follows. After that code is no longer detected. Keeps the work
/// linear.
const MAX_RESTARTS: usize = 8;

/// Parses every block of `text`. What cannot be parsed is reported as a [`Diagnostic`]. Linear in
/// the text's size.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    if marker::is_unmarked(text) {
        return parsed;
    }
    let mut complaints = Vec::new();
    let mut from = 0;
    for left in (0..=MAX_RESTARTS).rev() {
        match pass(text, from, left > 0, &mut parsed.blocks, &mut complaints) {
            Some(next) => from = next,
            None => break,
        }
    }
    parsed.diagnostics = diagnostics(text, complaints);
    parsed
}

/// Parses from byte `from` on. Returns where to restart when a block ends in code that began inside
/// it.
fn pass(
    text: &str,
    from: usize,
    detect_code: bool,
    blocks: &mut Vec<Block>,
    complaints: &mut Vec<(usize, Diagnostic)>,
) -> Option<usize> {
    let markers = marker::scan(text, from, detect_code);
    let mut complain = |key: &str, at: usize, (message, remedy): (&str, &'static str)| {
        let diagnostic = Diagnostic {
            key: key.to_owned(),
            line: 0,
            message: message.to_owned(),
            remedy,
        };
        complaints.push((at, diagnostic));
    };
    let Markers {
        openers,
        closers,
        broken,
        ..
    } = &markers;
    let pairs = Closers::new(text, &markers);
    let visible: Vec<&Marker<'_>> = openers.iter().filter(|opener| !opener.code).collect();
    // Without closing markers they are not used.
    let rivals = if closers.is_empty() {
        Vec::new()
    } else {
        rivals(text, &visible)
    };
    let mut at = from;
    let mut again = None;
    for (index, opener) in visible.iter().enumerate() {
        if opener.span.start < at {
            continue;
        }
        let key = opener.name.key();
        let is_text = TEXT_KEYS.contains(&key);
        let found = pairs.after(opener).filter(|end| {
            let rival = rivals
                .get(index)
                .and_then(|rivals| rivals.to(is_text, end.any));
            rival.is_none_or(|rival| rival > end.span.start)
        });
        let Some(end) = found else {
            let plan = opener.name == Name::OriginalPlan;
            let problem = if plan { UNCLOSED_DETAILS } else { UNCLOSED };
            complain(key, opener.span.start, problem);
            continue;
        };
        let start = warnings(text, at, opener.span.start);
        let body = body::parse(opener.name, text, opener.span.end..end.span.start);
        if let Some((message, remedy)) = body.problem {
            complain(key, opener.span.start, (&message, remedy));
        }
        blocks.push(Block {
            key: key.to_owned(),
            span: start..end.span.end,
            inner: body.inner,
            content: body.content,
        });
        at = end.span.end;
        if end.code {
            again = Some(after_code(text, at));
            break;
        }
    }
    let end = again.unwrap_or(text.len());
    let strays = closers.iter().map(|stray| (stray, stray.name.key(), STRAY));
    let broken = broken.iter().map(|broken| (broken, "", BROKEN));
    for (marker, key, problem) in strays.chain(broken) {
        let start = marker.span.start;
        if !marker.code && start < end && !marker::is_inside(blocks, start) {
            complain(key, start, problem);
        }
    }
    again
}

/// Problems and their remedies.
const UNCLOSED: (&str, &str) = (
    "the block has no closing marker",
    "write `<!-- /erk:metadata-block:KEY -->` with its key on a line of its own below the block",
);
const UNCLOSED_DETAILS: (&str, &str) = (
    "the plan's `<details>` is not closed",
    "write `</details>` on a line of its own below the plan",
);
pub(super) const STRAY: (&str, &str) = (
    "the closing marker has no opening marker",
    "write `<!-- erk:metadata-block:KEY -->` with its key on a line of its own above the block, or remove the closing marker",
);
const BROKEN: (&str, &str) = (
    "the opening marker is not complete",
    "write `<!-- erk:metadata-block:KEY -->` on one line",
);

/// The starts of the next blocks, beyond which a block cannot extend.
#[derive(Clone, Copy, Default)]
struct Rivals {
    /// The next block.
    any: Option<usize>,
    /// The next block of the same name.
    same: Option<usize>,
    /// The next block that directly follows the end of a frame.
    any_framed: Option<usize>,
    /// The next block of the same name that directly follows the end of a frame.
    same_framed: Option<usize>,
}

impl Rivals {
    /// Returns the rival of a block, which ends at the closing marker for any key or at its own.
    ///
    /// A text may quote opening markers, so only a block that directly follows the end of a frame
    /// is a rival to it.
    fn to(self, is_text: bool, any: bool) -> Option<usize> {
        match (is_text, any) {
            (false, true) => self.any,
            (false, false) => self.same,
            (true, true) => self.any_framed,
            (true, false) => self.same_framed,
        }
    }
}

/// Returns the rivals of each opener.
fn rivals(text: &str, visible: &[&Marker<'_>]) -> Vec<Rivals> {
    let mut found = vec![Rivals::default(); visible.len()];
    let mut any = Rivals::default();
    let mut seen: HashMap<Name<'_>, Rivals> = HashMap::new();
    for (index, opener) in visible.iter().enumerate().rev() {
        let same = seen.entry(opener.name).or_default();
        found[index] = Rivals {
            any: any.any,
            any_framed: any.any_framed,
            ..*same
        };
        let start = opener.span.start;
        let floor = index
            .checked_sub(1)
            .map_or(0, |above| visible[above].span.end);
        let above = text[floor..warnings(text, floor, start)].trim_end();
        any.any = Some(start);
        same.same = Some(start);
        if above.ends_with(DETAILS_END) {
            any.any_framed = Some(start);
            same.same_framed = Some(start);
        }
    }
    found
}

/// Returns where to continue after a closing marker in code that ends at byte `at`. A fence there
/// closes that code and must not be taken for the beginning of more.
fn after_code(text: &str, at: usize) -> usize {
    let mut lines = text[at..].split_inclusive('\n');
    let (rest, next) = (
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or_default(),
    );
    let fence = |line: &str| ["```", "~~~"].iter().any(|fence| line.starts_with(fence));
    let bare = |line: &str| line.trim_matches(['`', '~']).is_empty();
    if fence(rest.trim()) {
        at + rest.len()
    } else if rest.trim().is_empty() && fence(next.trim()) && bare(next.trim()) {
        at + rest.len() + next.len()
    } else {
        at
    }
}

/// Returns the complaints, each with its offset, in order and with their lines.
fn diagnostics(text: &str, mut complaints: Vec<(usize, Diagnostic)>) -> Vec<Diagnostic> {
    if complaints.is_empty() {
        return Vec::new();
    }
    complaints.sort_by_key(|(at, _)| *at);
    let lines = Lines::new(text);
    let with_line = |(at, diagnostic)| Diagnostic {
        line: lines.at(at),
        ..diagnostic
    };
    complaints.into_iter().map(with_line).collect()
}

/// Returns the start of the warning lines directly above `opener`, but not before `floor`.
fn warnings(text: &str, floor: usize, opener: usize) -> usize {
    let mut start = opener;
    loop {
        let above = text[floor..start].trim_end_matches([' ', '\t']);
        let Some(above) = above.strip_suffix('\n') else {
            return start;
        };
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let Some(indent) = above[line..].find(WARNING) else {
            return start;
        };
        if above[line..].trim() != WARNING {
            return start;
        }
        start = floor + line + indent;
    }
}
