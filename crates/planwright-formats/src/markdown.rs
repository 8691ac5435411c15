//! Markdown as GitHub parses it: top-level blocks with their exact source slices.
//!
//! Everything that is decided from text (titles, sections, commands, fences) is decided from this
//! tree, never by matching patterns on lines. Spans are byte ranges of the source as given, so a
//! slice is always the author's own text.

use std::borrow::Cow;
use std::ops::Range;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, ListType, NodeValue, Sourcepos};
use comrak::{Arena, Options, parse_document};

mod bounds;
mod code;
pub(crate) mod html;
mod links;
mod outline;

pub use bounds::{MAX_ADDED_CELLS, MAX_NESTING, too_complex};
pub use code::{code, in_code};
pub(crate) use code::{code_of, merged, range_at};
pub use links::links;

#[cfg(test)]
mod tests;

/// The kind of a top-level block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading, ATX or setext, with its level (1-6) and its text without markup.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Text content, inline markup removed.
        text: String,
        /// Whether it is written with an underline (`===`, `---`) instead of `#`.
        setext: bool,
    },
    /// A paragraph with its text without markup.
    Paragraph {
        /// Text content, inline markup removed, lines joined by `\n`.
        text: String,
    },
    /// A list.
    List {
        /// Whether the list is numbered.
        ordered: bool,
        /// Number of direct items.
        items: usize,
        /// Number of direct items with a checkbox.
        tasks: usize,
    },
    /// Fenced or indented code.
    Code {
        /// Info string of the fence; empty for indented code.
        info: String,
        /// Whether it is fenced, and not indented, code.
        fenced: bool,
        /// Whether it has a closing fence; always true for indented code.
        closed: bool,
    },
    /// Block quote; an alert (`> [!NOTE]`) is one.
    Quote,
    /// A block of raw HTML, comments included.
    Html,
    /// GFM table.
    Table,
    /// Thematic break (`---`).
    Rule,
    /// Anything else (footnote definition, …).
    Other,
}

/// One top-level block of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind of block.
    pub kind: BlockKind,
    /// Byte range in the source: whole lines, without the final line end.
    pub span: Range<usize>,
    /// First line, 1-based.
    pub line: usize,
}

impl Block {
    /// Returns level and text of a heading.
    pub fn heading(&self) -> Option<(u8, &str)> {
        match &self.kind {
            BlockKind::Heading { level, text, .. } => Some((*level, text)),
            _ => None,
        }
    }

    /// Returns the text of a paragraph.
    pub fn paragraph(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Paragraph { text } => Some(text),
            _ => None,
        }
    }
}

/// Parses `source` into a tree.
///
/// Untrusted text is parsed with this function only, because its time and memory are proportional
/// to the length of the text: a text that is [`too_complex`] is parsed as plain paragraphs, and
/// bare URLs are not linked where one word holds thousands of them.
pub fn parse<'a>(arena: &'a Arena<'a>, source: &str) -> &'a AstNode<'a> {
    Bounded::new(source).parse(arena, source.len())
}

/// A text that takes linear time to parse, whole or in part.
pub(crate) struct Bounded<'a> {
    text: Cow<'a, str>,
    lines: Lines<'a>,
    options: Options<'static>,
}

impl<'a> Bounded<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let mut options = options();
        options.extension.autolink = bounds::bare_urls_are_few(source);
        let lines = Lines::new(source);
        let text = if bounds::exceeds(&lines) {
            Cow::Owned(bounds::plain(source))
        } else {
            Cow::Borrowed(source)
        };
        Self {
            text,
            lines,
            options,
        }
    }

    /// Returns the lines of the source.
    pub(crate) fn lines(&self) -> &Lines<'a> {
        &self.lines
    }

    /// Returns the text from 1-based `line` on.
    pub(crate) fn below(self, line: usize) -> Self {
        let start = self.lines.start(line);
        let text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
            Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
        };
        let lines = self.lines.below(line);
        Self {
            text,
            lines,
            ..self
        }
    }

    /// Parses the text up to byte `end`.
    ///
    /// Where a blank line precedes `end`, the result begins with the same blocks as that of the
    /// whole text, provided that [`Self::is_independent`]. Only the last block may continue after
    /// `end`: its kind and start are the same then, unlike its end and content.
    pub(crate) fn parse<'n>(&self, arena: &'n Arena<'n>, end: usize) -> &'n AstNode<'n> {
        parse_document(arena, &self.text[..end], &self.options)
    }

    /// Returns whether no definition of a link or a footnote can change the meaning of the text
    /// before byte `end`.
    pub(crate) fn is_independent(&self, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        memchr::memchr(b'[', &bytes[..end]).is_none()
            || memchr::memmem::find(bytes, b"]:").is_none()
    }

    /// Returns whether the text from byte `start` on is known to be parsed alike without the text
    /// before it: a slash begins a paragraph there, below a blank line, and nothing before it is
    /// open or defined. Code fences and HTML are assumed to be open.
    pub(crate) fn is_independent_below(&self, start: usize) -> bool {
        let (above, below) = self.text.as_bytes().split_at(start);
        let opens = |at: usize| {
            let rest = &above[at..];
            let opening = ["<", "```", "~~~"]
                .iter()
                .any(|mark| rest.starts_with(mark.as_bytes()));
            opening && is_line_start(without_blanks(&above[..at]))
        };
        let last_line = match above {
            [line @ .., b'\r', b'\n'] | [line @ .., b'\n' | b'\r'] => Some(line),
            _ => None,
        };
        below.starts_with(b"/")
            && last_line.is_some_and(|line| is_line_start(without_blanks(line)))
            && !memchr::memchr3_iter(b'<', b'`', b'~', above).any(opens)
            && memchr::memmem::find(above, b"]:").is_none()
    }
}

