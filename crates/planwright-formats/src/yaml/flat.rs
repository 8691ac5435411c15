//! The part of YAML that machine-written headers consist of, read without a YAML parser: block maps and lists of scalars
//! on one line each. Whatever else a text holds, it is left to the parser; what is read here is what the parser would
//! read, and the tests compare them.

use serde_json::{Map, Value};

use super::resolve;

/// More is left to the parser and its limits.
const MAX: usize = 16 * 1024;

/// Deeper nesting is left to the parser.
const DEPTH: usize = 8;

/// The fields of `text`; `None` when it is not of this simple form all through.
pub(super) fn read(text: &str) -> Option<Map<String, Value>> {
    if text.len() > MAX || !text.is_ascii() {
        return None;
    }
    let mut lines = Lines::new(text);
    let fields = map(&mut lines, 0, DEPTH)?;
    (lines.next.is_none() && !fields.is_empty()).then_some(fields)
}

/// A map whose names begin in column `indent`.
fn map(lines: &mut Lines<'_>, indent: usize, depth: usize) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    while let Some((column, line)) = lines.next {
        if column != indent || line.starts_with("- ") {
            break;
        }
        let (name, value) = entry(line)?;
        lines.advance();
        let value = match value {
            Some(value) => scalar(value)?,
            None => match lines.next? {
                (column, line)
                    if line.starts_with("- ") && (column == indent || column == indent + 2) =>
                {
                    list(lines, column, depth.checked_sub(1)?)?
                }
                (column, _) if column == indent + 2 => {
                    Value::Object(map(lines, column, depth.checked_sub(1)?)?)
                }
                _ => return None,
            },
        };
        // A line further in would go on with the value.
        let ends = lines.next.is_none_or(|(column, _)| column <= indent);
        if !ends || fields.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(fields)
}

/// A list whose dashes stand in column `indent`.
fn list(lines: &mut Lines<'_>, indent: usize, depth: usize) -> Option<Value> {
    let mut items = Vec::new();
    while let Some((column, line)) = lines.next {
        let Some(item) = line.strip_prefix("- ").filter(|_| column == indent) else {
            break;
        };
        if entry(item).is_some() {
            lines.next = Some((indent + 2, item));
            items.push(Value::Object(map(
                lines,
                indent + 2,
                depth.checked_sub(1)?,
            )?));
        } else {
            items.push(scalar(item)?);
            lines.advance();
        }
        if lines.next.is_some_and(|(column, _)| column > indent) {
            return None;
        }
    }
    Some(Value::Array(items))
}

/// `name: value` or `name:`.
fn entry(line: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = line.split_at(memchr::memchr(b':', line.as_bytes())?);
    let value = match &value[1..] {
        "" => None,
        value => Some(value.strip_prefix(' ')?),
    };
    plain_name(name).then_some((name, value))
}

/// Lines that are not blank.
struct Lines<'a> {
    /// The next one: the column where it begins, and what is in it, without its end.
    next: Option<(usize, &'a str)>,
    rest: &'a str,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let mut lines = Self {
            next: None,
            rest: text,
        };
        lines.advance();
        lines
    }

    fn advance(&mut self) {
        self.next = None;
        while self.next.is_none() && !self.rest.is_empty() {
            let end = memchr::memchr(b'\n', self.rest.as_bytes());
            let (line, rest) = end.map_or((self.rest, ""), |end| {
                (&self.rest[..end], &self.rest[end + 1..])
            });
            self.rest = rest;
            let line = line.strip_suffix('\r').unwrap_or(line);
            let text = line.trim_start_matches(' ');
            if !line.is_empty() {
                self.next = Some((line.len() - text.len(), text));
            }
        }
    }
}

/// A key that is nothing but its own characters.
fn plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn scalar(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let letter = |byte: &u8| byte.is_ascii_alphanumeric();
    match bytes.first()? {
        quote @ (b'\'' | b'"') => {
            let inner = text
                .get(1..text.len() - 1)
                .filter(|_| bytes.len() > 1 && bytes.ends_with(&[*quote]))?;
            let simple = inner
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~') && byte != *quote && byte != b'\\');
            simple.then(|| Value::from(inner))
        }
        b'[' if text == "[]" => Some(Value::Array(Vec::new())),
        b'{' if text == "{}" => Some(Value::Object(Map::new())),
        b'-' if bytes.get(1).is_some_and(letter) && plain(text) => Some(resolve::plain(text)),
        first if letter(first) && plain(text) => Some(resolve::plain(text)),
        _ => None,
    }
}

/// Ends where the line ends, with nothing in it that means something to YAML.
fn plain(text: &str) -> bool {
    let mut before = b'a';
    for byte in text.bytes() {
        let harmless = match byte {
            b' ' => before != b':',
            b'#' => before != b' ',
            b'!'..=b'~' => true,
            _ => false,
        };
        if !harmless {
            return false;
        }
        before = byte;
    }
    !matches!(before, b' ' | b':')
}
