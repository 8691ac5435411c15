//! Keeps user text from breaking the frame around it, in a way that can be undone exactly and cannot be seen.
//!
//! A text that holds nothing of the table is left alone. Any other one is changed in place and ends with a comment, the
//! *mark*, which says so; [`restore`] heeds only texts with the mark, so what was never neutralised stays as it is, byte
//! for byte. Every rule counts: where a text already has *n* of the characters that a rule adds, it gets *n* + 1, so
//! taking one away always gives the original, whatever it was.
//!
//! | in the text | becomes | because |
//! |---|---|---|
//! | `</details>` | `</details >` | the same tag for a browser; erk's readers stop at the first form |
//! | `<!-- erk:…`, `<!-- /erk:…`, `<!-- planwright…`, `<!-- WARNING: Machine-generated…` | two blanks after `<!--` | markers have exactly one |
//! | both of these in code or behind a backslash | U+200B instead of the blank | a blank could be seen there |
//! | `@name`, also as `&#64;name`, `@&#110;ame`, `@<!-- -->name`, in raw HTML `&#64name` | U+200B after the `@` | a mention notifies |
//! | `fixes #1`, also with emphasis, line ends, entities, escapes or comments between, or within the keyword | U+200B after the keyword | a closing keyword closes |
//! | `/close`, `!deploy`, `bors r+` at the start of a line; in code only the commands of [`commands::KNOWN`] | U+200B before it | other bots take commands from anybody's comment, and many read them in code, too |
//! | U+200B, once or more in a row | one more | so that taking one away is exact |
//! | NUL | U+FFFD; the mark says which ones it was | GitHub shows U+FFFD, and its API refuses NUL |
//! | a fence open at the end | is closed above the mark | the rest of the page would be code |
//! | `<!--`, `<?`, `<!X`, `<![CDATA[`, `<pre>`, `<script>`, a tag or an attribute open at the end | is closed by the mark | it would swallow the frame's end |
//! | `<details>`, `<table>`, `<b>` and the like open at the end | are closed behind the mark | the frame's end would close them instead of itself |
//!
//! Mentions and keywords in code and in the addresses of links are left alone: they do nothing there, unless a block of
//! raw HTML ends within a tag, and a browser reads on in it what Markdown made code or a link. `#1` alone stays,
//! too: it notifies nobody, it only links. Bidirectional and zero-width characters, line ends of every kind and control
//! characters other than NUL are the author's and stay.
//!
//! What is not done: a `</details>` that the text never opened closes the frame early, as it would close any element
//! around it; nothing is lost, but what follows it does not fold.

mod angle;
mod commands;
mod html;
mod look;
mod notify;
mod nul;
mod tail;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use html::Open;
use look::Look;

/// Zero width space.
const ZWSP: &str = "\u{200b}";

/// What a browser shows for NUL.
const REPLACEMENT: &str = "\u{fffd}";

/// Makes `text` safe inside a block; [`restore`] gives exactly `text` back. Linear.
pub fn neutralise(text: &str) -> String {
    let look = Look::at(text);
    let marked = marked(text, &look);
    if matches!(marked, Cow::Borrowed(_)) && look.settled() {
        return text.to_owned();
    }
    let mut safe = marked.into_owned();
    tail::close(&mut safe, text, &look);
    safe
}

/// Undoes [`neutralise`]. Text that never was neutralised is given back as it is. Linear, and near the speed of a copy
/// when there is nothing to undo.
pub fn restore(text: &str) -> String {
    tail::without(text)
        .and_then(|(safe, nuls)| nul::put_back(unmarked(&safe), nuls))
        .unwrap_or_else(|| text.to_owned())
}

/// The rules that work in place alone, without the mark and what goes with it.
pub(super) fn mark(text: &str) -> String {
    marked(text, &Look::at(text)).into_owned()
}

/// HTML that is open at the end of `text`, or would be if more text followed on the same line.
pub(super) fn leaves_html_open(text: &str) -> bool {
    let inline = ["<!--", "<?", "<![CDATA["]
        .iter()
        .zip(["-->", "?>", "]]>"])
        .any(|(open, end)| match text.rfind(open) {
            Some(at) => !text[at..].contains(end),
            None => false,
        });
    let look = Look::at(text);
    inline || look.html_block.is_some() || look.html != Open::default()
}

/// The line that closes a fence still open at the end of `text`.
pub(super) fn open_fence(text: &str) -> Option<String> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    Look::at(text).fence
}

fn marked<'a>(text: &'a str, look: &Look) -> Cow<'a, str> {
    let bytes = text.as_bytes();
    let mut copy = String::new();
    let mut copied = 0;
    let mut at = 0;
    // Puts `added` before byte `place`.
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
                if let Some(hit) = angle::hit(text, at) {
                    let unit = if look.is_spelled_out(text, at) {
                        ZWSP
                    } else {
                        " "
                    };
                    add(hit.blanks.start, 0, unit);
                    next = hit.blanks.end;
                }
            }
            b'/' | b'!' | b'b' | b'B' if commands::begins(text, at, look) => add(at, 0, ZWSP),
            _ => {
                if let Some(end) = notify::spot(text, at, look).filter(|end| run(text, *end) == 0) {
                    add(end, 0, ZWSP);
                    next = end;
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
            if let Some(hit) = angle::hit(text, at).filter(|hit| hit.blanks.len() > hit.least) {
                copy.push_str(&text[copied..hit.blanks.start]);
                copied = hit.blanks.start + 1;
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

/// How many zero width spaces stand from byte `from` on.
fn run(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.chunks_exact(ZWSP.len())
        .take_while(|chunk| *chunk == ZWSP.as_bytes())
        .count()
}
