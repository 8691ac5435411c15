//! The header of a plan: parses its fields whatever their age, makes a new header, and changes
//! fields of an old one.

use serde_json::{Map, Number, Value};

use super::SchemaError;
use super::plan::{CURRENT, HEADER, IMMUTABLE, VERSION};
use crate::block::{self, EditError};

/// Returns a text field of a header of any era. A number counts as text; a field that is empty or
/// has another type, as missing.
pub fn text_field(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a positive number in a header of any era. Digits count as a number; any other value, as
/// missing.
pub fn number_field(fields: &Map<String, Value>, name: &str) -> Option<u64> {
    let number = match fields.get(name)? {
        Value::String(digits) => digits.trim().parse().ok(),
        other => other.as_u64(),
    };
    number.filter(|number| *number > 0)
}

/// Returns the fields of a new header. `plan_comment_id` is left out while there is no comment.
///
/// Without it, and with a worktree name, every version of erk accepts the header: the first one
/// rejects fields it does not know, later ones leave out null. With it, erk until 23 December 2025
/// still reads the header but refuses to update it; later versions find the plan by it even if
/// another comment came first.
pub fn new_header(
    created_at: &str,
    created_by: &str,
    worktree_name: &str,
    plan_comment_id: Option<u64>,
) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, text) in [
        ("schema_version", VERSION),
        ("created_at", created_at),
        ("created_by", created_by),
        ("worktree_name", worktree_name),
    ] {
        fields.insert(name.to_owned(), Value::String(text.to_owned()));
    }
    if let Some(id) = plan_comment_id {
        fields.insert(
            "plan_comment_id".to_owned(),
            Value::Number(Number::from(id)),
        );
    }
    fields
}

/// Returns `fields` as erk writes a new header: in its order, without nulls, unknown fields last.
pub fn in_order(mut fields: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    for field in CURRENT {
        if let Some(entry) = fields.shift_remove_entry(field.name) {
            ordered.insert(entry.0, entry.1);
        }
    }
    ordered.extend(fields);
    ordered.retain(|_, value| !value.is_null());
    ordered
}

/// Parses a change to a header from `key=value` as given on a command line: `null` is null, and an
/// integer is a number unless the field holds text, as run ids do.
///
/// # Errors
/// Fails if there is no `=`.
pub fn header_set(pair: &str) -> Result<(String, Value), SchemaError> {
    let (name, value) = pair
        .split_once('=')
        .ok_or_else(|| SchemaError::Pair(pair.to_owned()))?;
    let is_text = CURRENT
        .iter()
        .any(|field| field.name == name && field.kind.is_text());
    let value = match (value, value.parse::<i64>()) {
        ("null", _) => Value::Null,
        (_, Ok(number)) if !is_text => Value::Number(Number::from(number)),
        _ => Value::String(value.to_owned()),
    };
    Ok((name.to_owned(), value))
}

/// Sets all of `sets` in a header, or nothing. Only these fields are checked; all others, known to
/// erk or not, keep their value and position. New fields come last, in erk's order; null is not
/// added as a new field.
///
/// # Errors
/// Fails if one of the fields is immutable, unknown or retired, or its value is not allowed.
pub fn update_header(
    fields: &mut Map<String, Value>,
    sets: &Map<String, Value>,
) -> Result<(), SchemaError> {
    if let Some(name) = sets.keys().find(|name| IMMUTABLE.contains(&name.as_str())) {
        return Err(SchemaError::Immutable(name.clone()));
    }
    let mut unknown: Vec<_> = sets
        .keys()
        .filter(|name| CURRENT.iter().all(|field| field.name != *name))
        .cloned()
        .collect();
    if !unknown.is_empty() {
        unknown.sort_unstable();
        return Err(SchemaError::Unknown(unknown));
    }
    let known = || {
        let set = |field: &'static super::Field| Some((field, sets.get(field.name)?));
        CURRENT.iter().filter_map(set)
    };
    for (field, value) in known() {
        if let Some(message) = field.kind.problem(field.name, value) {
            return Err(SchemaError::Field {
                field: field.name,
                message,
            });
        }
    }
    for (field, value) in known() {
        let mut value = value.clone();
        field.kind.normalise(&mut value);
        match fields.get_mut(field.name) {
            Some(old) => *old = value,
            None if value.is_null() => {}
            None => {
                fields.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// Applies [`update_header`] to the header in `body`. No byte outside the block changes.
///
/// # Errors
/// Fails as [`update_header`] does, or if there is no header or it cannot be parsed.
pub fn update(body: &str, sets: &Map<String, Value>) -> Result<String, SchemaError> {
    let mut checked = Ok(());
    let changed = block::update(body, HEADER, |fields| checked = update_header(fields, sets));
    checked?;
    changed.map_err(|error| match error {
        EditError::Missing { .. } => SchemaError::NoHeader,
        unreadable => SchemaError::Unreadable(unreadable),
    })
}
