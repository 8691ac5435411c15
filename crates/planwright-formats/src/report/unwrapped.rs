//! A document without what agents put around it when they print it.

use crate::markdown::{Kind, blocks};

/// Longest text before the title that counts as talk, in bytes.
const TALK: usize = 2_000;

/// The document in `text`: without a fence around the whole of it, and without a few words before its first heading of
/// level 1. A text that does not look like that is given back as it is.
pub fn unwrapped(text: &str) -> &str {
    let inside = fenced(text);
    without_talk(inside.unwrap_or(text))
}

/// What stands in the one fence that holds a whole document; words may stand around it.
fn fenced(text: &str) -> Option<&str> {
    let blocks = blocks(text);
    if blocks
        .iter()
        .any(|block| matches!(block.kind, Kind::Heading { .. }))
    {
        return None;
    }
    let mut fences = blocks.iter().filter(|block| {
        matches!(&block.kind, Kind::Code { info, fenced: true, .. }
            if ["", "md", "markdown"].contains(&info.trim().to_ascii_lowercase().as_str()))
    });
    let fence = fences.next()?;
    if fences.next().is_some() {
        return None;
    }
    let source = &text[fence.span.clone()];
    let (_, rest) = source.split_once('\n')?;
    let closed = matches!(fence.kind, Kind::Code { closed: true, .. });
    let inside = if closed {
        rest.rsplit_once('\n').map_or("", |(inside, _)| inside)
    } else {
        rest
    };
    let has_title = self::blocks(inside)
        .iter()
        .any(|block| matches!(block.kind, Kind::Heading { level: 1, .. }));
    has_title.then_some(inside)
}

fn without_talk(text: &str) -> &str {
    let blocks = blocks(text);
    let title = blocks
        .iter()
        .position(|block| matches!(block.kind, Kind::Heading { level: 1, .. }));
    let Some(title) = title else {
        return text;
    };
    let before = &blocks[..title];
    let talk = before
        .iter()
        .all(|block| matches!(block.kind, Kind::Paragraph { .. } | Kind::Rule));
    // Front matter reads as a rule and a heading, and begins the text.
    let start = blocks[title].span.start;
    if talk && start <= TALK && !text.trim_start().starts_with("---") {
        &text[start..]
    } else {
        text
    }
}
