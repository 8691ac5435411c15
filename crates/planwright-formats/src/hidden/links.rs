//! Images, titles of links, definitions, footnotes, and words behind the language of a fence.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Edits, Map};

/// Longest label of a definition, in bytes; Markdown allows 999 characters.
const LONGEST_LABEL: usize = 4 * 999;

/// What is hidden in links and the like.
pub(super) fn pass(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains(['[', '`', '~']) {
        return edits;
    }
    let map = Map::of(text);
    for range in map.infos.iter().chain(&map.footnotes) {
        edits.cut(range.clone());
    }
    let brackets = Brackets::of(text, &map);
    let definitions = definitions(text, &map);
    let defined: HashSet<String> = definitions.iter().map(|it| it.label.clone()).collect();
    let starts: HashSet<usize> = definitions.iter().map(|it| it.span.start).collect();
    let mut used = HashSet::new();
    for (open, close) in &brackets.pairs {
        if starts.contains(open) {
            continue;
        }
        let inner = &text[open + 1..*close];
        let image = *open > 0 && text.as_bytes()[open - 1] == b'!';
        let behind = text.as_bytes().get(close + 1);
        if image {
            let is_image = match behind {
                Some(b'(' | b'[') => true,
                _ => inner.len() <= LONGEST_LABEL && defined.contains(&label(inner)),
            };
            if is_image {
                edits.cut(open + 1..*close);
                continue;
            }
        }
        if inner.len() <= LONGEST_LABEL {
            used.insert(label(inner));
        }
    }
    for close in brackets.pairs.iter().map(|(_, close)| *close) {
        if text.as_bytes().get(close + 1) == Some(&b'(')
            && let Some(title) = title_in_parentheses(text, close + 2)
        {
            edits.cut(title);
        }
    }
    for it in definitions {
        // The first one of a label counts, and once.
        if !used.remove(&it.label) {
            edits.cut(it.span);
        } else if let Some(title) = it.title {
            edits.cut(title);
        }
    }
    edits
}

/// How a reference finds its definition.
fn label(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// Brackets that belong together, by their opening ones.
struct Brackets {
    pairs: Vec<(usize, usize)>,
}

impl Brackets {
    fn of(text: &str, map: &Map) -> Self {
        let bytes = text.as_bytes();
        let mut open = Vec::new();
        let mut found: HashMap<usize, usize> = HashMap::new();
        let mut at = 0;
        while let Some(next) = bytes[at..]
            .iter()
            .position(|b| matches!(b, b'\\' | b'[' | b']' | b'\n' | b'`' | b'~'))
        {
            let here = at + next;
            at = here + 1;
            if let Some(end) = map.code_at(here) {
                at = end;
                continue;
            }
            match bytes[here] {
                b'\\' if bytes.get(here + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
                b'[' => open.push(here),
                b']' => {
                    if let Some(start) = open.pop() {
                        found.insert(start, here);
                    }
                }
                // Nothing goes across an empty line.
                b'\n'
                    if text[at..]
                        .lines()
                        .next()
                        .is_some_and(|line| line.trim_matches(['>', ' ', '\t']).is_empty()) =>
                {
                    open.clear();
                }
                _ => {}
            }
        }
        let mut pairs: Vec<_> = found.into_iter().collect();
        pairs.sort_unstable();
        Self { pairs }
    }
}

/// `dest "title")`: the range of the title with the white space before it.
fn title_in_parentheses(text: &str, from: usize) -> Option<Range<usize>> {
    let dest = white(text, from);
    let end = destination(text, dest)?;
    let (title, behind) = title(text, end)?;
    (text.as_bytes().get(white(text, behind)) == Some(&b')')).then_some(title)
}

/// The range of the title behind `from` with the white space before it, and what follows it.
fn title(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let start = white(text, from);
    if start == from {
        return None;
    }
    let bytes = text.as_bytes();
    let close = match bytes.get(start)? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        _ => return None,
    };
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' if bytes.get(at + 1) == Some(&b'\n') => return None,
            b'(' if close == b')' => return None,
            byte if byte == close => return Some((from..at + 1, at + 1)),
            _ => at += 1,
        }
    }
}

