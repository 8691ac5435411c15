//! The items of a list of keys: `Key: value`, as slices of the source.

use std::borrow::Cow;

use comrak::nodes::{AstNode, NodeValue};

use super::action::Span;
use super::blocks::{Document, first_text, preview, span};
use super::error::{ErrorKind, MAX_ERRORS, PlanError};

/// One item: `**Key:** value`, `**Key**: value` or `Key: value`.
pub(super) struct Item<'a> {
    pub(super) key: Cow<'a, str>,
    /// The author's Markdown; lines joined by a blank.
    pub(super) value: Cow<'a, str>,
    /// Only the item's own text.
    pub(super) span: Span,
    pub(super) paragraph: &'a AstNode<'a>,
    /// The list below the text.
    pub(super) nested: Option<&'a AstNode<'a>>,
}

/// The text of one item, not split yet.
pub(super) struct Entry<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) span: Span,
    pub(super) paragraph: &'a AstNode<'a>,
    pub(super) nested: Option<&'a AstNode<'a>>,
}

/// Reads the items of `list`; the ones that cannot be read are in `errors`.
pub(super) fn items<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<Item<'a>> {
    read(document, list, errors, |entry| {
        let parts = match &entry.text {
            Cow::Borrowed(text) => {
                split(text).map(|(key, value)| (Cow::Borrowed(key), Cow::Borrowed(value)))
            }
            Cow::Owned(text) => split(text)
                .map(|(key, value)| (Cow::Owned(key.to_owned()), Cow::Owned(value.to_owned()))),
        };
        let Some((key, value)) = parts else {
            return Err(PlanError::new(
                ErrorKind::MalformedItem,
                "an item of the form `- **Key:** value`",
                format!("\"{}\"", preview(&entry.text)),
                entry.span,
                "Write the key, a colon and the value on one line, or remove the item.",
            ));
        };
        Ok(Item {
            key,
            value,
            span: entry.span,
            paragraph: entry.paragraph,
            nested: entry.nested,
        })
    })
}

/// Reads the items of `list` as texts.
pub(super) fn entries<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<Entry<'a>> {
    read(document, list, errors, Ok)
}

fn read<'a, T>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
    make: impl Fn(Entry<'a>) -> Result<T, PlanError>,
) -> Vec<T> {
    let whole = span(document.lines, list);
    let mut found = Vec::new();
    let mut items = list.children().peekable();
    while let Some(item) = items.next() {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        let start = item.data().sourcepos.start.line;
        let next = items
            .peek()
            .map_or(whole.end + 1, |next| next.data().sourcepos.start.line);
        match entry(document, item, start, next).and_then(&make) {
            Ok(item) => found.push(item),
            Err(error) => errors.push(error),
        }
    }
    found
}

