//! Splitting of a long plan into parts that fit into comments, and joining of the parts.
//!
//! A text that fits is a single part without changes. Otherwise every part but the last ends with a
//! marker line, and every part but the first begins with one. Markers are HTML comments, which
//! GitHub does not display:
//!
//! | marker | position | meaning |
//! |---|---|---|
//! | `<!-- planwright:cut -->` | end | the text continues in the next part |
//! | `<!-- planwright:fence-closed -->` | end | same, and the closing fence in the line above was added |
//! | `…:cut-in-line -->`, `…:fence-closed-in-line -->` | end | same, and a line end was added before it |
//! | `<!-- planwright:continued -->` | start | the text is continued from the previous part |
//! | `<!-- planwright:fence-open -->` | start | same, and the opening fence in the line below was added |
//!
//! The marker at the end of a part is followed by [`CONTINUATION_NOTICE`], for readers of a single
//! comment. Parts without it can be joined, too. Since the positions of the markers are fixed,
//! [`join`] is exact even for a text that contains such lines itself.

mod map;
#[cfg(test)]
mod tests;

use map::{Fence, Map};

const CUT: &str = "<!-- planwright:cut -->";
const CUT_IN_LINE: &str = "<!-- planwright:cut-in-line -->";
const CLOSED: &str = "<!-- planwright:fence-closed -->";
const CLOSED_IN_LINE: &str = "<!-- planwright:fence-closed-in-line -->";
const CONTINUED: &str = "<!-- planwright:continued -->";
const OPEN: &str = "<!-- planwright:fence-open -->";

/// Last line of every part but the last one, visible to people and to agents that receive only the
/// first part from erk.
pub const CONTINUATION_NOTICE: &str = "*Continued in the next comment.*";

/// Maximum length of a part. Both limits apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Code points; at least [`Limits::FLOOR`] are used.
    pub chars: usize,
    /// UTF-8 bytes; at least [`Limits::FLOOR`] are used.
    pub bytes: usize,
}

impl Limits {
    /// A body on GitHub (65,536 characters and 262,144 bytes) with some reserve.
    pub const GITHUB: Self = Self {
        chars: 64_000,
        bytes: 262_000,
    };

    /// Minimum limit, which leaves room for text besides markers and fences.
    pub const FLOOR: usize = 256;

    /// Returns the limits for parts that the caller surrounds with `frame`.
    #[must_use]
    pub fn less(self, frame: &str) -> Self {
        Self {
            chars: self.chars.saturating_sub(frame.chars().count()),
            bytes: self.bytes.saturating_sub(frame.len()),
        }
    }

    fn at_least_floor(self) -> Self {
        Self {
            chars: self.chars.max(Self::FLOOR),
            bytes: self.bytes.max(Self::FLOOR),
        }
    }

    /// Returns the end of the longest piece of `text` from `at` that fits.
    fn reach(self, text: &str, at: usize) -> usize {
        let mut end = at;
        for (count, c) in text[at..].chars().enumerate() {
            let next = end + c.len_utf8();
            if count >= self.chars || next - at > self.bytes {
                break;
            }
            end = next;
        }
        end
    }
}

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Markdown, within the limits, with its markers.
    pub text: String,
}

/// Splits `text` into parts within the limits.
///
/// Each cut is in the second half of the text that fits: before a heading, else between blocks,
/// list items, lines, words or characters. A cut in a fenced code block closes the fence and opens
/// it again with the same info string; fence lines longer than an eighth of the limit are treated
/// as plain text.
pub fn split(text: &str, limits: &Limits) -> Vec<Part> {
    let limits = limits.at_least_floor();
    if limits.reach(text, 0) == text.len() {
        return vec![Part {
            text: text.to_owned(),
        }];
    }
    let map = Map::new(text, limits.chars.min(limits.bytes) / 8);
    // Two line ends, the longest marker, a blank line, the notice and the longest closing fence.
    let suffix = "\n"
        .repeat(2 + CLOSED_IN_LINE.len() + 2 + CONTINUATION_NOTICE.len() + map.longest_closing());
    let mut parts = Vec::new();
    let mut at = 0;
    loop {
        let prefix = match map.fence(at) {
            _ if at == 0 => String::new(),
            Some(fence) => format!("{OPEN}\n{}\n", fence.opening),
            None => format!("{CONTINUED}\n"),
        };
        let room = limits.less(&prefix);
        if room.reach(text, at) == text.len() {
            parts.push(Part {
                text: prefix + &text[at..],
            });
            return parts;
        }
        let end = map.cut(text, at, room.less(&suffix).reach(text, at));
        let mut part = prefix + &text[at..end];
        finish(&mut part, map.fence(end));
        parts.push(Part { text: part });
        at = end;
    }
}

fn finish(part: &mut String, fence: Option<&Fence>) {
    let whole_line = part.ends_with('\n');
    if !whole_line {
        part.push('\n');
    }
    if let Some(fence) = fence {
        part.push_str(&fence.closing);
        part.push('\n');
    }
    part.push_str(match (fence.is_some(), whole_line) {
        (false, true) => CUT,
        (false, false) => CUT_IN_LINE,
        (true, true) => CLOSED,
        (true, false) => CLOSED_IN_LINE,
    });
    part.push_str("\n\n");
    part.push_str(CONTINUATION_NOTICE);
}

/// Joins the parts made by [`split`]; `None` if they are not all parts in order.
pub fn join(parts: &[&str]) -> Option<String> {
    let contents = (0..parts.len()).map(|index| content(parts, index).ok());
    contents
        .collect::<Option<String>>()
        .filter(|_| !parts.is_empty())
}

/// An end of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEnd {
    /// Its first line.
    First,
    /// Its last line.
    Last,
}

/// Returns the 0-based index of the first part whose marker is missing, so that [`join`] fails, and
/// the position of the marker.
pub fn first_mismatch(parts: &[&str]) -> Option<(usize, PartEnd)> {
    (0..parts.len()).find_map(|index| Some((index, content(parts, index).err()?)))
}

/// Returns a part without its markers, or the position of a missing marker.
fn content<'a>(parts: &[&'a str], index: usize) -> Result<&'a str, PartEnd> {
    let mut content = parts[index];
    if index > 0 {
        content = without_prefix(content).ok_or(PartEnd::First)?;
    }
    if index + 1 < parts.len() {
        content = without_suffix(content).ok_or(PartEnd::Last)?;
    }
    Ok(content)
}

/// Returns true if a marker connects `part` to another one.
pub fn has_marker(part: &str) -> bool {
    without_prefix(part).is_some() || without_suffix(part).is_some()
}

fn without_prefix(part: &str) -> Option<&str> {
    // Edits in a browser change line ends to CRLF.
    let (marker, content) = part.split_once('\n')?;
    match marker.trim_end_matches('\r') {
        CONTINUED => Some(content),
        OPEN => content.split_once('\n').map(|(_, content)| content),
        _ => None,
    }
}

fn without_suffix(part: &str) -> Option<&str> {
    let text = part.trim_end();
    let text = text.strip_suffix(CONTINUATION_NOTICE).unwrap_or(text);
    let (content, marker) = text.trim_end().rsplit_once('\n')?;
    // `content` and its line end.
    let with_end = &part[..=content.len()];
    match marker {
        CUT => Some(with_end),
        CUT_IN_LINE => Some(content),
        CLOSED => content.rfind('\n').map(|end| &content[..=end]),
        CLOSED_IN_LINE => content.rfind('\n').map(|end| &content[..end]),
        _ => None,
    }
}
