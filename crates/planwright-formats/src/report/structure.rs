//! Structure of a parsed document: section names, list items, phases and milestones.

use comrak::nodes::{AstNode, NodeValue};

use crate::text::one_line;

/// Returns the text below `node` on one line as a reader sees it: without markup and HTML, code
/// spans in backticks.
pub(super) fn visible_line<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for part in node.descendants() {
        match &part.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Code(code) => text.extend(["`", &code.literal, "`"]),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    one_line(&text)
}

/// Returns true for a block that contains text directly: a paragraph, a heading, a table cell.
pub(super) fn is_leaf(value: &NodeValue) -> bool {
    matches!(
        value,
        NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::TableCell
    )
}

/// Returns the items of a list, in order.
pub(super) fn items<'a>(list: &'a AstNode<'a>) -> impl Iterator<Item = &'a AstNode<'a>> {
    let is_item = |node: &&AstNode<'a>| {
        matches!(
            node.data().value,
            NodeValue::Item(_) | NodeValue::TaskItem(_)
        )
    };
    list.children().filter(is_item)
}

/// Returns the paragraph that begins a list item.
pub(super) fn lead<'a>(item: &'a AstNode<'a>) -> Option<&'a AstNode<'a>> {
    item.first_child()
        .filter(|first| matches!(first.data().value, NodeValue::Paragraph))
}

/// Normalises the text of a heading to the name of a section: lower case, without a number or emoji
/// before it and a colon or emoji after it.
pub(super) fn section_name(text: &str) -> String {
    let text = text.trim_matches(is_emoji);
    let unnumbered =
        text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || is_keycap(c));
    let numbered = unnumbered.len() < text.len();
    let rest = match unnumbered.strip_prefix([')', ':']) {
        Some(rest) if numbered => rest,
        _ => unnumbered,
    };
    // `3D` is a word, `3. D` is a number and a word.
    let rest = if numbered && rest.starts_with(char::is_alphanumeric) {
        text
    } else {
        rest
    };
    let words: Vec<&str> = rest.trim_matches(is_emoji).split_whitespace().collect();
    words.join(" ").trim_end_matches(':').to_lowercase()
}

/// Returns true for white space and for characters of emoji such as `🚀`.
fn is_emoji(c: char) -> bool {
    c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric() && !"«»“”„‘’—–…".contains(c)
}

/// Returns true for the characters that turn a digit into the emoji `1️⃣`.
fn is_keycap(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{20e3}')
}

/// Kind of a numbered heading in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanHeadingKind {
    /// `## Phase 1: …`.
    Phase,
    /// `### Milestone 1: …`, which groups phases.
    Milestone,
    /// `### Step 1: …`.
    Step,
}

/// A numbered heading in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanHeading {
    /// Phase, milestone or step.
    pub kind: PlanHeadingKind,
    /// Number, such as `1` or `3.2`.
    pub number: String,
    /// Text after the number, without the state; may be empty.
    pub title: String,
    /// State given by a task box or emoji before the heading or by a word in brackets at its end;
    /// `None` without one.
    pub done: Option<bool>,
}

/// Words in brackets at the end of a heading, and whether they mean that the phase is done.
const STATES: [(&str, bool); 9] = [
    ("complete", true),
    ("completed", true),
    ("done", true),
    ("not started", false),
    ("in progress", false),
    ("blocked", false),
    ("pending", false),
    ("todo", false),
    ("incomplete", false),
];

/// Parses the `text` of a heading (without `#` and markup) as a phase, milestone or step: `Phase 1:
/// T`, `Phase 1 — T`, `- [x] Phase 1.2: T`, optionally with a state such as `[COMPLETE]` at the
/// end.
///
/// Returns `None` for the title of a document (level 1) and for headings that only mention a phase:
/// `2026-07-10 — Phase 1.1: T`, `Success Criteria — Phase 2`, `Phase 2 results`.
pub fn phase_heading(level: u8, text: &str) -> Option<PlanHeading> {
    if level < 2 {
        return None;
    }
    let (ticked, text) = task_box(text.trim());
    let bare = text.trim_start_matches(is_emoji);
    let emoji = &text[..text.len() - bare.len()];
    let marked = emoji.contains(['✅', '☑', '✔', '🎉']).then_some(true);
    let (kind, rest) = [
        (PlanHeadingKind::Phase, "phase"),
        (PlanHeadingKind::Milestone, "milestone"),
        (PlanHeadingKind::Step, "step"),
    ]
    .into_iter()
    .find_map(|(kind, word)| {
        let (head, rest) = bare.split_at_checked(word.len())?;
        head.eq_ignore_ascii_case(word).then_some((kind, rest))
    })?;
    let digits = rest.trim_start();
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(digits.len());
    // In `Phase 1. T` the full stop is no part of the number.
    let number = digits[..end].trim_end_matches('.');
    let spaced = digits.len() < rest.len();
    if !spaced || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (state, title) = state(digits[number.len()..].trim());
    let title = if title.is_empty() {
        title
    } else {
        [":", "—", "–", "--", "-", ".", ")"]
            .into_iter()
            .find_map(|between| title.strip_prefix(between))
            .or_else(|| title.starts_with('(').then_some(title))?
    };
    Some(PlanHeading {
        kind,
        number: number.to_owned(),
        title: title.trim().to_owned(),
        done: ticked.or(state).or(marked),
    })
}

/// Splits off a task box, as in `- [x] Phase 1`.
fn task_box(text: &str) -> (Option<bool>, &str) {
    let bare = text.strip_prefix(['-', '*', '+']).unwrap_or(text);
    let bare = bare.trim_start();
    for (mark, done) in [("[x]", true), ("[X]", true), ("[ ]", false)] {
        if let Some(rest) = bare.strip_prefix(mark) {
            return (Some(done), rest.trim_start());
        }
    }
    (None, text)
}

/// Splits off a state in brackets at the end.
fn state(text: &str) -> (Option<bool>, &str) {
    let found = text.strip_suffix(']').and_then(|open| {
        let (title, word) = open.rsplit_once('[')?;
        let word = word.trim().to_lowercase();
        let (_, done) = STATES.into_iter().find(|(state, _)| *state == word)?;
        Some((Some(done), title.trim_end()))
    });
    found.unwrap_or((None, text))
}
