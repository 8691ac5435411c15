//! Keeps user text from breaking the frame around it, in a way that is reversible and invisible.
//!
//! A text without anything from the table is left alone. Any other is changed in place and ends
//! with a comment, the *mark*, which says so. [`restore`] changes only texts with the mark, so a
//! text that was never neutralised stays as it is, byte for byte. Each rule adds one to a count:
//! where a text already has *n* of the characters that a rule adds, it gets *n* + 1, so removing
//! one always restores the original.
//!
//! | in the text | becomes | because |
//! |---|---|---|
//! | `</details>` | `</details >` | the same tag for a browser; erk's readers stop at the first form |
//! | `<!-- erk:…`, `<!-- /erk:…`, `<!-- planwright…`, `<!-- WARNING: Machine-generated…` | two blanks after `<!--` | markers have exactly one |
//! | both of these in code or after a backslash | U+200B instead of the blank | a blank would be visible there |
//! | `@name`, also as `&#64;name`, `@&#110;ame`, `@<!-- -->name`, in raw HTML `&#64name` | U+200B after the `@` | a mention notifies |
//! | `fixes #1`, also with emphasis, line ends, entities, escapes or comments between, or inside the keyword | U+200B after the keyword | a closing keyword closes |
//! | `/close`, `!deploy`, `bors r+` at the start of a line; in code only the commands of [`commands::KNOWN`] | U+200B before it | other bots take commands from anybody's comment, many of them in code as well |
//! | U+200B, once or more in a row | one more | so that removing one is exact |
//! | NUL | U+FFFD; the mark lists them | GitHub shows U+FFFD, and its API rejects NUL |
//! | a fence open at the end | is closed above the mark | the rest of the page would be code |
//! | `<!--`, `<?`, `<!X`, `<![CDATA[`, `<pre>`, `<script>`, a tag or an attribute open at the end | is closed by the mark | it would swallow the frame's end |
//! | `<details>`, `<table>`, `<b>` and similar tags open at the end | are closed after the mark | the frame's end would close them instead of itself |
//!
//! Mentions and keywords in code and in the URLs of links are left alone because they have no
//! effect there, unless a block of raw HTML ends inside a tag, so that a browser continues it in
//! what Markdown made code or a link. `#1` alone stays as well: it only links. Bidirectional and
//! zero-width characters, line ends of every kind and control characters other than NUL belong to
//! the author and stay.
//!
//! Not handled: a `</details>` that the text never opened closes the frame early, as it would close
//! any element around it. Nothing is lost, but what follows it does not fold.

mod commands;
mod context;
mod html;
mod notify;
mod tail;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use commands::{leading_slash, leads_line};
use context::MarkdownContext;
use html::OpenHtml;

/// Zero width space.
const ZWSP: &str = "\u{200b}";

/// What a browser shows for NUL.
const REPLACEMENT: &str = "\u{fffd}";

/// Makes `text` safe inside a block; [`restore`] returns exactly `text`. Linear.
pub fn neutralise(text: &str) -> String {
    let context = MarkdownContext::new(text);
    let marked = marked(text, &context);
    if matches!(marked, Cow::Borrowed(_)) && context.is_closed() {
        return text.to_owned();
    }
    let mut safe = marked.into_owned();
    tail::append(&mut safe, text, &context);
    safe
}

/// Undoes [`neutralise`]. A text that was never neutralised is returned unchanged. Linear, and
/// nearly as fast as a copy when there is nothing to undo.
pub fn restore(text: &str) -> String {
    tail::strip(text)
        .and_then(|(safe, nul_list)| tail::restore_nul(unmarked(&safe), nul_list))
        .unwrap_or_else(|| text.to_owned())
}

/// Applies only the rules that work in place: without the mark and what it closes.
pub(super) fn mark(text: &str) -> String {
    marked(text, &MarkdownContext::new(text)).into_owned()
}

/// Returns whether HTML is open at the end of `text`, or would be if more text followed on the same
/// line.
pub(super) fn leaves_html_open(text: &str) -> bool {
    let inline = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")]
        .iter()
        .any(|(open, end)| {
            let last = text.rfind(open);
            last.is_some_and(|at| !text[at..].contains(end))
        });
    let context = MarkdownContext::new(text);
    inline || context.html_block.is_some() || context.html != OpenHtml::default()
}

