//! The top-level blocks of a plan, classified, with their lines.

use comrak::nodes::{AstNode, NodeValue};

use super::action::Span;
use super::error::Row;
use crate::markdown::Lines;

/// Maximum length of a preview, in Unicode code points.
const MAX_PREVIEW: usize = 60;

/// Kind of a top-level block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    Heading {
        level: u8,
        setext: bool,
        /// Text without markup, trimmed.
        text: String,
        /// Whether the heading starts with a code span.
        code: bool,
    },
    List,
    Fence {
        /// `` ` `` or `~`.
        mark: u8,
        length: usize,
        closed: bool,
        /// Whether the info string names Markdown.
        markdown: bool,
    },
    Indented,
    Paragraph,
    Rule,
    Quote,
    Table,
    Html,
    /// A footnote or another extension of GitHub.
    Other,
}

impl BlockKind {
    fn of<'a>(ast: &'a AstNode<'a>) -> Self {
        match &ast.data().value {
            NodeValue::Heading(heading) => Self::Heading {
                level: heading.level,
                setext: heading.setext,
                text: plain_text(ast),
                code: ast
                    .first_child()
                    .is_some_and(|child| matches!(child.data().value, NodeValue::Code(_))),
            },
            NodeValue::List(_) => Self::List,
            NodeValue::CodeBlock(code) if code.fenced => Self::Fence {
                mark: code.fence_char,
                length: code.fence_length,
                closed: code.closed,
                markdown: names_markdown(&code.info),
            },
            NodeValue::CodeBlock(_) => Self::Indented,
            NodeValue::Paragraph => Self::Paragraph,
            NodeValue::ThematicBreak => Self::Rule,
            NodeValue::BlockQuote | NodeValue::Alert(_) => Self::Quote,
            NodeValue::Table(_) => Self::Table,
            NodeValue::HtmlBlock(_) => Self::Html,
            _ => Self::Other,
        }
    }

    /// Whether this is a code block, fenced or indented.
    pub(super) fn is_code(&self) -> bool {
        matches!(self, Self::Fence { .. } | Self::Indented)
    }

    /// Name of the block in error messages and the diff.
    fn label(&self) -> String {
        match self {
            Self::Heading { level, setext, .. } => {
                let style = if *setext { "SetextHeading" } else { "Heading" };
                return format!("{style} (Level {level})");
            }
            Self::Fence { mark, length, .. } => {
                let mark = if *mark == b'~' { "tildes" } else { "backticks" };
                return format!("CodeFence ({length} {mark})");
            }
            Self::List => "List",
            Self::Indented => "BlockCode",
            Self::Paragraph => "Paragraph",
            Self::Rule => "ThematicBreak",
            Self::Quote => "Quote",
            Self::Table => "Table",
            Self::Html => "HtmlBlock",
            Self::Other => "Block",
        }
        .to_owned()
    }
}

/// A top-level block.
pub(super) struct Block<'a> {
    pub(super) kind: BlockKind,
    pub(super) span: Span,
    /// First non-blank line between the previous block and this one. It is part of a link
    /// definition, which has no node in the tree.
    pub(super) gap: Option<usize>,
    pub(super) ast: &'a AstNode<'a>,
}

impl Block<'_> {
    /// Moves the text of a code block out of the tree, without line breaks at its end. Empty for
    /// other blocks and when called again.
    pub(super) fn take_code(&self) -> String {
        let mut data = self.ast.data_mut();
        let NodeValue::CodeBlock(code) = &mut data.value else {
            return String::new();
        };
        let mut text = std::mem::take(&mut code.literal);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}

/// A plan as lines and as blocks.
pub(super) struct Document<'a> {
    pub(super) lines: &'a Lines<'a>,
    /// Number of the last line that is not blank.
    pub(super) last_line: usize,
    pub(super) blocks: Vec<Block<'a>>,
    /// Like [`Block::gap`], after the last block.
    pub(super) tail: Option<usize>,
}

