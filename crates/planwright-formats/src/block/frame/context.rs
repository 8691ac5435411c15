//! What GitHub's Markdown makes of a text: where it is code or a URL, and what is open at its end.

use std::ops::Range;

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, format_html, markdown_to_html, parse_document};

use super::html::{self, OpenHtml};
use crate::markdown::html::HtmlBlock;
use crate::markdown::{self, Lines, merged, range_at};

/// What Markdown makes of the places of a text, and what the text leaves open.
#[derive(Debug, Default)]
pub(super) struct MarkdownContext {
    code: Vec<Range<usize>>,
    /// Blocks of raw HTML.
    html_blocks: Vec<Range<usize>>,
    /// URLs of links, which are not shown as text.
    urls: Vec<Range<usize>>,
    /// Whether a block of raw HTML ends inside a tag or a comment, so that a browser may parse what
    /// follows as something else than Markdown does.
    derailed: bool,
    /// The line that closes a fence that is open at the end.
    pub(super) fence: Option<String>,
    /// The HTML block that is open at the end, if it continues over blank lines and the end of a
    /// comment does not end it.
    pub(super) html_block: Option<HtmlBlock>,
    /// What a browser has open at the end.
    pub(super) html: OpenHtml,
}

impl MarkdownContext {
    pub(super) fn new(text: &str) -> Self {
        // None of the rules applies to a text without one of these.
        if memchr::memchr3(b'<', b'@', b'#', text.as_bytes()).is_none()
            && !["```", "~~~", "://", "-", "&"]
                .iter()
                .any(|c| text.contains(c))
        {
            return Self::default();
        }
        // The text will be in the middle of a page: a byte-order mark at its start is a character
        // there, and its last line has an end.
        let inside = format!("\n{text}\n");
        let arena = Arena::new();
        let mut options = markdown::options();
        let root = parse_document(&arena, &inside, &options);
        let lines = Lines::new(&inside);
        // A text that is too complex has no code anywhere else in this crate either.
        let code = if markdown::too_complex(&inside) {
            Vec::new()
        } else {
            markdown::code_of(root, &inside, &lines)
        };
        let mut context = Self {
            code: shifted(code),
            urls: shifted(urls(root, &inside, &lines)),
            ..Self::default()
        };
        for node in root.descendants() {
            let data = node.data();
            if let NodeValue::HtmlBlock(block) = &data.value {
                let (start, end) = (data.sourcepos.start.line, data.sourcepos.end.line);
                let range = lines.start(start)..lines.start(end.max(start) + 1);
                context.html_blocks.push(range);
                context.derailed |= html::open_at_end(&block.literal).in_markup;
            }
        }
        context.html_blocks = shifted(context.html_blocks);
        if let Some(last) = root.last_child() {
            match &last.data().value {
                NodeValue::CodeBlock(code) if code.fenced && !code.closed => {
                    let fence = char::from(code.fence_char).to_string();
                    context.fence = Some(fence.repeat(code.fence_length));
                }
                NodeValue::HtmlBlock(block) => {
                    context.html_block = HtmlBlock::multiline(block.block_type)
                        .filter(|kind| !kind.ends_in(block.literal.as_bytes()));
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
                // Writing to a String cannot fail.
                format_html(root, &options, &mut rendered).unwrap_or_default();
                rendered
            };
            context.html = html::open_at_end(&rendered);
        }
        context
    }

    /// Returns whether nothing is open at the end that would reach beyond the frame's closing tag.
    pub(super) fn is_closed(&self) -> bool {
        self.fence.is_none()
            && self.html_block.is_none()
            && !self.html.in_markup
            && self.html.names.is_empty()
    }

    /// Returns whether byte `at` is in code.
    pub(super) fn is_code(&self, at: usize) -> bool {
        range_at(&self.code, at).is_some()
    }

    /// Returns whether a tag or comment at byte `at` of `text` is shown as written, because it is
    /// in code or escaped.
    pub(super) fn is_literal(&self, text: &str, at: usize) -> bool {
        self.is_code(at) || !self.is_html(at) && markdown::is_escaped(text, at)
    }

    /// Returns whether byte `at` is in a block of raw HTML.
    pub(super) fn is_html(&self, at: usize) -> bool {
        range_at(&self.html_blocks, at).is_some()
    }

    /// Returns whether mentions and keywords at byte `at` have no effect because they are in code.
    pub(super) fn is_inert(&self, at: usize) -> bool {
        !self.derailed && self.is_code(at)
    }

    /// Returns whether byte `at` is in a URL, or in a link that shows its own.
    pub(super) fn is_url(&self, at: usize) -> bool {
        !self.derailed && range_at(&self.urls, at).is_some()
    }
}

/// Renders `source` without its footnotes, which come at the end of the page, after everything
/// else.
fn without_footnotes(source: &str, mut options: Options<'_>) -> String {
    options.parse.leave_footnote_definitions = false;
    options.render.r#unsafe = true;
    let mut rendered = markdown_to_html(source, &options);
    if let Some(at) = rendered.rfind("<section class=\"footnotes\"") {
        rendered.truncate(at);
    }
    rendered
}

/// Undoes the shift by the line end that was put before the text.
fn shifted(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let back = |at: usize| at.saturating_sub(1);
    ranges
        .into_iter()
        .map(|range| back(range.start)..back(range.end))
        .collect()
}

/// Returns the places of the links' URLs and of reference definitions.
///
/// A place counts only when the source there matches what the parser reports: its positions are
/// sometimes wrong, and treating a URL as text is the safe mistake.
fn urls<'a>(root: &'a AstNode<'a>, source: &str, lines: &Lines<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        match &data.value {
            NodeValue::Link(link) | NodeValue::Image(link) => {
                let span = lines.exact(data.sourcepos);
                let mail = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
                let Some(slice) = source.get(span.clone()) else {
                    continue;
                };
                let autolink = slice
                    .strip_prefix('<')
                    .is_some_and(|rest| rest.strip_suffix('>') == Some(mail));
                if autolink
                    || slice == link.url
                    || slice.starts_with("www.") && link.url.ends_with(slice)
                {
                    found.push(span);
                } else if slice.ends_with(')')
                    && let Some(from) = slice.rfind("](")
                {
                    // Only when the rest can be nothing but the URL and its title.
                    let plain = !slice[from..].contains(['`', '\\', '&', '[', '<', '\n', '\r']);
                    if plain && slice[from + 2..].starts_with(&link.url) {
                        found.push(span.start + from..span.end);
                    }
                }
            }
            value if value.block() && !value.contains_inlines() && node.first_child().is_some() => {
            }
            value if value.block() => {
                let (start, end) = (data.sourcepos.start.line, data.sourcepos.end.line);
                blocks.push(start..end.max(start) + 1);
            }
            _ => {}
        }
    }
    // Definitions are the lines outside all blocks that look like one.
    blocks.sort_by_key(|range| range.start);
    let mut covered = 0;
    let mut blocks = blocks.into_iter().peekable();
    for line in 1..=lines.count() {
        while let Some(range) = blocks.next_if(|range| range.start <= line) {
            covered = covered.max(range.end);
        }
        let text = lines.text(line).trim_start();
        if line >= covered && text.starts_with('[') && text.contains("]:") {
            found.push(lines.span(line));
        }
    }
    merged(found)
}
