//! Parses specifications, from which plans are written.
//!
//! Any text can be a specification: prose, an issue form, or our own [`template()`] filled in.
//! Placeholders that nobody has replaced are ignored, so that no agent takes
//! `Add first requirement` for a requirement:
//!
//! | placeholder | ignored |
//! |---|---|
//! | `Add first requirement`, `… constraint`, `… acceptance criterion` (`second`, … `fifth` too), with or without a box | everywhere |
//! | `Add description for … here.` | below `Overview`, or where it names the specification |
//! | `Add technical approach details`, `Add success metrics`, `Add non-goals` | below their own headings only; elsewhere they may be requirements |
//! | `_No response_`, which GitHub writes into issue forms | below a heading |
//! | closed HTML comments, items and boxes without words | everywhere |
//!
//! Case, a full stop at the end and emphasis make no difference. Only whole paragraphs, list items
//! and comments are removed, and headings of a template or form with nothing left below them.
//! Everything else is kept byte for byte. Parsing takes linear time.

mod locate;
mod name;
mod placeholders;
mod template;
#[cfg(test)]
mod tests;

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::NodeValue;

use crate::markdown::{self, Lines};
pub use locate::{DocumentKind, NotFound, candidates, resolve};
pub use name::{MAX_NAME_CHARS, Name, NameError, number_prefix, numbered, slug, timestamped};
use placeholders::{Context, is_no_response, is_non_goal, is_template_heading};
pub use template::{template, title_from_name};

/// Number of points of the highest [`complexity`].
const MAX_POINTS: f64 = 25.0;
/// Number of characters for one point: about 100 English words.
const CHARS_PER_POINT: f64 = 600.0;

/// A parsed specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    /// The title, unchanged.
    pub title: String,
    /// The text before the first heading, then one section for each heading, in order.
    pub sections: Vec<Section>,
    /// Placeholders that nobody replaced, verbatim. Comments are not included.
    pub placeholders: Vec<String>,
    text: String,
}

/// A heading and the text below it, up to the next heading of any level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// Level from 1 to 6; 0 for the text before the first heading.
    pub level: u8,
    /// Heading without markup; empty before the first heading.
    pub title: String,
    /// Source of the text below the heading, verbatim.
    pub text: String,
    /// Number of items with content in its lists, without nested ones.
    pub items: usize,
    /// Whether the heading and its subheadings have no content below them.
    pub empty: bool,
}

impl Specification {
    /// Whether the specification has no content. Title and headings do not count, although
    /// [`Self::text`] keeps headings.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.empty)
    }

    /// Returns the specification for a planner: the source without placeholders and without line
    /// breaks around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the headings without content, in order.
    pub fn empty_sections(&self) -> Vec<&str> {
        self.sections
            .iter()
            .filter(|section| section.empty && section.level > 0)
            .map(|section| section.title.as_str())
            .collect()
    }
}

/// Returns how much there is to plan, from 0 to 1.
///
/// Each list item, except non-goals, and every 600 characters of text count one point; 25 points or
/// more are 1. The template with three requirements and three criteria has about 0.3, a page of
/// prose about 0.2.
pub fn complexity(specification: &Specification) -> f64 {
    let items: usize = specification
        .sections
        .iter()
        .filter(|section| !is_non_goal(&section.title))
        .map(|section| section.items)
        .sum();
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let points = count(items) + count(specification.text.chars().count()) / CHARS_PER_POINT;
    (points / MAX_POINTS).min(1.0)
}

/// A top-level block of a specification.
struct Block {
    kind: BlockKind,
    /// Lines of the block, 1-based, end exclusive.
    lines: Range<usize>,
}

enum BlockKind {
    Heading {
        level: u8,
        title: String,
    },
    /// A block with content of its own.
    Content {
        /// Number of list items with content.
        items: usize,
        /// Lines of the list items without content.
        empty_items: Vec<Range<usize>>,
        /// Whether any of these is a placeholder.
        has_placeholder: bool,
    },
    /// A block without content.
    Empty {
        /// Whether it has a placeholder, not only comments and items without words.
        has_placeholder: bool,
        /// Whether it is the placeholder of an issue form.
        is_form: bool,
    },
    /// A thematic break, which is neither.
    Rule,
}

/// Parses the body of a specification. Any text is valid.
pub fn parse(title: &str, body: &str) -> Specification {
    let lines = Lines::new(body);
    let text_of = |lines_of_text: Range<usize>| {
        trim(lines.between(lines_of_text.start, lines_of_text.end)).to_owned()
    };
    let mut placeholders = Vec::new();
    let blocks = classify(title, body, &lines, &mut placeholders);
    let headings = evaluate_headings(&blocks);
    let mut sections = Vec::new();
    let mut section = Section {
        empty: true,
        ..Section::default()
    };
    let mut start = 1;
    let mut removed: Vec<(Range<usize>, bool)> = Vec::new();
    for (block, heading) in blocks.into_iter().zip(headings) {
        match block.kind {
            BlockKind::Heading { level, title } => {
                section.text = text_of(start..block.lines.start);
                start = block.lines.end;
                let next = Section {
                    level,
                    title,
                    empty: heading.empty,
                    ..Section::default()
                };
                sections.push(std::mem::replace(&mut section, next));
                if heading.removed {
                    removed.push((block.lines, true));
                }
            }
            BlockKind::Content {
                items, empty_items, ..
            } => {
                section.items += items;
                section.empty = false;
                removed.extend(empty_items.into_iter().map(|lines| (lines, false)));
            }
            BlockKind::Empty { .. } => removed.push((block.lines, true)),
            BlockKind::Rule => {}
        }
    }
    section.text = text_of(start..lines.count() + 1);
    sections.push(section);
    Specification {
        title: title.to_owned(),
        sections,
        placeholders,
        text: without(&lines, &removed),
    }
}

