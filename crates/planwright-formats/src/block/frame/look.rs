//! What GitHub makes of a text: where it is code or an address, and what it leaves open at its end.

use std::ops::Range;

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, format_html, markdown_to_html, parse_document};

use super::html::{self, Open};
use crate::markdown::{self, Lines, united};

/// HTML blocks that go on over blank lines and whose end is not that of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlBlock {
    /// `<pre>`, `<script>`, `<style>`, `<textarea>`: up to the closing tag of any of them.
    Verbatim,
    /// `<?`, up to `?>`.
    Instruction,
    /// `<![CDATA[`, up to `]]>`.
    CData,
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Look {
    code: Vec<Range<usize>>,
    /// Blocks of raw HTML.
    html_blocks: Vec<Range<usize>>,
    /// Addresses of links, which are not shown as text.
    addresses: Vec<Range<usize>>,
    /// A block of raw HTML ends within a tag or a comment: what follows may be another thing to a browser.
    derailed: bool,
    /// The line that closes a fence still open at the end.
    pub(super) fence: Option<String>,
    /// The HTML block that is open at the end.
    pub(super) html_block: Option<HtmlBlock>,
    /// What a browser has open at the end.
    pub(super) html: Open,
}

impl Look {
    /// Looks at `text`.
    pub(super) fn at(text: &str) -> Self {
        // Nothing that any rule looks for is possible without one of these.
        if memchr::memchr3(b'<', b'@', b'#', text.as_bytes()).is_none()
            && !["```", "~~~", "://", "-", "&"]
                .iter()
                .any(|c| text.contains(c))
        {
            return Self::default();
        }
        // The text stands in the middle of a page: a byte-order mark at its start is a character there, and its last
        // line has an end.
        let inside = format!("\n{text}\n");
        let arena = Arena::new();
        let mut options = markdown::options();
        let root = parse_document(&arena, &inside, &options);
        let lines = Lines::new(&inside);
        let mut look = Self {
            code: shifted(markdown::code(&inside)),
            html_blocks: shifted(html_blocks(root, &lines)),
            addresses: shifted(addresses(root, &inside, &lines)),
            derailed: derails(root),
            ..Self::default()
        };
        if let Some(last) = root.last_child() {
            match &last.data().value {
                NodeValue::CodeBlock(code) if code.fenced && !code.closed => {
                    let fence = char::from(code.fence_char).to_string();
                    look.fence = Some(fence.repeat(code.fence_length));
                }
                NodeValue::HtmlBlock(block) => {
                    look.html_block = open_block(block.block_type, &block.literal);
                }
                _ => {}
            }
        }
        if memchr::memchr(b'<', text.as_bytes()).is_some() {
            let rendered = if text.contains("[^") {
                without_footnotes(&inside, options)
            } else {
                options.render.r#unsafe = true;
                let mut rendered = String::with_capacity(text.len() * 2);
                // Writing into a string cannot fail.
                format_html(root, &options, &mut rendered).unwrap_or_default();
                rendered
            };
            look.html = html::open_at_end(&rendered);
        }
        look
    }

    /// Nothing is open at the end that would reach beyond the frame's closing tag.
    pub(super) fn settled(&self) -> bool {
        self.fence.is_none()
            && self.html_block.is_none()
            && !self.html.unsettled
            && self.html.names.is_empty()
    }

    /// Byte `at` is in code.
    pub(super) fn is_code(&self, at: usize) -> bool {
        within(&self.code, at)
    }

    /// A tag or comment at byte `at` of `text` is shown as it is written: it is in code, or a backslash stands before.
    pub(super) fn is_spelled_out(&self, text: &str, at: usize) -> bool {
        let escapes = || {
            let before = text.as_bytes().get(..at).unwrap_or_default();
            before
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count()
        };
        self.is_code(at) || !self.is_html(at) && escapes() % 2 == 1
    }

    /// Byte `at` is in a block of raw HTML.
    pub(super) fn is_html(&self, at: usize) -> bool {
        within(&self.html_blocks, at)
    }

    /// Names and keywords at byte `at` do nothing, as it is in code.
    pub(super) fn is_inert(&self, at: usize) -> bool {
        !self.derailed && self.is_code(at)
    }

