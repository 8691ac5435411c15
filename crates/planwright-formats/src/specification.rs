//! Specifications: what somebody wants, from which a plan is written.
//!
//! Any text can be one: prose, an issue form, or our own [`template()`] filled in. What a template asks for and nobody has
//! written counts as nothing, so that no agent takes `Add first requirement` for a requirement:
//!
//! | what | counts as nothing |
//! |---|---|
//! | `Add first requirement`, `… constraint`, `… acceptance criterion` (`second`, … `fifth` too), with or without a box | everywhere |
//! | `Add description for … here.` | below `Overview`, or where it names the specification |
//! | `Add technical approach details`, `Add success metrics`, `Add non-goals` | below their own headings: elsewhere somebody may want just that |
//! | `_No response_`, which GitHub writes into issue forms | below a heading |
//! | HTML comments that are closed, items and boxes without words | everywhere |
//!
//! Capitals, a full stop at the end and emphasis make no difference. Only whole paragraphs, items of a list and comments
//! go, and headings of a template or a form that nothing is left below when placeholders are gone. All else stays, byte for
//! byte. Linear.

mod name;
mod place;
mod template;
#[cfg(test)]
mod tests;
mod vacant;

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::NodeValue;

use crate::markdown::{self, Lines};
pub use name::{MAX_NAME, Name, NameError, counted, name, number, slug, timestamped};
pub use place::{Kind, NotFound, candidates, resolve};
pub use template::{template, title_of_name};

/// Points that make the highest [`complexity`].
const MOST_POINTS: f64 = 25.0;
/// Characters of text that count for one point: about 100 English words.
const CHARS_A_POINT: f64 = 600.0;

/// A specification as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    /// Title as given.
    pub title: String,
    /// What stands before the first heading, then one section for each heading, in order.
    pub sections: Vec<Section>,
    /// Words of a template that nobody replaced, as they stand there. Comments are not among them.
    pub placeholders: Vec<String>,
    text: String,
}

/// A heading and what stands below it, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6; 0 for what stands before the first heading.
    pub level: u8,
    /// Heading without markup; empty before the first one.
    pub title: String,
    /// The source below the heading, as it stands there.
    pub text: String,
    /// Items of its lists that say something, without those within other items.
    pub items: usize,
    /// Nothing real stands below the heading, those of lower levels included.
    pub empty: bool,
}

impl Specification {
    /// Nothing in it says what is wanted. The title does not count, nor do headings alone, though [`Self::text`] keeps
    /// those.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.empty)
    }

    /// The specification as it is given to a planner: what is real of it, in order, as it stands in the source. No line
    /// ends around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Headings that nothing real stands below, in order.
    pub fn empty_sections(&self) -> Vec<&str> {
        self.sections
            .iter()
            .filter(|section| section.empty && section.level > 0)
            .map(|section| section.title.as_str())
            .collect()
    }
}

/// How much there is to plan, from 0 to 1.
///
/// One point for each item of a list, those of non-goals aside, and one for 600 characters of text; 25 points and more
/// are 1. So the template with three requirements and three criteria is about 0.3, and a page of prose about 0.2.
pub fn complexity(specification: &Specification) -> f64 {
    let items: usize = specification
        .sections
        .iter()
        .filter(|section| !vacant::is_non_goal(&section.title))
        .map(|section| section.items)
        .sum();
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let points = count(items) + count(specification.text.chars().count()) / CHARS_A_POINT;
    (points / MOST_POINTS).min(1.0)
}

/// What the tree says of one top-level block.
struct Piece {
    kind: PieceKind,
    /// Lines, 1-based, the last one not included.
    lines: Range<usize>,
}

enum PieceKind {
    Heading {
        level: u8,
        title: String,
    },
    /// Something real; items of a list that say something, and the lines of those that do not. `words`: a placeholder
    /// is among these.
    Real {
        items: usize,
        vacant: Vec<Range<usize>>,
        words: bool,
    },
    /// Nothing of it is real. `words`: there is a placeholder in it, not only comments and items without words; `form`:
    /// it is what a form puts below a question.
    Vacant {
        words: bool,
        form: bool,
    },
    /// A rule: neither.
    Neutral,
}

/// Reads the body of a specification. Whatever it is, it is one.
pub fn read(title: &str, body: &str) -> Specification {
    let lines = Lines::new(body);
    let mut placeholders = Vec::new();
    let pieces = pieces(title, body, &lines, &mut placeholders);
    let fates = fates(&pieces);
    let mut sections = vec![Section {
        level: 0,
        title: String::new(),
        text: String::new(),
        items: 0,
        empty: true,
    }];
    let mut starts = vec![1];
    let mut gone: Vec<(Range<usize>, bool)> = Vec::new();
    for (piece, fate) in pieces.iter().zip(&fates) {
        match &piece.kind {
            PieceKind::Heading { level, title } => {
                sections.push(Section {
                    level: *level,
                    title: title.clone(),
                    text: String::new(),
                    items: 0,
                    empty: fate.empty,
                });
                starts.push(piece.lines.end);
                if fate.gone {
                    gone.push((piece.lines.clone(), true));
                }
            }
            PieceKind::Real { items, vacant, .. } => {
                if let Some(section) = sections.last_mut() {
                    section.items += items;
                    section.empty = false;
                }
                gone.extend(vacant.iter().cloned().map(|lines| (lines, false)));
            }
            PieceKind::Vacant { .. } => gone.push((piece.lines.clone(), true)),
            PieceKind::Neutral => {}
        }
    }
    let headings: Vec<usize> = pieces
        .iter()
        .filter(|piece| matches!(piece.kind, PieceKind::Heading { .. }))
        .map(|piece| piece.lines.start)
        .chain([lines.count() + 1])
        .collect();
    for ((section, from), to) in sections.iter_mut().zip(starts).zip(headings) {
        trim(lines.between(from, to)).clone_into(&mut section.text);
    }
    Specification {
        title: title.to_owned(),
        sections,
        placeholders,
        text: without(&lines, &gone),
    }
}

