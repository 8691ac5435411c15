//! The items of a list of keys, `Key: value`, as slices of the source.

use std::borrow::Cow;

use comrak::nodes::{AstNode, NodeValue};

use super::action::Span;
use super::blocks::{Document, block_span, first_text_line, preview};
use super::error::{ErrorKind, MAX_ERRORS, PlanError};

/// One item: `**Key:** value`, `**Key**: value` or `Key: value`.
pub(super) struct Item<'a> {
    /// Empty in a list without keys.
    pub(super) key: Cow<'a, str>,
    /// Markdown of the value; its lines are joined by a blank.
    pub(super) value: Cow<'a, str>,
    /// Lines of the item without the list below it.
    pub(super) span: Span,
    pub(super) paragraph: &'a AstNode<'a>,
    /// The list below the text.
    pub(super) nested: Option<&'a AstNode<'a>>,
}

/// Parses the items of `list` as keys and values. Items that cannot be parsed are reported in
/// `errors`.
pub(super) fn items<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<Item<'a>> {
    collect(document, list, errors, |item| split_key(&item))
}

/// Parses the items of `list` as values without keys.
pub(super) fn values<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<Item<'a>> {
    collect(document, list, errors, Ok)
}

fn collect<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
    finish: impl Fn(Item<'a>) -> Result<Item<'a>, PlanError>,
) -> Vec<Item<'a>> {
    let list_end = block_span(document.lines, list).end;
    let mut found = Vec::new();
    let mut items = list.children().peekable();
    while errors.len() < MAX_ERRORS
        && let Some(item) = items.next()
    {
        let next = items.peek().map(|next| next.data().sourcepos.start.line);
        match parse_item(document, item, next.unwrap_or(list_end + 1)).and_then(&finish) {
            Ok(item) => found.push(item),
            Err(error) => errors.push(error),
        }
    }
    found
}

fn split_key<'a>(item: &Item<'a>) -> Result<Item<'a>, PlanError> {
    let parts = match &item.value {
        Cow::Borrowed(text) => split(text).map(|(key, value)| (key.into(), value.into())),
        Cow::Owned(text) => {
            split(text).map(|(key, value)| (key.to_owned().into(), value.to_owned().into()))
        }
    };
    let Some((key, value)) = parts else {
        return Err(malformed(&item.value, item.span));
    };
    Ok(Item {
        key,
        value,
        ..*item
    })
}

fn malformed(text: &str, span: Span) -> PlanError {
    PlanError::new(
        ErrorKind::MalformedItem,
        "an item of the form `- **Key:** value`",
        format!("\"{}\"", preview(text)),
        span,
        "Write the key, a colon and the value on one line, or remove the item.",
    )
}

/// Parses one item without splitting off its key. `next` is the line after it.
fn parse_item<'a>(
    document: &Document<'a>,
    item: &'a AstNode<'a>,
    next: usize,
) -> Result<Item<'a>, PlanError> {
    let lines = document.lines;
    let start = item.data().sourcepos.start.line;
    let malformed = || malformed(lines.text(start).trim(), Span::line(start));
    if !matches!(item.data().value, NodeValue::Item(_)) {
        return Err(malformed());
    }
    let mut children = item.children();
    let paragraph = children
        .next()
        .filter(|child| matches!(child.data().value, NodeValue::Paragraph))
        .ok_or_else(malformed)?;
    let span = block_span(lines, paragraph);
    let mut nested = None;
    let mut end = span.end;
    for child in children {
        let at = block_span(lines, child);
        if nested.is_some() || !matches!(child.data().value, NodeValue::List(_)) {
            return Err(PlanError::new(
                ErrorKind::BlockInItem,
                "only a key and its value in the item",
                format!(
                    "another block in it, \"{}\"",
                    preview(lines.text(at.start).trim())
                ),
                at,
                "Start the block at the beginning of its line, with a blank line before it, so that it does not belong to \
                 the list.",
            ));
        }
        reject_definition(document, end + 1, at.start)?;
        end = at.end;
        nested = Some(child);
    }
    reject_definition(document, end + 1, next)?;
    let column = paragraph.data().sourcepos.start.column.saturating_sub(1);
    let first = lines.text(span.start);
    let mut text = Cow::Borrowed(first.get(column..).ok_or_else(malformed)?.trim());
    for line in span.start + 1..=span.end {
        let content = lines.text(line);
        let indent = content.len() - content.trim_start_matches([' ', '\t']).len();
        if indent < column && !content[..indent].contains('\t') {
            return Err(PlanError::new(
                ErrorKind::LazyLine,
                "a blank line between a list and the text after it",
                format!(
                    "\"{}\" directly below the list, which makes it part of the last item",
                    preview(content.trim())
                ),
                Span::line(line),
                "Put a blank line before it, or indent it if it continues the item.",
            ));
        }
        let text = text.to_mut();
        text.push(' ');
        text.push_str(content.trim());
    }
    Ok(Item {
        key: Cow::Borrowed(""),
        value: text,
        span,
        paragraph,
        nested,
    })
}

/// Rejects a link definition between two lines of a list. It has no node in the tree, so it shows
/// up as a non-blank line that belongs to no block.
fn reject_definition(document: &Document<'_>, from: usize, to: usize) -> Result<(), PlanError> {
    match first_text_line(document.lines, from, to) {
        Some(line) => Err(definition(document, line)),
        None => Ok(()),
    }
}

/// Returns the error for a link definition on `line`.
pub(super) fn definition(document: &Document<'_>, line: usize) -> PlanError {
    PlanError::new(
        ErrorKind::LinkDefinition,
        "only what a reader can see",
        format!(
            "the link definition \"{}\", which is never shown",
            preview(document.lines.text(line).trim())
        ),
        Span::line(line),
        "Remove it and write the target into the link: `[text](/path)`.",
    )
}

