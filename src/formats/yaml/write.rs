//! Writes block-style YAML like PyYAML's `safe_dump`: keys in order, lists not indented, quotes only where a reader
//! would otherwise see something else than the string. Lines are not folded.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// `fields` as a YAML document, ended by a line end.
pub fn write(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    if fields.is_empty() {
        text.push_str("{}\n");
    } else {
        map(fields, 0, &mut text);
    }
    text
}

fn map(fields: &Map<String, Value>, indent: usize, out: &mut String) {
    for (key, value) in fields {
        let _ = write!(out, "{:indent$}{}:", "", key_text(key));
        match value {
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                list(items, indent, out);
            }
            Value::Object(fields) if !fields.is_empty() => {
                out.push('\n');
                map(fields, indent + 2, out);
            }
            _ => {
                let _ = writeln!(out, " {}", scalar(value, indent + 2));
            }
        }
    }
}

fn list(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        let mut text = String::new();
        match item {
            Value::Array(items) if !items.is_empty() => list(items, indent + 2, &mut text),
            Value::Object(fields) if !fields.is_empty() => map(fields, indent + 2, &mut text),
            _ => {
                let _ = writeln!(text, "{:1$}{2}", "", indent + 2, scalar(item, indent + 2));
            }
        }
        // The first line stands behind the dash, where its indentation was.
        let _ = write!(out, "{:indent$}- {}", "", &text[indent + 2..]);
    }
}

fn scalar(value: &Value, indent: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number_text(number),
        Value::String(text) => string(text, indent),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// Keys stay on one line; a reader looks only so far for the colon.
fn key_text(key: &str) -> String {
    if key.contains('\n') {
        double(key)
    } else {
        string(key, 0)
    }
}

/// A float keeps its point, without which PyYAML reads `1e20` as a string.
fn number_text(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return text;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) {
        ""
    } else {
        "+"
    };
    format!("{mantissa}{point}e{sign}{exponent}")
}

fn string(text: &str, indent: usize) -> String {
    // Whatever could end the fence, the element or the block around the YAML must not appear as such.
    let lower = text.to_ascii_lowercase();
    let breaks_frame = ["```", "</details", "<!--"]
        .iter()
        .any(|part| lower.contains(part));
    let folds = text.contains(" \n") || text.contains("\n ");
    if breaks_frame || folds || text.chars().any(special) {
        return double(text);
    }
    if plain(text) {
        return text.to_owned();
    }
    let quoted = text.replace('\'', "''");
    let mut out = String::with_capacity(quoted.len() + 2);
    out.push('\'');
    // In quotes one line end is a blank; a run of n is written as n + 1.
    let mut lines = quoted.split('\n').peekable();
    let mut run = false;
    while let Some(line) = lines.next() {
        if run && !line.is_empty() {
            let _ = write!(out, "\n{:indent$}", "");
            run = false;
        }
        out.push_str(line);
        if lines.peek().is_some() {
            out.push('\n');
            run = true;
        }
    }
    if run {
        let _ = write!(out, "\n{:indent$}", "");
    }
    out.push('\'');
    out
}

/// Not printable in PyYAML's sense, or a line end other than `\n`.
fn special(c: char) -> bool {
    !matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// `text` can stand without quotes: by PyYAML's rules for block style, and because reading it gives it back.
fn plain(text: &str) -> bool {
    let starts_badly = text.starts_with(|c: char| "#,[]{}&*!|>'\"%@`=".contains(c))
        || (text.starts_with(['-', '?', ':'])
            && text[1..].chars().next().is_none_or(char::is_whitespace))
        || ["---", "...", "<<"]
            .iter()
            .any(|mark| text.starts_with(mark));
    let reads_badly =
        text.contains('\n') || text.contains(": ") || text.contains(" #") || text.ends_with(':');
    if text.is_empty() || text.trim() != text || starts_badly || reads_badly || typed(text) {
        return false;
    }
    super::read(text).is_ok_and(|value| value == text)
}

/// YAML 1.1, which erk reads with, sees something else than a string here.
fn typed(text: &str) -> bool {
    let word = ["~", "null", "true", "false", "yes", "no", "on", "off"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text));
    let digits = text.trim_start_matches(['-', '+']).replace('_', "");
    let numeric =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == '.');
    // Sexagesimal numbers and times (`1:30`), dates (`2025-01-01…`), numbers with underscores.
    let timed = digits.contains(':') && digits.split(':').all(numeric);
    let dated = text.len() >= 8
        && text
            .get(..4)
            .is_some_and(|year| year.chars().all(|c| c.is_ascii_digit()))
        && text.get(4..5) == Some("-")
        && text[5..].starts_with(|c: char| c.is_ascii_digit());
    let radix = ["0x", "0b", "0o"]
        .iter()
        .any(|start| digits.to_ascii_lowercase().starts_with(start));
    word || timed || dated || radix || numeric(&digits) || digits.parse::<f64>().is_ok()
}

fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '`' => {
                let _ = write!(out, "\\x{:02X}", u32::from(c));
            }
            c if !special(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02X}"),
                    0x100..=0xffff => write!(out, "\\u{code:04X}"),
                    _ => write!(out, "\\U{code:08X}"),
                };
            }
        }
    }
    out.push('"');
    out
}