/// Returns the text without the lines in `removed` (in order) and the blank lines after them.
/// `true` marks a whole block, whose neighbours must not become one paragraph.
fn without(lines: &Lines<'_>, removed: &[(Range<usize>, bool)]) -> String {
    let mut text = String::new();
    let mut at = 1;
    for (range, block) in removed {
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

/// Removes blank lines at the start and white space at the end. The first line stays indented.
fn trim(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind(['\n', '\r']);
    &text[start.map_or(0, |line_break| line_break + 1)..]
}

/// Classifies the top-level blocks of `body` and collects the placeholders in them.
fn classify(
    title: &str,
    body: &str,
    lines: &Lines<'_>,
    placeholders: &mut Vec<String>,
) -> Vec<Block> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut context = Context::new(title);
    let mut blocks = Vec::new();
    for node in root.children() {
        let position = node.data().sourcepos;
        let range = position.start.line..position.end.line.max(position.start.line) + 1;
        let before = placeholders.len();
        let kind = match &node.data().value {
            NodeValue::Heading(heading) => {
                let title = node.collect_text().trim().to_owned();
                context.enter(heading.level, &title);
                BlockKind::Heading {
                    level: heading.level,
                    title,
                }
            }
            NodeValue::ThematicBreak => BlockKind::Rule,
            NodeValue::List(_) => {
                let mut items = 0;
                let mut empty_items = Vec::new();
                for item in node.children() {
                    let next = item.next_sibling();
                    let end = next.map_or(range.end, |next| next.data().sourcepos.start.line);
                    let item_lines = item.data().sourcepos.start.line..end;
                    match context.placeholders(item) {
                        Some(words) if !may_define_link(lines, &item_lines) => {
                            placeholders.extend(words);
                            empty_items.push(item_lines);
                        }
                        _ => items += 1,
                    }
                }
                let has_placeholder = placeholders.len() > before;
                if items == 0 {
                    BlockKind::Empty {
                        has_placeholder,
                        is_form: false,
                    }
                } else {
                    BlockKind::Content {
                        items,
                        empty_items,
                        has_placeholder,
                    }
                }
            }
            value => {
                let defines_link = !matches!(value, NodeValue::HtmlBlock(_))
                    && lines.text(range.start).trim_start().starts_with('[')
                    && may_define_link(lines, &range);
                match context.placeholders(node) {
                    Some(words) if !defines_link => {
                        let is_form = words.iter().any(|words| is_no_response(words));
                        placeholders.extend(words);
                        BlockKind::Empty {
                            has_placeholder: placeholders.len() > before,
                            is_form,
                        }
                    }
                    _ => BlockKind::Content {
                        items: 0,
                        empty_items: Vec::new(),
                        has_placeholder: false,
                    },
                }
            }
        };
        blocks.push(Block { kind, lines: range });
    }
    blocks
}

/// Whether these lines may contain a link definition, which has no node in the tree.
fn may_define_link(lines: &Lines<'_>, range: &Range<usize>) -> bool {
    lines.between(range.start, range.end).contains("]:")
}

/// What becomes of a heading.
#[derive(Clone, Copy, Default)]
struct HeadingStatus {
    /// Whether it has no content.
    empty: bool,
    /// Whether it is removed: placeholders below it were removed, nothing is left, and the heading
    /// itself belongs to a template or an issue form.
    removed: bool,
}

/// Evaluates each block that is a heading, from the last one up.
fn evaluate_headings(blocks: &[Block]) -> Vec<HeadingStatus> {
    /// What has been seen below a heading.
    #[derive(Clone, Copy, Default)]
    struct Below {
        content: bool,
        /// Content, or a heading that is not removed.
        kept: bool,
        placeholder: bool,
    }
    // At `level`: what a heading of that level would have below it.
    let mut below = [Below::default(); 7];
    // Whether a placeholder of an issue form has been seen since the last heading.
    let mut form = false;
    let mut statuses = vec![HeadingStatus::default(); blocks.len()];
    for (block, status) in blocks.iter().zip(&mut statuses).rev() {
        match &block.kind {
            BlockKind::Heading { level, title } => {
                let level = usize::from(*level).min(6);
                let own = below[level];
                let of_template = form || is_template_heading(title);
                status.empty = !own.content;
                status.removed = own.placeholder && !own.kept && of_template;
                form = false;
                below[level..].fill(Below::default());
                for upper in &mut below[..level] {
                    upper.kept |= !status.removed;
                }
            }
            BlockKind::Content {
                has_placeholder, ..
            } => {
                for level in &mut below {
                    level.content = true;
                    level.kept = true;
                    level.placeholder |= has_placeholder;
                }
            }
            BlockKind::Empty {
                has_placeholder,
                is_form,
            } => {
                form |= is_form;
                for level in &mut below {
                    level.placeholder |= has_placeholder;
                }
            }
            BlockKind::Rule => {}
        }
    }
    statuses
}
