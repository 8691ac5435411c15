//! Parses a project's `config.toml` and checks its keys, types and numeric ranges.

use std::collections::BTreeMap;

use toml::Value;
use toml::de::DeTable;

use super::error::ProjectError;
use super::{DEFAULT, ProjectConfig};
use crate::config::layers::nearest;
use crate::config::values;

/// Ranges of integers: key, minimum, maximum, unit.
const RANGES: [(&str, i64, i64, &str); 6] = [
    ("limits.deadline_seconds", 1, 86_400, "seconds"),
    ("limits.silence_seconds", 1, 86_400, "seconds"),
    ("limits.max_turns", 1, 1_000, "turns"),
    ("limits.question_rounds", 0, 3, "rounds"),
    ("limits.concurrency", 1, 64, "agents"),
    ("limits.tries", 1, 10, "tries"),
];

/// Ranges of other numbers: key, maximum, unit. The minimum is 0.
const FLOATS: [(&str, f64, &str); 3] = [
    ("models.thresholds.simple", 1.0, ""),
    ("models.thresholds.medium", 1.0, ""),
    ("limits.max_cost_usd", 10_000.0, " US dollars"),
];

/// File and line of each key that is set.
#[derive(Debug, Default)]
pub(super) struct Places {
    file: String,
    lines: BTreeMap<String, usize>,
}

impl Places {
    /// Returns `file:line`, or only the file for a key that is not set.
    pub(super) fn of(&self, key: &str) -> String {
        match self.lines.get(key) {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}

/// Parses the settings. Variables are not expanded and texts not checked yet.
pub(super) fn read(file: &str, text: &str) -> Result<(ProjectConfig, Places), ProjectError> {
    let mut reader = Reader {
        text,
        places: Places {
            file: file.to_owned(),
            ..Places::default()
        },
        known: Vec::new(),
    };
    let defaults = parsed("project.default.toml", DEFAULT)?;
    keys("", &defaults, &mut reader.known);
    let spans = DeTable::parse(text).map_err(|error| syntax(file, text, &error))?;
    let values = parsed(file, text)?;
    reader.walk("", spans.get_ref(), &values, &defaults)?;
    let config = serde_path_to_error::deserialize(Value::Table(values)).map_err(|error| {
        let key = error.path().to_string();
        ProjectError::Impossible {
            place: reader.places.of(&key),
            key,
            value: "unusable".to_owned(),
            why: error.into_inner().message().to_owned(),
        }
    })?;
    Ok((config, reader.places))
}

fn parsed(file: &str, text: &str) -> Result<toml::Table, ProjectError> {
    text.parse().map_err(|error| syntax(file, text, &error))
}

fn syntax(file: &str, text: &str, error: &toml::de::Error) -> ProjectError {
    let at = error.span().map_or(0, |span| span.start);
    ProjectError::Syntax {
        place: format!("{file}:{}", line_at(text, at)),
        format: "TOML",
        why: error.message().to_owned(),
    }
}

/// Returns the line of `offset`, 1-based.
fn line_at(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

/// Collects the full names of all keys in a table.
fn keys(above: &str, table: &toml::Table, found: &mut Vec<String>) {
    for (key, value) in table {
        let key = full(above, key);
        if let Value::Table(table) = value {
            keys(&key, table, found);
        } else {
            found.push(key);
        }
    }
}

fn full(above: &str, key: &str) -> String {
    if above.is_empty() {
        key.to_owned()
    } else {
        format!("{above}.{key}")
    }
}

struct Reader<'a> {
    text: &'a str,
    places: Places,
    known: Vec<String>,
}

impl Reader<'_> {
    /// Checks each key of a table. Nested tables are checked only as deep as the defaults go.
    fn walk(
        &mut self,
        above: &str,
        spans: &DeTable<'_>,
        values: &toml::Table,
        defaults: &toml::Table,
    ) -> Result<(), ProjectError> {
        let mut entries: Vec<_> = spans.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (name, span) in entries {
            let key = full(above, name.get_ref());
            let line = line_at(self.text, name.span().start);
            self.places.lines.insert(key.clone(), line);
            let place = self.places.of(&key);
            let Some(value) = values.get(name.get_ref().as_ref()) else {
                continue;
            };
            match (defaults.get(name.get_ref().as_ref()), value) {
                (None, _) => {
                    let known = self.known.iter().map(String::as_str);
                    let last = |key: &str| key.rsplit('.').next().map(ToOwned::to_owned);
                    // The last part of the key must be similar too; a common section alone is not
                    // enough.
                    let alike = |other: &&str| match (last(&key), last(other)) {
                        (Some(key), Some(other)) => strsim::jaro_winkler(&key, &other) > 0.7,
                        _ => false,
                    };
                    let nearest = nearest(&key, known.filter(alike));
                    return Err(ProjectError::UnknownKey {
                        place,
                        key,
                        nearest,
                    });
                }
                (Some(Value::Table(defaults)), Value::Table(values)) => {
                    if let Some(inner) = span.get_ref().as_table() {
                        self.walk(&key, inner, values, defaults)?;
                    }
                }
                (Some(default), value) => check(place, &key, default, value)?,
            }
        }
        Ok(())
    }
}

/// Checks the type and the range of one value.
fn check(place: String, key: &str, default: &Value, value: &Value) -> Result<(), ProjectError> {
    let texts = |items: &[Value]| items.iter().all(Value::is_str);
    let fits = match default {
        Value::Array(_) => value.as_array().is_some_and(|items| texts(items)),
        _ => values::fitted(default, value.clone()).is_ok(),
    };
    if !fits {
        let expected = match default {
            Value::Array(_) => "a list of quoted strings",
            Value::Table(_) => "a section with keys",
            _ => values::expected(key, default),
        };
        return Err(ProjectError::WrongType {
            place,
            key: key.to_owned(),
            expected: expected.to_owned(),
            found: values::found(value),
        });
    }
    let whole = RANGES.iter().find(|(name, ..)| *name == key);
    let why = if let Some((_, least, most, unit)) = whole {
        let within = value
            .as_integer()
            .is_some_and(|found| (*least..=*most).contains(&found));
        (!within).then(|| format!("it must be {least} to {most} {unit}"))
    } else if let Some((_, most, unit)) = FLOATS.iter().find(|(name, ..)| *name == key) {
        let found = value.as_float().or(match value {
            Value::Integer(whole) => i32::try_from(*whole).ok().map(f64::from),
            _ => None,
        });
        let within = found.is_some_and(|found| (0.0..=*most).contains(&found));
        (!within).then(|| format!("it must be 0 to {most}{unit}"))
    } else {
        None
    };
    match why {
        Some(why) => Err(ProjectError::Impossible {
            place,
            key: key.to_owned(),
            value: value.to_string(),
            why,
        }),
        None => Ok(()),
    }
}