/// Returns `text` without spaces and tabs at its end.
fn without_blanks(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    &text[..text.len() - blanks.count()]
}

/// Returns whether a line begins after `text`.
fn is_line_start(text: &[u8]) -> bool {
    matches!(text.last(), None | Some(b'\n' | b'\r'))
}

/// Returns the parse options used everywhere: GitHub Flavored Markdown.
///
/// Alerts are off because comrak searches the whole rest of the line for one at each level of
/// nested quotes.
pub fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    // Otherwise comrak moves used footnote definitions to the end and drops unused ones.
    options.parse.leave_footnote_definitions = true;
    options
}

/// Index of the lines of a text. Lines are numbered from 1, as in comrak.
#[derive(Debug)]
pub struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Indexes `source`. Line ends are `\n`, `\r\n` and a lone `\r`, as in CommonMark.
    pub fn new(source: &'a str) -> Self {
        let bytes = source.as_bytes();
        // Does not grow for lines of 32 bytes on average.
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        if memchr::memchr(b'\r', bytes).is_none() {
            newlines(bytes, &mut starts);
            return Self { source, starts };
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self { source, starts }
    }

    /// Returns the text whose lines these are.
    pub(crate) fn source(&self) -> &'a str {
        self.source
    }

    /// Returns the lines of the text from 1-based `line` on.
    pub(crate) fn below(&self, line: usize) -> Self {
        let start = self.start(line);
        let starts = self.starts.iter().skip(line.saturating_sub(1));
        Self {
            source: &self.source[start..],
            starts: starts.map(|at| at - start).collect(),
        }
    }

    /// Returns the texts of the lines from 1-based `first` on, without their line ends.
    pub(crate) fn texts(&self, first: usize) -> impl Iterator<Item = &'a str> {
        (first..=self.count()).map(|line| self.text(line))
    }

    /// Returns the byte offset where 1-based `line` begins; the source's length for a line past the
    /// end.
    pub fn start(&self, line: usize) -> usize {
        self.starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(self.source.len())
    }

    /// Returns the byte range of 1-based `line` without its line end.
    pub fn span(&self, line: usize) -> Range<usize> {
        let start = self.start(line);
        let mut end = self.start(line + 1);
        let bytes = self.source.as_bytes();
        while end > start && matches!(bytes[end - 1], b'\n' | b'\r') {
            end -= 1;
        }
        start..end
    }

    /// Returns the text of 1-based `line` without its line end.
    pub fn text(&self, line: usize) -> &'a str {
        &self.source[self.span(line)]
    }

    /// Returns the text of the 1-based lines `from..to` with their line ends.
    pub(crate) fn between(&self, from: usize, to: usize) -> &'a str {
        let start = self.start(from);
        &self.source[start..self.start(to).max(start)]
    }

    /// Returns the number of lines. A line end at the very end of the text begins one more line.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the 1-based line that holds byte `offset`.
    pub fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Returns the byte range of a node from its first to its last character.
    pub(crate) fn exact(&self, node: Sourcepos) -> Range<usize> {
        let first = self.start(node.start.line) + node.start.column.saturating_sub(1);
        first..self.start(node.end.line) + node.end.column
    }

    /// Returns the byte range of the whole lines of a node, without the last line end.
    pub(crate) fn whole(&self, node: Sourcepos) -> Range<usize> {
        let (first, last) = (node.start.line, node.end.line);
        self.start(first)..self.span(last.max(first)).end
    }
}

