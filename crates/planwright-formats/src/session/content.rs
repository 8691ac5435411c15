//! Session transcripts that older erk kept in comments, in `session-content` blocks.
//!
//! Read only: erk itself gave the idea up, as the comments were large and nobody read them. A block proves nothing about
//! its author: the caller checks who wrote the comments.

use crate::block::{self, Content};

/// The key of the blocks.
pub const KEY: &str = "session-content";

/// What the blocks of a conversation hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionContent {
    /// The transcripts, joined by line ends: whole ones first, then cut ones by the numbers of their chunks.
    pub xml: String,
    /// Ids of the sessions as the transcripts name them (`session_id="…"`), each once, in order.
    pub session_ids: Vec<String>,
    /// Chunks that a count promises and no comment holds, such as `2/3` or `2/3: fix-login`.
    pub missing: Vec<String>,
}

/// Chunks of one cut transcript.
struct Group {
    total: u64,
    label: String,
    chunks: Vec<(u64, String)>,
}

/// Reads the blocks of `comments`, in the order of the conversation; `None` when there is none. Two transcripts that
/// were cut are told apart by their labels and counts. A chunk that was posted twice is read twice, as erk does.
pub fn read<'a>(comments: impl IntoIterator<Item = &'a str>) -> Option<SessionContent> {
    let mut whole = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for comment in comments {
        for block in block::parse(comment).blocks {
            if block.key != KEY {
                continue;
            }
            let (Content::Text(text) | Content::Raw(text)) = &block.content else {
                continue;
            };
            let Some(xml) = fence(text) else { continue };
            match numbers(&comment[block.span]) {
                None => whole.push(xml.to_owned()),
                Some((number, total, label)) => {
                    let known = groups
                        .iter()
                        .position(|group| group.total == total && group.label == label);
                    let at = known.unwrap_or_else(|| {
                        groups.push(Group {
                            total,
                            label: label.to_owned(),
                            chunks: Vec::new(),
                        });
                        groups.len() - 1
                    });
                    groups[at].chunks.push((number, xml.to_owned()));
                }
            }
        }
    }
    let mut missing = Vec::new();
    for group in &mut groups {
        group.chunks.sort_by_key(|(number, _)| *number);
        missing.extend(gaps(group));
        whole.extend(group.chunks.drain(..).map(|(_, xml)| xml));
    }
    if whole.is_empty() {
        return None;
    }
    let xml = whole.join("\n");
    Some(SessionContent {
        session_ids: session_ids(&xml),
        xml,
        missing,
    })
}

/// A count that no conversation reaches: more comments than GitHub shows on ten pages.
const MOST_CHUNKS: u64 = 1_000;

fn gaps(group: &Group) -> Vec<String> {
    let total = group.total.min(MOST_CHUNKS);
    (1..=total)
        .filter(|number| group.chunks.iter().all(|(has, _)| has != number))
        .map(|number| {
            let label = &group.label;
            let colon = if label.is_empty() { "" } else { ": " };
            format!("{number}/{}{colon}{label}", group.total)
        })
        .collect()
}

/// The inside of the XML fence. It ends at the last fence there is, as transcripts contain fences themselves. (erk
/// stops at the first one and loses the rest.)
fn fence(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```xml")?;
    let (inside, _) = rest.rsplit_once("```")?;
    Some(inside.trim())
}

/// Number, count and label of a summary `Session Data (1/3): label`.
fn numbers(block: &str) -> Option<(u64, u64, &str)> {
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
            && ids.iter().all(|known| known != id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

#[cfg(test)]
mod tests;
