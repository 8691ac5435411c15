//! Reviews the fields of a parsed block without rejecting any.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::kind::FieldKind;
use super::{Schema, SchemaError, all};

/// A warning about a field. The block is used and the field kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The field.
    pub field: String,
    /// What is odd about it.
    #[serde(flatten)]
    pub oddity: Oddity,
}

/// What can be odd about a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "oddity", content = "detail", rename_all = "snake_case")]
pub enum Oddity {
    /// It is required but missing.
    Missing,
    /// No version of erk knows it.
    Unknown,
    /// erk used to write it and now rejects it.
    Retired,
    /// A number where erk has text, or digits where it has a number; the content is the value that
    /// is used.
    Misspelt(String),
    /// Its value is not allowed; the content is a sentence about it.
    Wrong(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match &self.oddity {
            Oddity::Missing => write!(f, "`{field}` is missing"),
            Oddity::Unknown => write!(f, "`{field}` is not a field erk knows; it is kept as it is"),
            Oddity::Retired => write!(
                f,
                "`{field}` is a field erk no longer uses; it is kept as it is"
            ),
            Oddity::Misspelt(meant) => {
                write!(f, "`{field}` has the wrong type; it is read as {meant}")
            }
            Oddity::Wrong(sentence) => f.write_str(sentence),
        }
    }
}

/// Returns what is odd about `fields` in a block `key`: missing fields first, then in the order of
/// the fields.
///
/// If eras differ, the one with the fewest findings counts. An unknown key has no findings.
pub fn review(key: &str, fields: &Map<String, Value>) -> Vec<Finding> {
    all()
        .filter(|schema| schema.fits(key, fields))
        .map(|schema| findings(schema, fields))
        .min_by_key(Vec::len)
        .unwrap_or_default()
}

fn findings(schema: &Schema, fields: &Map<String, Value>) -> Vec<Finding> {
    let finding = |field: &str, oddity| Finding {
        field: field.to_owned(),
        oddity,
    };
    let current = schema.renamed(fields);
    let mut found: Vec<_> = schema
        .missing(&current)
        .map(|name| finding(name, Oddity::Missing))
        .collect();
    for (name, value) in fields {
        let retired = schema.retired.iter().any(|field| field.name == name);
        let oddity = match schema.meant(name, fields) {
            Some(field) => oddity(field.kind, name, value),
            None if retired => Some(Oddity::Retired),
            None => schema.closed.then_some(Oddity::Unknown),
        };
        found.extend(oddity.map(|oddity| finding(name, oddity)));
    }
    if let Some(Err(SchemaError::Field { field, message })) = schema.rule.map(|rule| rule(&current))
        && found.iter().all(|known| known.field != field)
    {
        found.push(finding(field, Oddity::Wrong(message)));
    }
    found
}

fn oddity(kind: FieldKind, name: &str, value: &Value) -> Option<Oddity> {
    let problem = kind.problem(name, value);
    let meant = match value {
        Value::Number(number) if kind.is_text() => Value::String(number.to_string()),
        Value::String(digits) if !kind.is_text() => digits
            .trim()
            .parse::<u64>()
            .map_or(Value::Null, |number| Value::Number(Number::from(number))),
        _ => Value::Null,
    };
    if !meant.is_null() && kind != FieldKind::Any && kind.problem(name, &meant).is_none() {
        return Some(Oddity::Misspelt(meant.to_string()));
    }
    problem.map(Oddity::Wrong)
}
