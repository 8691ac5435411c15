//! Parses what is between a block's markers.

use std::ops::Range;

use serde_json::Value;

use super::marker::Name;
use super::{Content, TEXT_KEYS, frame};
use crate::yaml;

/// The content between the markers of a block.
pub(super) struct Body {
    pub(super) content: Content,
    /// Byte range of the content in the text, without its frame.
    pub(super) inner: Range<usize>,
    /// Why it cannot be used, and the remedy.
    pub(super) problem: Option<(String, &'static str)>,
}

/// Parses `text[range]`, the inside of the block `name`.
pub(super) fn parse(name: Name<'_>, text: &str, range: Range<usize>) -> Body {
    let inside = &text[range.clone()];
    // `part` is always a slice of `inside`.
    let place = |part: &str| {
        let start = range.start + (part.as_ptr().addr() - inside.as_ptr().addr());
        start..start + part.len()
    };
    let raw = |message: String, remedy: &'static str| Body {
        content: Content::Raw(inside.trim().to_owned()),
        inner: place(inside.trim()),
        problem: Some((message, remedy)),
    };
    let framed = |text: &str| Body {
        content: Content::Text(frame::restore(unframed(text))),
        inner: place(unframed(text)),
        problem: None,
    };
    if matches!(name, Name::PlanContent | Name::OriginalPlan) {
        return framed(inside);
    }
    let details = details(inside);
    if TEXT_KEYS.contains(&name.key()) {
        return details.map_or_else(|| raw(NO_DETAILS.to_owned(), WRITE_DETAILS), framed);
    }
    // Workflows of the first era wrote the fence without `<details>`.
    match details.unwrap_or(inside).trim() {
        text if text.starts_with("```yaml") || text.starts_with("```yml") => {
            let Some(text) = fence(text) else {
                return raw("the YAML fence is not closed".to_owned(), CLOSE_FENCE);
            };
            match yaml::read(text) {
                Ok(Value::Object(fields)) => Body {
                    content: Content::Yaml(fields),
                    inner: place(text),
                    problem: None,
                },
                Ok(other) => raw(
                    format!("YAML content is not a dict, got {}", type_name(&other)),
                    WRITE_FIELDS,
                ),
                Err(error) => raw(format!("Failed to parse YAML content: {error}"), FIX_YAML),
            }
        }
        _ => details.map_or_else(|| raw(NO_DETAILS.to_owned(), WRITE_DETAILS), framed),
    }
}

/// This is erk's wording, for which its users may search.
const NO_DETAILS: &str = "Body does not match expected <details> structure";

const WRITE_DETAILS: &str = "between the markers write `<details>`, a line `<summary>KEY</summary>`, the content and \
     `</details>`, each on separate lines";
const CLOSE_FENCE: &str = "write a line of three backticks below the last field";
const WRITE_FIELDS: &str = "write one `name: value` on each line between the fences";
const FIX_YAML: &str = "correct the YAML at that line of the fence; quote values that contain `: `, ` #` or quotation marks";

/// Returns what follows `</summary>` if `inner` is nothing but a `<details>` element.
fn details(inner: &str) -> Option<&str> {
    let rest = inner.trim().strip_prefix("<details")?;
    let (attributes, rest) = rest.split_once('>')?;
    let known = attributes.is_empty() || attributes.starts_with(char::is_whitespace);
    let rest = rest
        .trim_start()
        .strip_prefix("<summary>")
        .filter(|_| known)?;
    let (_, rest) = rest.split_once("</summary>")?;
    rest.strip_suffix("</details>")
}

/// Returns the text inside a frame. One blank line at each end belongs to the frame, everything
/// else to the author; where that blank line is missing, all white space at that end is dropped.
fn unframed(text: &str) -> &str {
    let (text, framed) = ["\n\n", "\r\n\r\n"]
        .iter()
        .find_map(|blank| text.strip_prefix(blank))
        .map_or((text.trim_start(), false), |rest| (rest, true));
    let end = ["\r\n\r\n", "\n\n"]
        .iter()
        .find_map(|blank| text.strip_suffix(blank));
    match end {
        Some(rest) => rest,
        None if framed && text.trim().is_empty() => "",
        None => text.trim_end(),
    }
}

/// Returns the lines of the YAML fence that `text` begins with. It ends at the first line that is
/// only a fence.
fn fence(text: &str) -> Option<&str> {
    let start = text.find('\n')? + 1;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.starts_with("```") && line.trim_matches('`').trim().is_empty() {
            return Some(&text[start..at]);
        }
        at += line.len();
    }
    None
}

/// Returns Python's name of a value's type, as in erk's messages.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
