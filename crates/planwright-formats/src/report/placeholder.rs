//! What is left of a template: `<short title>`, `<file:line>`, `[Add …]`, `{{name}}`, a lone `TODO`.
//!
//! Code and quotes are not looked at, and only forms are taken that a finished text hardly has: `Vec<String>`,
//! `<details open>`, `[IN PROGRESS]`, `a < b` and shouted words are none.

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeValue};

use super::prose::is_leaf;
use crate::plan::inline;
use crate::plan::title::cut;

/// Longest placeholder in bytes, its brackets not counted.
const LONGEST: usize = 80;
/// Code points of a placeholder that are shown.
const SHOWN: usize = 60;

/// Attributes that stand in a tag without a value.
const ATTRIBUTES: [&str; 14] = [
    "allowfullscreen",
    "async",
    "autoplay",
    "checked",
    "controls",
    "defer",
    "disabled",
    "hidden",
    "loop",
    "muted",
    "nowrap",
    "open",
    "required",
    "selected",
];

/// Whole paragraphs that templates have, in lower case, without a full stop. The last ones are of Spektacular's.
const LINES: [&str; 10] = [
    "todo",
    "tbd",
    "to be determined",
    "to be written",
    "add first requirement",
    "add first constraint",
    "add first acceptance criterion",
    "add technical approach details",
    "add success metrics",
    "add non-goals",
];

/// How templates begin a sentence in square brackets.
const ORDERS: [&str; 10] = [
    "Add ",
    "Insert ",
    "Describe ",
    "Fill in",
    "Replace ",
    "Your ",
    "TODO",
    "TBD",
    "Placeholder",
    "Summarize ",
];

/// Line and text of every placeholder, in order.
pub(super) fn placeholders<'a>(root: &'a AstNode<'a>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        let data = node.data();
        let line = data.sourcepos.start.line;
        match &data.value {
            NodeValue::BlockQuote | NodeValue::Alert(_) => {}
            NodeValue::HtmlBlock(html) if verbatim(&html.literal) => {}
            NodeValue::HtmlBlock(html) => scan(&without_comments(&html.literal), line, &mut found),
            value if is_leaf(value) => {
                let text = source(node);
                if matches!(value, NodeValue::Paragraph) {
                    whole(&text, line, &mut found);
                }
                scan(&text, line, &mut found);
            }
            _ => stack.extend(node.reverse_children()),
        }
    }
    found
}

/// The text of a paragraph, heading or cell, with its tags and line ends. Code is one odd character.
fn source<'a>(leaf: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for edge in leaf.traverse() {
        let (node, starts) = match edge {
            NodeEdge::Start(node) => (node, true),
            NodeEdge::End(node) => (node, false),
        };
        match &node.data().value {
            // An address in angle brackets.
            NodeValue::Link(link) if node.collect_text() == link.url => {
                text.push(if starts { '<' } else { '>' });
            }
            _ if !starts => {}
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::HtmlInline(tag) if tag.starts_with("<!--") => {}
            NodeValue::HtmlInline(tag) => text.push_str(tag),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push('\n'),
            NodeValue::Code(_) => text.push('\u{fffc}'),
            _ => {}
        }
    }
    text
}

/// A block whose content is no text for readers.
fn verbatim(html: &str) -> bool {
    let start = html.trim_start().to_ascii_lowercase();
    ["<!", "<?", "<pre", "<script", "<style", "<textarea"]
        .into_iter()
        .any(|tag| start.starts_with(tag))
}

fn without_comments(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        let (comment, behind) = comment.split_once("-->").unwrap_or((comment, ""));
        // Lines keep their numbers.
        out.extend(comment.chars().filter(|c| *c == '\n'));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn whole(text: &str, line: usize, found: &mut Vec<(usize, String)>) {
    if text.len() > LONGEST {
        return;
    }
    let shown = inline::one_line(text);
    let lower = shown.to_lowercase();
    let words = lower.trim_end_matches(['.', ':', '!', '…', ' ']);
    let described = words.starts_with("add description for ") && words.ends_with(" here");
    if described || LINES.contains(&words) {
        found.push((line, cut(&shown, SHOWN)));
    }
}

/// Finds bracketed placeholders.
fn scan(text: &str, first_line: usize, found: &mut Vec<(usize, String)>) {
    let mut line = first_line;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        let end = match c {
            '<' if !before.is_alphanumeric() => end(rest, "<", ">", angle),
            '[' if !before.is_alphanumeric() => end(rest, "[", "]", square),
            '{' if before != '$' => end(rest, "{{", "}}", curly),
            _ => None,
        };
        if let Some(end) = end {
            found.push((line, cut(&inline::one_line(&rest[..end]), SHOWN)));
        }
        line += usize::from(c == '\n');
        before = c;
    }
}

/// Length of the placeholder that `rest` begins with.
fn end(rest: &str, open: &str, close: &str, judge: fn(&str, &str) -> bool) -> Option<usize> {
    let inner = rest.strip_prefix(open)?;
    let mut near = inner.len().min(LONGEST + close.len());
    while !inner.is_char_boundary(near) {
        near -= 1;
    }
    let length = inner[..near].find(close)?;
    let behind = &inner[length + close.len()..];
    judge(&inner[..length], behind).then_some(open.len() + length + close.len())
}

/// `short title`, `file:line`, `PROJECT_NAME`; not a tag, not a type.
fn angle(inner: &str, behind: &str) -> bool {
    if ["file:line", "path:line", "short-title"].contains(&inner) || shouted(inner) {
        return true;
    }
    let plain = inner.starts_with(char::is_alphabetic)
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || " -_,.'’…".contains(c));
    let mut words = inner.split(' ').skip(1).peekable();
    let several = words.peek().is_some();
    let attributes = words.all(|word| ATTRIBUTES.contains(&word));
    plain
        && several
        && !attributes
        && !inner.ends_with(' ')
        && !inner.contains(" as ")
        && !behind.starts_with("::")
}

/// `Add …`, `PROJECT_NAME`; not a state, not a link.
fn square(inner: &str, behind: &str) -> bool {
    let order = ORDERS.into_iter().any(|order| inner.starts_with(order));
    (order || shouted(inner)) && !behind.starts_with(['(', '['])
}

/// `name`, `project name`.
fn curly(inner: &str, _: &str) -> bool {
    let inner = inner.trim();
    inner.starts_with(char::is_alphabetic)
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || " -_".contains(c))
}

/// Capitals with an underscore between them.
fn shouted(inner: &str) -> bool {
    inner.contains('_')
        && inner.starts_with(|c: char| c.is_ascii_uppercase())
        && inner
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
