//! Finds the markers of blocks in a text, and whether they are in code.

use std::ops::Range;

use memchr::memmem;

use super::Block;
use crate::markdown;

/// The kind of block that a marker begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name<'a> {
    /// `erk:metadata-block:KEY`.
    Key(&'a str),
    /// `/erk:metadata-block`, the closing marker of the first era for every key.
    Any,
    /// `erk:plan-content`, from before there were blocks.
    PlanContent,
    /// `<details>` with the summary `original-plan`, in the description of a pull request. Has no
    /// closing marker.
    OriginalPlan,
}

impl<'a> Name<'a> {
    /// Returns the key of the block.
    pub(super) fn key(self) -> &'a str {
        match self {
            Self::Key(key) => key.trim(),
            Self::Any => "",
            Self::PlanContent => super::PLAN_CONTENT,
            Self::OriginalPlan => super::ORIGINAL_PLAN,
        }
    }
}

/// A marker. For [`Name::OriginalPlan`] the span covers both opening tags and the summary.
#[derive(Debug, Clone)]
pub(super) struct Marker<'a> {
    pub(super) name: Name<'a>,
    pub(super) span: Range<usize>,
    /// Whether it is in code.
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
    /// Found only where the text has an [`Name::OriginalPlan`].
    pub(super) tags: Vec<Tag>,
}

/// Finds the markers of `text` from byte `from` on. Which of them are in code is determined only
/// with `detect_code`.
pub(super) fn scan(text: &str, from: usize, detect_code: bool) -> Markers<'_> {
    let mut found = Markers::default();
    comments(text, from, &mut found);
    if plans(text, from, &mut found) {
        tags(text, from, &mut found);
    }
    if detect_code
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

/// Returns whether `text` has no marker of any kind. This is the cheap check that decides most
/// texts.
pub(super) fn is_unmarked(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"erk:").is_none()
        && memmem::find(text.as_bytes(), SUMMARY).is_none()
}

/// Returns where the footer of `text` begins, which is the line end before its last line `---`
/// outside code and `blocks`, and whether the end of `text` is in code.
pub(super) fn footer(text: &str, blocks: &[Block]) -> (Option<usize>, bool) {
    let mut separators: Vec<(usize, bool)> = memmem::find_iter(text.as_bytes(), b"\n---")
        .filter(|at| {
            let rest = &text[at + "\n---".len()..];
            rest.starts_with('\n') || rest.starts_with("\r\n")
        })
        .map(|at| (at, false))
        .collect();
    // A block at the end would begin on a line of its own.
    let ended = [text, "\n<!--"].concat();
    let mut end = false;
    let mut places: Vec<(usize, &mut bool)> = separators
        .iter_mut()
        .map(|(at, code)| (*at + 1, code))
        .collect();
    places.push((text.len() + 1, &mut end));
    mark(&ended, 0, &mut places);
    let found = separators
        .into_iter()
        .rev()
        .find(|(at, code)| !code && !is_inside(blocks, *at));
    // A line end is two bytes in CRLF texts.
    let at = found.map(|(at, _)| at - usize::from(text[..at].ends_with('\r')));
    (at, end)
}

/// Sets the flag of each of `places` that is in code. Their byte offsets are in order and refer to
/// the whole text, of which `text` is the part from `from` on.
fn mark(text: &str, from: usize, places: &mut [(usize, &mut bool)]) {
    let offsets: Vec<usize> = places.iter().map(|(at, _)| at - from).collect();
    for ((_, flag), code) in places.iter_mut().zip(markdown::in_code(text, &offsets)) {
        **flag = code;
    }
}

/// Finds the markers that are comments.
fn comments<'a>(text: &'a str, from: usize, found: &mut Markers<'a>) {
    for hit in memmem::find_iter(&text.as_bytes()[from..], b"erk:") {
        let hit = from + hit;
        let before = &text[from..hit];
        let (start, closing) = if before.ends_with("<!-- ") {
            (hit - "<!-- ".len(), false)
        } else if before.ends_with("<!-- /") {
            (hit - "<!-- /".len(), true)
        } else {
            continue;
        };
        let rest = &text[hit + "erk:".len()..];
        let end_of = |rest: &str| text.len() - rest.len();
        let (name, end) = if let Some(rest) = rest.strip_prefix("plan-content -->") {
            (Name::PlanContent, end_of(rest))
        } else if let Some(rest) = rest.strip_prefix("metadata-block -->") {
            (Name::Any, end_of(rest))
        } else if let Some(rest) = rest.strip_prefix("metadata-block:") {
            match name_end(rest) {
                Some((key, end)) => (Name::Key(key), end_of(rest) + end),
                None if closing => continue,
                None => {
                    found.broken.push(marker(Name::Any, start, hit));
                    continue;
                }
            }
        } else {
            continue;
        };
        if closing {
            found.closers.push(marker(name, start, end));
        } else if name != Name::Any {
            found.openers.push(marker(name, start, end));
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

/// Returns the key that `rest` begins with and where the marker ends, which is on the same line,
/// with ` -->`.
fn name_end(rest: &str) -> Option<(&str, usize)> {
    let end = rest
        .bytes()
        .position(|byte| matches!(byte, b'\n' | b'\r' | b'<' | b'>'))?;
    let key = rest[..end].strip_suffix(" --")?;
    (rest[end..].starts_with('>') && !key.trim().is_empty()).then_some((key, end + 1))
}

/// The end of the summary of every [`Name::OriginalPlan`].
const SUMMARY: &[u8] = b"original-plan</";

/// What is before the text of the summary, and what is after [`SUMMARY`].
const SUMMARY_TAGS: [(&str, &str); 2] = [
    ("<summary>", "summary>"),
    ("<summary><code>", "code></summary>"),
];

/// Finds the [`Name::OriginalPlan`] markers and returns whether there are any.
fn plans<'a>(text: &'a str, from: usize, found: &mut Markers<'a>) -> bool {
    let known = found.openers.len();
    for hit in memmem::find_iter(&text.as_bytes()[from..], SUMMARY) {
        let hit = from + hit;
        let (before, after) = (&text[from..hit], &text[hit + SUMMARY.len()..]);
        let Some((before, tail)) = SUMMARY_TAGS.iter().find_map(|(open, close)| {
            let before = before.strip_suffix(open)?;
            after.starts_with(close).then_some((before, close))
        }) else {
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

/// Finds the `<details>` and `</details>` tags.
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

/// Returns whether byte `at` is inside one of `blocks`, which are in order.
pub(super) fn is_inside(blocks: &[Block], at: usize) -> bool {
    let next = blocks.partition_point(|block| block.span.start <= at);
    next.checked_sub(1)
        .is_some_and(|last| at < blocks[last].span.end)
}
