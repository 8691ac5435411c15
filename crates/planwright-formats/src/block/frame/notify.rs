//! Mentions and closing keywords, as GitHub finds them in what it has rendered.

use super::look::Look;

/// GitHub's closing keywords:
/// <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
const KEYWORDS: &[&str] = &[
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// Letters of the longest keyword.
const LONGEST: usize = 8;

/// Bytes of the longest name in a reference: a host has 253 at most, an owner 39, a repository 100.
const LONGEST_NAME: usize = 253;

/// Where a zero width space must go to take the effect from what begins at byte `at`.
///
/// What looks far ahead or back is asked last, and only where nothing else can ask for the same bytes again: linear.
pub(super) fn spot(text: &str, at: usize, look: &Look) -> Option<usize> {
    let (end, live) = match text.as_bytes().get(at)? {
        b'@' => {
            let end = at + 1;
            let named = names(&text[end..]) && !look.is_address(at);
            (end, named && starts_a_word(text, at, look))
        }
        b'&' => {
            let (shown, end) = entity(text, at, look.is_html(at))?;
            let rest = &text[end..];
            // What stands before an entity may be the end of a link, or of a keyword that is taken apart.
            let live = match shown {
                '@' => names(rest) && !look.is_address(at),
                letter => letter.is_ascii_alphabetic() && ends_a_keyword(rest),
            };
            (end, live)
        }
        b'>' => {
            let rest = &text[at + 1..];
            // Single letters in plain tags are everywhere; no letter of a keyword stands before those.
            let joins = rest.starts_with(|c: char| c.is_ascii_alphabetic())
                && !(rest.get(1..).is_some_and(|rest| rest.starts_with("</"))
                    && stands_apart(text, at));
            (at + 1, joins && ends_a_keyword(rest))
        }
        b'c' | b'C' | b'f' | b'F' | b'r' | b'R' => {
            let end = keyword(text, at)?;
            (end, refers(&text[end..]) && starts_a_word(text, at, look))
        }
        _ => return None,
    };
    (live && !look.is_inert(at)).then_some(end)
}

/// What the entity at byte `at` stands for, when that is `@` or has a number, and where the entity ends.
///
/// In raw HTML a browser reads a number up to its last digit, with any count of zeros before it, and asks for no
/// semicolon: <https://html.spec.whatwg.org/multipage/parsing.html#numeric-character-reference-state>.
fn entity(text: &str, at: usize, raw: bool) -> Option<(char, usize)> {
    const NAMED: &str = "&commat;";
    let rest = text.get(at..)?;
    if rest.starts_with(NAMED) {
        return Some(('@', at + NAMED.len()));
    }
    let number = rest.strip_prefix("&#")?;
    let hex = number.strip_prefix(['x', 'X']);
    let (digits, radix) = hex.map_or((number, 10), |digits| (digits, 16));
    let after = digits.trim_start_matches(|c: char| c.is_digit(radix));
    let code = digits[..digits.len() - after.len()]
        .chars()
        .filter_map(|c| c.to_digit(radix))
        .fold(0_u32, |code, digit| {
            code.saturating_mul(radix).saturating_add(digit)
        });
    let end = match after.strip_prefix(';') {
        Some(after) => after,
        None if raw => after,
        None => return None,
    };
    Some((char::from_u32(code)?, text.len() - end.len()))
}

/// `rest`, behind an `@`, begins with a name, or with something that may turn out to be one.
fn names(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphanumeric()) || hides(rest)
}

/// `rest` begins with an entity, a comment or a tag: what is shown next is not what is written next.
fn hides(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'&', next, ..] => *next == b'#' || next.is_ascii_alphabetic(),
        [b'<', next, ..] => matches!(next, b'/' | b'!' | b'?') || next.is_ascii_alphabetic(),
        _ => false,
    }
}

/// No letter or digit stands before byte `at`, or it belongs to an entity,
/// which needs no semicolon in raw HTML. (An underline may be emphasis.)
fn starts_a_word(text: &str, at: usize, look: &Look) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    if !before.last().is_some_and(u8::is_ascii_alphanumeric) {
        return true;
    }
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    look.is_html(at) && before.iter().rfind(|byte| !word(byte)) == Some(&b'&')
}

/// End of the keyword that begins at byte `at`.
fn keyword(text: &str, at: usize) -> Option<usize> {
    let end = at + letters(&text[at..]);
    let word = text.as_bytes().get(at..end)?;
    KEYWORDS
        .iter()
        .any(|keyword| keyword.as_bytes().eq_ignore_ascii_case(word))
        .then_some(end)
}

/// How many letters `text` begins with; one more than the longest keyword is enough to know that it is none.
fn letters(text: &str) -> usize {
    text.bytes()
        .take(LONGEST + 1)
        .take_while(u8::is_ascii_alphabetic)
        .count()
}

/// The `>` at byte `at` ends a tag without attributes, before which is a blank or nothing.
fn stands_apart(text: &str, at: usize) -> bool {
    let tag = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let before = tag.strip_suffix('<');
    before.is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
}

/// `rest`, behind an entity or a tag, begins with the end of a keyword that refers to something.
fn ends_a_keyword(rest: &str) -> bool {
    let (tail, after) = rest.split_at(letters(rest));
    let ends = |keyword: &&str| {
        let from = keyword.len().checked_sub(tail.len());
        from.and_then(|from| keyword.get(from..))
            .is_some_and(|end| end.eq_ignore_ascii_case(tail))
    };
    KEYWORDS.iter().any(ends) && refers(after)
}

/// `rest`, behind a keyword, leads to something GitHub takes for an issue, or to something that hides what it is.
fn refers(rest: &str) -> bool {
    // Of a tag, or shown; only at the start of a line it is neither.
    if rest.trim_start_matches([' ', '\t']).starts_with('>') {
        return false;
    }
    let thing = rest.trim_start_matches(|c: char| c.is_whitespace() || ":*~_[(>\\".contains(c));
    if hides(thing) {
        return true;
    }
    let apart = thing.len() < rest.len();
    apart && reference(thing)
}

/// `rest` begins with `#1`, `GH-1`, `owner/name#1` or the URL of one.
fn reference(rest: &str) -> bool {
    let number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) || hides(rest);
    if let Some(rest) = rest.strip_prefix('#') {
        return number(rest);
    }
    if rest
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("gh-"))
        && number(&rest[3..])
    {
        return true;
    }
    let address = ["https://", "http://", "www."].iter().find_map(|scheme| {
        let start = rest.get(..scheme.len())?;
        let rest = &rest[scheme.len()..];
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let name = |rest: &str| {
        rest.bytes()
            .take(LONGEST_NAME)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
            .count()
    };
    let mut path = address.unwrap_or(rest);
    // The host, the owner, the name and the kind: behind them comes the number.
    for segment in 0..4 {
        let tail = &path[name(path)..];
        if hides(tail) || tail.starts_with('\\') {
            return true;
        }
        if address.is_none() && segment == 1 {
            return tail.strip_prefix('#').is_some_and(number);
        }
        let Some(next) = tail.strip_prefix('/') else {
            return false;
        };
        let kind = ["issues/", "pull/", "discussions/"];
        if address.is_some()
            && segment == 2
            && kind
                .iter()
                .any(|kind| next.strip_prefix(kind).is_some_and(number))
        {
            return true;
        }
        path = next;
    }
    false
}