/// Everything but the lines in `gone` (in order), with the blank lines behind them. `true`: a block of its own, whose
/// neighbours must not become one paragraph.
fn without(lines: &Lines<'_>, gone: &[(Range<usize>, bool)]) -> String {
    let mut text = String::new();
    let mut at = 1;
    for (range, block) in gone {
        text.push_str(lines.between(at, range.start));
        at = range.end.max(at);
        while at <= lines.count() && lines.text(at).trim().is_empty() {
            at += 1;
        }
        if *block && !text.is_empty() && !text.ends_with("\n\n") && !text.ends_with("\r\n\r\n") {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
    }
    text.push_str(lines.between(at, lines.count() + 1));
    trim(&text).to_owned()
}

/// Without blank lines before and white space behind; what the first line is indented by stays.
fn trim(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank]
        .rfind(['\n', '\r'])
        .map_or(0, |line_end| line_end + 1);
    &text[start..]
}

/// The top-level blocks of `body`, and the words of a template among them.
fn pieces(
    title: &str,
    body: &str,
    lines: &Lines<'_>,
    placeholders: &mut Vec<String>,
) -> Vec<Piece> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut context = vacant::Context::of(title);
    let mut found = Vec::new();
    for node in root.children() {
        let position = node.data().sourcepos;
        let before = placeholders.len();
        let block = position.start.line..position.end.line.max(position.start.line) + 1;
        let heading = match &node.data().value {
            NodeValue::Heading(heading) => Some(heading.level),
            _ => None,
        };
        let kind = if let Some(level) = heading {
            let title = node.collect_text().trim().to_owned();
            context.enter(level, &title);
            PieceKind::Heading { level, title }
        } else if matches!(node.data().value, NodeValue::List(_)) {
            let items: Vec<_> = node.children().collect();
            let starts = items.iter().map(|item| item.data().sourcepos.start.line);
            let ends = starts.clone().skip(1).chain([block.end]);
            let mut empty = Vec::new();
            for ((item, from), to) in items.iter().zip(starts).zip(ends) {
                if let Some(words) = context.vacant(item)
                    && !defines(lines.between(from, to))
                {
                    placeholders.extend(words);
                    empty.push(from..to);
                }
            }
            let words = placeholders.len() > before;
            if empty.len() == items.len() {
                PieceKind::Vacant { words, form: false }
            } else {
                PieceKind::Real {
                    items: items.len() - empty.len(),
                    vacant: empty,
                    words,
                }
            }
        } else if matches!(node.data().value, NodeValue::ThematicBreak) {
            PieceKind::Neutral
        } else if let Some(words) = context.vacant(node)
            && (matches!(node.data().value, NodeValue::HtmlBlock(_))
                || !(lines.text(block.start).trim_start().starts_with('[')
                    && defines(lines.between(block.start, block.end))))
        {
            placeholders.extend(words);
            let new = &placeholders[before..];
            PieceKind::Vacant {
                words: !new.is_empty(),
                form: new.iter().any(|words| vacant::is_no_response(words)),
            }
        } else {
            PieceKind::Real {
                items: 0,
                vacant: Vec::new(),
                words: false,
            }
        };
        found.push(Piece { kind, lines: block });
    }
    found
}

/// There may be a link's definition, which the tree does not hold.
fn defines(source: &str) -> bool {
    source.contains("]:")
}

/// What becomes of a heading.
#[derive(Clone, Copy, Default)]
struct Fate {
    /// Nothing real is below it.
    empty: bool,
    /// A placeholder was taken out below it, nothing is left, and it is a template's or a form's itself.
    gone: bool,
}

/// The fate of each piece that is a heading, from the last one up: for each level what has been seen below it.
fn fates(pieces: &[Piece]) -> Vec<Fate> {
    #[derive(Clone, Copy, Default)]
    struct Seen {
        real: bool,
        kept: bool,
        words: bool,
    }
    // At `level`: what a heading of that level would have below it.
    let mut below = [Seen::default(); 7];
    // Since the last heading.
    let mut form = false;
    let mut fates = vec![Fate::default(); pieces.len()];
    for (piece, fate) in pieces.iter().zip(&mut fates).rev() {
        match &piece.kind {
            PieceKind::Heading { level, title } => {
                let level = usize::from(*level).min(6);
                let own = below[level];
                fate.empty = !own.real;
                let theirs = form || vacant::is_of_template(title);
                fate.gone = own.words && !own.kept && theirs;
                form = false;
                for (upper, seen) in below.iter_mut().enumerate() {
                    if upper < level {
                        seen.kept |= !fate.gone;
                    } else {
                        *seen = Seen::default();
                    }
                }
            }
            PieceKind::Real { words, .. } => {
                for seen in &mut below {
                    seen.real = true;
                    seen.kept = true;
                    seen.words |= words;
                }
            }
            PieceKind::Vacant {
                words,
                form: of_form,
            } => {
                form |= of_form;
                for seen in &mut below {
                    seen.words |= words;
                }
            }
            PieceKind::Neutral => {}
        }
    }
    fates
}
