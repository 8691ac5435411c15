//! Parses the YAML that erk and this crate write into metadata blocks without a YAML parser: block
//! maps and lists whose scalars are on one line.
//!
//! Anything else is left to the parser in `load.rs`; a test checks that both return the same. This
//! reader exists for speed only: it takes 5 µs for the four blocks of the issue body in
//! `benches/blocks.rs`, where the parser takes 31 µs, and that benchmark allows 60 µs for the whole
//! body.

use serde_json::{Map, Value};

use super::resolve;

/// Maximum length of a text that is read here, in bytes. Longer texts are left to the parser and
/// its limits.
const MAX_BYTES: usize = 16 * 1024;

/// Maximum nesting depth that is read here.
const MAX_DEPTH: usize = 8;

/// Maximum length of a key that is read here, in bytes.
const MAX_KEY_BYTES: usize = 64;

/// Parses `text`; `None` if any part of it needs the YAML parser.
pub(super) fn parse(text: &str) -> Option<Map<String, Value>> {
    if text.len() > MAX_BYTES || !text.is_ascii() {
        return None;
    }
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let content = line.trim_start_matches(' ');
        (line.len() - content.len(), content, line.is_empty())
    });
    let mut lines: Vec<_> = lines
        .filter(|(.., empty)| !empty)
        .map(|(column, content, _)| (column, content))
        .collect();
    lines.reverse();
    let fields = map(&mut lines, 0, MAX_DEPTH)?;
    (lines.is_empty() && !fields.is_empty()).then_some(fields)
}

/// The lines that have not been read, the next one last: the column of their first character, and
/// their text from there.
type Lines<'a> = Vec<(usize, &'a str)>;

/// Parses a map whose keys start at column `indent`.
fn map(lines: &mut Lines<'_>, indent: usize, depth: usize) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    while let Some((_, line)) =
        lines.pop_if(|(column, line)| *column == indent && !line.starts_with("- "))
    {
        let (key, value) = key_value(line)?;
        let value = match (value, lines.last()) {
            (Some(value), _) => scalar(value)?,
            (None, Some(&(column, line))) => {
                let is_list = line.starts_with("- ");
                if column != indent + 2 && !(is_list && column == indent) {
                    return None;
                }
                let depth = depth.checked_sub(1)?;
                if is_list {
                    list(lines, column, depth)?
                } else {
                    Value::Object(map(lines, column, depth)?)
                }
            }
            (None, None) => return None,
        };
        // A line that is indented further continues the value.
        let continued = lines.last().is_some_and(|(column, _)| *column > indent);
        if continued || fields.insert(key.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(fields)
}

/// Parses a list whose dashes are at column `indent`.
fn list(lines: &mut Lines<'_>, indent: usize, depth: usize) -> Option<Value> {
    let mut items = Vec::new();
    while let Some((_, line)) =
        lines.pop_if(|(column, line)| *column == indent && line.starts_with("- "))
    {
        let item = &line[2..];
        if key_value(item).is_some() {
            lines.push((indent + 2, item));
            let fields = map(lines, indent + 2, depth.checked_sub(1)?)?;
            items.push(Value::Object(fields));
        } else {
            items.push(scalar(item)?);
        }
        if lines.last().is_some_and(|(column, _)| *column > indent) {
            return None;
        }
    }
    Some(Value::Array(items))
}

/// Splits `key: value` or `key:`.
fn key_value(line: &str) -> Option<(&str, Option<&str>)> {
    let (key, value) = line.split_at(memchr::memchr(b':', line.as_bytes())?);
    let value = match &value[1..] {
        "" => None,
        value => Some(value.strip_prefix(' ')?),
    };
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.len() <= MAX_KEY_BYTES
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    plain.then_some((key, value))
}

fn scalar(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let alphanumeric = |byte: &u8| byte.is_ascii_alphanumeric();
    match bytes.first()? {
        quote @ (b'\'' | b'"') => {
            let inner = text
                .get(1..text.len() - 1)
                .filter(|_| bytes.ends_with(&[*quote]))?;
            let simple = inner
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~') && byte != *quote && byte != b'\\');
            simple.then(|| Value::from(inner))
        }
        b'[' if text == "[]" => Some(Value::Array(Vec::new())),
        b'{' if text == "{}" => Some(Value::Object(Map::new())),
        b'-' if bytes.get(1).is_some_and(alphanumeric) && is_plain(text) => {
            Some(resolve::plain(text))
        }
        first if alphanumeric(first) && is_plain(text) => Some(resolve::plain(text)),
        _ => None,
    }
}

/// Whether `text` is printable and contains no comment, no key and no blank at its end.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([' ', ':'])
}
