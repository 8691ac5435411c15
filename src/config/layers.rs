//! Merges the configuration layers, each overriding the one before: defaults, file, environment,
//! flags. Each value keeps its origin.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use toml::Value;
use toml::de::DeTable;

use super::error::ConfigError;
use super::origin::Origin;
use super::values;
use crate::regular_file;
use crate::setting::{Rule, Setting};

/// Environment variable with Planwright's own user token. The token is sent to `github.api_url`,
/// unless that address is set only in a file that the user did not name.
pub(super) const USER_TOKEN_VARIABLE: &str = "PLANWRIGHT_TOKEN";

/// Maximum size of a configuration file, in bytes (1 MiB). The documented defaults take about 20
/// KB.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The file that is read if no other is named.
const FILE: &str = "planwright.toml";

/// The inputs of the configuration. There is no `Debug` implementation because the environment
/// holds secrets.
#[derive(Clone, Default)]
pub struct Sources {
    /// Path and text of the configuration file.
    pub file: Option<(String, String)>,
    /// Whether the user named the file. Otherwise it was found in the working directory, which may
    /// be an untrusted cloned repository.
    pub file_named: bool,
    /// Environment variables. Only those with the prefix `PLANWRIGHT_`, `GITHUB_TOKEN`, `GH_TOKEN`,
    /// `GITHUB_API_URL`, `PATH` and those listed in `agent.environment` are used.
    pub environment: BTreeMap<String, String>,
    /// The `KEY=VALUE` arguments of `--set`.
    pub flags: Vec<String>,
}

impl Sources {
    /// Reads the file `named` (by default `planwright.toml`, if it exists) and the environment of
    /// this process, and adds `flags`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn gather(named: Option<&Path>, flags: Vec<String>) -> Result<Self, ConfigError> {
        let path = named.unwrap_or_else(|| Path::new(FILE));
        let file = match read(path, named.is_some()) {
            Ok(text) => Some((path.display().to_string(), text)),
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(ConfigError::File {
                    path: path.display().to_string(),
                    why: error.to_string(),
                });
            }
        };
        let mut environment = BTreeMap::new();
        // Other programs' names need not be UTF-8.
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else {
                continue;
            };
            match value.into_string() {
                Ok(value) => {
                    environment.insert(name, value);
                }
                Err(_) if name.starts_with(PREFIX) => {
                    let why = "the value is not UTF-8".to_owned();
                    return Err(ConfigError::Environment { name, why });
                }
                Err(_) => {}
            }
        }
        Ok(Self {
            file,
            file_named: named.is_some(),
            environment,
            flags,
        })
    }
}

