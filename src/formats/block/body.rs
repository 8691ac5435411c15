//! Reads what stands between a block's markers.

use serde_json::Value;

use super::{Content, TEXT_KEYS, frame};
use crate::formats::yaml;

/// Content of the block `key` and, when it cannot be used, why.
pub(super) fn read(key: &str, inner: &str) -> (Content, Option<String>) {
    let raw = |why: &str| (Content::Raw(inner.trim().to_owned()), Some(why.to_owned()));
    let details = details(inner);
    if TEXT_KEYS.contains(&key.trim()) {
        return match details {
            Some(text) => (Content::Text(frame::restore(unframed(text))), None),
            None => raw(NO_DETAILS),
        };
    }
    // Workflows of the first era wrote the fence without `<details>`.
    match details.unwrap_or(inner).trim() {
        text if text.starts_with("```yaml") || text.starts_with("```yml") => {
            match fence(text).map(yaml::read) {
                Some(Ok(Value::Object(fields))) => (Content::Yaml(fields), None),
                Some(Ok(other)) => raw(&format!(
                    "YAML content is not a dict, got {}",
                    type_name(&other)
                )),
                Some(Err(error)) => raw(&format!("Failed to parse YAML content: {error}")),
                None => raw("the YAML fence is not closed"),
            }
        }
        _ => match details {
            Some(text) => (Content::Text(frame::restore(unframed(text))), None),
            None => raw(NO_DETAILS),
        },
    }
}

/// erk's wording, which its users may search for.
const NO_DETAILS: &str = "Body does not match expected <details> structure";

/// What follows `</summary>` in a `<details>` element that is all there is in `inner`.
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

/// The text of a frame: the one blank line at each end is the frame's, everything else the author's. Where the blank
/// lines are missing, white space at that end is nobody's.
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

/// Lines of the YAML fence that `text` begins with; it ends at the first line that is a fence and nothing else.
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

/// Python's names, as in erk's messages.
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
