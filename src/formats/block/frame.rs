//! Keeps user text from breaking the frame around it, in a way that can be undone exactly and cannot be seen.
//!
//! Every rule counts: where a text already has *n* of the blanks or zero-width spaces that the rule adds, it gets
//! *n* + 1, so taking one away always gives the original, whatever it was.
//!
//! | in the text | becomes | because |
//! |---|---|---|
//! | `</details>` | `</details >` | the same tag for a browser; erk's readers stop at the first form |
//! | `<!-- erk:…`, `<!-- /erk:…`, `<!-- planwright…`, `<!-- WARNING: Machine-generated…` | two blanks after `<!--` | markers have exactly one |
//! | `@name` outside code | U+200B after `@` | a mention notifies |
//! | `fixes #1` outside code | U+200B after the keyword | a closing keyword closes |
//! | a fence open at the end | is closed, with a comment saying so | the rest of the page would be code |

use std::ops::Range;

use crate::formats::markdown::{self, Kind};

/// Zero width space.
const ZWSP: &str = "\u{200b}";

/// Stands below a closing fence that is not the author's. [`mark`] leaves no such comment in an author's text.
const FENCE_CLOSED: &str = "<!-- planwright:fence-closed -->";

/// What a comment must begin with to be taken for a marker.
const MARKERS: &[&str] = &["erk:", "planwright", "WARNING: Machine-generated"];

/// GitHub's closing keywords:
/// <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
const KEYWORDS: &[&str] = &[
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// Makes `text` safe inside a block; [`restore`] gives exactly `text` back.
pub fn neutralise(text: &str) -> String {
    let mut safe = mark(text);
    if let Some(fence) = open_fence(text) {
        safe.push('\n');
        safe.push_str(&fence);
        safe.push('\n');
        safe.push_str(FENCE_CLOSED);
    }
    safe
}

/// Undoes [`neutralise`]. Text that never was neutralised loses at most one blank or zero-width space where the rules
/// above would have added one.
pub fn restore(text: &str) -> String {
    let text = without_closed_fence(text).unwrap_or(text);
    rewrite(text, |hit, count, _| match hit.rule {
        Rule::Comment => count.max(2) - 1,
        Rule::Details | Rule::Mention | Rule::Keyword => count.saturating_sub(1),
    })
}

/// The counted rules alone, without closing an open fence.
pub(super) fn mark(text: &str) -> String {
    let code = markdown::code(text);
    let mut next = 0;
    rewrite(text, |hit, count, at| match hit.rule {
        Rule::Details | Rule::Comment => count + 1,
        Rule::Mention | Rule::Keyword if count > 0 => count + 1,
        Rule::Mention | Rule::Keyword => {
            while code.get(next).is_some_and(|range| range.end <= at) {
                next += 1;
            }
            let in_code = code.get(next).is_some_and(|range| range.start <= at);
            let inert = in_code || (hit.rule == Rule::Mention && !notifies(text, at));
            usize::from(!inert)
        }
    })
}

/// The line that closes a fence still open at the end of `text`.
pub(super) fn open_fence(text: &str) -> Option<String> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    // The text stands in the middle of a page: a byte-order mark at its start is a character there.
    let inside = format!("\n{text}");
    let last = markdown::blocks(&inside).pop()?;
    if !matches!(
        last.kind,
        Kind::Code {
            fenced: true,
            closed: false,
            ..
        }
    ) {
        return None;
    }
    let opening = inside[last.span].trim_start_matches(' ');
    let fence = opening.chars().next()?;
    Some(opening.chars().take_while(|c| *c == fence).collect())
}

fn without_closed_fence(text: &str) -> Option<&str> {
    let text = text.strip_suffix(FENCE_CLOSED)?.strip_suffix('\n')?;
    // An edit in the browser turns line ends into CRLF.
    let text = text.strip_suffix('\r').unwrap_or(text);
    let fence = text
        .chars()
        .next_back()
        .filter(|c| matches!(c, '`' | '~'))?;
    text.trim_end_matches(fence).strip_suffix('\n')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Details,
    Comment,
    Mention,
    Keyword,
}

/// A place where a rule applies.
#[derive(Debug)]
struct Hit {
    rule: Rule,
    /// The blanks or zero-width spaces that count.
    run: Range<usize>,
}

/// Copies `text`, with as many blanks or zero-width spaces at each hit as `count(hit, there now, byte offset)` says.
fn rewrite(text: &str, mut count: impl FnMut(&Hit, usize, usize) -> usize) -> String {
    let mut copy = String::with_capacity(text.len() + text.len() / 64);
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        let Some(hit) = hit(text, at) else {
            at += 1;
            continue;
        };
        let unit = match hit.rule {
            Rule::Details | Rule::Comment => " ",
            Rule::Mention | Rule::Keyword => ZWSP,
        };
        let wanted = count(&hit, hit.run.len() / unit.len(), at);
        copy.push_str(&text[copied..hit.run.start]);
        for _ in 0..wanted {
            copy.push_str(unit);
        }
        copied = hit.run.end;
        at = hit.run.end;
    }
    copy.push_str(&text[copied..]);
    copy
}

