//! Writes block-style YAML byte for byte like PyYAML's
//! `safe_dump(…, allow_unicode=True, sort_keys=False)`: keys in order, lists not indented, lines
//! folded at 80 columns, quotes where a parser would otherwise not return the same string. A key is
//! always on one line with its colon; PyYAML writes empty and very long keys as `? key`.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::scalar;

/// Renders `fields` as a YAML document that ends with a line break.
pub fn write(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    if fields.is_empty() {
        text.push_str("{}\n");
    } else {
        map(fields, 0, &mut text);
    }
    text
}

/// Appends a map whose first line continues the last line of `out` and whose other lines start at
/// column `indent`.
fn map(fields: &Map<String, Value>, indent: usize, out: &mut String) {
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            let _ = write!(out, "{:indent$}", "");
        }
        string(key, indent, true, out);
        out.push(':');
        match value {
            Value::Array(items) if !items.is_empty() => {
                let _ = write!(out, "\n{:indent$}", "");
                list(items, indent, out);
            }
            Value::Object(fields) if !fields.is_empty() => {
                let _ = write!(out, "\n{:1$}", "", indent + 2);
                map(fields, indent + 2, out);
            }
            _ => {
                out.push(' ');
                leaf(value, indent + 2, out);
                out.push('\n');
            }
        }
    }
}

/// Appends a list in the same way as [`map`].
fn list(items: &[Value], indent: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            let _ = write!(out, "{:indent$}", "");
        }
        out.push_str("- ");
        match item {
            Value::Array(items) if !items.is_empty() => list(items, indent + 2, out),
            Value::Object(fields) if !fields.is_empty() => map(fields, indent + 2, out),
            _ => {
                leaf(item, indent + 2, out);
                out.push('\n');
            }
        }
    }
}

fn leaf(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => string(text, indent, false, out),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn string(text: &str, indent: usize, key: bool, out: &mut String) {
    let line = out.rfind('\n').map_or(0, |end| end + 1);
    let column = out[line..].chars().count();
    scalar::write(text, column, indent, key, out);
}

/// Renders a number as Python does: an exponent has a sign and at least two digits, and a float
/// keeps its decimal point, without which PyYAML reads `1e20` as a string.
fn number_text(number: &Number) -> String {
    let text = number.to_string();
    // Python switches to exponents one digit earlier.
    let text = match text.trim_start_matches('-').strip_prefix("0.0000") {
        Some(digits) if number.is_f64() && !digits.starts_with('0') => {
            let (first, rest) = digits.split_at(1);
            let sign = if text.starts_with('-') { "-" } else { "" };
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e-5")
        }
        _ => text,
    };
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return text;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    format!("{mantissa}{point}e{sign}{digits:0>2}")
}
