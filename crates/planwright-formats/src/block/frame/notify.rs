//! Finds mentions and closing keywords as GitHub finds them in the rendered text.

use super::context::MarkdownContext;
use crate::markdown::html::numeric_reference;

/// GitHub's closing keywords:
/// <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
const KEYWORDS: &[&str] = &[
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// Maximum length of a keyword, in bytes.
const MAX_KEYWORD: usize = 8;

/// Maximum length of a name in a reference, in bytes: a host has at most 253, an owner 39, a
/// repository 100.
const MAX_NAME: usize = 253;

/// Returns where a zero width space must go to disable the mention or keyword that begins at byte
/// `at`.
///
/// Linear: the conditions that look far ahead or back come last, and only where no other place
/// looks at the same bytes.
pub(super) fn insertion_point(text: &str, at: usize, context: &MarkdownContext) -> Option<usize> {
    let (end, live) = match text.as_bytes().get(at)? {
        b'@' => {
            let end = at + 1;
            let named = names(&text[end..]) && !context.is_url(at);
            (end, named && starts_a_word(text, at, context))
        }
        b'&' => {
            let (shown, end) = entity(text, at, context.is_html(at))?;
            let rest = &text[end..];
            // Before the entity may be the end of a link or the first part of a split keyword.
            let live = match shown {
                '@' => names(rest) && !context.is_url(at),
                letter => letter.is_ascii_alphabetic() && ends_a_keyword(rest),
            };
            (end, live)
        }
        b'>' => {
            let rest = &text[at + 1..];
            // Single letters in plain tags, such as `<b>s</b>`, are common; with no letter before
            // the tag they are not part of a keyword.
            let joins = rest.starts_with(|c: char| c.is_ascii_alphabetic())
                && !(rest.get(1..).is_some_and(|rest| rest.starts_with("</"))
                    && follows_space(text, at));
            (at + 1, joins && ends_a_keyword(rest))
        }
        b'c' | b'C' | b'f' | b'F' | b'r' | b'R' => {
            let end = keyword(text, at)?;
            (
                end,
                refers(&text[end..]) && starts_a_word(text, at, context),
            )
        }
        _ => return None,
    };
    (live && !context.is_inert(at)).then_some(end)
}

/// Returns the character of the entity at byte `at`, if that is `@` or numeric, and where the
/// entity ends.
fn entity(text: &str, at: usize, raw: bool) -> Option<(char, usize)> {
    const NAMED: &str = "&commat;";
    let rest = text.get(at..)?;
    if rest.starts_with(NAMED) {
        return Some(('@', at + NAMED.len()));
    }
    let reference = numeric_reference(rest).filter(|it| raw || it.terminated)?;
    Some((reference.character, at + reference.length))
}

/// Returns whether `rest`, which follows an `@`, begins with a name or with something that may
/// render as one.
fn names(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphanumeric()) || hides(rest)
}

/// Returns whether `rest` begins with an entity, a comment or a tag, so that the next character
/// shown is not the next one written.
fn hides(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'&', next, ..] => *next == b'#' || next.is_ascii_alphabetic(),
        [b'<', next, ..] => matches!(next, b'/' | b'!' | b'?') || next.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Returns whether no letter or digit is before byte `at`, except one that belongs to an entity,
/// which needs no semicolon in raw HTML. (An underscore may be emphasis.)
fn starts_a_word(text: &str, at: usize, context: &MarkdownContext) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    if !before.last().is_some_and(u8::is_ascii_alphanumeric) {
        return true;
    }
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    context.is_html(at) && before.iter().rfind(|byte| !word(byte)) == Some(&b'&')
}

/// Returns the end of the keyword that begins at byte `at`.
fn keyword(text: &str, at: usize) -> Option<usize> {
    let end = at + letters(&text[at..]);
    let word = text.as_bytes().get(at..end)?;
    KEYWORDS
        .iter()
        .any(|keyword| keyword.as_bytes().eq_ignore_ascii_case(word))
        .then_some(end)
}

/// Returns how many letters `text` begins with, up to one more than the longest keyword has.
fn letters(text: &str) -> usize {
    text.bytes()
        .take(MAX_KEYWORD + 1)
        .take_while(u8::is_ascii_alphabetic)
        .count()
}

/// Returns whether the `>` at byte `at` ends a tag without attributes that follows white space or
/// begins the text.
fn follows_space(text: &str, at: usize) -> bool {
    let tag = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let before = tag.strip_suffix('<');
    before.is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
}

/// Returns whether `rest`, which follows an entity or a tag, begins with the end of a keyword that
/// refers to something.
fn ends_a_keyword(rest: &str) -> bool {
    let (tail, after) = rest.split_at(letters(rest));
    let ends = |keyword: &&str| {
        let from = keyword.len().checked_sub(tail.len());
        from.and_then(|from| keyword.get(from..))
            .is_some_and(|end| end.eq_ignore_ascii_case(tail))
    };
    KEYWORDS.iter().any(ends) && refers(after)
}

/// Returns whether `rest`, which follows a keyword, leads to a reference, or to markup that may
/// render as one.
fn refers(rest: &str) -> bool {
    // This `>` ends a tag or is shown as text; it is neither only at the start of a line.
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

/// Returns whether `rest` begins with `#1`, `GH-1`, `owner/name#1` or the URL of an issue.
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
            .take(MAX_NAME)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
            .count()
    };
    let mut path = address.unwrap_or(rest);
    // Host, owner, name and kind precede the number.
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
