//! The title that a plan in a conversation has of its own, in any language.
//!
//! Stricter than [`title_of`](super::title_of), which reads documents: a first line is no title, and neither
//! is a heading that only says that a plan follows, whose plan it is, or which of several.

use super::{MAX_CHARS, cut, front_matter, is_section_name};
use crate::markdown::{self, Block, Kind};
use crate::plan::inline;
use crate::vocabulary::{Class, Phrases, fold, words};

/// Longest line that can be a title without being a heading, in characters.
const MAX_LINE: usize = 120;

/// The title of the plan in `text`; `None` where it has none that says something.
///
/// The first heading or bold line above the steps; else a line `Plan: X`; else `title:` in front matter.
pub fn own_title(text: &str) -> Option<String> {
    let front = front_matter(text);
    let blocks = markdown::blocks(&text[front..]);
    let source = &text[front..];
    let heading = |level: u8| {
        blocks.iter().find_map(|block| match &block.kind {
            Kind::Heading {
                level: other, text, ..
            } if *other == level => said(text),
            _ => None,
        })
    };
    let first_is_head = blocks.first().is_some_and(|block| {
        matches!(block.kind, Kind::Heading { .. }) || bold_line(block, source).is_some()
    });
    heading(1)
        .or_else(|| {
            let first = blocks
                .iter()
                .take_while(|block| !matches!(block.kind, Kind::Heading { .. }));
            first.take(2).find_map(|block| line(block, source))
        })
        .or_else(|| {
            if first_is_head {
                first_heading(&blocks)
            } else {
                heading(2)
            }
        })
        .or_else(|| from_front_matter(&text[..front]))
        .map(|title| cut(&title, MAX_CHARS))
}

/// `title` without the words before and behind it that say nothing about the plan; `None` where nothing is
/// left.
pub fn said(title: &str) -> Option<String> {
    let line = inline::one_line(title);
    let bare = without_markers(&line);
    let bare = bare
        .trim_matches(|c: char| c.is_whitespace() || "*_:：-–—".contains(c))
        .trim();
    let folded = fold(bare);
    let phrases = Phrases::of(&folded);
    let content = words(&folded);
    let says_nothing = content.is_empty()
        || phrases.is(Class::Empty, content.clone())
        || phrases.is(Class::Section, content.clone())
        || phrases.is(Class::Other, content.clone())
        || phrases.is(Class::Lead, content.clone())
        || phrases.is(Class::Plan, content.clone())
        || phrases.is(Class::Proposal, content.clone())
        || is_section_name(bare)
        || is_marker(bare)
        || numbered_step(&folded, &phrases, content.start)
        || folded.starts_with("what ")
        || folded.starts_with("how ")
        || bare.ends_with(['?', '？']);
    (!says_nothing).then(|| bare.to_owned())
}

/// `Step 1: …`, `1. …`, `第一步 …`.
fn numbered_step(folded: &str, phrases: &Phrases, start: usize) -> bool {
    let number = |rest: &str| {
        rest.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c))
    };
    phrases
        .begins(Class::Step, start)
        .is_some_and(|end| number(&folded[end..]))
        || folded[start..].starts_with('第')
}

fn first_heading(blocks: &[Block]) -> Option<String> {
    blocks
        .iter()
        .take(1)
        .find_map(|block| match &block.kind {
            Kind::Heading { text, .. } => said(text),
            _ => None,
        })
        .or_else(|| {
            // Under a heading that says nothing the next one, where it is no step and no section.
            let mut headings = blocks.iter().filter_map(|block| match &block.kind {
                Kind::Heading { level, text, .. } => Some((*level, text)),
                _ => None,
            });
            let (level, _) = headings.next()?;
            headings
                .next()
                .filter(|(next, _)| *next > level && level == 1)
                .and_then(|(_, text)| said(text))
        })
}

/// A bold line, or a line `Plan: X`.
fn line(block: &Block, source: &str) -> Option<String> {
    let Kind::Paragraph { text } = &block.kind else {
        return None;
    };
    if let Some(bold) = bold_line(block, source) {
        return said(&bold);
    }
    let first = text.lines().next()?;
    let bare = without_markers(first);
    let marked =
        bare.len() < first.len() && first.chars().count() <= MAX_LINE && !first.ends_with(':');
    if marked { said(first) } else { None }
}

/// The text of a paragraph that is bold as a whole.
fn bold_line(block: &Block, source: &str) -> Option<String> {
    let Kind::Paragraph { text } = &block.kind else {
        return None;
    };
    let line = source[block.span.clone()].trim();
    let inner = ["**", "__"].iter().find_map(|mark| {
        let inner = line.strip_prefix(mark)?;
        let inner = inner
            .strip_suffix(mark)
            .or_else(|| inner.strip_suffix(&format!("{mark}:")[..]))?;
        (!inner.contains(mark)).then_some(inner)
    });
    (inner.is_some() && text.chars().count() <= MAX_LINE && !text.contains('\n'))
        .then(|| text.clone())
}

fn from_front_matter(front: &str) -> Option<String> {
    let value = front.lines().find_map(|line| line.strip_prefix("title:"))?;
    said(value.trim().trim_matches(['"', '\'']))
}

