//! Finds the markers of blocks in a text: which there are, where, and whether they stand in code.

use std::ops::Range;

use memchr::memmem;

use super::Block;
use crate::markdown;

/// What a marker names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name<'a> {
    /// `erk:metadata-block:KEY`.
    Key(&'a str),
    /// `/erk:metadata-block`, the closing marker of the first era, for any key.
    Any,
    /// `erk:plan-content`, from before there were blocks.
    PlanContent,
    /// `<details>` with the summary `original-plan`, in the description of a pull request. Has no closing marker.
    OriginalPlan,
}

impl<'a> Name<'a> {
    /// The key of the block it begins.
    pub(super) fn key(self) -> &'a str {
        match self {
            Self::Key(key) => key.trim(),
            Self::Any => "",
            Self::PlanContent => super::PLAN_CONTENT,
            Self::OriginalPlan => super::ORIGINAL_PLAN,
        }
    }
}

/// A marker. For [`Name::OriginalPlan`] the span is that of both opening tags with the summary.
#[derive(Debug, Clone)]
pub(super) struct Marker<'a> {
    pub(super) name: Name<'a>,
    pub(super) span: Range<usize>,
    pub(super) code: bool,
}

/// A `<details>` or `</details>` tag.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    pub(super) at: usize,
    pub(super) opens: bool,
    pub(super) code: bool,
}

/// The markers of a text, each list in order.
#[derive(Debug, Default)]
pub(super) struct Markers<'a> {
    pub(super) openers: Vec<Marker<'a>>,
    pub(super) closers: Vec<Marker<'a>>,
    /// Opening markers that are not complete.
    pub(super) broken: Vec<Marker<'a>>,
    /// Only where the text has an [`Name::OriginalPlan`].
    pub(super) tags: Vec<Tag>,
}

/// The markers of `text` from byte `from` on. `heed_code`: look which of them are in code.
pub(super) fn scan(text: &str, from: usize, heed_code: bool) -> Markers<'_> {
    let mut found = Markers::default();
    comments(text, from, &mut found);
    if plans(text, from, &mut found) {
        tags(text, from, &mut found);
    }
    if heed_code
        && !(found.openers.is_empty() && found.broken.is_empty() && found.closers.is_empty())
    {
        let mut places: Vec<(usize, &mut bool)> =
            [&mut found.openers, &mut found.closers, &mut found.broken]
                .into_iter()
                .flatten()
                .map(|marker| (marker.span.start, &mut marker.code))
                .chain(found.tags.iter_mut().map(|tag| (tag.at, &mut tag.code)))
                .collect();
        places.sort_by_key(|(at, _)| *at);
        mark(&text[from..], from, &mut places);
    }
    found
}

/// True when `text` has no marker of any kind; the cheap way out for most texts.
pub(super) fn none(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"erk:").is_none()
        && memmem::find(text.as_bytes(), SUMMARY).is_none()
}

/// Where the footer of `text` begins: at the line end before its last line `---` outside code and `blocks`; and whether
/// the end of `text` is in code.
pub(super) fn footer(text: &str, blocks: &[Block]) -> (Option<usize>, bool) {
    let mut separators: Vec<(usize, bool)> = memmem::find_iter(text.as_bytes(), b"\n---")
        .filter(|at| {
            let rest = &text[at + "\n---".len()..];
            rest.starts_with('\n') || rest.starts_with("\r\n")
        })
        .map(|at| (at, false))
        .collect();
    // The place of the block, on a line of its own.
    let ended = [text, "\n<!--"].concat();
    let mut end = false;
    let mut places: Vec<(usize, &mut bool)> = separators
        .iter_mut()
        .map(|(at, code)| (*at + 1, code))
        .collect();
    places.push((text.len() + 1, &mut end));
    mark(&ended, 0, &mut places);
    let found = separators.into_iter().rev().find(|(at, code)| {
        let next = blocks.partition_point(|block| block.span.start <= *at);
        !code
            && next
                .checked_sub(1)
                .is_none_or(|last| *at >= blocks[last].span.end)
    });
    // A line end is two bytes in CRLF texts.
    let at = found.map(|(at, _)| at - usize::from(text[..at].ends_with('\r')));
    (at, end)
}

