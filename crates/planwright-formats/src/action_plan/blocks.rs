//! The top-level blocks of a plan, classified, each with its lines; and the text itself by lines.

use comrak::nodes::{AstNode, NodeValue};

use super::action::Span;
use super::error::Row;
use crate::markdown::Lines;

/// Longest preview of a block, in Unicode code points.
const PREVIEW: usize = 60;

/// What a top-level block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Heading {
        level: u8,
        setext: bool,
        /// Without markup, trimmed.
        text: String,
        /// It starts with a code span.
        code: bool,
    },
    List,
    Fence {
        /// `` ` `` or `~`.
        mark: u8,
        length: usize,
        closed: bool,
        /// Its first word says that Markdown is in it.
        markdown: bool,
    },
    Indented,
    Paragraph,
    Rule,
    Quote,
    Table,
    Html,
    /// A footnote, and whatever GitHub invents.
    Other,
}

/// A top-level block.
pub(super) struct Node<'a> {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// First line between the block before it and this one that is not blank: a link definition, which leaves no block.
    pub(super) gap: Option<usize>,
    pub(super) ast: &'a AstNode<'a>,
}

/// A plan as text and as blocks.
pub(super) struct Document<'a> {
    pub(super) lines: &'a Lines<'a>,
    /// Number of the last line that is not blank.
    pub(super) last_line: usize,
    pub(super) nodes: Vec<Node<'a>>,
    /// Like [`Node::gap`], behind the last block.
    pub(super) tail: Option<usize>,
}

impl<'a> Document<'a> {
    /// Classifies the children of `root`, which was parsed from the text of `lines`.
    pub(super) fn new(lines: &'a Lines<'a>, root: &'a AstNode<'a>) -> Self {
        let total = lines.count();
        // Some eight lines make a block.
        let mut nodes: Vec<Node<'a>> = Vec::with_capacity(lines.count() / 8 + 1);
        let mut before = 0;
        for ast in root.children() {
            let span = span(lines, ast);
            let gap = first_text(lines, before + 1, span.start);
            before = span.end.max(before);
            nodes.push(Node {
                kind: classify(ast),
                span,
                gap,
                ast,
            });
        }
        let tail = first_text(lines, before + 1, total + 1);
        let last_line = if tail.is_some() { total } else { before };
        Self {
            lines,
            last_line: last_line.max(1),
            nodes,
            tail,
        }
    }

    /// Text of a code block without the line ends at its end; empty for other blocks. It is moved out of the tree, so a
    /// block gives it once.
    pub(super) fn code(node: &Node<'_>) -> String {
        let mut data = node.ast.data_mut();
        let NodeValue::CodeBlock(code) = &mut data.value else {
            return String::new();
        };
        let mut text = std::mem::take(&mut code.literal);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// Lines `from` up to, not including, `to`, without blank lines at its ends and without white space at its end.
    pub(super) fn text(&self, from: usize, to: usize) -> &'a str {
        let from = first_text(self.lines, from, to).unwrap_or(to);
        // Only what is blank to Markdown: what is left of a line must mean the same.
        let text = self.lines.between(from, to);
        text.trim_end_matches([' ', '\t', '\n'])
    }

    /// How many blank lines there are from line `from` on, before line `to`.
    pub(super) fn blank_from(&self, from: usize, to: usize) -> usize {
        let to = to.min(self.last_line + 1);
        first_text(self.lines, from, to).map_or(0, |line| line - from)
    }

    /// What the error texts and the diff call a block.
    pub(super) fn label(kind: &Kind) -> String {
        match kind {
            Kind::Heading {
                level,
                setext: true,
                ..
            } => format!("SetextHeading (Level {level})"),
            Kind::Heading { level, .. } => format!("Heading (Level {level})"),
            Kind::Fence { mark, length, .. } => {
                let mark = if *mark == b'~' { "tildes" } else { "backticks" };
                format!("CodeFence ({length} {mark})")
            }
            Kind::List => "List".to_owned(),
            Kind::Indented => "BlockCode".to_owned(),
            Kind::Paragraph => "Paragraph".to_owned(),
            Kind::Rule => "ThematicBreak".to_owned(),
            Kind::Quote => "Quote".to_owned(),
            Kind::Table => "Table".to_owned(),
            Kind::Html => "HtmlBlock".to_owned(),
            Kind::Other => "Block".to_owned(),
        }
    }