/// Splits an item into key and value, both trimmed.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let (key, value) = match bold(text) {
        Some((inner, after)) => match inner.trim_end().strip_suffix(':') {
            Some(key) => (key, after),
            None => (inner, after.trim_start().strip_prefix(':')?),
        },
        None => text.split_once(':')?,
    };
    let key = key.trim();
    (!key.is_empty()).then(|| (key, value.trim()))
}

/// Returns the content of the strong emphasis that `text` starts with, and the rest.
fn bold(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mark = *bytes.first().filter(|byte| matches!(byte, b'*' | b'_'))?;
    if bytes.get(1) != Some(&mark) {
        return None;
    }
    let mut ends = memchr::memchr_iter(mark, &bytes[2..]);
    let end = 2 + ends.find(|at| bytes.get(at + 3) == Some(&mark))?;
    Some((&text[2..end], &text[end + 2..]))
}

/// Notation of a value that is a path or an address.
pub(super) enum Notation<'v> {
    /// The target of the only link.
    Link(Cow<'v, str>),
    /// The content of a code span or an autolink, or the text itself.
    Bare(&'v str),
}

/// Parses a value that is one link, one code span, or bare text. The error describes what was
/// found.
pub(super) fn notation<'a, 'v>(
    value: &'v str,
    paragraph: &'a AstNode<'a>,
) -> Result<Notation<'v>, &'static str> {
    if value.starts_with('`') {
        return code_span(value)
            .map(Notation::Bare)
            .ok_or("something beside the code span");
    }
    if let Some(inner) = value.strip_prefix('<') {
        return match inner.strip_suffix('>') {
            Some(inner) if !inner.contains(['<', '>']) => Ok(Notation::Bare(inner)),
            _ => Err("something beside the address"),
        };
    }
    if !value.starts_with('[') {
        if value.contains("](") {
            return Err("text beside a link");
        }
        return if is_shown_verbatim(value, paragraph) {
            Ok(Notation::Bare(value))
        } else {
            Err("markup in it, so that a reader sees something else; write it in `backticks`")
        };
    }
    if let Some(target) = plain_link(value) {
        return Ok(Notation::Link(Cow::Borrowed(target)));
    }
    if !value.ends_with(')') {
        return Err("a link without its target in parentheses, or text beside the link");
    }
    let mut links = 0;
    let mut url = None;
    let mut other = false;
    for child in paragraph.children() {
        match &child.data().value {
            NodeValue::Link(link) => {
                links += 1;
                url = Some(link.url.clone());
            }
            NodeValue::Strong if links == 0 => {}
            NodeValue::Text(text) if links == 0 => {
                // The key, or the colon after a bold key. Nothing else precedes a value that starts
                // with `[`.
                other |= !text.trim_end().ends_with(':') && !text.trim().is_empty();
            }
            NodeValue::Text(text) if text.trim().is_empty() => {}
            _ => other = true,
        }
    }
    match url {
        Some(url) if links == 1 && !other => {
            if has_escape(value) {
                return Err("a backslash before punctuation, which Markdown drops");
            }
            Ok(Notation::Link(Cow::Owned(url)))
        }
        Some(_) => Err("more than one link, or text beside the link"),
        None => Err("brackets that are not a link"),
    }
}

/// Whether the bare text `value` at the end of `paragraph` is rendered as it is written. Markdown
/// drops a backslash before punctuation, decodes `&amp;` and reads `__init__` as strong emphasis.
fn is_shown_verbatim<'a>(value: &str, paragraph: &'a AstNode<'a>) -> bool {
    let markup = |byte: u8| matches!(byte, b'\\' | b'&' | b'*' | b'_' | b'~' | b'`' | b'<' | b'[');
    if !value.bytes().any(markup) {
        return true;
    }
    let mut shown = String::new();
    for node in paragraph.descendants() {
        match &node.data().value {
            NodeValue::Text(text) => shown.push_str(text),
            NodeValue::SoftBreak => shown.push(' '),
            _ => {}
        }
    }
    shown.ends_with(value)
}

/// Returns the content of a text that is one code span (CommonMark 0.31, 6.1).
pub(super) fn code_span(value: &str) -> Option<&str> {
    let ticks = value.bytes().take_while(|byte| *byte == b'`').count();
    let inner = value.get(ticks..value.len().checked_sub(ticks)?)?;
    let fence = &value[..ticks];
    if ticks == 0 || inner.is_empty() || !value.ends_with(fence) {
        return None;
    }
    let mut runs = inner.split(|c| c != '`').map(str::len);
    if runs.any(|run| run == ticks) || inner.ends_with('`') || inner.starts_with('`') {
        return None;
    }
    let padded = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
    Some(if padded {
        &inner[1..inner.len() - 1]
    } else {
        inner
    })
}

/// Returns the target of a link that consists of letters, digits and the punctuation of common
/// paths. Such a link cannot mean anything else, so the tree need not be searched.
fn plain_link(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('[')?.strip_suffix(')')?;
    let (text, target) = inner.split_at(memchr::memchr(b']', inner.as_bytes())?);
    let target = target.strip_prefix("](")?;
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    (!text.is_empty() && text.bytes().all(plain) && target.bytes().all(plain)).then_some(target)
}

/// Whether the target of the link has a backslash that Markdown drops as an escape.
fn has_escape(value: &str) -> bool {
    if memchr::memchr(b'\\', value.as_bytes()).is_none() {
        return false;
    }
    let target = value.rfind("](").map_or("", |at| &value[at..]);
    let bytes = target.as_bytes();
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        bytes
            .get(at + 1)
            .is_some_and(|byte| byte.is_ascii_punctuation() && *byte != b'\\')
    })
}