/// Returns the line that closes a fence that is open at the end of `text`.
pub(super) fn open_fence(text: &str) -> Option<String> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    MarkdownContext::new(text).fence
}

fn marked<'a>(text: &'a str, context: &MarkdownContext) -> Cow<'a, str> {
    let bytes = text.as_bytes();
    let mut copy = String::new();
    let mut copied = 0;
    let mut at = 0;
    // Replaces `skipped` bytes at byte `place` by `added`.
    let mut add = |place: usize, skipped: usize, added: &str| {
        copy.push_str(&text[copied..place]);
        copy.push_str(added);
        copied = place + skipped;
    };
    while let Some(byte) = bytes.get(at) {
        let mut next = at + 1;
        match byte {
            0 => add(at, 1, REPLACEMENT),
            0xE2 if text[at..].starts_with(ZWSP) => {
                add(at, 0, ZWSP);
                next = at + run(text, at) * ZWSP.len();
            }
            b'<' => {
                if let Some(token) = frame_token(text, at) {
                    let literal = context.is_literal(text, at);
                    add(token.blanks.start, 0, if literal { ZWSP } else { " " });
                    next = token.blanks.end;
                }
            }
            b'/' | b'!' | b'b' | b'B' if commands::begins(text, at, context) => add(at, 0, ZWSP),
            _ => {
                let place = notify::insertion_point(text, at, context);
                if let Some(place) = place.filter(|place| run(text, *place) == 0) {
                    add(place, 0, ZWSP);
                    next = place;
                }
            }
        }
        at = next;
    }
    if copied == 0 && copy.is_empty() {
        return Cow::Borrowed(text);
    }
    copy.push_str(&text[copied..]);
    Cow::Owned(copy)
}

/// Undoes [`marked`].
fn unmarked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut copy = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'<', 0xE2, &bytes[at..]) {
        at += found;
        if bytes[at] == b'<' {
            let token = frame_token(text, at);
            if let Some(token) = token.filter(|token| token.blanks.len() > token.min) {
                copy.push_str(&text[copied..token.blanks.start]);
                copied = token.blanks.start + 1;
            }
            at += 1;
            continue;
        }
        let run = run(text, at);
        if run == 0 {
            at += 1;
            continue;
        }
        let end = at + run * ZWSP.len();
        copy.push_str(&text[copied..at]);
        copied = at + ZWSP.len();
        at = end;
    }
    copy.push_str(&text[copied..]);
    copy
}

/// Returns the number of consecutive zero width spaces from byte `from` on.
fn run(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.chunks_exact(ZWSP.len())
        .take_while(|chunk| *chunk == ZWSP.as_bytes())
        .count()
}

/// A closing tag or marker that erk or this bot would take for part of a frame.
struct FrameToken {
    /// The blanks that are counted.
    blanks: Range<usize>,
    /// The number of blanks that the token has at least.
    min: usize,
}

/// Returns the token of a frame whose `<` is at byte `at`.
///
/// Only blanks count: with a zero width space instead it is no token.
fn frame_token(text: &str, at: usize) -> Option<FrameToken> {
    const TAG: &[u8] = b"</details";
    const MARKERS: &[&str] = &["erk:", "planwright", "WARNING: Machine-generated"];
    let blanks = |from: usize| {
        let rest = text.as_bytes()[from..].iter();
        from..from + rest.take_while(|byte| **byte == b' ').count()
    };
    let bytes = &text.as_bytes()[at..];
    if bytes.starts_with(b"<!--") {
        let blanks = blanks(at + "<!--".len());
        let rest = &text[blanks.end..];
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let marker = MARKERS.iter().any(|marker| rest.starts_with(marker));
        (marker && !blanks.is_empty()).then_some(FrameToken { blanks, min: 1 })
    } else if bytes.get(..TAG.len())?.eq_ignore_ascii_case(TAG) {
        let blanks = blanks(at + TAG.len());
        let closed = text.as_bytes().get(blanks.end) == Some(&b'>');
        closed.then_some(FrameToken { blanks, min: 0 })
    } else {
        None
    }
}