/// Without `Plan:`, `[RFC]`, `Proposal B -`, `Implementation plan for` in front, and `(v2)` or `(1/2)` behind.
fn without_markers(title: &str) -> &str {
    let mut rest = title.trim();
    let mut taken = 0;
    // Markers are taken off once; a tag in brackets may stand before one.
    while taken < 2 {
        let before = rest.len();
        if let Some(inner) = rest.strip_prefix(['[', '【'])
            && let Some(end) = inner.find([']', '】'])
            && is_marker(&inner[..end])
        {
            let close = inner[end..].chars().next().map_or(1, char::len_utf8);
            rest = inner[end + close..].trim_start_matches([':', '：', ' ']);
            taken += 1;
            continue;
        }
        rest = after_colon(rest).unwrap_or(rest);
        taken = 2;
        if rest.len() == before {
            rest = after_preposition(rest).unwrap_or(rest);
        }
    }
    without_tag(rest)
}

/// What follows a marker and a colon or a dash.
fn after_colon(title: &str) -> Option<&str> {
    for (at, c) in title.char_indices().take(80) {
        let end = at + c.len_utf8();
        let dash = matches!(c, '-' | '–' | '—' | '|')
            && title[..at].ends_with(' ')
            && title[end..].starts_with([' ', '-']);
        let dot = c == '.' && title[end..].starts_with(' ') && at > 1;
        if c == ':' || c == '：' || dash || dot {
            let rest = title[end..].trim_start_matches(|c: char| c.is_whitespace() || c == '-');
            let head = title[..at].trim();
            if !rest.is_empty() && (is_marker(head) || is_letter(head)) {
                return Some(rest);
            }
            if !dot {
                return None;
            }
        }
    }
    None
}

/// `A`, `B`: one of several.
fn is_letter(head: &str) -> bool {
    let mut chars = head.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_none()
}

/// What follows `Plan for` and the like: a marker whose last word leads on.
fn after_preposition(title: &str) -> Option<&str> {
    let start = title.find(char::is_alphanumeric)?;
    let folded = fold(&title[start..]);
    // Only where folding kept the length can a place in one text be used in the other.
    if folded.len() != title.len() - start {
        return None;
    }
    let phrases = Phrases::of(&folded);
    let leads_on = |end: &usize| {
        let phrase = &folded[..*end];
        phrase
            .rsplit_once(' ')
            .is_some_and(|(shorter, _)| Phrases::of(shorter).is(Class::Marker, 0..shorter.len()))
    };
    let end = phrases
        .all(Class::Marker)
        .filter(|found| found.start == 0)
        .map(|found| found.end)
        .filter(leads_on)
        .max()?;
    let rest = title[start + end..].trim_start();
    (rest.chars().count() >= 5).then_some(rest)
}

/// Only markers: `Plan`, `Proposal B`, `Vorschlag 2 (v2)`, `Umsetzungsplan`.
fn is_marker(head: &str) -> bool {
    let folded = fold(without_tag(head.trim()));
    let content = words(&folded);
    if content.is_empty() {
        return false;
    }
    let phrases = Phrases::of(&folded);
    let whole = |class: Class| phrases.is(class, content.clone());
    if whole(Class::Marker) || whole(Class::Empty) || whole(Class::Plan) || whole(Class::Proposal) {
        return true;
    }
    // One of several, or somebody's: `Plan B`, `Option 2`, `案A`, `Maria's plan`, `Proposta di Greta`.
    [Class::Plan, Class::Proposal, Class::Marker]
        .iter()
        .any(|class| {
            phrases.all(*class).any(|found| {
                let rest = folded[found.end..].trim_matches(|c: char| !c.is_alphanumeric());
                let before = folded[..found.start].trim_matches(|c: char| !c.is_alphanumeric());
                let label = |text: &str| text.chars().count() <= 2 && !text.is_empty();
                (found.start == content.start && (label(rest) || whose(rest)))
                    || found.end >= content.end
                        && (label(before) || before.ends_with("'s") && !before.contains(' '))
            })
        })
}

/// A preposition and a name.
fn whose(rest: &str) -> bool {
    let mut words = rest.split_whitespace();
    let prepositions = ["by", "di", "de", "von", "van", "da", "do", "od", "af", "av"];
    words
        .next()
        .is_some_and(|word| prepositions.contains(&word))
        && words.next().is_some()
        && words.next().is_none()
}

/// Without `(v2)`, `(1/2)`, `(revised)` at the end.
fn without_tag(title: &str) -> &str {
    let trimmed = title.trim_end_matches(|c: char| c.is_whitespace() || c == ':' || c == '：');
    let Some(head) = trimmed.strip_suffix([')', '）']) else {
        return title;
    };
    let Some(open) = head.rfind(['(', '（']) else {
        return title;
    };
    let width = head[open..].chars().next().map_or(1, char::len_utf8);
    let tag = fold(&head[open + width..]);
    let content = words(&tag);
    let phrases = Phrases::of(&tag);
    let version = tag.trim().strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    let counted = tag.split_once('/').is_some_and(|(one, all)| {
        [one, all]
            .iter()
            .all(|part| !part.trim().is_empty() && part.trim().chars().all(|c| c.is_ascii_digit()))
    });
    let known = [Class::Replace, Class::Marker, Class::Empty]
        .iter()
        .any(|class| phrases.is(*class, content.clone()))
        || phrases.begins(Class::Part, content.start).is_some();
    if version || counted || known {
        title[..open].trim_end()
    } else {
        title
    }
}