fn entry<'a>(
    document: &Document<'a>,
    item: &'a AstNode<'a>,
    start: usize,
    next: usize,
) -> Result<Entry<'a>, PlanError> {
    let lines = document.lines;
    let malformed = || {
        PlanError::new(
            ErrorKind::MalformedItem,
            "an item of the form `- **Key:** value`",
            format!("\"{}\"", preview(lines.text(start).trim())),
            Span::line(start),
            "Write the key, a colon and the value on one line, or remove the item.",
        )
    };
    if !matches!(item.data().value, NodeValue::Item(_)) {
        return Err(malformed());
    }
    let mut children = item.children();
    let paragraph = children
        .next()
        .filter(|child| matches!(child.data().value, NodeValue::Paragraph))
        .ok_or_else(malformed)?;
    let own = span(lines, paragraph);
    let mut nested = None;
    let mut end = own.end;
    for child in children {
        let list = matches!(child.data().value, NodeValue::List(_)) && nested.is_none();
        let at = span(lines, child);
        if !list {
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
        undefined(document, end + 1, at.start)?;
        end = at.end;
        nested = Some(child);
    }
    undefined(document, end + 1, next)?;
    let column = paragraph.data().sourcepos.start.column.saturating_sub(1);
    let first = lines.text(own.start);
    let mut text = Cow::Borrowed(first.get(column..).ok_or_else(malformed)?.trim());
    for line in own.start + 1..=own.end {
        let content = lines.text(line);
        let indent = content.len() - content.trim_start_matches([' ', '\t']).len();
        if indent < column && !content[..indent].contains('\t') {
            return Err(PlanError::new(
                ErrorKind::LazyLine,
                "a blank line between a list and the text behind it",
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
    Ok(Entry {
        text,
        span: own,
        paragraph,
        nested,
    })
}

/// Refuses a link definition in a list; it leaves no block, so it is only seen as a line that nothing accounts for.
fn undefined(document: &Document<'_>, from: usize, to: usize) -> Result<(), PlanError> {
    match first_text(document.lines, from, to) {
        Some(line) => Err(definition(document, line)),
        None => Ok(()),
    }
}

/// The error for a link definition.
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

/// Key and value; both trimmed.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    if let Some((inner, after)) = bold(text) {
        let (key, value) = match inner.trim_end().strip_suffix(':') {
            Some(key) => (key, after),
            None => (inner, after.trim_start().strip_prefix(':')?),
        };
        return key_value(key, value);
    }
    let (key, value) = text.split_once(':')?;
    key_value(key, value)
}

/// Inside of the bold words that `text` begins with, and what follows them.
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

fn key_value<'t>(key: &'t str, value: &'t str) -> Option<(&'t str, &'t str)> {
    let key = key.trim();
    (!key.is_empty()).then(|| (key, value.trim()))
}

/// What a value is written as, for those that are paths and names.
pub(super) enum Written<'v> {
    /// The target of the only link.
    Link(Cow<'v, str>),
    /// The inside of a code span, or the text itself.
    Bare(&'v str),
}

/// Reads a value that is one link, one code span, or bare text.
pub(super) fn written<'a, 'v>(
    value: &'v str,
    paragraph: &'a AstNode<'a>,
) -> Result<Written<'v>, &'static str> {
    if value.starts_with('`') {
        return code_span(value)
            .map(Written::Bare)
            .ok_or("something beside the code span");
    }
    if let Some(inner) = value.strip_prefix('<') {
        return match inner.strip_suffix('>') {
            Some(inner) if !inner.contains(['<', '>']) => Ok(Written::Bare(inner)),
            _ => Err("something beside the address"),
        };
    }
    if !value.starts_with('[') {
        if value.contains("](") {
            return Err("text beside a link");
        }
        return if shows(value, paragraph) {
            Ok(Written::Bare(value))
        } else {
            Err("markup in it, so that a reader sees something else; write it in `back-ticks`")
        };
    }
    if let Some(target) = plain_link(value) {
        return Ok(Written::Link(Cow::Borrowed(target)));
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
                // The key without bold letters, or the colon behind it; nothing else precedes a value that starts with `[`.
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
            Ok(Written::Link(Cow::Owned(url)))
        }
        Some(_) => Err("more than one link, or text beside the link"),
        None => Err("brackets that are no link"),
    }
}

/// The bare text `value` at the end of `paragraph` is shown as it is written. Markdown drops a
/// backslash before punctuation, decodes `&amp;` and takes `__init__` for bold.
fn shows<'a>(value: &str, paragraph: &'a AstNode<'a>) -> bool {
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

/// Inside of a text that is one code span (CommonMark 0.31, 6.1).
pub(super) fn code_span(value: &str) -> Option<&str> {
    let ticks = value.bytes().take_while(|byte| *byte == b'`').count();
    let inner = value.get(ticks..value.len().checked_sub(ticks)?)?;
    let fence = &value[..ticks];
    if ticks == 0 || inner.is_empty() || !value.ends_with(fence) {
        return None;
    }
    let mut rest = inner;
    while let Some(at) = rest.find('`') {
        let run = rest[at..].bytes().take_while(|byte| *byte == b'`').count();
        if run == ticks {
            return None;
        }
        rest = &rest[at + run..];
    }
    if inner.ends_with('`') || inner.starts_with('`') {
        return None;
    }
    let padded = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
    Some(if padded {
        &inner[1..inner.len() - 1]
    } else {
        inner
    })
}

/// The target of a link of letters, digits and the signs of usual paths: no other reading of it is possible, so the tree
/// need not be asked.
fn plain_link(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('[')?.strip_suffix(')')?;
    let (text, target) = inner.split_at(memchr::memchr(b']', inner.as_bytes())?);
    let target = target.strip_prefix("](")?;
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    (!text.is_empty() && text.bytes().all(plain) && target.bytes().all(plain)).then_some(target)
}

/// A backslash in the target of the link that Markdown takes for an escape and drops.
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