impl<'a> Document<'a> {
    /// Classifies the children of `root`, which was parsed from the text of `lines`.
    pub(super) fn new(lines: &'a Lines<'a>, root: &'a AstNode<'a>) -> Self {
        let total = lines.count();
        // A block has some eight lines on average.
        let mut blocks = Vec::with_capacity(total / 8 + 1);
        let mut before = 0;
        for ast in root.children() {
            let span = block_span(lines, ast);
            let gap = first_text_line(lines, before + 1, span.start);
            before = span.end.max(before);
            blocks.push(Block {
                kind: BlockKind::of(ast),
                span,
                gap,
                ast,
            });
        }
        let tail = first_text_line(lines, before + 1, total + 1);
        let last_line = if tail.is_some() { total } else { before };
        Self {
            lines,
            last_line: last_line.max(1),
            blocks,
            tail,
        }
    }

    /// Returns the lines from `from` up to, not including, `to`, without blank lines at the start
    /// and white space at the end.
    pub(super) fn text(&self, from: usize, to: usize) -> &'a str {
        let from = first_text_line(self.lines, from, to).unwrap_or(to);
        // Only what CommonMark calls blank: the rest of a line must keep its meaning.
        let text = self.lines.between(from, to);
        text.trim_end_matches([' ', '\t', '\n'])
    }

    /// Counts the blank lines from line `from` on, up to line `to`.
    pub(super) fn blank_lines(&self, from: usize, to: usize) -> usize {
        let to = to.min(self.last_line + 1);
        first_text_line(self.lines, from, to).map_or(0, |line| line - from)
    }

    /// Describes a block for the diff.
    pub(super) fn row(&self, block: &Block<'_>) -> Row {
        let text = match &block.kind {
            BlockKind::Heading { text, .. } => text.as_str(),
            BlockKind::Rule => "",
            BlockKind::Fence { closed, .. } => {
                let end = block.span.end + usize::from(!closed);
                self.first_text(block.span.start + 1, end)
            }
            _ => self.first_text(block.span.start, block.span.end + 1),
        };
        Row {
            node: block.kind.label(),
            preview: preview(text),
            span: block.span,
        }
    }

    fn first_text(&self, from: usize, to: usize) -> &'a str {
        first_text_line(self.lines, from, to).map_or("", |line| self.lines.text(line).trim())
    }
}

/// Returns the start of the first line of `text`, safe to print on a terminal, with `...` where it
/// was cut.
pub(super) fn preview(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let shown = chars.by_ref().take(MAX_PREVIEW);
    let mut out: String = shown
        .map(|c| if is_unsafe(c) { '\u{FFFD}' } else { c })
        .collect();
    if chars.next().is_some() {
        out.truncate(out.trim_end().len());
        out.push_str("...");
    }
    out
}

/// Whether `c` is a control character or changes the writing direction.
fn is_unsafe(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Returns the first line from `from` up to, not including, `to` that is not blank.
pub(super) fn first_text_line(lines: &Lines<'_>, from: usize, to: usize) -> Option<usize> {
    (from..to).find(|line| !is_blank(lines.text(*line)))
}

/// Whether a line has only spaces and tabs, which is what CommonMark calls blank.
fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// Returns the lines of a block without blank lines at its end.
pub(super) fn block_span<'a>(lines: &Lines<'_>, ast: &'a AstNode<'a>) -> Span {
    let position = ast.data().sourcepos;
    let start = position.start.line;
    let mut end = position.end.line.max(start);
    // Blank lines are content of an unclosed fence, which extends to the end of the text.
    let fenced = matches!(&ast.data().value, NodeValue::CodeBlock(code) if code.fenced);
    while !fenced && end > start && is_blank(lines.text(end)) {
        end -= 1;
    }
    Span::new(start, end)
}

fn names_markdown(info: &str) -> bool {
    let mut words = info.split(|c: char| !c.is_ascii_alphanumeric());
    let word = words.next().unwrap_or_default();
    ["md", "markdown", "mdx", "gfm"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
}

/// Returns the text of a block without markup, trimmed. Not recursive, because markup may be nested
/// as deep as the text is long.
fn plain_text<'a>(ast: &'a AstNode<'a>) -> String {
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
