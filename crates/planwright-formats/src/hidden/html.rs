//! Comments, tags and character references.

use memchr::memmem;

use super::invisible::is_invisible;
use super::{Edits, Map};

/// Attributes that people see the effect of and that hold no sentences.
const SHOWN: [&str; 13] = [
    "align", "checked", "colspan", "disabled", "height", "href", "open", "reversed", "rowspan",
    "src", "start", "type", "width",
];

/// Longest name of a tag nobody knows, such as `<String>` where back-ticks were forgotten.
const LONGEST_NAME: usize = 24;

/// What is hidden in the HTML of `text`.
pub(super) fn pass(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains('<') {
        return edits;
    }
    let map = Map::of(text);
    let ends = Ends::of(text);
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let here = at + found;
        if let Some(end) = map.code_at(here) {
            at = end;
            continue;
        }
        let raw = map.raw_at(here);
        // A backslash shows the bracket, but in raw HTML it means nothing.
        if raw.is_none() && escaped(text, here) {
            at = here + 1;
            continue;
        }
        at = match construct(text, here, raw, (&map, &ends)) {
            Some(end) => {
                edits.gap(text, here..end);
                end
            }
            None => tag(text, here, raw, &map, &mut edits).unwrap_or(here + 1),
        };
    }
    edits
}

fn escaped(text: &str, at: usize) -> bool {
    let slashes = text.as_bytes()[..at]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count();
    slashes % 2 == 1
}

/// Where something can end, each in order.
struct Ends {
    /// `-->`, `]]>`, `?>`, `>`.
    closers: [(&'static str, Vec<usize>); 4],
    /// Empty lines.
    blanks: Vec<usize>,
}

impl Ends {
    fn of(text: &str) -> Self {
        let places =
            |what: &str| memmem::find_iter(text.as_bytes(), what.as_bytes()).collect::<Vec<_>>();
        Self {
            closers: ["-->", "]]>", "?>", ">"].map(|close| (close, places(close))),
            blanks: places("\n\n"),
        }
    }

    /// The end of `closers[kind]` from byte `from` on, in the same paragraph.
    fn in_paragraph(&self, kind: usize, from: usize) -> Option<usize> {
        let next = |places: &[usize]| places.get(places.partition_point(|at| *at < from)).copied();
        let (close, places) = &self.closers[kind];
        let end = next(places)?;
        next(&self.blanks)
            .is_none_or(|blank| end < blank)
            .then_some(end + close.len())
    }
}

/// The end of a comment or the like that begins at `at`; within raw HTML also where its end is missing.
fn construct(
    text: &str,
    at: usize,
    raw: Option<usize>,
    (map, ends): (&Map, &Ends),
) -> Option<usize> {
    let rest = &text[at..];
    let letter = rest.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic);
    let (open, kind) = if rest.starts_with("<!--") {
        // `<!-->` and `<!--->` are whole comments.
        for whole in ["<!-->", "<!--->"] {
            if rest.starts_with(whole) {
                return Some(at + whole.len());
            }
        }
        (4, 0)
    } else if rest.starts_with("<![CDATA[") {
        (9, 1)
    } else if rest.starts_with("<?") {
        (2, 2)
    } else if rest.starts_with("<!") && (letter || raw.is_some()) {
        (2, 3)
    } else {
        return None;
    };
    match raw {
        // People see the bracket of one without an end.
        None => ends.in_paragraph(kind, at + open),
        Some(_) => Some(end_in_page(text, at + open, ends.closers[kind].0, map)),
    }
}

/// How far back something is looked for that lets raw HTML into a paragraph.
const LOOK_BACK: usize = 2_000;

/// The end of what began in raw HTML, as a browser finds it in the page: in raw HTML, or behind the start of some in a
/// paragraph. What Markdown shows of `close` in a paragraph is escaped there and ends nothing.
fn end_in_page(text: &str, from: usize, close: &str, map: &Map) -> usize {
    for found in memmem::find_iter(&text.as_bytes()[from..], close) {
        let at = from + found;
        let before = &text.as_bytes()[from.max(at.saturating_sub(LOOK_BACK))..at];
        let paragraph = memmem::rfind(before, b"\n\n").unwrap_or(0);
        if map.raw_at(at).is_some()
            || map.code_at(at).is_none() && memchr::memchr(b'<', &before[paragraph..]).is_some()
        {
            return at + close.len();
        }
    }
    text.len()
}

/// Takes the attributes out of the tag at `at` and gives its end; `None` when there is no tag.
fn tag(text: &str, at: usize, raw: Option<usize>, map: &Map, edits: &mut Edits) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut next = at + 1;
    let closing = bytes.get(next) == Some(&b'/');
    if closing {
        next += 1;
    }
    if !bytes.get(next)?.is_ascii_alphabetic() {
        return None;
    }
    let name_start = next;
    // A browser takes everything up to these for the name.
    while bytes.get(next).is_some_and(|byte| {
        if raw.is_some() {
            !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>')
        } else {
            byte.is_ascii_alphanumeric() || *byte == b'-'
        }
    }) {
        next += 1;
    }
    let name_end = next;
    let limit = raw.unwrap_or(text.len());
    let mut hidden = Vec::new();
    let end = loop {
        let gap = next;
        next = skip_white(text, next, raw.is_some());
        match bytes.get(next).filter(|_| next < limit) {
            None if raw.is_some() => {
                // Never closed: a browser swallows the rest.
                edits.gap(text, at..limit);
                return Some(limit);
            }
            None => return None,
            Some(b'>') => {
                if gap < next && !hidden.is_empty() {
                    hidden.push(gap..next);
                }
                break next + 1;
            }
            Some(b'/') => {
                next += 1;
                if raw.is_none() && bytes.get(next) != Some(&b'>') {
                    return None;
                }
            }
            Some(_) if gap == next && raw.is_none() => return None,
            Some(_) => {
                let Some((name, behind)) = attribute(text, next, limit, raw.is_some()) else {
                    raw?;
                    // A quote without its end: on the page the value goes on until the next raw HTML.
                    let quote = if text[next..limit].matches('"').count() % 2 == 1 {
                        "\""
                    } else {
                        "'"
                    };
                    let end = end_in_page(text, limit, quote, map);
                    edits.gap(text, at..end);
                    return Some(end);
                };
                let kept = !closing
                    && SHOWN
                        .iter()
                        .any(|shown| shown.eq_ignore_ascii_case(&text[name.clone()]));
                if !kept {
                    hidden.push(gap..behind);
                }
                next = behind;
            }
        }
    };
    let name = &text[name_start..name_end];
    let hyphens = name.matches('-').count();
    if name.len() > LONGEST_NAME
        || hyphens > 1
        || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    {
        edits.gap(text, at..end);
        return Some(end);
    }
    for range in hidden {
        edits.cut(range);
    }
    Some(end)
}

