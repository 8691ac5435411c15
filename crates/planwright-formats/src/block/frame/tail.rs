//! The mark at the end of a neutralised text, and what closes the things that the text leaves open.
//!
//! It is one line, an HTML comment and closing tags. The comment is written so that it ends whatever a browser may be
//! in: a comment, a declaration, a tag, an attribute in either kind of quotes.

use std::borrow::Cow;

use memchr::memmem;

use super::look::Look;
use super::nul;
use crate::markdown;

/// Begins the mark. No neutralised text holds it a second time: markers of the author have two blanks.
const MARK: &str = "<!-- planwright:made-safe";

/// Says which of the U+FFFD were NUL.
const NUL: &str = " nul:";

/// The line above the mark closes a fence and is not the author's.
const FENCE: &str = " fence";

/// The author's text ends with CR. Without it, a CR there comes from a page that made all line ends CRLF.
const CR: &str = " cr";

/// Ends an attribute in either kind of quotes.
const QUOTES: &str = " \"'";

/// What ends an HTML block of GitHub's Markdown that a comment's end does not end.
const ENDS: [&str; 3] = ["</pre>", "?>", "]]>"];

/// Puts the mark of `text` below `safe`.
pub(super) fn close(safe: &mut String, text: &str, look: &Look) {
    safe.push('\n');
    if let Some(fence) = &look.fence {
        safe.push_str(fence);
        safe.push('\n');
    }
    safe.push_str(MARK);
    if memchr::memchr(0, text.as_bytes()).is_some() {
        safe.push_str(NUL);
        safe.push_str(&nul::places(text));
    }
    if look.fence.is_some() {
        safe.push_str(FENCE);
    }
    if text.ends_with('\r') {
        safe.push_str(CR);
    }
    if look.html_block.is_some() || look.html.unsettled {
        safe.push_str(QUOTES);
    }
    if let Some(kind) = look.html_block {
        safe.push(' ');
        safe.push_str(ENDS[kind as usize]);
        // When a browser is in a comment, it is now in a comment; when it was not, it is in this one.
        safe.push_str("<!--");
    }
    safe.push_str(" -->");
    for name in &look.html.names {
        safe.push_str("</");
        safe.push_str(name);
        // erk's readers stop at the form without the blank.
        safe.push_str(if name == "details" { " >" } else { ">" });
    }
}

/// Byte `at` is in code. The text stands in the middle of a page: a byte-order mark at its start is
/// a character there.
fn is_quoted(text: &str, at: usize) -> bool {
    // Without a fence only a mark that does not begin its line could be in code, and such a mark is
    // none of ours.
    let above = &text[..at];
    if !above.contains("```") && !above.contains("~~~") {
        return false;
    }
    let inside = format!("\n{text}");
    markdown::in_code(&inside, &[at + 1]).contains(&true)
}

/// `text` without what [`close`] added, and the places of NUL as [`nul::put_back`] reads them; `None` when there is no
/// mark.
///
/// Somebody may have edited it on GitHub's page, and then all line ends are CRLF and more may stand
/// below the mark. A mark in code is quoted, as above ours every fence is closed.
pub(super) fn without(text: &str) -> Option<(Cow<'_, str>, &str)> {
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
    let end = ENDS.iter().find_map(|end| {
        let rest = rest.strip_prefix(' ')?.strip_prefix(end)?;
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