fn destination(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(from) == Some(&b'<') {
        let inside = &bytes[from + 1..];
        let end = inside
            .iter()
            .position(|b| matches!(b, b'<' | b'>' | b'\n'))?;
        return (inside[end] == b'>').then_some(from + 1 + end + 1);
    }
    let mut depth = 0_u32;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
            b'(' if depth == 32 => return None,
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            byte if byte.is_ascii_whitespace() => break,
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

/// Behind white space with at most one line end; a quote's mark at the start of the line is passed over.
fn white(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let blanks = |at: usize| {
        at + bytes[at..]
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count()
    };
    let at = blanks(from.min(bytes.len()));
    if bytes.get(at) != Some(&b'\n') {
        return at;
    }
    let mut at = blanks(at + 1);
    while bytes.get(at) == Some(&b'>') {
        at = blanks(at + 1);
    }
    at
}

/// `[label]: destination "title"`.
struct Definition {
    label: String,
    /// From the bracket to the end of the line.
    span: Range<usize>,
    title: Option<Range<usize>>,
}

/// Lines that define a link; also where Markdown reads them as text, because a paragraph goes on there.
fn definitions(text: &str, map: &Map) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = text[start..]
            .find('\n')
            .map_or(text.len(), |end| start + end);
        let at = behind_marks(text, start, line);
        let here = if map.code_at(at).is_some() {
            None
        } else {
            definition(text, at)
        };
        start = match here {
            Some(definition) => {
                let end = definition.span.end.max(line);
                found.push(definition);
                end + 1
            }
            None => line + 1,
        };
    }
    found
}

/// Where the words of a line begin: behind the marks of quotes, lists and footnotes.
fn behind_marks(text: &str, start: usize, end: usize) -> usize {
    let is_mark = |c: char| " \t>-*+.)".contains(c) || c.is_ascii_digit();
    let mut at = start;
    loop {
        at = text[at..end]
            .find(|c: char| !is_mark(c))
            .map_or(end, |marks| at + marks);
        let note = text[at..end]
            .strip_prefix("[^")
            .and_then(|rest| rest.find("]:"));
        match note {
            Some(length) => at += 2 + length + 2,
            None => return at,
        }
    }
}

fn definition(text: &str, at: usize) -> Option<Definition> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'[') || bytes.get(at + 1) == Some(&b'^') {
        return None;
    }
    let mut close = at + 1;
    loop {
        match *bytes.get(close)? {
            b'\\' => close += 2,
            b'[' => return None,
            b']' => break,
            b'\n' if bytes.get(close + 1) == Some(&b'\n') => return None,
            _ => close += 1,
        }
        if close - at > LONGEST_LABEL {
            return None;
        }
    }
    if bytes.get(close + 1) != Some(&b':') {
        return None;
    }
    let dest = white(text, close + 2);
    let end = destination_of_definition(text, dest)?;
    let rest_is_blank = |from: usize| {
        let line = text[from..].find('\n').map_or(text.len(), |end| from + end);
        text[from..line].trim().is_empty().then_some(line)
    };
    let titled = title(text, end).and_then(|(title, behind)| Some((title, rest_is_blank(behind)?)));
    let (title, end) = match titled {
        Some((title, end)) => (Some(title), end),
        None => (None, rest_is_blank(end)?),
    };
    let label = label(text.get(at + 1..close)?);
    (!label.is_empty()).then_some(Definition {
        label,
        span: at..end,
        title,
    })
}

fn destination_of_definition(text: &str, from: usize) -> Option<usize> {
    if text.as_bytes().get(from) == Some(&b'<') {
        return destination(text, from);
    }
    let length = text[from..]
        .find(char::is_whitespace)
        .unwrap_or(text.len() - from);
    (length > 0).then_some(from + length)
}