/// Sets the mark of each of `places` (byte offset in the whole text, in order; `text` is its part from `from` on) that
/// is in code.
fn mark(text: &str, from: usize, places: &mut [(usize, &mut bool)]) {
    let offsets: Vec<usize> = places.iter().map(|(at, _)| at - from).collect();
    for ((_, mark), code) in places.iter_mut().zip(markdown::in_code(text, &offsets)) {
        **mark = code;
    }
}

fn comments<'a>(text: &'a str, from: usize, found: &mut Markers<'a>) {
    for hit in memmem::find_iter(&text.as_bytes()[from..], b"erk:") {
        let hit = from + hit;
        let before = &text[from..hit];
        let rest = &text[hit + "erk:".len()..];
        if before.ends_with("<!-- ") {
            let start = hit - "<!-- ".len();
            if let Some(key) = rest.strip_prefix("metadata-block:") {
                match name_end(key) {
                    Some((key, end)) => found.openers.push(marker(
                        Name::Key(key),
                        start,
                        text.len() - rest.len() + "metadata-block:".len() + end,
                    )),
                    None => found.broken.push(marker(Name::Any, start, hit)),
                }
            } else if rest.starts_with("plan-content -->") {
                found.openers.push(marker(
                    Name::PlanContent,
                    start,
                    hit + "erk:plan-content -->".len(),
                ));
            }
        } else if before.ends_with("<!-- /") {
            let start = hit - "<!-- /".len();
            if let Some(rest) = rest.strip_prefix("metadata-block") {
                let at = text.len() - rest.len();
                if rest.starts_with(" -->") {
                    found
                        .closers
                        .push(marker(Name::Any, start, at + " -->".len()));
                } else if let Some((key, end)) = rest.strip_prefix(':').and_then(name_end) {
                    found
                        .closers
                        .push(marker(Name::Key(key), start, at + 1 + end));
                }
            } else if rest.starts_with("plan-content -->") {
                found.closers.push(marker(
                    Name::PlanContent,
                    start,
                    hit + "erk:plan-content -->".len(),
                ));
            }
        }
    }
}

fn marker(name: Name<'_>, start: usize, end: usize) -> Marker<'_> {
    Marker {
        name,
        span: start..end,
        code: false,
    }
}

/// The key that `rest` begins with and where the marker ends: on the same line, with ` -->`.
fn name_end(rest: &str) -> Option<(&str, usize)> {
    let end = rest
        .bytes()
        .position(|byte| matches!(byte, b'\n' | b'\r' | b'<' | b'>'))?;
    let key = rest[..end].strip_suffix(" --")?;
    (rest[end..].starts_with('>') && !key.trim().is_empty()).then_some((key, end + 1))
}

/// What the summary of [`Name::OriginalPlan`] ends with, whatever stands around it.
const SUMMARY: &[u8] = b"original-plan</";

fn plans<'a>(text: &'a str, from: usize, found: &mut Markers<'a>) -> bool {
    let known = found.openers.len();
    for hit in memmem::find_iter(&text.as_bytes()[from..], SUMMARY) {
        let hit = from + hit;
        let (before, after) = (&text[from..hit], &text[hit + SUMMARY.len()..]);
        let parts = if after.starts_with("summary>") {
            before.strip_suffix("<summary>").zip(Some("summary>"))
        } else if after.starts_with("code></summary>") {
            before
                .strip_suffix("<summary><code>")
                .zip(Some("code></summary>"))
        } else {
            None
        };
        let Some((before, tail)) = parts else {
            continue;
        };
        let before = before.trim_end();
        let Some(details) = ["<details>", "<details open>"]
            .iter()
            .find_map(|tag| before.strip_suffix(tag))
        else {
            continue;
        };
        found.openers.push(marker(
            Name::OriginalPlan,
            from + details.len(),
            hit + SUMMARY.len() + tail.len(),
        ));
    }
    let any = found.openers.len() > known;
    if any {
        found.openers.sort_by_key(|opener| opener.span.start);
    }
    any
}

fn tags(text: &str, from: usize, found: &mut Markers<'_>) {
    for hit in memmem::find_iter(&text.as_bytes()[from..], b"details") {
        let hit = from + hit;
        let (before, after) = (
            &text.as_bytes()[from..hit],
            text.as_bytes().get(hit + "details".len()),
        );
        let opens = before.ends_with(b"<")
            && after.is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace());
        let closes = before.ends_with(b"</") && after == Some(&b'>');
        if opens || closes {
            let at = hit - if opens { 1 } else { 2 };
            found.tags.push(Tag {
                at,
                opens,
                code: false,
            });
        }
    }
}
