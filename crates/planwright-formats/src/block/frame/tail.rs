//! The mark at the end of a neutralised text, and the markup that closes what the text leaves open.
//!
//! It is one line, an HTML comment and closing tags. The comment is written so that it ends
//! whatever a browser may be in: a comment, a declaration, a tag, an attribute in either kind of
//! quotes.

use std::borrow::Cow;

use memchr::memmem;

use super::REPLACEMENT;
use super::context::MarkdownContext;
use crate::markdown;
use crate::markdown::html::HtmlBlock;

/// Begins the mark. No neutralised text contains it a second time, as the author's markers get two
/// blanks.
const MARK: &str = "<!-- planwright:made-safe";

/// Precedes the list of the U+FFFD that were NUL.
const NUL: &str = " nul:";

/// Says that the line above the mark closes a fence and is not the author's.
const FENCE: &str = " fence";

/// Says that the author's text ends with CR. Otherwise a CR there comes from a page that made all
/// line ends CRLF.
const CR: &str = " cr";

/// Ends an attribute in either kind of quotes.
const QUOTES: &str = " \"'";

/// Returns what ends an HTML block of GitHub's Markdown that the end of a comment does not end.
fn block_end(block: HtmlBlock) -> &'static str {
    match block {
        HtmlBlock::Instruction => "?>",
        HtmlBlock::CData => "]]>",
        _ => "</pre>",
    }
}

/// Appends the mark to `safe`, the neutralised form of `text`.
pub(super) fn append(safe: &mut String, text: &str, context: &MarkdownContext) {
    safe.push('\n');
    if let Some(fence) = &context.fence {
        safe.push_str(fence);
        safe.push('\n');
    }
    safe.push_str(MARK);
    if text.contains('\0') {
        safe.push_str(NUL);
        safe.push_str(&nul_list(text));
    }
    if context.fence.is_some() {
        safe.push_str(FENCE);
    }
    if text.ends_with('\r') {
        safe.push_str(CR);
    }
    if context.html_block.is_some() || context.html.in_markup {
        safe.push_str(QUOTES);
    }
    if let Some(block) = context.html_block {
        safe.push(' ');
        safe.push_str(block_end(block));
        // Now a browser is in a comment, whether it was in one before or not.
        safe.push_str("<!--");
    }
    safe.push_str(" -->");
    for name in &context.html.names {
        safe.push_str("</");
        safe.push_str(name);
        // erk's readers would stop at the form without the blank.
        safe.push_str(if name == "details" { " >" } else { ">" });
    }
}

/// Returns whether byte `at` is in code.
fn is_quoted(text: &str, at: usize) -> bool {
    // Without a fence only a mark that does not begin its line could be in code, and that is not a
    // mark of ours.
    let above = &text[..at];
    if !above.contains("```") && !above.contains("~~~") {
        return false;
    }
    // In the middle of a page, a byte-order mark at the start of the text is a character.
    let inside = format!("\n{text}");
    markdown::in_code(&inside, &[at + 1]).contains(&true)
}

/// Returns `text` without what [`append`] added, and the list for [`restore_nul`]; `None` when
/// there is no mark.
///
/// Somebody may have edited the text on GitHub's page; then all line ends are CRLF and there may be
/// more text below the mark. A mark in code is a quotation, because every fence above ours is
/// closed.
pub(super) fn strip(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let at = memmem::find(text.as_bytes(), MARK.as_bytes())?;
    if is_quoted(text, at) {
        return None;
    }
    let mut rest = &text[at + MARK.len()..];
    let mut nuls = "";
    if let Some(list) = rest.strip_prefix(NUL) {
        (nuls, rest) = list.split_at(list.find(' ')?);
    }
    let fence = rest.strip_prefix(FENCE);
    rest = fence.unwrap_or(rest);
    let cr = rest.strip_prefix(CR);
    rest = cr.unwrap_or(rest);
    rest = rest.strip_prefix(QUOTES).unwrap_or(rest);
    let blocks = [
        HtmlBlock::Verbatim,
        HtmlBlock::Instruction,
        HtmlBlock::CData,
    ];
    let end = blocks.into_iter().find_map(|block| {
        let rest = rest.strip_prefix(' ')?.strip_prefix(block_end(block))?;
        rest.strip_prefix("<!--")
    });
    rest = end.unwrap_or(rest).strip_prefix(" -->")?;
    while let Some(tag) = rest.strip_prefix("</") {
        let (name, after) = tag.split_once('>')?;
        if name.contains(['\n', '\r']) {
            return None;
        }
        rest = after;
    }
    let mut before = text[..at].strip_suffix('\n')?;
    if fence.is_some() {
        before = before.strip_suffix('\r').unwrap_or(before);
        let fence = before.chars().next_back();
        let fence = fence.filter(|c| matches!(c, '`' | '~'))?;
        before = before.trim_end_matches(fence).strip_suffix('\n')?;
    }
    if cr.is_none() || rest.starts_with("\r\n") {
        before = before.strip_suffix('\r').unwrap_or(before);
    }
    if rest.is_empty() {
        return Some((Cow::Borrowed(before), nuls));
    }
    rest.starts_with(['\r', '\n'])
        .then(|| (Cow::Owned([before, rest].concat()), nuls))
}

/// Returns which of the NUL and U+FFFD in `text`, counted together from 0, are NUL, as ascending
/// ranges: `0-2,7`.
///
/// The text itself could not tell them apart without another character beside each, which would
/// change how Markdown parses the asterisks around it.
fn nul_list(text: &str) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let shown = |c: &char| matches!(*c, '\0' | char::REPLACEMENT_CHARACTER);
    for (place, c) in text.chars().filter(shown).enumerate() {
        match ranges.last_mut() {
            _ if c != '\0' => {}
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => ranges.push((place, place)),
        }
    }
    let written = ranges.into_iter().map(|range| match range {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(",")
}

/// Restores the NUL in `text` according to the list that [`nul_list`] made; `None` when it is not
/// such a list.
pub(super) fn restore_nul(text: String, list: &str) -> Option<String> {
    if list.is_empty() {
        return Some(text);
    }
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    let mut ranges = ranges?.into_iter().peekable();
    let mut copy = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, (at, _)) in text.match_indices(REPLACEMENT).enumerate() {
        while ranges.next_if(|(_, last)| *last < place).is_some() {}
        let Some((first, _)) = ranges.peek() else {
            break;
        };
        if place >= *first {
            copy.push_str(&text[copied..at]);
            copy.push('\0');
            copied = at + REPLACEMENT.len();
        }
    }
    copy.push_str(&text[copied..]);
    Some(copy)
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    };
    Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last)
}