/// The rule that applies at byte `at`. It looks only at characters that no rule changes, so a text and its rewritten
/// form have their hits at the same places.
fn hit(text: &str, at: usize) -> Option<Hit> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b'<' => details(text, at).or_else(|| comment(text, at)),
        b'@' => {
            let run = run(text, at + 1, ZWSP);
            let named = bytes.get(run.end).is_some_and(u8::is_ascii_alphanumeric);
            named.then_some(Hit {
                rule: Rule::Mention,
                run,
            })
        }
        b'c' | b'C' | b'f' | b'F' | b'r' | b'R' => keyword(text, at),
        _ => None,
    }
}

fn details(text: &str, at: usize) -> Option<Hit> {
    const TAG: &str = "</details";
    let end = at + TAG.len();
    let tag = text.as_bytes().get(at..end)?;
    let run = run(text, end, " ");
    (tag.eq_ignore_ascii_case(TAG.as_bytes()) && text.as_bytes().get(run.end) == Some(&b'>'))
        .then_some(Hit {
            rule: Rule::Details,
            run,
        })
}

fn comment(text: &str, at: usize) -> Option<Hit> {
    let end = at + text[at..].strip_prefix("<!--").map(|_| 4)?;
    let run = run(text, end, " ");
    let rest = &text[run.end..];
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let marker = MARKERS.iter().any(|marker| rest.starts_with(marker));
    (marker && !run.is_empty()).then_some(Hit {
        rule: Rule::Comment,
        run,
    })
}

fn keyword(text: &str, at: usize) -> Option<Hit> {
    let bytes = text.as_bytes();
    if at > 0 && bytes.get(at - 1).is_some_and(|before| word(*before)) {
        return None;
    }
    // One letter more than the longest keyword is enough to know that it is none.
    let letters = bytes[at..]
        .iter()
        .take(9)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let end = at + letters;
    if !KEYWORDS
        .iter()
        .any(|keyword| keyword.as_bytes().eq_ignore_ascii_case(&bytes[at..end]))
    {
        return None;
    }
    let run = run(text, end, ZWSP);
    let rest = text[run.end..]
        .trim_start_matches(|c: char| c.is_ascii_whitespace() || ":*~[(".contains(c));
    let apart = rest.len() < text.len() - run.end;
    (apart && reference(rest)).then_some(Hit {
        rule: Rule::Keyword,
        run,
    })
}

/// `rest` begins with something GitHub takes for an issue: `#1`, `GH-1`, `owner/name#1` or its URL.
///
/// No character in here can stand before a gap after a keyword, so no rule applies inside a reference.
fn reference(rest: &str) -> bool {
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if let Some(rest) = rest.strip_prefix('#') {
        return digit(rest);
    }
    if rest
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("gh-"))
        && digit(&rest[3..])
    {
        return true;
    }
    let name = |rest: &str| {
        rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
            .unwrap_or(rest.len())
    };
    let url = rest
        .strip_prefix("https://")
        .or_else(|| rest.strip_prefix("http://"));
    let owner = match url {
        Some(url) => match url[name(url)..].strip_prefix('/') {
            Some(path) => path,
            None => return false,
        },
        None => rest,
    };
    let Some(repository) = owner[name(owner)..].strip_prefix('/') else {
        return false;
    };
    let tail = &repository[name(repository)..];
    if url.is_none() {
        return tail.strip_prefix('#').is_some_and(digit);
    }
    ["/issues/", "/pull/", "/discussions/"]
        .iter()
        .any(|kind| tail.strip_prefix(kind).is_some_and(digit))
}

/// The `@` at byte `at` is one that GitHub reads as a mention: not behind a word, not inside a web address.
fn notifies(text: &str, at: usize) -> bool {
    /// Far enough to see the beginning of any address somebody would type, in bytes.
    const BACK: usize = 256;
    let Some(before) = text[..at].bytes().next_back() else {
        return true;
    };
    if word(before) {
        return false;
    }
    if before != b'/' {
        return true;
    }
    let back = &text[text.floor_char_boundary(at.saturating_sub(BACK))..at];
    if !back.contains("://") {
        return true;
    }
    let stops = |c: char| c.is_whitespace() || "<>\"'()[]|".contains(c);
    let address = back.rsplit(stops).next().unwrap_or(back);
    let host = ["https://", "http://"]
        .iter()
        .find_map(|scheme| address.split_once(scheme));
    !host.is_some_and(|(_, host)| host.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The repetitions of `unit` from byte `from` on.
fn run(text: &str, from: usize, unit: &str) -> Range<usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let count = rest
        .chunks_exact(unit.len())
        .take_while(|chunk| *chunk == unit.as_bytes())
        .count();
    from..from + count * unit.len()
}
