//! Splits a post into its top-level blocks, with the properties that the search for a plan needs.
//!
//! "Normalised" text is the result of `vocabulary::fold`.

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use crate::formats::markdown::{self, Lines};
use crate::formats::plan::title::is_marked_line;
use crate::formats::vocabulary::{Class, Phrases, fold, words};

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A paragraph.
    Paragraph,
    /// A list.
    List {
        /// Whether the list is numbered.
        ordered: bool,
        /// Number of the first item.
        start: usize,
        /// Direct items of the list.
        items: Vec<Item>,
    },
    /// A table: normalised texts of its cells, header row first.
    Table(Vec<Vec<String>>),
    /// A code block, with the byte range of the contents if it is a fence of Markdown or plain
    /// text.
    Code(Option<Range<usize>>),
    /// A block quote.
    Quote,
    /// The opening tag of a `details` element, alone in its block.
    DetailsOpen,
    /// The closing tag of a `details` element.
    DetailsClose,
    /// Any other HTML.
    Html,
    /// A thematic break.
    Rule,
    /// Any other block.
    Other,
}

/// A list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Normalised text of the first paragraph.
    pub(super) text: String,
    /// Whether the item has a task box.
    pub(super) task: bool,
    /// Whether the task box is ticked.
    pub(super) ticked: bool,
    /// Number of items in nested lists.
    pub(super) nested: usize,
    /// Whether the text begins with a link.
    pub(super) link: bool,
}

/// A top-level block.
#[derive(Debug, Clone)]
pub(super) struct Element {
    /// Kind of the block.
    pub(super) kind: ElementKind,
    /// Byte range of its lines in the source.
    pub(super) span: Range<usize>,
    /// Normalised text of a heading or paragraph without markup, with line breaks kept. For a
    /// quote, only the first line.
    pub(super) text: String,
    /// Length of the bold or italic start of `text`, in bytes; 0 if there is none. A line with a
    /// mark such as `■` is bold.
    pub(super) bold: usize,
    /// Phrases in `text`.
    pub(super) phrases: Phrases,
    /// Distinct code spans, at most ten.
    pub(super) code_spans: Vec<String>,
}

impl Element {
    /// Returns the level of a heading; `None` for other blocks.
    pub(super) fn level(&self) -> Option<u8> {
        match self.kind {
            ElementKind::Heading(level) => Some(level),
            _ => None,
        }
    }

    /// Returns the range of the text from its first to its last letter or digit.
    pub(super) fn words(&self) -> Range<usize> {
        words(&self.text)
    }

    /// Whether the text begins with a phrase of `class`.
    pub(super) fn begins(&self, class: Class) -> bool {
        self.phrases.begins(class, self.words().start).is_some()
    }

    /// Whether the block is a short paragraph entirely in bold, which serves as a heading.
    pub(super) fn is_bold_line(&self) -> bool {
        self.kind == ElementKind::Paragraph
            && self.bold > 0
            && self.text[self.bold..]
                .trim_matches(|c: char| !c.is_alphanumeric())
                .is_empty()
            && self.text.len() <= 200
    }
}

/// Returns the top-level blocks of `source`.
pub(super) fn elements(source: &str) -> Vec<Element> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, source);
    let lines = Lines::new(source);
    root.children()
        .map(|node| element(node, source, &lines))
        .collect()
}

