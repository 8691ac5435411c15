//! Frame tokens in angle brackets: the closing tag of the frame, and markers.

use std::ops::Range;

/// What a comment must begin with to be taken for a marker.
const MARKERS: &[&str] = &["erk:", "planwright", "WARNING: Machine-generated"];

/// A token of a frame in a text.
#[derive(Debug)]
pub(super) struct Hit {
    /// The blanks that count.
    pub(super) blanks: Range<usize>,
    /// How many blanks the token has at least.
    pub(super) least: usize,
}

/// The token that begins at byte `at`, which is a `<`.
///
/// Only blanks count: behind a zero width space nothing is a token any more.
pub(super) fn hit(text: &str, at: usize) -> Option<Hit> {
    match text.as_bytes().get(at + 1)? {
        b'/' => details(text, at),
        b'!' => comment(text, at),
        _ => None,
    }
}

fn details(text: &str, at: usize) -> Option<Hit> {
    const TAG: &str = "</details";
    let end = at + TAG.len();
    let tag = text.as_bytes().get(at..end)?;
    let blanks = blanks(text, end);
    (tag.eq_ignore_ascii_case(TAG.as_bytes()) && text.as_bytes().get(blanks.end) == Some(&b'>'))
        .then_some(Hit { blanks, least: 0 })
}

fn comment(text: &str, at: usize) -> Option<Hit> {
    let end = at + text[at..].strip_prefix("<!--").map(|_| 4)?;
    let blanks = blanks(text, end);
    let rest = &text[blanks.end..];
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let marker = MARKERS.iter().any(|marker| rest.starts_with(marker));
    (marker && !blanks.is_empty()).then_some(Hit { blanks, least: 1 })
}

fn blanks(text: &str, from: usize) -> Range<usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from..from + rest.iter().take_while(|byte| **byte == b' ').count()
}