/// Reads a configuration file. A file that the user did not name may come from a cloned repository,
/// so it must be a regular file.
fn read(path: &Path, named: bool) -> io::Result<String> {
    let file = if named {
        regular_file::open_named(path)
    } else {
        regular_file::open(path)
    };
    let bytes = regular_file::read_all(file?, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

pub(super) const PREFIX: &str = "PLANWRIGHT_";

/// The variables that hold secrets. Variables with the prefix that are not listed here set a key,
/// except [`token::OWN`].
pub(super) const SECRET_VARIABLES: [&str; 6] = [
    "PLANWRIGHT_WEBHOOK_SECRETS",
    "PLANWRIGHT_GITHUB_PRIVATE_KEY",
    "PLANWRIGHT_AGENT_API_KEY",
    "PLANWRIGHT_STORE_PASSWORD",
    "PLANWRIGHT_WEB_TOKEN",
    "PLANWRIGHT_WEB_CLIENT_SECRET",
];

/// Keys under which users might try to set a secret. Each entry is the key, the variable to use
/// instead and the key of the secret file to use instead.
const SECRET_KEYS: [(&str, &str, &str); 11] = [
    (
        "webhook.secret",
        SECRET_VARIABLES[0],
        "webhook.secrets_file",
    ),
    (
        "webhook.secrets",
        SECRET_VARIABLES[0],
        "webhook.secrets_file",
    ),
    (
        "server.webhook_secret",
        SECRET_VARIABLES[0],
        "webhook.secrets_file",
    ),
    (
        "server.webhook_secrets",
        SECRET_VARIABLES[0],
        "webhook.secrets_file",
    ),
    (
        "github.webhook_secret",
        SECRET_VARIABLES[0],
        "webhook.secrets_file",
    ),
    (
        "github.private_key",
        SECRET_VARIABLES[1],
        "github.private_key_file",
    ),
    ("agent.api_key", SECRET_VARIABLES[2], "agent.api_key_file"),
    ("agent.key", SECRET_VARIABLES[2], "agent.api_key_file"),
    ("store.password", SECRET_VARIABLES[3], "store.password_file"),
    ("web.token", SECRET_VARIABLES[4], "web.token_file"),
    (
        "web.client_secret",
        SECRET_VARIABLES[5],
        "web.client_secret_file",
    ),
];

/// A key with its effective value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) rule: Rule,
    pub(super) origin: Origin,
}

/// All keys, in the order of the schema.
#[derive(Debug, Clone)]
pub(super) struct Merged(pub(super) Vec<Entry>);

impl Merged {
    /// Returns the error for a value that is not allowed.
    pub(super) fn impossible(&self, key: &str, why: &str) -> ConfigError {
        match self.get(key) {
            Some(entry) => ConfigError::Impossible {
                origin: entry.origin.clone(),
                key: key.to_owned(),
                value: entry.value.to_string(),
                why: why.to_owned(),
            },
            None => ConfigError::Unreadable {
                why: why.to_owned(),
            },
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// Returns the values as nested tables.
    pub(super) fn table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        for entry in &self.0 {
            insert(&mut table, &entry.key, entry.value.clone());
        }
        table
    }

    /// Returns the entry of `key`, or an error if the key is unknown or would hold a secret.
    fn known(&mut self, key: &str, origin: &Origin) -> Result<&mut Entry, ConfigError> {
        let nearest = nearest(key, self.0.iter().map(|entry| entry.key.as_str()));
        if let Some((_, variable, file_key)) = SECRET_KEYS.iter().find(|(name, ..)| *name == key) {
            return Err(ConfigError::SecretInFile {
                origin: origin.clone(),
                key: key.to_owned(),
                variable,
                file_key,
            });
        }
        self.0
            .iter_mut()
            .find(|entry| entry.key == key)
            .ok_or_else(|| ConfigError::UnknownKey {
                origin: origin.clone(),
                key: key.to_owned(),
                nearest,
            })
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin) -> Result<(), ConfigError> {
        let entry = self.known(key, &origin)?;
        let value = match values::fitted(&entry.value, value) {
            Ok(value) => value,
            Err(value) => {
                return Err(ConfigError::WrongType {
                    key: key.to_owned(),
                    expected: values::expected(entry.rule, &entry.value).to_owned(),
                    found: values::found(&value),
                    origin,
                });
            }
        };
        (entry.value, entry.origin) = (value, origin);
        Ok(())
    }

    /// Sets a key from text, parsed as the type of the default.
    fn set_text(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let entry = self.known(key, &origin)?;
        let value = values::read(entry.rule, &entry.value, text);
        let Some(value) = value else {
            return Err(ConfigError::WrongType {
                key: key.to_owned(),
                expected: values::expected(entry.rule, &entry.value).to_owned(),
                found: format!("{text:?}"),
                origin,
            });
        };
        (entry.value, entry.origin) = (value, origin);
        Ok(())
    }
}

/// Merges all layers. `schema` holds each setting with its full key.
pub(super) fn merge(
    schema: impl Iterator<Item = (String, Setting)>,
    sources: &Sources,
) -> Result<Merged, ConfigError> {
    let entry = |(key, setting): (String, Setting)| Entry {
        key,
        value: setting.value(),
        rule: setting.rule,
        origin: Origin::Default,
    };
    let mut merged = Merged(schema.map(entry).collect());
    if let Some((path, text)) = &sources.file {
        let keys: Vec<String> = merged.0.iter().map(|entry| entry.key.clone()).collect();
        let is_section = |name: &str| {
            let mut sections = keys.iter().filter_map(|key| key.rsplit_once('.'));
            sections.any(|(section, _)| section == name)
        };
        for (key, value, origin) in entries(path, text, &is_section)? {
            merged.set(&key, value, origin)?;
        }
    }
    let keys: Vec<String> = merged.0.iter().map(|entry| entry.key.clone()).collect();
    for key in &keys {
        let name = variable(key);
        if let Some(text) = sources.environment.get(&name) {
            merged.set_text(key, text, Origin::Variable(name))?;
        }
    }
    for flag in &sources.flags {
        let (key, text) = flag.split_once('=').ok_or_else(|| ConfigError::Flag {
            // Truncated, because the argument may be a secret given by mistake.
            given: flag.chars().take(40).collect(),
        })?;
        merged.set_text(key.trim(), text, Origin::Flag)?;
    }
    Ok(merged)
}

/// Returns a warning for each `PLANWRIGHT_` variable that sets nothing. These are not errors,
/// because orchestrators derive variables from service names.
pub(super) fn unknown_variables(merged: &Merged, sources: &Sources) -> Vec<String> {
    let keys = merged.0.iter().map(|entry| &entry.key);
    let mut known: Vec<String> = keys.map(|key| variable(key)).collect();
    known.extend(SECRET_VARIABLES.map(ToOwned::to_owned));
    known.push(USER_TOKEN_VARIABLE.to_owned());
    sources
        .environment
        .keys()
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .map(
            |name| match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => {
                    format!("the environment variable {name} sets nothing; did you mean {near}?")
                }
                None => format!("the environment variable {name} sets nothing"),
            },
        )
        .collect()
}

/// Returns the name of the environment variable that sets `key`.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// Returns the keys of a TOML text with their values and origins, in the order of the text.
/// `sections` tells which names below another section are sections.
fn entries(
    path: &str,
    text: &str,
    sections: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Value, Origin)>, ConfigError> {
    let line_at = |offset: usize| text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
    let syntax = |error: &toml::de::Error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_at(error.span().map_or(0, |span| span.start)),
        why: error.message().to_owned(),
    };
    let spans = DeTable::parse(text).map_err(|error| syntax(&error))?;
    let values: toml::Table = text.parse().map_err(|error| syntax(&error))?;
    let mut found = Vec::new();
    collect(spans.get_ref(), &values, "", sections, &mut found);
    found.sort_by_key(|(at, ..)| *at);
    Ok(found
        .into_iter()
        .map(|(at, key, value)| {
            let (path, line) = (path.to_owned(), line_at(at));
            (key, value, Origin::File { path, line })
        })
        .collect())
}

/// Adds the keys of a table and of the sections in it, with their offsets and full names. A table
/// that is no section is the value of its key.
fn collect(
    spans: &DeTable<'_>,
    values: &toml::Table,
    prefix: &str,
    sections: &dyn Fn(&str) -> bool,
    found: &mut Vec<(usize, String, Value)>,
) {
    for (key, inner) in spans {
        let name = key.get_ref().as_ref();
        let full = format!("{prefix}{name}");
        match (inner.get_ref().as_table(), values.get(name)) {
            (Some(inner), Some(Value::Table(values))) if prefix.is_empty() || sections(&full) => {
                collect(inner, values, &format!("{full}."), sections, found);
            }
            (_, Some(value)) => found.push((key.span().start, full, value.clone())),
            (_, None) => {}
        }
    }
}

/// Sets the value of a full key such as `agent.repository.exclude` in nested tables.
fn insert(table: &mut toml::Table, key: &str, value: Value) {
    let Some((section, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let section = table
        .entry(section)
        .or_insert_with(|| Value::Table(toml::Table::new()));
    if let Value::Table(section) = section {
        insert(section, rest, value);
    }
}

/// Returns the known name most similar to `wrong`, if any is similar enough.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}
