//! Values and their types: a key takes the type of its default.

use toml::Value;

/// Lists of texts; every other list is one of whole numbers.
const TEXTS: [&str; 3] = ["agent.args", "agent.environment", "agent.reads"];

/// The value as the default's type, or the value itself when it has another. Whole numbers are numbers too.
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

/// The value in a text of the environment or of `--set`, which takes the type of the default.
pub(super) fn read(key: &str, default: &Value, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match default {
        Value::Integer(_) => trimmed.parse().ok().map(Value::Integer),
        Value::Float(_) => trimmed.parse().ok().map(Value::Float),
        Value::Boolean(_) => trimmed.parse().ok().map(Value::Boolean),
        Value::Array(_) if TEXTS.contains(&key) => texts(trimmed),
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

/// A list as TOML writes it, or texts between commas.
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

/// What the key takes, for people.
pub(super) fn expected(key: &str, default: &Value) -> &'static str {
    match default {
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) if TEXTS.contains(&key) => "a list of texts in quotes",
        Value::Array(_) => "a list of whole numbers",
        _ => "text in quotes",
    }
}

/// A value of another type, for people.
pub(super) fn found(value: &Value) -> String {
    let kind = value.type_str();
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind} {value}", if vowel { "an" } else { "a" })
}