    /// Byte `at` is in an address, or in a link that shows its own.
    pub(super) fn is_address(&self, at: usize) -> bool {
        !self.derailed && within(&self.addresses, at)
    }
}

/// `source` as HTML. Footnotes come at the end of the page, behind everything.
fn without_footnotes(source: &str, mut options: Options<'_>) -> String {
    options.parse.leave_footnote_definitions = false;
    options.render.r#unsafe = true;
    let mut rendered = markdown_to_html(source, &options);
    if let Some(at) = rendered.rfind("<section class=\"footnotes\"") {
        rendered.truncate(at);
    }
    rendered
}

fn within(ranges: &[Range<usize>], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    before
        .checked_sub(1)
        .and_then(|index| ranges.get(index))
        .is_some_and(|range| at < range.end)
}

/// Without the line end that was put before the text.
fn shifted(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let back = |at: usize| at.saturating_sub(1);
    ranges
        .into_iter()
        .map(|range| back(range.start)..back(range.end))
        .collect()
}

fn open_block(kind: u8, literal: &str) -> Option<HtmlBlock> {
    let (block, closed) = match kind {
        1 => {
            let literal = literal.to_ascii_lowercase();
            let ends = ["</pre>", "</script>", "</style>", "</textarea>"];
            let closed = ends.iter().any(|end| literal.contains(end));
            (HtmlBlock::Verbatim, closed)
        }
        3 => (HtmlBlock::Instruction, literal.contains("?>")),
        5 => (HtmlBlock::CData, literal.contains("]]>")),
        _ => return None,
    };
    (!closed).then_some(block)
}

fn html_blocks<'a>(root: &'a AstNode<'a>, lines: &Lines<'_>) -> Vec<Range<usize>> {
    let blocks = root.descendants().filter_map(|node| {
        let data = node.data();
        let (start, end) = (data.sourcepos.start.line, data.sourcepos.end.line);
        let html = matches!(data.value, NodeValue::HtmlBlock(_));
        html.then(|| lines.start(start)..lines.start(end.max(start) + 1))
    });
    blocks.collect()
}

fn derails<'a>(root: &'a AstNode<'a>) -> bool {
    root.descendants().any(|node| match &node.data().value {
        NodeValue::HtmlBlock(block) => html::open_at_end(&block.literal).unsettled,
        _ => false,
    })
}

/// Where links have their addresses, and where reference definitions stand.
///
/// A place is taken only when the source there looks like what the parser says: its positions are sometimes off, and a
/// reader that takes an address for text errs on the safe side.
fn addresses<'a>(root: &'a AstNode<'a>, source: &str, lines: &Lines<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut shown: Vec<Range<usize>> = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let (start, end) = (data.sourcepos.start, data.sourcepos.end);
        match &data.value {
            NodeValue::Link(link) | NodeValue::Image(link) => {
                let first = lines.start(start.line) + start.column.saturating_sub(1);
                let last = lines.start(end.line) + end.column;
                let mail = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
                let Some(slice) = source.get(first..last) else {
                    continue;
                };
                if slice
                    .strip_prefix('<')
                    .is_some_and(|rest| rest.strip_suffix('>') == Some(mail))
                    || slice == link.url
                    || slice.starts_with("www.") && link.url.ends_with(slice)
                {
                    found.push(first..last);
                } else if let Some(from) = slice.ends_with(')').then(|| slice.rfind("](")).flatten()
                {
                    // Only when nothing in the rest could be another thing than the address and its title.
                    let plain = !slice[from..].contains(['`', '\\', '&', '[', '<', '\n', '\r']);
                    if plain && slice[from + 2..].starts_with(&link.url) {
                        found.push(first + from..last);
                    }
                }
            }
            value if value.block() && !value.contains_inlines() && node.first_child().is_some() => {
            }
            value if value.block() => shown.push(start.line..end.line.max(start.line) + 1),
            _ => {}
        }
    }
    shown.sort_by_key(|range| range.start);
    let mut covered = 0;
    let mut ranges = shown.into_iter().peekable();
    for line in 1..=lines.at(source.len()) {
        while let Some(range) = ranges.next_if(|range| range.start <= line) {
            covered = covered.max(range.end);
        }
        let text = lines.text(line).trim_start();
        if line >= covered && text.starts_with('[') && text.contains("]:") {
            found.push(lines.span(line));
        }
    }
    united(found)
}
