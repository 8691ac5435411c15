//! Structure of an enriched plan: steps, context, placeholders, code.

use comrak::Arena;
use comrak::nodes::NodeValue;

use super::answer::is_details;
use crate::markdown::{self, Block, BlockKind};
use crate::plan::document::CATEGORIES;
use crate::words::WORDS;

/// Words in the headings of numbered steps: `Phase 2.1: …`, `Step 3`.
const COUNTED: [&str; 7] = ["phase", "step", "milestone", "stage", "task", "part", "pr"];

/// Properties of a plan.
pub(super) struct PlanSections {
    /// Whether it has steps.
    pub(super) steps: bool,
    /// Whether the section for the context has text; `None` if there is no such section.
    pub(super) context: Option<bool>,
    /// Which categories have text.
    pub(super) categories: [bool; 8],
    /// Whether it has a section "Enrichment Details".
    pub(super) details: bool,
    /// The first placeholder.
    pub(super) placeholder: Option<String>,
    /// Start of the context, else the length of the text.
    pub(super) plan_end: usize,
}

impl PlanSections {
    /// Parses `body`.
    pub(super) fn of(body: &str) -> Self {
        let blocks = markdown::blocks(body);
        let context = Context::of(&blocks);
        let plan_end = context.start.unwrap_or(body.len());
        let plan = blocks.partition_point(|block| block.span.start < plan_end);
        Self {
            steps: has_steps(&blocks[..plan]) || has_steps(&blocks[context.end..]),
            context: context.start.map(|_| context.text),
            categories: context.categories,
            details: blocks.iter().any(is_details),
            placeholder: placeholder(body),
            plan_end,
        }
    }
}

/// Normalises a heading: lower case, without markers, numbers and task boxes before its words.
fn heading_name(heading: &str) -> String {
    let lower = heading.to_lowercase().replace(" and ", " & ");
    let lower = lower.trim_start_matches("- ");
    let lower = ["[x]", "[ ]"]
        .iter()
        .find_map(|mark| lower.strip_prefix(mark))
        .unwrap_or(lower);
    lower
        .trim_start_matches(|c: char| !c.is_alphabetic())
        .trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')')
        .to_owned()
}

/// Accepts `Phase 1: …`, but not `2026-01-02 — Phase 1` and `Success Criteria — Phase 1`.
fn is_phase(heading: &str) -> bool {
    let dated = heading.trim().get(..5).is_some_and(|start| {
        start.ends_with('-') && start[..4].bytes().all(|b| b.is_ascii_digit())
    });
    let name = heading_name(heading);
    !dated
        && COUNTED.iter().any(|word| {
            name.strip_prefix(word).is_some_and(|rest| {
                rest.trim_start_matches([' ', '#'])
                    .starts_with(|c: char| c.is_ascii_digit())
            })
        })
}

/// Accepts `3. Wire it up` and `2) Tests`.
fn is_numbered(heading: &str) -> bool {
    let text = heading.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    digits > 0 && digits < 4 && text[digits..].starts_with(['.', ')', ':'])
}

/// Returns true for two numbered headings, a phase, a section of steps that is not empty, a
/// numbered list or a task list.
fn has_steps(blocks: &[Block]) -> bool {
    let mut numbered = 0;
    for (at, block) in blocks.iter().enumerate() {
        match &block.kind {
            BlockKind::Heading { level, text, .. } => {
                numbered += usize::from(is_numbered(text));
                if is_phase(text) && *level > 1 || numbered >= 2 {
                    return true;
                }
                let name = heading_name(text);
                let steps = WORDS.step_sections.contains(&name)
                    || name.ends_with(" steps")
                    || name.ends_with(" tasks");
                let below = blocks[at + 1..].iter().take_while(
                    |next| !matches!(next.kind, BlockKind::Heading { level: other, .. } if other <= *level),
                );
                let mut below = below.filter(|next| {
                    matches!(
                        next.kind,
                        BlockKind::List { .. } | BlockKind::Table | BlockKind::Heading { .. }
                    )
                });
                if steps && below.next().is_some() {
                    return true;
                }
            }
            BlockKind::List {
                ordered,
                items,
                tasks,
            } if (*ordered && *items >= 2) || *tasks >= 2 => return true,
            _ => {}
        }
    }
    false
}

/// The section `## Context & Understanding`.
#[derive(Default)]
struct Context {
    /// Offset of its heading.
    start: Option<usize>,
    /// Index of the block after it.
    end: usize,
    text: bool,
    categories: [bool; 8],
}

impl Context {
    fn of(blocks: &[Block]) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        while at < blocks.len() {
            let heading = blocks[at].heading();
            at += 1;
            let Some((level, _)) = heading.filter(|(level, text)| {
                *level <= 3 && heading_name(text) == "context & understanding"
            }) else {
                continue;
            };
            found.start = found.start.or(Some(blocks[at - 1].span.start));
            let mut category: Option<(usize, u8)> = None;
            while let Some(block) = blocks.get(at) {
                if let Some((deeper, text)) = block.heading() {
                    if deeper <= level {
                        break;
                    }
                    if category.is_none_or(|(_, above)| deeper <= above) {
                        let name = heading_name(text);
                        category = CATEGORIES
                            .iter()
                            .position(|known| heading_name(known) == name)
                            .map(|index| (index, deeper));
                    }
                } else if has_content(&block.kind) {
                    found.text = true;
                    if let Some((index, _)) = category {
                        found.categories[index] = true;
                    }
                }
                at += 1;
            }
            found.end = at;
        }
        found
    }
}

fn has_content(kind: &BlockKind) -> bool {
    match kind {
        BlockKind::Paragraph { text } => {
            let lower = text.to_lowercase();
            let words = lower.trim_matches(|c: char| !c.is_alphanumeric());
            !words.is_empty() && !WORDS.empty_sections.contains(words)
        }
        BlockKind::Rule | BlockKind::Html => false,
        _ => true,
    }
}

/// Returns the first placeholder in `text`, ignoring code.
pub(super) fn placeholder(text: &str) -> Option<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, text);
    for node in root.descendants() {
        let data = node.data();
        if !matches!(
            data.value,
            NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::HtmlBlock(_)
        ) {
            continue;
        }
        let mut words = String::new();
        if let NodeValue::HtmlBlock(html) = &data.value {
            words.clone_from(&html.literal);
        }
        for child in node.descendants() {
            match &child.data().value {
                NodeValue::Text(text) => words.push_str(text),
                NodeValue::HtmlInline(html) => words.push_str(html),
                NodeValue::SoftBreak | NodeValue::LineBreak => words.push('\n'),
                _ => {}
            }
        }
        let lower = words.to_lowercase();
        let form = WORDS.placeholders.iter().find(|form| {
            // `Option<Title>` is a type.
            lower.match_indices(*form).any(|(at, _)| {
                !lower[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
        });
        let line = lower.trim().trim_end_matches('.');
        let line = WORDS
            .unwritten
            .iter()
            .find(|word| *word == lower.trim() || *word == line);
        if let Some(found) = form.or(line) {
            return Some(found.trim().to_owned());
        }
    }
    None
}

/// Returns the content of every fenced code block that is not empty, without white space at the
/// ends of lines.
pub(super) fn fences(text: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, text);
    root.descendants()
        .filter_map(|node| match &node.data().value {
            NodeValue::CodeBlock(code) if code.fenced => {
                let lines: Vec<&str> = code.literal.lines().map(str::trim_end).collect();
                let code = lines.join("\n");
                (!code.trim().is_empty()).then(|| code.trim_end().to_owned())
            }
            _ => None,
        })
        .collect()
}
