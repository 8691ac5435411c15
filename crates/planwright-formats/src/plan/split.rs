//! A long plan in parts that fit into comments, and back again.
//!
//! A text that fits is one part: itself. Otherwise every part but the last ends with a marker line, and every part but
//! the first begins with one. They are HTML comments, which GitHub does not show:
//!
//! | marker | where | meaning |
//! |---|---|---|
//! | `<!-- planwright:cut -->` | end | the text goes on in the next part |
//! | `<!-- planwright:fence-closed -->` | end | so it does; the line above, a closing fence, was added |
//! | `…:cut-in-line -->`, `…:fence-closed-in-line -->` | end | the same, and a line end was added before it |
//! | `<!-- planwright:continued -->` | start | the text goes on here |
//! | `<!-- planwright:fence-open -->` | start | so it does; the line below, an opening fence, was added |
//!
//! Below the marker at the end of a part stands [`NOTICE`], for readers that look at one comment
//! only. Parts that were written without it are joined, too.
//!
//! Since the markers are at fixed places, [`join`] is exact also for a text that contains such lines itself.

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

/// Last line of every part but the last one. People see it, and so does an agent that erk gives the
/// first part to.
pub const NOTICE: &str = "*Continued in the next comment.*";

/// How long a part may be. Both limits hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Unicode code points. Fewer than [`Limits::FLOOR`] count as that many.
    pub chars: usize,
    /// UTF-8 bytes. Fewer than [`Limits::FLOOR`] count as that many.
    pub bytes: usize,
}

impl Limits {
    /// One GitHub body: 65,536 characters and 262,144 bytes, with a little to spare.
    pub const GITHUB: Self = Self {
        chars: 64_000,
        bytes: 262_000,
    };

    /// The least that markers and fences leave room in for text.
    pub const FLOOR: usize = 256;

    /// What is left when the caller puts `frame` around every part.
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

    /// The end of the longest piece of `text` from `at` on that fits.
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

/// Cuts `text` into as few parts as the places to cut allow: before a heading, else between blocks, list items, lines,
/// words, characters, but not in the first half of what fits. A cut in a fence closes it and opens it again with the
/// same info string; a fence line longer than an eighth of the limit is treated as plain text.
pub fn split(text: &str, limits: &Limits) -> Vec<Part> {
    let limits = limits.at_least_floor();
    if limits.reach(text, 0) == text.len() {
        return vec![Part {
            text: text.to_owned(),
        }];
    }
    let map = Map::new(text, limits.chars.min(limits.bytes) / 8);
    // Two line ends, the longest marker, a blank line and the notice, besides the fence.
    let suffix = "\n".repeat(2 + CLOSED_IN_LINE.len() + 2 + NOTICE.len() + map.longest_closing());
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
    part.push_str(NOTICE);
}

/// The text that [`split`] made `parts` of; `None` when they are not such parts in order.
pub fn join(parts: &[&str]) -> Option<String> {
    if let [only] = parts {
        return Some((*only).to_owned());
    }
    let last = parts.len().checked_sub(1)?;
    let mut text = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    for (index, part) in parts.iter().enumerate() {
        let mut content = *part;
        if index > 0 {
            content = without_prefix(content)?;
        }
        if index < last {
            content = without_suffix(content)?;
        }
        text.push_str(content);
    }
    Some(text)
}

/// An end of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its first line.
    First,
    /// Its last line.
    Last,
}

/// The first part, counted from 0, and the end of it, that keeps [`join`] from putting `parts` together.
pub fn misfit(parts: &[&str]) -> Option<(usize, End)> {
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().find_map(|(index, part)| {
        let content = match without_prefix(part) {
            Some(content) if index > 0 => content,
            None if index > 0 => return Some((index, End::First)),
            _ => part,
        };
        (index < last && without_suffix(content).is_none()).then_some((index, End::Last))
    })
}

/// Whether a marker at an end of `part` says that it goes on in another one.
pub fn is_tied(part: &str) -> bool {
    without_prefix(part).is_some() || without_suffix(part).is_some()
}

fn without_prefix(part: &str) -> Option<&str> {
    // An edit on GitHub's page turns line ends into CRLF.
    let (marker, content) = part.split_once('\n')?;
    match marker.trim_end_matches('\r') {
        CONTINUED => Some(content),
        OPEN => content.split_once('\n').map(|(_, content)| content),
        _ => None,
    }
}

fn without_suffix(part: &str) -> Option<&str> {
    let tied = part.trim_end();
    let tied = tied.strip_suffix(NOTICE).unwrap_or(tied).trim_end();
    let (content, marker) = tied.rsplit_once('\n')?;
    // With its line end: `content` and one byte more.
    let with_end = &part[..=content.len()];
    match marker {
        CUT => Some(with_end),
        CUT_IN_LINE => Some(content),
        CLOSED => content.rfind('\n').map(|end| &content[..=end]),
        CLOSED_IN_LINE => content.rfind('\n').map(|end| &content[..end]),
        _ => None,
    }
}
