//! Detection of unfilled template placeholders: `<short title>`, `<file:line>`, `[Add …]`,
//! `{{name}}`, a lone `TODO`.
//!
//! Code and quotes are ignored. To avoid false positives, only forms that a finished text hardly
//! contains are matched: `Vec<String>`, `<details open>`, `[IN PROGRESS]`, `a < b` and words in
//! capitals are not placeholders.

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeValue};

use super::structure::is_leaf;
use crate::text::{one_line, truncate_bytes, truncate_chars};
use crate::words::WORDS;

/// Maximum length of a placeholder without its brackets, in bytes.
const MAX_PLACEHOLDER_BYTES: usize = 80;
/// Maximum length of a placeholder in a message, in code points.
const MAX_SHOWN_CHARS: usize = 60;

/// Returns line and text of every placeholder, in order.
pub(super) fn placeholders<'a>(root: &'a AstNode<'a>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        let data = node.data();
        let line = data.sourcepos.start.line;
        match &data.value {
            NodeValue::BlockQuote | NodeValue::Alert(_) => {}
            NodeValue::HtmlBlock(html) if is_verbatim(&html.literal) => {}
            NodeValue::HtmlBlock(html) => scan(&without_comments(&html.literal), line, &mut found),
            value if is_leaf(value) => {
                let text = source(node);
                if matches!(value, NodeValue::Paragraph) {
                    match_paragraph(&text, line, &mut found);
                }
                scan(&text, line, &mut found);
            }
            _ => stack.extend(node.reverse_children()),
        }
    }
    found
}

/// Returns the text of a paragraph, heading or cell with its tags and line breaks. A code span
/// becomes U+FFFC.
fn source<'a>(leaf: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for edge in leaf.traverse() {
        let (node, starts) = match edge {
            NodeEdge::Start(node) => (node, true),
            NodeEdge::End(node) => (node, false),
        };
        match &node.data().value {
            // A URL in angle brackets.
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

/// Returns true for an HTML block whose content is not rendered as text.
fn is_verbatim(html: &str) -> bool {
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
        // Keep the line numbers.
        out.extend(comment.chars().filter(|c| *c == '\n'));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Adds a paragraph that consists of template text.
fn match_paragraph(text: &str, line: usize, found: &mut Vec<(usize, String)>) {
    if text.len() > MAX_PLACEHOLDER_BYTES {
        return;
    }
    let shown = one_line(text);
    let lower = shown.to_lowercase();
    let words = lower.trim_end_matches(['.', ':', '!', '…', ' ']);
    let described = words.starts_with("add description for ") && words.ends_with(" here");
    if described || WORDS.template_lines.contains(words) {
        found.push((line, truncate_chars(&shown, MAX_SHOWN_CHARS)));
    }
}

/// Adds the bracketed placeholders.
fn scan(text: &str, first_line: usize, found: &mut Vec<(usize, String)>) {
    let mut line = first_line;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        let end = match c {
            '<' if !before.is_alphanumeric() => placeholder_len(rest, "<", ">", is_angle),
            '[' if !before.is_alphanumeric() => placeholder_len(rest, "[", "]", is_square),
            '{' if before != '$' => placeholder_len(rest, "{{", "}}", is_curly),
            _ => None,
        };
        if let Some(end) = end {
            let text = one_line(&rest[..end]);
            found.push((line, truncate_chars(&text, MAX_SHOWN_CHARS)));
        }
        line += usize::from(c == '\n');
        before = c;
    }
}

/// Returns the length of the placeholder at the start of `rest`. `accepts` receives the text in the
/// brackets and the text after them.
fn placeholder_len(
    rest: &str,
    open: &str,
    close: &str,
    accepts: fn(&str, &str) -> bool,
) -> Option<usize> {
    let inner = rest.strip_prefix(open)?;
    let length = truncate_bytes(inner, MAX_PLACEHOLDER_BYTES + close.len()).find(close)?;
    let behind = &inner[length + close.len()..];
    accepts(&inner[..length], behind).then_some(open.len() + length + close.len())
}

/// Accepts `short title`, `file:line` and `PROJECT_NAME`, but no tags and types.
fn is_angle(inner: &str, behind: &str) -> bool {
    if ["file:line", "path:line", "short-title"].contains(&inner) || is_constant(inner) {
        return true;
    }
    let plain = inner.starts_with(char::is_alphabetic)
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || " -_,.'’…".contains(c));
    let mut words = inner.split(' ').skip(1).peekable();
    let several = words.peek().is_some();
    let attributes = words.all(|word| WORDS.boolean_attributes.contains(word));
    plain
        && several
        && !attributes
        && !inner.ends_with(' ')
        && !inner.contains(" as ")
        && !behind.starts_with("::")
}

/// Accepts `Add …` and `PROJECT_NAME`, but no states and links.
fn is_square(inner: &str, behind: &str) -> bool {
    (WORDS.template_instructions.begins(inner) || is_constant(inner))
        && !behind.starts_with(['(', '['])
}

/// Accepts `name` and `project name`.
fn is_curly(inner: &str, _: &str) -> bool {
    let inner = inner.trim();
    inner.starts_with(char::is_alphabetic)
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || " -_".contains(c))
}

/// Returns true for capitals with an underscore, such as `PROJECT_NAME`.
fn is_constant(inner: &str) -> bool {
    inner.contains('_')
        && inner.starts_with(|c: char| c.is_ascii_uppercase())
        && inner
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
