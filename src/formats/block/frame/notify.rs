//! Mentions and closing keywords, as GitHub finds them in what it has rendered.

use super::look::Look;

/// GitHub's closing keywords:
/// <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
const KEYWORDS: &[&str] = &[
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// Letters of the longest keyword.
const LONGEST: usize = 8;

/// Where a zero width space must go to take the effect from what begins at byte `at`.
pub(super) fn spot(text: &str, at: usize, look: &Look) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = match bytes.get(at)? {
        b'@' => at + 1,
        b'&' => at_sign(text, at)?,
        b';' => entity_end(text, at)?,
        b'>' => at + 1,
        b'c' | b'C' | b'f' | b'F' | b'r' | b'R' => keyword(text, at)?,
        _ => return None,
    };
    let live = match bytes.get(at)? {
        b'@' => names(&text[end..]) && starts_a_word(text, at),
        b'&' => names(&text[end..]) && (starts_a_word(text, at) || follows_a_keyword(text, at)),
        b';' => ends_a_keyword(&text[end..], true),
        b'>' => ends_a_keyword(&text[end..], false),
        _ => refers(&text[end..]),
    };
    let inert = match bytes.get(at)? {
        b'@' | b'&' => look.is_code(at) || look.is_address(at),
        _ => look.is_code(at),
    };
    (live && !inert).then_some(end)
}

/// End of an entity that stands for `@`.
fn at_sign(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at + 1..];
    let length = rest.bytes().take(12).position(|byte| byte == b';')?;
    let entity = rest.get(..length)?;
    (entity == "commat" || numeric(entity) == Some('@')).then_some(at + 1 + length + 1)
}

/// What `#64` or `#x40` stands for.
fn numeric(entity: &str) -> Option<char> {
    let number = entity.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}

/// Behind the `;` at byte `at`, when it ends an entity that stands for a letter.
fn entity_end(text: &str, at: usize) -> Option<usize> {
    let before = text.get(text.floor_char_boundary(at.saturating_sub(12))..at)?;
    let (_, entity) = before.rsplit_once('&')?;
    numeric(entity)?.is_ascii_alphabetic().then_some(at + 1)
}

/// A keyword ends at byte `at`, so that a zero width space may come to stand there.
fn follows_a_keyword(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let letters = before.iter().rev().take(LONGEST + 1);
    let letters = letters
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    keyword(text, at - letters) == Some(at)
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

/// No letter or digit stands before byte `at`, or it belongs to an entity. (An underline may be emphasis.)
fn starts_a_word(text: &str, at: usize) -> bool {
    let before = text
        .as_bytes()
        .get(at.saturating_sub(33)..at)
        .unwrap_or_default();
    let word = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#')
        .count();
    let letter = before.last().is_some_and(u8::is_ascii_alphanumeric);
    !letter || before.len() > word && before.get(before.len() - word - 1) == Some(&b'&')
}

/// End of the keyword that begins at byte `at`.
fn keyword(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if at > 0 && bytes.get(at - 1).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let end = at + letters(&text[at..]);
    let word = bytes.get(at..end)?;
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

/// `rest`, behind an entity or a tag, begins with the end of a keyword that refers to something.
fn ends_a_keyword(rest: &str, whole: bool) -> bool {
    let (tail, after) = rest.split_at(letters(rest));
    let ends = |keyword: &&str| {
        let from = keyword.len().checked_sub(tail.len());
        from.and_then(|from| keyword.get(from..))
            .is_some_and(|end| end.eq_ignore_ascii_case(tail))
    };
    // A closing tag behind a single letter is everywhere; it hides nothing there.
    (whole || !tail.is_empty())
        && !after.starts_with("</")
        && KEYWORDS.iter().any(|keyword| ends(&keyword))
        && refers(after)
}

/// `rest`, behind a keyword, leads to something GitHub takes for an issue, or to something that hides what it is.
fn refers(rest: &str) -> bool {
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
        rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
            .unwrap_or(rest.len())
    };
    let mut path = address.unwrap_or(rest);
    for segment in 0.. {
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
