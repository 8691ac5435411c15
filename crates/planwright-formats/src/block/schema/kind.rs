//! The kinds of values that a field may have, and erk's messages about all others.

use serde_json::Value;

/// A kind of value. `OrNull` means that null is allowed as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// Any value; erk does not check it.
    Any,
    /// A string, not empty.
    Text,
    /// A string.
    TextOrNull,
    /// A string, not empty.
    FilledOrNull,
    /// A string, not empty; erk's message does not mention that null is allowed.
    SlugOrNull,
    /// A string of digits. erk also accepts a number, which it converts to a string.
    RunIdOrNull,
    /// `owner/repo`.
    RepoOrNull,
    /// An integer above zero.
    Positive,
    /// An integer above zero.
    PositiveOrNull,
    /// An integer of at least this.
    AtLeast(u8),
    /// A mapping.
    Map,
    /// One of these words, in alphabetical order.
    Word(&'static [&'static str]),
    /// One of these words, in alphabetical order.
    WordOrNull(&'static [&'static str]),
    /// One of two words.
    EitherOrNull(&'static str, &'static str),
    /// A list of strings.
    TextsOrNull,
    /// A list of strings that are not empty.
    FilledTextsOrNull,
    /// A list of integers above zero.
    PositivesOrNull,
}

impl FieldKind {
    /// Returns what is wrong with `value` in `field`, in erk's wording.
    pub(super) fn problem(self, field: &str, value: &Value) -> Option<String> {
        if value.is_null() && self.takes_null() {
            return None;
        }
        let wrong = |what: &str| Some(format!("{field} {what}"));
        match self {
            FieldKind::Any => None,
            FieldKind::Text => text(value, "must be a string", "must not be empty").and_then(wrong),
            FieldKind::TextOrNull => {
                (!value.is_string()).then(|| format!("{field} {TEXT_OR_NULL}"))
            }
            FieldKind::FilledOrNull => text(value, TEXT_OR_NULL, EMPTY).and_then(wrong),
            FieldKind::SlugOrNull => text(value, "must be a string", EMPTY).and_then(wrong),
            FieldKind::RunIdOrNull => match value {
                Value::Number(_) if integer(value).is_some() => None,
                _ => text(value, TEXT_OR_NULL, EMPTY).and_then(wrong),
            },
            FieldKind::RepoOrNull => match text(value, TEXT_OR_NULL, EMPTY) {
                Some(what) => wrong(what),
                None if value.as_str().is_some_and(|name| name.contains('/')) => None,
                None => wrong("must be in 'owner/repo' format"),
            },
            FieldKind::Positive => match integer(value) {
                Some(number) if number > 0 => None,
                Some(_) => wrong("must be positive"),
                None => wrong("must be an integer"),
            },
            FieldKind::PositiveOrNull => match integer(value) {
                Some(number) if number > 0 => None,
                Some(_) => wrong("must be positive when provided"),
                None => wrong("must be an integer or null"),
            },
            FieldKind::AtLeast(least) => match integer(value) {
                Some(number) if number >= i128::from(least) => None,
                Some(_) if least == 0 => wrong("must be non-negative"),
                Some(_) => wrong(&format!("must be at least {least}")),
                None => wrong("must be an integer"),
            },
            FieldKind::Map => (!value.is_object()).then(|| format!("{field} must be a dict")),
            FieldKind::Word(words) => match (is_one_of(value, words), words) {
                (true, _) => None,
                (false, [word]) => Some(format!(
                    "Invalid {field} '{}'. Must be '{word}'",
                    shown(value)
                )),
                (false, _) => Some(format!(
                    "Invalid {field} '{}'. Must be one of: {}",
                    shown(value),
                    words.join(", ")
                )),
            },
            FieldKind::WordOrNull(words) => match value {
                Value::String(_) if is_one_of(value, words) => None,
                Value::String(got) => wrong(&format!(
                    "must be one of: {}. Got '{got}'",
                    words.join(", ")
                )),
                _ => wrong(TEXT_OR_NULL),
            },
            FieldKind::EitherOrNull(one, other) => match value {
                Value::String(_) if is_one_of(value, &[one, other]) => None,
                Value::String(got) => wrong(&format!("must be '{one}' or '{other}', got '{got}'")),
                _ => wrong(TEXT_OR_NULL),
            },
            FieldKind::TextsOrNull => {
                list(value, "items must be strings", Value::is_string).and_then(wrong)
            }
            FieldKind::FilledTextsOrNull => {
                list(value, "items must be non-empty strings", |item| {
                    item.as_str().is_some_and(|text| !text.is_empty())
                })
                .and_then(wrong)
            }
            FieldKind::PositivesOrNull => list(value, "items must be positive integers", |item| {
                integer(item).is_some_and(|number| number > 0)
            })
            .and_then(wrong),
        }
    }

    /// Returns whether the field holds text, so that digits given for it remain text.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            FieldKind::Text
                | FieldKind::TextOrNull
                | FieldKind::FilledOrNull
                | FieldKind::SlugOrNull
                | FieldKind::RunIdOrNull
                | FieldKind::RepoOrNull
                | FieldKind::Word(_)
                | FieldKind::WordOrNull(_)
                | FieldKind::EitherOrNull(..)
        )
    }

    /// Converts a number to text where erk does.
    pub(super) fn normalise(self, value: &mut Value) {
        if self == FieldKind::RunIdOrNull && value.is_number() {
            *value = Value::String(value.to_string());
        }
    }

    fn takes_null(self) -> bool {
        !matches!(
            self,
            FieldKind::Text
                | FieldKind::Positive
                | FieldKind::AtLeast(_)
                | FieldKind::Map
                | FieldKind::Word(_)
        )
    }
}

const TEXT_OR_NULL: &str = "must be a string or null";
const EMPTY: &str = "must not be empty when provided";

fn text<'a>(value: &Value, other: &'a str, empty: &'a str) -> Option<&'a str> {
    match value.as_str() {
        None => Some(other),
        Some("") => Some(empty),
        Some(_) => None,
    }
}

fn list<'a>(value: &Value, wrong: &'a str, fine: impl Fn(&Value) -> bool) -> Option<&'a str> {
    match value.as_array() {
        None => Some("must be a list or null"),
        Some(items) if items.iter().all(fine) => None,
        Some(_) => Some(wrong),
    }
}

fn is_one_of(value: &Value, words: &[&str]) -> bool {
    value.as_str().is_some_and(|word| words.contains(&word))
}

/// Returns the integer in `value`; true and false are one and zero, as in Python.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Bool(value) => Some(i128::from(*value)),
        Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from)),
        _ => None,
    }
}

/// Returns `value` as Python's messages show it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
