//! Schemas of the fields of erk's blocks: strict for blocks that are written, tolerant for blocks
//! that are read.
//!
//! erk rejects a block with a single unknown field, so a field that it used to write makes a plan
//! impossible to update. Here [`check`], which applies before a block is written, is as strict as
//! erk; [`review`], which applies after one is read, rejects nothing and reports what is odd. The
//! schemas are tables, one per key and era.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::render_yaml;

mod error;
mod events;
mod header;
mod kind;
mod objective;
mod plan;
mod review;

#[cfg(test)]
mod tests;

pub use error::SchemaError;
pub use header::{
    header_set, in_order, new_header, number_field, text_field, update, update_header,
};
pub use review::{Finding, Oddity, review};

use kind::FieldKind;

/// The version of erk that a block is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// November 2025: plans are issues, a header has six fields, progress is counted in steps.
    First,
    /// April 2026: plans may be pull requests, `issue_number` is called `pr_number`.
    Current,
}

/// One field of a schema.
#[derive(Debug, Clone, Copy)]
struct Field {
    name: &'static str,
    required: bool,
    kind: FieldKind,
    /// Former names, which erk renames when it reads the block.
    former: &'static [&'static str],
}

/// A required field.
const fn must(name: &'static str, kind: FieldKind) -> Field {
    Field {
        name,
        required: true,
        kind,
        former: &[],
    }
}

/// An optional field.
const fn may(name: &'static str, kind: FieldKind) -> Field {
    Field {
        required: false,
        ..must(name, kind)
    }
}

/// The number of the plan's issue or pull request under its current name.
const fn number(required: bool) -> Field {
    Field {
        required,
        former: &["issue_number", "plan_number"],
        ..must("pr_number", FieldKind::Positive)
    }
}

/// Returns whether fields have one form of several.
type Form = fn(&Map<String, Value>) -> bool;

/// A check of several fields, or inside one.
type Rule = fn(&Map<String, Value>) -> Result<(), SchemaError>;

/// The fields that a block may have.
#[derive(Debug)]
struct Schema {
    /// Keys of such blocks.
    keys: &'static [&'static str],
    eras: &'static [Era],
    /// In the order in which they are checked and written.
    fields: &'static [Field],
    /// Fields that later versions of erk dropped: never written, but kept.
    retired: &'static [Field],
    /// Whether unknown fields are rejected.
    closed: bool,
    /// Recognises the form if one key has several.
    form: Option<Form>,
    /// Checks what the table cannot express: relations between fields, and the inside of fields.
    rule: Option<Rule>,
}

/// The common case: an open schema of all eras without special rules.
const OPEN: Schema = Schema {
    keys: &[],
    eras: &[Era::Current, Era::First],
    fields: &[],
    retired: &[],
    closed: false,
    form: None,
    rule: None,
};

/// Returns every schema; if several fit, the first counts.
fn all() -> impl Iterator<Item = &'static Schema> {
    plan::SCHEMAS
        .iter()
        .chain(events::SCHEMAS)
        .chain(objective::SCHEMAS)
}

impl Schema {
    fn fits(&self, key: &str, fields: &Map<String, Value>) -> bool {
        self.keys.contains(&key) && self.form.is_none_or(|form| form(fields))
    }

    fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the field called `name` in `fields`, by its current name or a former one.
    fn meant(&self, name: &str, fields: &Map<String, Value>) -> Option<&'static Field> {
        let former = |field: &&Field| {
            let written = |name: &&&str| fields.contains_key(**name);
            !fields.contains_key(field.name) && field.former.iter().find(written) == Some(&name)
        };
        self.field(name).or_else(|| self.fields.iter().find(former))
    }

    /// Returns `fields` with former names replaced by the current ones, in the same order.
    fn renamed<'a>(&self, fields: &'a Map<String, Value>) -> Cow<'a, Map<String, Value>> {
        let former = |name: &String| self.meant(name, fields).filter(|field| field.name != name);
        if fields.keys().all(|name| former(name).is_none()) {
            return Cow::Borrowed(fields);
        }
        let current = |(name, value): (&String, &Value)| {
            let name = former(name).map_or(name.as_str(), |field| field.name);
            (name.to_owned(), value.clone())
        };
        Cow::Owned(fields.iter().map(current).collect())
    }

    fn check(&self, fields: &Map<String, Value>) -> Result<(), SchemaError> {
        let mut missing: Vec<_> = self.missing(fields).collect();
        if !missing.is_empty() {
            missing.sort_unstable();
            return Err(SchemaError::Missing(missing));
        }
        for field in self.fields {
            let value = fields.get(field.name);
            if let Some(message) = value.and_then(|value| field.kind.problem(field.name, value)) {
                return Err(SchemaError::Field {
                    field: field.name,
                    message,
                });
            }
        }
        if let Some(rule) = self.rule {
            rule(fields)?;
        }
        let mut unknown: Vec<_> = fields
            .keys()
            .filter(|name| self.closed && self.field(name).is_none())
            .cloned()
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        unknown.sort_unstable();
        Err(SchemaError::Unknown(unknown))
    }

    fn missing(&self, fields: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
        self.fields
            .iter()
            .filter(|field| field.required && !fields.contains_key(field.name))
            .map(|field| field.name)
    }
}

/// Checks whether erk of `era` accepts `fields` in a block `key`. At least as strict as erk, with
/// its messages. Where erk writes a block without a schema, the schema is ours.
///
/// # Errors
/// Fails with the first thing that is wrong, or if there is no such block in that era.
pub fn check(key: &str, era: Era, fields: &Map<String, Value>) -> Result<(), SchemaError> {
    let schema = all()
        .find(|schema| schema.eras.contains(&era) && schema.fits(key, fields))
        .ok_or_else(|| SchemaError::NoSchema(key.to_owned()))?;
    schema.check(&schema.renamed(fields))
}

/// Renders the block `key` with `fields`, which are checked against the current era.
///
/// The number of a plan should be given as `issue_number`: the current era renames it when it reads
/// the block, the first era knows no other name. Run ids given as numbers are written as text, like
/// erk does.
///
/// # Errors
/// Fails if erk would not accept `fields`.
pub fn write(key: &str, fields: &Map<String, Value>) -> Result<String, SchemaError> {
    let mut fields = fields.clone();
    for schema in all().filter(|schema| schema.keys.contains(&key)) {
        for field in schema.fields {
            if let Some(value) = fields.get_mut(field.name) {
                field.kind.normalise(value);
            }
        }
    }
    check(key, Era::Current, &fields)?;
    Ok(render_yaml(key, &fields))
}
