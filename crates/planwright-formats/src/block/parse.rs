//! Finds blocks: pairs of markers, and what is left over.

use std::collections::HashMap;
use std::ops::Range;

use super::marker::{self, Marker, Markers, Name};
use super::pair::{Closers, DETAILS_END};
use super::{Block, Diagnostic, Parsed, TEXT_KEYS, WARNING, body};

/// A fence that is open inside a block hides what follows; for so many blocks the rest is parsed afresh, then
/// everything counts as visible. Keeps the work linear.
const FRESH_STARTS: usize = 8;

/// Reads every block of `text`. Never fails: what cannot be read is a [`Diagnostic`]. Linear in the text's size.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    if marker::none(text) {
        return parsed;
    }
    let mut complaints = Vec::new();
    let mut from = 0;
    for left in (0..=FRESH_STARTS).rev() {
        match pass(text, from, left > 0, &mut parsed.blocks, &mut complaints) {
            Some(next) => from = next,
            None => break,
        }
    }
    parsed.diagnostics = diagnostics(text, complaints);
    parsed
}

/// A diagnostic whose line is not known yet.
struct Complaint<'a> {
    key: &'a str,
    at: usize,
    message: String,
    remedy: &'static str,
}

/// Reads from byte `from`. Returns where to start afresh when a block ends in code that began inside it.
fn pass<'a>(
    text: &'a str,
    from: usize,
    heed_code: bool,
    blocks: &mut Vec<Block>,
    complaints: &mut Vec<Complaint<'a>>,
) -> Option<usize> {
    let markers = marker::scan(text, from, heed_code);
    let mut complain = |key: &'a str, at: usize, message: String, remedy: &'static str| {
        complaints.push(Complaint {
            key,
            at,
            message,
            remedy,
        });
    };
    let Markers {
        openers,
        closers,
        broken,
        ..
    } = &markers;
    let pairs = Closers::new(text, &markers);
    let visible: Vec<&Marker<'a>> = openers.iter().filter(|opener| !opener.code).collect();
    // Without closing markers nobody asks.
    let rivals = if closers.is_empty() {
        Vec::new()
    } else {
        rivals(text, &visible)
    };
    let mut at = from;
    let mut used = 0;
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
            let (message, remedy) = if opener.name == Name::OriginalPlan {
                UNCLOSED_DETAILS
            } else {
                UNCLOSED
            };
            complain(key, opener.span.start, message.to_owned(), remedy);
            continue;
        };
        for stray in closers[used..]
            .iter()
            .take_while(|stray| stray.span.start < opener.span.start)
        {
            if !stray.code && stray.span.start >= at {
                complain(
                    stray.name.key(),
                    stray.span.start,
                    STRAY.0.to_owned(),
                    STRAY.1,
                );
            }
        }
        used = closers.partition_point(|other| other.span.start < end.span.end);
        let start = warnings(text, at, opener.span.start);
        let body = body::read(opener.name, text, opener.span.end..end.span.start);
        if let Some((message, remedy)) = body.problem {
            complain(key, opener.span.start, message, remedy);
        }
        blocks.push(Block {
            key: key.to_owned(),
            span: start..end.span.end,
            inner: body.inner,
            content: body.content,
        });
        at = end.span.end;
        if end.code {
            again = Some(below_code(text, at));
            break;
        }
    }
    let seen = again.unwrap_or(text.len());
    for stray in &closers[used..] {
        if !stray.code && (at..seen).contains(&stray.span.start) {
            complain(
                stray.name.key(),
                stray.span.start,
                STRAY.0.to_owned(),
                STRAY.1,
            );
        }
    }
    for half in broken {
        if !half.code && half.span.start < seen && !inside(blocks, half.span.start) {
            complain("", half.span.start, BROKEN.0.to_owned(), BROKEN.1);
        }
    }
    again
}

/// What is wrong, and what to do about it.
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

/// Where the next blocks begin that a block cannot reach over.
#[derive(Clone, Copy, Default)]
struct Rivals {
    /// The next one.
    any: Option<usize>,
    /// The next one with the same name.
    same: Option<usize>,
    /// The next one below the end of a frame.
    any_framed: Option<usize>,
    /// The next one of the same name below the end of a frame.
    same_framed: Option<usize>,
}

impl Rivals {
    /// The one that counts for a block that ends at the closing marker for any key, or at its own. A text may quote
    /// opening markers: one that stands below the end of a frame is none of them.
    fn to(self, is_text: bool, any: bool) -> Option<usize> {
        match (is_text, any) {
            (false, true) => self.any,
            (false, false) => self.same,
            (true, true) => self.any_framed,
            (true, false) => self.same_framed,
        }
    }
}

/// The rivals of each opener.
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

/// Where to read on behind a closing marker in code that ends at byte `at`. A fence there closes that code and must not
/// be read as the beginning of more.
fn below_code(text: &str, at: usize) -> usize {
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

fn inside(blocks: &[Block], at: usize) -> bool {
    let next = blocks.partition_point(|block| block.span.start <= at);
    next.checked_sub(1)
        .and_then(|last| blocks.get(last))
        .is_some_and(|block| at < block.span.end)
}

/// Gives the complaints their lines, in order.
fn diagnostics(text: &str, mut complaints: Vec<Complaint<'_>>) -> Vec<Diagnostic> {
    complaints.sort_by_key(|complaint| complaint.at);
    let (mut line, mut counted) = (1, 0);
    complaints
        .into_iter()
        .map(|complaint| {
            line += line_ends(text, counted..complaint.at);
            counted = complaint.at;
            Diagnostic {
                key: complaint.key.to_owned(),
                line,
                message: complaint.message,
                remedy: complaint.remedy,
            }
        })
        .collect()
}

/// Line ends that begin in `range` of `text`: `\n`, `\r\n` and a lone `\r`.
fn line_ends(text: &str, range: Range<usize>) -> usize {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', &bytes[range.clone()])
        .filter(|at| {
            let at = range.start + at;
            bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n')
        })
        .count()
}

/// Start of the stack of warning lines right above `opener`, not before `floor`.
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