fn element<'a>(node: &'a AstNode<'a>, source: &str, lines: &Lines<'_>) -> Element {
    let data = node.data();
    let first = data.sourcepos.start.line;
    let last = data.sourcepos.end.line.max(first);
    let start = lines.start(first);
    let span = start..lines.span(last).end.max(start);
    let mut text = String::new();
    let mut bold = 0;
    let kind = match &data.value {
        NodeValue::Heading(heading) => {
            text = fold(&markdown::unstruck_text(node));
            ElementKind::Heading(heading.level)
        }
        NodeValue::Paragraph => {
            text = fold(&markdown::unstruck_text(node));
            bold = if is_marked_line(&text) && !text.contains('\n') {
                text.len()
            } else {
                bold_start(node).min(text.len())
            };
            while !text.is_char_boundary(bold) {
                bold -= 1;
            }
            ElementKind::Paragraph
        }
        NodeValue::List(kind) => ElementKind::List {
            ordered: kind.list_type == ListType::Ordered,
            start: kind.start,
            items: node.children().map(item).collect(),
        },
        NodeValue::Table(_) => ElementKind::Table(
            node.children()
                .map(|row| {
                    row.children()
                        .map(|cell| fold(&markdown::unstruck_text(cell)))
                        .collect()
                })
                .collect(),
        ),
        NodeValue::CodeBlock(code) => ElementKind::Code(if code.fenced && code.closed {
            markdown_fence(&code.info, source, &span)
        } else {
            None
        }),
        NodeValue::BlockQuote => {
            let bare = source[span.clone()]
                .trim_start()
                .trim_start_matches(['>', ' ']);
            text = fold(bare.lines().next().unwrap_or_default());
            ElementKind::Quote
        }
        NodeValue::HtmlBlock(_) => html(&source[span.clone()]),
        NodeValue::ThematicBreak => ElementKind::Rule,
        _ => ElementKind::Other,
    };
    let phrases = if text.is_empty() {
        Phrases::default()
    } else {
        Phrases::of(&text)
    };
    Element {
        kind,
        span,
        bold,
        phrases,
        code_spans: code_spans(node),
        text,
    }
}

fn item<'a>(node: &'a AstNode<'a>) -> Item {
    let paragraph = node.children().find(|child| {
        matches!(
            child.data().value,
            NodeValue::Paragraph | NodeValue::Heading(_)
        )
    });
    let link = paragraph
        .and_then(AstNode::first_child)
        .is_some_and(|first| matches!(first.data().value, NodeValue::Link(_)));
    let nested = node
        .children()
        .filter(|child| matches!(child.data().value, NodeValue::List(_)))
        .map(|list| list.children().count())
        .sum();
    Item {
        text: paragraph.map_or_else(String::new, |paragraph| {
            fold(&markdown::unstruck_text(paragraph))
        }),
        task: matches!(node.data().value, NodeValue::TaskItem(_)),
        ticked: matches!(&node.data().value, NodeValue::TaskItem(task) if task.symbol.is_some()),
        nested,
        link,
    }
}

/// Returns the length of the bold or italic start of a paragraph in its normalised text, in bytes.
fn bold_start<'a>(paragraph: &'a AstNode<'a>) -> usize {
    let Some(first) = paragraph.first_child() else {
        return 0;
    };
    match first.data().value {
        NodeValue::Strong | NodeValue::Emph => fold(&markdown::unstruck_text(first)).len(),
        _ => 0,
    }
}

/// Returns at most ten distinct code spans.
fn code_spans<'a>(node: &'a AstNode<'a>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for node in node.descendants() {
        if let NodeValue::Code(code) = &node.data().value
            && found.len() < 10
            && !found.contains(&code.literal)
        {
            found.push(code.literal.clone());
        }
    }
    found
}

fn markdown_fence(info: &str, source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let language = info.split_whitespace().next().unwrap_or_default();
    let text = &source[span.clone()];
    if !["markdown", "md", "text", "txt", "diff", "patch", ""]
        .contains(&language.to_lowercase().as_str())
    {
        return None;
    }
    let from = text.find('\n')? + 1;
    let to = text.rfind('\n')?;
    let to = to - usize::from(text[..to].ends_with('\r'));
    (from < to).then(|| span.start + from..span.start + to)
}

fn html(source: &str) -> ElementKind {
    let lower = source.trim().to_ascii_lowercase();
    if lower.starts_with("</details") {
        ElementKind::DetailsClose
    } else if lower.starts_with("<details") && !lower.contains("</details") {
        ElementKind::DetailsOpen
    } else {
        ElementKind::Html
    }
}
