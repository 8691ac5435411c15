//! Reading: what is odd about the fields of a block, without refusing any.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::kind::Kind;
use super::{Schema, SchemaError, all};

/// Something odd about a field. A warning: the block is used, the field is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The field.
    pub field: String,
    /// What is odd.
    #[serde(flatten)]
    pub oddity: Oddity,
}

/// What can be odd about a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "oddity", content = "detail", rename_all = "snake_case")]
pub enum Oddity {
    /// It should be there.
    Missing,
    /// Nobody knows it.
    Unknown,
    /// erk wrote it once and now refuses it.
    Retired,
    /// A number where erk keeps text, or digits where it keeps a number; used as what it should be, which is given.
    Misspelt(String),
    /// It holds something else than it may; the sentence says what.
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

/// What is odd about `fields` in a block `key`, in the order of the fields, what is missing first.
///
/// Where eras differ, the era in which least is odd counts. Of a key that nobody knows nothing is odd.
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

fn oddity(kind: Kind, name: &str, value: &Value) -> Option<Oddity> {
    let problem = kind.problem(name, value);
    let meant = match value {
        Value::Number(number) if kind.is_text() => Value::String(number.to_string()),
        Value::String(digits) if !kind.is_text() => digits
            .trim()
            .parse::<u64>()
            .map_or(Value::Null, |number| Value::Number(Number::from(number))),
        _ => Value::Null,
    };
    if !meant.is_null() && kind != Kind::Any && kind.problem(name, &meant).is_none() {
        return Some(Oddity::Misspelt(meant.to_string()));
    }
    problem.map(Oddity::Wrong)
}
