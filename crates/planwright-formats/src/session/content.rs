//! Session transcripts that older versions of erk stored in comments, in `session-content` blocks.
//!
//! erk abandoned these blocks because the comments were large and nobody read them. A block proves
//! nothing about its author: the caller checks who wrote the comments.

use crate::block::{self, Content};

/// The key of the blocks.
const KEY: &str = "session-content";

/// Maximum size of the part of a transcript that erk put into one comment, in bytes: GitHub's limit
/// of 65,536 characters minus 1,000.
pub const MAX_CHUNK_BYTES: usize = 65_536 - 1_000;

/// Maximum number of chunks of a transcript that are reported as missing: more comments than GitHub
/// shows on ten pages.
const MAX_CHUNKS: u64 = 1_000;

/// The transcripts in the comments of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionContent {
    /// The transcripts, joined by line ends: whole ones first, then split ones in the order of
    /// their chunk numbers.
    pub xml: String,
    /// The session ids in the transcripts (`session_id="…"`), without duplicates, in order.
    pub session_ids: Vec<String>,
    /// Chunks that are counted but not in any comment, such as `2/3` or `2/3: fix-login`.
    pub missing: Vec<String>,
}

/// The chunks of a transcript that was split.
struct ChunkGroup {
    total: u64,
    label: String,
    chunks: Vec<(u64, String)>,
}

impl ChunkGroup {
    fn missing(&self) -> impl Iterator<Item = String> {
        let colon = if self.label.is_empty() { "" } else { ": " };
        (1..=self.total.min(MAX_CHUNKS))
            .filter(|number| self.chunks.iter().all(|(known, _)| known != number))
            .map(move |number| format!("{number}/{}{colon}{}", self.total, self.label))
    }
}

/// Parses the blocks of `comments`, in the order of the conversation; `None` if there is none.
///
/// Split transcripts are distinguished by their labels and counts. A chunk that was posted twice is
/// read twice, as erk does.
pub fn parse<'a>(comments: impl IntoIterator<Item = &'a str>) -> Option<SessionContent> {
    let mut transcripts = Vec::new();
    let mut groups: Vec<ChunkGroup> = Vec::new();
    for comment in comments {
        for block in block::parse(comment).blocks {
            if block.key != KEY {
                continue;
            }
            let (Content::Text(text) | Content::Raw(text)) = &block.content else {
                continue;
            };
            let Some(xml) = fenced_xml(text) else {
                continue;
            };
            let Some((number, total, label)) = parse_summary(&comment[block.span]) else {
                transcripts.push(xml.to_owned());
                continue;
            };
            let chunk = (number, xml.to_owned());
            let same = |group: &&mut ChunkGroup| group.total == total && group.label == label;
            match groups.iter_mut().find(same) {
                Some(group) => group.chunks.push(chunk),
                None => groups.push(ChunkGroup {
                    total,
                    label: label.to_owned(),
                    chunks: vec![chunk],
                }),
            }
        }
    }
    let mut missing = Vec::new();
    for mut group in groups {
        missing.extend(group.missing());
        group.chunks.sort_by_key(|(number, _)| *number);
        transcripts.extend(group.chunks.into_iter().map(|(_, xml)| xml));
    }
    if transcripts.is_empty() {
        return None;
    }
    let xml = transcripts.join("\n");
    Some(SessionContent {
        session_ids: session_ids(&xml),
        xml,
        missing,
    })
}

/// Returns the content of the XML fence. It ends at the last fence marker, because transcripts
/// contain fences themselves. (erk stops at the first one and loses the rest.)
fn fenced_xml(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```xml")?;
    let (inside, _) = rest.rsplit_once("```")?;
    Some(inside.trim())
}

/// Parses number, count and label of a summary `Session Data (1/3): label`.
fn parse_summary(block: &str) -> Option<(u64, u64, &str)> {
    let (head, _) = block.split_once("```xml").unwrap_or((block, ""));
    let (_, rest) = head.split_once("Session Data")?;
    let (numbers, rest) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    let (number, total) = numbers.split_once('/')?;
    let label = rest
        .split(['<', '\n'])
        .next()
        .and_then(|rest| rest.strip_prefix(':'))
        .unwrap_or_default();
    Some((number.parse().ok()?, total.parse().ok()?, label.trim()))
}

fn session_ids(xml: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for part in xml.split("session_id=\"").skip(1) {
        if let Some((id, _)) = part.split_once('"')
            && !id.is_empty()
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// Splits `text` into chunks of at most `max_bytes` bytes, at line ends where possible.
///
/// Joined with `\n`, the chunks are the text again unless a single line is too long. Such a line is
/// split between characters into chunks of its own, one byte shorter than `max_bytes`, or one
/// character if that is longer.
pub fn chunks(text: &str, max_bytes: usize) -> Vec<&str> {
    if text.len() <= max_bytes {
        return vec![text];
    }
    let mut chunks = Vec::new();
    // Start and end of the current chunk: whole lines, without the last line end.
    let mut current: Option<(usize, usize)> = None;
    let mut start = 0;
    for line in text.split('\n') {
        let end = start + line.len();
        match &mut current {
            // A line counts with its line end, as in erk.
            Some((from, to)) if end + 1 - *from <= max_bytes => *to = end,
            _ => {
                chunks.extend(current.take().map(|(from, to)| &text[from..to]));
                if line.len() < max_bytes {
                    current = Some((start, end));
                } else {
                    split_line(line, max_bytes.saturating_sub(1), &mut chunks);
                }
            }
        }
        start = end + 1;
    }
    chunks.extend(current.map(|(from, to)| &text[from..to]));
    chunks
}

fn split_line<'a>(mut line: &'a str, max_bytes: usize, chunks: &mut Vec<&'a str>) {
    while let Some(first) = line.chars().next() {
        let end = line.floor_char_boundary(max_bytes).max(first.len_utf8());
        let (chunk, rest) = line.split_at(end);
        chunks.push(chunk);
        line = rest;
    }
}

#[cfg(test)]
mod tests;