/// Appends the offset after every `\n` to `starts`. Lines are short, so testing eight bytes at a
/// time is faster than `memchr`, which has a fixed cost per match.
fn newlines(bytes: &[u8], starts: &mut Vec<usize>) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        // Line ends become zero bytes; then exactly the high bits of the zero bytes are set.
        let word = u64::from_le_bytes(*word) ^ 0x0a0a_0a0a_0a0a_0a0a;
        let mut ends = !(((word & LOW) + LOW) | word | LOW);
        while ends != 0 {
            starts.push(at + ends.trailing_zeros() as usize / 8 + 1);
            ends &= ends - 1;
        }
        at += 8;
    }
    let rest = rest.iter().enumerate();
    starts.extend(
        rest.filter(|(_, byte)| **byte == b'\n')
            .map(|(i, _)| at + i + 1),
    );
}

/// Returns the top-level blocks of `source` in order.
pub fn blocks(source: &str) -> Vec<Block> {
    let arena = Arena::new();
    let text = Bounded::new(source);
    blocks_on(text.parse(&arena, source.len()), text.lines())
}

/// Returns the top-level blocks of `source`, which was parsed to `root`.
pub fn blocks_of<'a>(root: &'a AstNode<'a>, source: &str) -> Vec<Block> {
    blocks_on(root, &Lines::new(source))
}

/// Returns the top-level blocks of the text with `lines`, which was parsed to `root`.
pub(crate) fn blocks_on<'a>(root: &'a AstNode<'a>, lines: &Lines<'_>) -> Vec<Block> {
    let block = |node: &'a AstNode<'a>| {
        let data = node.data();
        Block {
            kind: kind(node),
            span: lines.whole(data.sourcepos),
            line: data.sourcepos.start.line,
        }
    };
    root.children().map(block).collect()
}

fn kind<'a>(node: &'a AstNode<'a>) -> BlockKind {
    match &node.data().value {
        NodeValue::Heading(heading) => BlockKind::Heading {
            level: heading.level,
            text: node.collect_text().trim().to_owned(),
            setext: heading.setext,
        },
        NodeValue::Paragraph => BlockKind::Paragraph {
            text: plain_text(node),
        },
        NodeValue::List(items) => BlockKind::List {
            ordered: items.list_type == ListType::Ordered,
            items: node.children().count(),
            tasks: node
                .children()
                .filter(|item| matches!(item.data().value, NodeValue::TaskItem(_)))
                .count(),
        },
        NodeValue::CodeBlock(code) => BlockKind::Code {
            info: code.info.clone(),
            fenced: code.fenced,
            closed: code.closed || !code.fenced,
        },
        NodeValue::BlockQuote => BlockKind::Quote,
        NodeValue::HtmlBlock(_) => BlockKind::Html,
        NodeValue::Table(_) => BlockKind::Table,
        NodeValue::ThematicBreak => BlockKind::Rule,
        _ => BlockKind::Other,
    }
}

/// Returns the text of `node` without markup, with line ends as `\n`.
pub fn plain_text<'a>(node: &'a AstNode<'a>) -> String {
    collect_text(node, true)
}

/// Returns the text of `node` as [`plain_text`] does, but without what is struck through.
pub fn unstruck_text<'a>(node: &'a AstNode<'a>) -> String {
    collect_text(node, false)
}

/// Not recursive, because markup may be nested as deep as the text is long.
fn collect_text<'a>(node: &'a AstNode<'a>, include_struck: bool) -> String {
    let mut text = String::new();
    let mut struck = 0_usize;
    for edge in node.traverse() {
        match edge {
            NodeEdge::Start(node) => match &node.data().value {
                NodeValue::Strikethrough if !include_struck => struck += 1,
                _ if struck > 0 => {}
                NodeValue::Text(literal) => text.push_str(literal),
                NodeValue::Code(code) => text.push_str(&code.literal),
                NodeValue::LineBreak | NodeValue::SoftBreak => text.push('\n'),
                _ => {}
            },
            NodeEdge::End(node) => {
                if !include_struck && matches!(node.data().value, NodeValue::Strikethrough) {
                    struck -= 1;
                }
            }
        }
    }
    text
}

/// Returns whether a backslash escapes the character at byte `at`.
pub(crate) fn is_escaped(text: &str, at: usize) -> bool {
    let before = text.as_bytes()[..at].iter().rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// A heading with everything below it up to the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6.
    pub level: u8,
    /// Heading text without markup.
    pub title: String,
    /// Byte range from the heading to the end of the section's last block.
    pub span: Range<usize>,
    /// First line, 1-based.
    pub line: usize,
}

/// Returns every section of `source`, nested ones included, in the order of their headings.
pub fn sections(source: &str) -> Vec<Section> {
    let blocks = blocks(source);
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let BlockKind::Heading { level, text, .. } = &block.kind else {
            continue;
        };
        let end = blocks[index + 1..]
            .iter()
            .take_while(
                |next| !matches!(&next.kind, BlockKind::Heading { level: other, .. } if other <= level),
            )
            .last()
            .map_or(block.span.end, |last| last.span.end);
        found.push(Section {
            level: *level,
            title: text.clone(),
            span: block.span.start..end,
            line: block.line,
        });
    }
    found
}
