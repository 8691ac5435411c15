//! What a plan has: steps, context, placeholders, code.

use comrak::Arena;
use comrak::nodes::NodeValue;

use super::answer::is_details;
use crate::markdown::{self, Block, Kind};
use crate::plan::document::CATEGORIES;

/// Headings below which steps stand, without numbers and marks.
const STEPS: [&str; 38] = [
    "action items",
    "action plan",
    "approach",
    "changes",
    "changes required",
    "checklist",
    "component breakdown",
    "detailed steps",
    "execution plan",
    "execution steps",
    "files to change",
    "files to modify",
    "how",
    "implementation",
    "implementation approach",
    "implementation detail",
    "implementation details",
    "implementation order",
    "implementation phases",
    "implementation plan",
    "implementation steps",
    "implementation strategy",
    "implementation tasks",
    "milestones",
    "milestones & phases",
    "phases",
    "plan",
    "proposed changes",
    "proposed solution",
    "required changes",
    "rollout",
    "solution",
    "step by step",
    "steps",
    "task list",
    "tasks",
    "todo",
    "work items",
];

/// Words that count phases: `Phase 2.1: …`, `Step 3`.
const COUNTED: [&str; 7] = ["phase", "step", "milestone", "stage", "task", "part", "pr"];

/// What a form has where the text belongs, lower case.
const PLACEHOLDERS: [&str; 20] = [
    "[title]",
    "[title ",
    "[title…",
    "[plan title",
    "[full plan",
    "[short title",
    "[only populated",
    "[answer and how",
    "[insert ",
    "[describe ",
    "[fill in",
    "<title>",
    "<short title>",
    "<plan title>",
    "<file:line>",
    "<insert ",
    "<describe ",
    "<fill in",
    "<todo>",
    "lorem ipsum",
];

/// A whole line or item that says that something is to be written.
const UNWRITTEN: [&str; 9] = [
    "todo", "tbd", "tba", "fixme", "...", "…", "[...]", "[…]", "[todo]",
];

/// What was found in a plan.
pub(super) struct Parts {
    /// There is something to be worked off.
    pub(super) steps: bool,
    /// The section for the context: `None` when there is none, else whether it has text.
    pub(super) context: Option<bool>,
    /// Which categories have text.
    pub(super) categories: [bool; 8],
    /// There is an enrichment part.
    pub(super) details: bool,
    /// The first placeholder.
    pub(super) placeholder: Option<String>,
    /// Where the context begins; else the length.
    pub(super) plan_end: usize,
}

impl Parts {
    /// Reads `body`.
    pub(super) fn of(body: &str) -> Self {
        let blocks = markdown::blocks(body);
        let context = Context::of(&blocks);
        let plan_end = context.start.unwrap_or(body.len());
        let plan = blocks.partition_point(|block| block.span.start < plan_end);
        Self {
            steps: steps(&blocks[..plan]) || steps(behind(&blocks, &context)),
            context: context.start.map(|_| context.text),
            categories: context.categories,
            details: blocks.iter().any(is_details),
            placeholder: placeholder(body),
            plan_end,
        }
    }
}

/// What follows the context.
fn behind<'a>(blocks: &'a [Block], context: &Context) -> &'a [Block] {
    &blocks[context.end.min(blocks.len())..]
}

/// A heading without marks, numbers and boxes before its words, in lower case.
fn plain(heading: &str) -> String {
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

/// `Phase 1: …`; not `2026-01-02 — Phase 1`, not `Success Criteria — Phase 1`.
fn is_phase(heading: &str) -> bool {
    let dated = heading.trim().get(..5).is_some_and(|start| {
        start.ends_with('-') && start[..4].bytes().all(|b| b.is_ascii_digit())
    });
    let name = plain(heading);
    !dated
        && COUNTED.iter().any(|word| {
            name.strip_prefix(word).is_some_and(|rest| {
                rest.trim_start_matches([' ', '#'])
                    .starts_with(|c: char| c.is_ascii_digit())
            })
        })
}

/// `3. Wire it up`, `2) Tests`.
fn is_numbered(heading: &str) -> bool {
    let text = heading.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    digits > 0 && digits < 4 && text[digits..].starts_with(['.', ')', ':'])
}

fn steps(blocks: &[Block]) -> bool {
    let mut numbered = 0;
    for (at, block) in blocks.iter().enumerate() {
        match &block.kind {
            Kind::Heading { level, text, .. } => {
                numbered += usize::from(is_numbered(text));
                if is_phase(text) && *level > 1 || numbered >= 2 {
                    return true;
                }
                let name = plain(text);
                let steps = STEPS.contains(&name.as_str())
                    || name.ends_with(" steps")
                    || name.ends_with(" tasks");
                let below = blocks[at + 1..].iter().take_while(
                    |next| !matches!(next.kind, Kind::Heading { level: other, .. } if other <= *level),
                );
                let mut below = below.filter(|next| {
                    matches!(
                        next.kind,
                        Kind::List { .. } | Kind::Table | Kind::Heading { .. }
                    )
                });
                if steps && below.next().is_some() {
                    return true;
                }
            }
            Kind::List {
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
    /// Byte where its heading begins.
    start: Option<usize>,
    /// Index of the block behind it.
    end: usize,
    text: bool,
    categories: [bool; 8],
}

impl Context {
    fn of(blocks: &[Block]) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        while at < blocks.len() {
            let level = match &blocks[at].kind {
                Kind::Heading { level, text, .. }
                    if *level <= 3 && plain(text) == "context & understanding" =>
                {
                    *level
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            found.start = found.start.or(Some(blocks[at].span.start));
            at += 1;
            let mut category: Option<(usize, u8)> = None;
            while let Some(block) = blocks.get(at) {
                if let Kind::Heading {
                    level: deeper,
                    text,
                    ..
                } = &block.kind
                {
                    if *deeper <= level {
                        break;
                    }
                    if category.is_none_or(|(_, above)| *deeper <= above) {
                        let name = plain(text);
                        category = CATEGORIES
                            .iter()
                            .position(|known| plain(known) == name)
                            .map(|index| (index, *deeper));
                    }
                } else if says_something(&block.kind) {
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

fn says_something(kind: &Kind) -> bool {
    match kind {
        Kind::Paragraph { text } => {
            let lower = text.to_lowercase();
            let words = lower.trim_matches(|c: char| !c.is_alphanumeric());
            ![
                "",
                "none",
                "none found",
                "n/a",
                "nothing",
                "nothing found",
                "not applicable",
            ]
            .contains(&words)
        }
        Kind::Rule | Kind::Html => false,
        _ => true,
    }
}

/// The first placeholder in the words of `text`, code aside.
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
        let form = PLACEHOLDERS.iter().find(|form| {
            // `Option<Title>` is a type.
            lower.match_indices(**form).any(|(at, _)| {
                !lower[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
        });
        let line = lower.trim().trim_end_matches('.');
        let line = UNWRITTEN
            .iter()
            .find(|word| **word == lower.trim() || **word == line && !line.is_empty());
        if let Some(found) = form.or(line) {
            return Some((*found).trim().to_owned());
        }
    }
    None
}

/// The content of every fence, lines without blanks at their ends.
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
