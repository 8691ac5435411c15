//! Types of configuration values. Each key has the type of its default.

use toml::Value;

use crate::setting::Rule;

/// Converts `value` to the type of `default`; integers are accepted for floats.
///
/// # Errors
/// Returns `value` unchanged if it has another type.
pub(super) fn fitted(default: &Value, value: Value) -> Result<Value, Value> {
    match (default, &value) {
        (Value::Float(_), Value::Integer(whole)) => whole
            .to_string()
            .parse()
            .map(Value::Float)
            .map_err(|_| value),
        _ if default.same_type(&value) => Ok(value),
        _ => Err(value),
    }
}

/// Parses the text of an environment variable or of `--set` as the type of the default.
pub(super) fn read(rule: Rule, default: &Value, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match default {
        Value::Integer(_) => trimmed.parse().ok().map(Value::Integer),
        Value::Float(_) => trimmed.parse().ok().map(Value::Float),
        Value::Boolean(_) => trimmed.parse().ok().map(Value::Boolean),
        Value::Array(_) if rule != Rule::AccountIds => texts(trimmed),
        Value::Array(_) => trimmed
            .trim_start_matches('[')
            .trim_end_matches(']')
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| item.parse().ok().map(Value::Integer))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        _ => Some(Value::String(text.to_owned())),
    }
}

/// Parses a TOML list or a comma-separated list of strings.
fn texts(text: &str) -> Option<Value> {
    if text.starts_with('[') {
        let mut table: toml::Table = format!("list = {text}").parse().ok()?;
        return table.remove("list").filter(|_| table.is_empty());
    }
    let items = text.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    Some(Value::Array(
        items.map(|item| Value::String(item.to_owned())).collect(),
    ))
}

/// Describes the type of a setting, for error messages.
pub(super) fn expected(rule: Rule, default: &Value) -> &'static str {
    match default {
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) if rule == Rule::AccountIds => "a list of whole numbers",
        Value::Array(_) => "a list of quoted strings",
        _ => "text in quotes",
    }
}

/// Describes a value of the wrong type, for error messages.
pub(super) fn found(value: &Value) -> String {
    let kind = value.type_str();
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind} {value}", if vowel { "an" } else { "a" })
}