    /// The block as a row of the diff.
    pub(super) fn row(&self, node: &Node<'_>) -> Row {
        let text = match &node.kind {
            Kind::Heading { text, .. } => text.as_str(),
            Kind::Rule => "",
            Kind::Fence { closed, .. } => {
                let end = node.span.end + usize::from(!closed);
                self.first_line(node.span.start + 1, end)
            }
            _ => self.first_line(node.span.start, node.span.end + 1),
        };
        Row {
            node: Self::label(&node.kind),
            preview: preview(text),
            span: node.span,
        }
    }

    fn first_line(&self, from: usize, to: usize) -> &'a str {
        first_text(self.lines, from, to).map_or("", |line| self.lines.text(line).trim())
    }
}

/// Start of a text of the plan on one line, harmless on a terminal, `...` when it was cut.
pub(super) fn preview(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let mut out: String = chars
        .by_ref()
        .take(PREVIEW)
        .map(|c| if is_odd(c) { '\u{FFFD}' } else { c })
        .collect();
    if chars.next().is_some() {
        out.truncate(out.trim_end().len());
        out.push_str("...");
    }
    out
}

/// Control characters and those that turn the direction of writing.
fn is_odd(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// First line from `from` up to, not including, `to` that is not blank.
pub(super) fn first_text(lines: &Lines<'_>, from: usize, to: usize) -> Option<usize> {
    (from..to).find(|line| !is_blank(lines.text(*line)))
}

/// Blank as CommonMark has it: nothing but spaces and tabs.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// The lines of a block, without blank ones at its end.
pub(super) fn span<'a>(lines: &Lines<'_>, ast: &'a AstNode<'a>) -> Span {
    let position = ast.data().sourcepos;
    let start = position.start.line;
    let mut end = position.end.line.max(start);
    // An unclosed fence reaches to the end of the text; for it, blank lines at the end are content.
    let open = matches!(&ast.data().value, NodeValue::CodeBlock(code) if code.fenced);
    while !open && end > start && is_blank(lines.text(end)) {
        end -= 1;
    }
    Span::new(start, end)
}

fn classify<'a>(ast: &'a AstNode<'a>) -> Kind {
    match &ast.data().value {
        NodeValue::Heading(heading) => Kind::Heading {
            level: heading.level,
            setext: heading.setext,
            text: flat(ast),
            code: ast
                .first_child()
                .is_some_and(|child| matches!(child.data().value, NodeValue::Code(_))),
        },
        NodeValue::List(_) => Kind::List,
        NodeValue::CodeBlock(code) if code.fenced => Kind::Fence {
            mark: code.fence_char,
            length: code.fence_length,
            closed: code.closed,
            markdown: is_markdown(&code.info),
        },
        NodeValue::CodeBlock(_) => Kind::Indented,
        NodeValue::Paragraph => Kind::Paragraph,
        NodeValue::ThematicBreak => Kind::Rule,
        NodeValue::BlockQuote | NodeValue::Alert(_) => Kind::Quote,
        NodeValue::Table(_) => Kind::Table,
        NodeValue::HtmlBlock(_) => Kind::Html,
        _ => Kind::Other,
    }
}

fn is_markdown(info: &str) -> bool {
    let word = info
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    ["md", "markdown", "mdx", "gfm"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
}

/// Text of a block without markup, trimmed. Not recursive: markup may be nested as deep as the text is long.
fn flat<'a>(ast: &'a AstNode<'a>) -> String {
    if let Some(only) = ast.first_child().filter(|it| it.next_sibling().is_none()) {
        match &only.data().value {
            NodeValue::Text(literal) => return literal.trim().to_owned(),
            NodeValue::Code(code) => return code.literal.trim().to_owned(),
            _ => {}
        }
    }
    let mut text = String::new();
    for node in ast.descendants() {
        match &node.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::LineBreak | NodeValue::SoftBreak => text.push(' '),
            _ => {}
        }
    }
    text.trim().to_owned()
}
