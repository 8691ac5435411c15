//! Hidden text in images, link titles, link reference definitions, footnotes and the info strings
//! of fences.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::{Edits, Regions};

/// Maximum length of a definition's label, in bytes; Markdown allows 999 characters.
const MAX_LABEL: usize = 4 * 999;

/// Finds what is hidden in links, images, definitions, footnotes and fences.
pub(super) fn pass(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains(['[', '`', '~']) {
        return edits;
    }
    let regions = Regions::new(text);
    for range in regions.infos.iter().chain(&regions.footnotes) {
        edits.remove(range.clone());
    }
    let brackets = brackets(text, &regions);
    let definitions = definitions(text, &regions);
    let defined: HashSet<&str> = definitions.iter().map(|it| it.label.as_str()).collect();
    let starts: HashSet<usize> = definitions.iter().map(|it| it.span.start).collect();
    let mut used = HashSet::new();
    for (open, close) in &brackets {
        if starts.contains(open) {
            continue;
        }
        let inner = &text[open + 1..*close];
        let next = text.as_bytes().get(close + 1);
        let label = (inner.len() <= MAX_LABEL).then(|| normalised(inner));
        let image = *open > 0
            && text.as_bytes()[open - 1] == b'!'
            && (matches!(next, Some(b'(' | b'['))
                || label
                    .as_deref()
                    .is_some_and(|label| defined.contains(label)));
        if image {
            edits.remove(open + 1..*close);
        } else {
            used.extend(label);
        }
    }
    for close in brackets.values() {
        if text.as_bytes().get(close + 1) == Some(&b'(')
            && let Some(title) = title_in_parentheses(text, close + 2)
        {
            edits.remove(title);
        }
    }
    for it in definitions {
        // Only the first definition of a label has an effect.
        if !used.remove(&it.label) {
            edits.remove(it.span);
        } else if let Some(title) = it.title {
            edits.remove(title);
        }
    }
    edits
}

/// Returns a label in the form in which references and definitions are matched.
fn normalised(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// Returns the pairs of matching brackets outside code: the closing one by the opening one.
fn brackets(text: &str, regions: &Regions) -> BTreeMap<usize, usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut pairs = BTreeMap::new();
    let mut at = 0;
    while let Some(next) = bytes[at..]
        .iter()
        .position(|b| matches!(b, b'\\' | b'[' | b']' | b'\n' | b'`' | b'~'))
    {
        let here = at + next;
        at = here + 1;
        if let Some(end) = regions.code_at(here) {
            at = end;
            continue;
        }
        match bytes[here] {
            b'\\' if bytes.get(at).is_some_and(u8::is_ascii_punctuation) => at += 1,
            b'[' => open.push(here),
            b']' => pairs.extend(open.pop().map(|start| (start, here))),
            // No link crosses an empty line.
            b'\n' => {
                let line = text[at..].lines().next();
                if line.is_some_and(|line| line.trim_matches(['>', ' ', '\t']).is_empty()) {
                    open.clear();
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Returns the range of the title in `destination "title")`, with the white space before it.
fn title_in_parentheses(text: &str, from: usize) -> Option<Range<usize>> {
    let dest = skip_space(text, from);
    let end = destination(text, dest)?;
    let (title, after) = title(text, end)?;
    (text.as_bytes().get(skip_space(text, after)) == Some(&b')')).then_some(title)
}

/// Returns the range of the title at `from`, with the white space before it, and the offset after
/// it.
fn title(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let start = skip_space(text, from);
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

/// Returns the end of the link destination at `from`.
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

/// Skips white space with at most one line end, including the marks of block quotes after it.
fn skip_space(text: &str, from: usize) -> usize {
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

/// A link reference definition: `[label]: destination "title"`.
struct Definition {
    label: String,
    /// From the bracket to the end of the line.
    span: Range<usize>,
    title: Option<Range<usize>>,
}

/// Finds the lines that define a link, also where Markdown takes them for text because they
/// continue a paragraph.
fn definitions(text: &str, regions: &Regions) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = text[start..]
            .find('\n')
            .map_or(text.len(), |end| start + end);
        let at = after_marks(text, start, line);
        let outside_code = regions.code_at(at).is_none();
        start = match outside_code.then(|| definition(text, at)).flatten() {
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

/// Returns where the text of a line begins: after the marks of quotes, lists and footnotes.
fn after_marks(text: &str, start: usize, end: usize) -> usize {
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
        if close - at > MAX_LABEL {
            return None;
        }
    }
    if bytes.get(close + 1) != Some(&b':') {
        return None;
    }
    let dest = skip_space(text, close + 2);
    let end = destination_of_definition(text, dest)?;
    let rest_is_blank = |from: usize| {
        let line = text[from..].find('\n').map_or(text.len(), |end| from + end);
        text[from..line].trim().is_empty().then_some(line)
    };
    let titled = title(text, end).and_then(|(title, after)| Some((title, rest_is_blank(after)?)));
    let (title, end) = match titled {
        Some((title, end)) => (Some(title), end),
        None => (None, rest_is_blank(end)?),
    };
    let label = normalised(text.get(at + 1..close)?);
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