/// Behind white space; outside raw HTML a line of a quote may go on with `> `.
fn skip_white(text: &str, from: usize, raw: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => {
                at += 1;
                if bytes.get(at) == Some(&b'\n') {
                    return at;
                }
                let quote = bytes[at..]
                    .iter()
                    .take_while(|byte| matches!(byte, b' ' | b'>'))
                    .count();
                let ends = bytes[at..at + quote].iter().rposition(|byte| *byte == b'>');
                if let Some(last) = ends.filter(|_| !raw) {
                    at += last + 1;
                }
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    at
}

/// Range of the name of the attribute at `at`, and what is behind it; `None` when Markdown would read no attribute.
fn attribute(
    text: &str,
    at: usize,
    limit: usize,
    raw: bool,
) -> Option<(std::ops::Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    if !(raw || first.is_ascii_alphabetic() || matches!(first, b'_' | b':')) {
        return None;
    }
    let mut next = at + 1;
    while bytes
        .get(next)
        .filter(|_| next < limit)
        .is_some_and(|byte| {
            if raw {
                !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'=')
            } else {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-')
            }
        })
    {
        next += 1;
    }
    let name = at..next;
    let equals = skip_white(text, next, raw);
    if bytes.get(equals).filter(|_| equals < limit) != Some(&b'=') {
        return Some((name, next));
    }
    let value = skip_white(text, equals + 1, raw);
    match *bytes.get(value).filter(|_| value < limit).unwrap_or(&b'>') {
        quote @ (b'"' | b'\'') => {
            let inside = &bytes[value + 1..limit];
            memchr::memchr(quote, inside).map(|end| (name, value + 1 + end + 1))
        }
        b'>' if raw => Some((name, value)),
        byte if !raw && matches!(byte, b'<' | b'>' | b'=' | b'`') => None,
        _ => {
            let mut end = value;
            while bytes.get(end).filter(|_| end < limit).is_some_and(|byte| {
                !byte.is_ascii_whitespace()
                    && *byte != b'>'
                    && (raw || !matches!(byte, b'"' | b'\'' | b'=' | b'<' | b'`'))
            }) {
                end += 1;
            }
            Some((name, end))
        }
    }
}

/// Names of invisible characters in HTML.
const NAMED: [&str; 18] = [
    "&shy;",
    "&shy",
    "&ZeroWidthSpace;",
    "&zwj;",
    "&zwnj;",
    "&lrm;",
    "&rlm;",
    "&NoBreak;",
    "&it;",
    "&InvisibleTimes;",
    "&ic;",
    "&InvisibleComma;",
    "&af;",
    "&ApplyFunction;",
    "&NegativeVeryThinSpace;",
    "&NegativeThinSpace;",
    "&NegativeMediumSpace;",
    "&NegativeThickSpace;",
];

/// Character references to invisible characters.
pub(super) fn entities(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains('&') {
        return edits;
    }
    let map = Map::of(text);
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if map.code_at(at).is_some() {
            continue;
        }
        if let Some(length) = numeric(&text[at..]).or_else(|| named(&text[at..])) {
            edits.cut(at..at + length);
        }
    }
    edits
}

fn numeric(rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix("&#")?;
    let (hex, digits) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let length = digits
        .bytes()
        .take(4_096)
        .take_while(|b| {
            if hex {
                b.is_ascii_hexdigit()
            } else {
                b.is_ascii_digit()
            }
        })
        .count();
    let value = digits[..length].trim_start_matches('0');
    let value = match (length, value) {
        (0, _) => return None,
        // A browser makes U+FFFD of it.
        (_, "") => 0,
        _ if value.len() > 8 => return None,
        _ => u32::from_str_radix(value, if hex { 16 } else { 10 }).ok()?,
    };
    let invisible = char::from_u32(value).is_some_and(is_invisible);
    // In raw HTML the semicolon may be missing.
    let semicolon = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    invisible.then_some(rest.len() - digits.len() + length + semicolon)
}

fn named(rest: &str) -> Option<usize> {
    NAMED
        .iter()
        .find(|name| rest.starts_with(**name))
        .map(|name| name.len())
}
