//! Migrates the settings of Spektacular, the program that specifications and plans of this form
//! come from, in each format that it used.
//!
//! Nothing is dropped silently: each key without an equivalent is reported with the reason, and an
//! invalid value is an error, as in Planwright's own file.

mod keys;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::error::ProjectError;
use super::load::OLD_CONFIG;
use super::{ProjectConfig, Text, rules};
use crate::formats::yaml;
use keys::{Fate, KEYS};

/// The result of a migration.
#[derive(Debug, Clone, PartialEq)]
pub struct Migrated {
    /// The migrated settings; variables are not expanded.
    pub config: ProjectConfig,
    /// Keys that were not carried over.
    pub not_carried: Vec<NotCarried>,
    /// Settings that were carried over in another form, one sentence each.
    pub changed: Vec<String>,
}

/// An old key, or a part of its value, that was not carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCarried {
    /// The full key, such as `agent.args`.
    pub key: String,
    /// The reason, and what to do instead.
    pub why: String,
}

impl Migrated {
    /// Returns all differences, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let left = self
            .not_carried
            .iter()
            .map(|left| format!("`{}` was not migrated: {}", left.key, left.why));
        left.chain(self.changed.iter().cloned()).collect()
    }
}

/// Migrates the text of a `.spektacular/config.yaml` of any version. An empty text yields the
/// defaults.
///
/// # Errors
/// Returns an error if the text is not YAML or not a mapping, or if a known key has an invalid
/// value.
pub fn migrate(yaml: &str) -> Result<Migrated, ProjectError> {
    let value = yaml::read(yaml).map_err(|why| ProjectError::Syntax {
        place: OLD_CONFIG.to_owned(),
        format: "YAML",
        why,
    })?;
    let mut migration = Migration {
        out: Migrated {
            config: ProjectConfig::default(),
            not_carried: Vec::new(),
            changed: Vec::new(),
        },
    };
    match &value {
        Value::Null => {}
        Value::Object(fields) => migration.walk("", fields)?,
        other => {
            return Err(ProjectError::NoMapping {
                place: OLD_CONFIG.to_owned(),
                found: found(other),
            });
        }
    }
    rules::check(&migration.out.config, &place)?;
    Ok(migration.out)
}

/// Returns the old file and the old name of a key of [`ProjectConfig`], for error messages.
pub(super) fn place(key: &str) -> (String, String) {
    let old = match key {
        "agent.tools" => "agent.allowed_tools",
        "models.simple" => "models.tiers.simple",
        "models.medium" => "models.tiers.medium",
        "models.complex" => "models.tiers.complex",
        "models.thresholds.simple" => "complexity.thresholds.simple",
        "models.thresholds.medium" => "complexity.thresholds.medium",
        "output.specs" => "spec.config.directory",
        "output.plans" => "plan.config.directory",
        "output.knowledge" => "knowledge.sources",
        other => other,
    };
    (OLD_CONFIG.to_owned(), old.to_owned())
}

/// Describes a value for error messages. The contents of lists and mappings are not shown.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
    }
}

/// The reason why Spektacular's default folder is not carried over.
const USUAL_FOLDER: &str =
    "existing files in that folder are still found; new files go to the folder in [output]";

struct Migration {
    out: Migrated,
}

impl Migration {
    fn leave(&mut self, key: &str, why: impl Into<String>) {
        self.out.not_carried.push(NotCarried {
            key: key.to_owned(),
            why: why.into(),
        });
    }

    /// Migrates a mapping. Nested mappings are visited only as deep as the known keys go.
    fn walk(&mut self, above: &str, fields: &Map<String, Value>) -> Result<(), ProjectError> {
        for (name, value) in fields {
            let key = if above.is_empty() {
                name.clone()
            } else {
                format!("{above}.{name}")
            };
            // The last format has the agent's name where earlier ones have a mapping with its
            // settings.
            if let ("agent", Value::String(name)) = (key.as_str(), value) {
                self.command("agent", name);
                continue;
            }
            let inner = format!("{key}.");
            if let Some(known) = KEYS.iter().find(|known| known.name == key) {
                known.check(value)?;
                match known.fate {
                    Fate::Left(why) => self.leave(&key, why),
                    Fate::Taken => self.take(&key, value)?,
                }
            } else if KEYS.iter().any(|known| known.name.starts_with(&inner)) {
                let Value::Object(fields) = value else {
                    return Err(wrong(&key, "a mapping", value));
                };
                self.walk(&key, fields)?;
            } else {
                self.leave(&key, "this key is unknown");
            }
        }
        Ok(())
    }

    fn take(&mut self, key: &str, value: &Value) -> Result<(), ProjectError> {
        let text = value.as_str().unwrap_or_default();
        match key {
            "agent.command" => self.command(key, text),
            "agent.args" => self.arguments(&texts(value)),
            "agent.allowed_tools" => self.tools(&texts(value)),
            "models.default" => self.out.config.models.default = self.model(key, text),
            "models.tiers.simple" => self.out.config.models.simple = self.model(key, text),
            "models.tiers.medium" => self.out.config.models.medium = self.model(key, text),
            "models.tiers.complex" => self.out.config.models.complex = self.model(key, text),
            "complexity.thresholds.simple" => {
                self.out.config.models.thresholds.simple = fraction(key, value)?;
            }
            "complexity.thresholds.medium" => {
                self.out.config.models.thresholds.medium = fraction(key, value)?;
            }
            "spec.config.directory" => self.folder(key, text, |config| &mut config.output.specs),
            "plan.config.directory" => self.folder(key, text, |config| &mut config.output.plans),
            "knowledge.sources" => self.knowledge(value),
            "spec_trigger_threshold" => {
                if !["strict", "moderate", "lenient"].contains(&text) {
                    return Err(old(format!(
                        "spec_trigger_threshold must be one of \"strict\", \"moderate\", or \
                         \"lenient\", not {text:?}; use one of them, or remove it"
                    )));
                }
                self.leave(key, keys::NO_SKILL);
            }
            _ => {
                different_names(value)?;
                self.leave(key, keys::ONE_PROJECT);
            }
        }
        Ok(())
    }

    fn command(&mut self, key: &str, name: &str) {
        if ["bob", "codex"].contains(&name) {
            let why = format!(
                "{name} is not supported directly; set agent.kind to \"command\" with a program \
                 that takes a prompt on standard input"
            );
            self.leave(key, why);
        } else {
            self.out.config.agent.command = name.into();
        }
    }

    /// Keeps a custom folder of the old settings. Folders below `.spektacular/` are not carried
    /// over because they are searched anyway.
    fn folder(&mut self, key: &str, folder: &str, of: impl Fn(&mut ProjectConfig) -> &mut Text) {
        let ours = of(&mut self.out.config);
        if folder.is_empty() || folder.starts_with(".spektacular/") {
            self.leave(key, USUAL_FOLDER);
        } else {
            *ours = folder.into();
        }
    }

    /// Appends the knowledge folders to the default ones.
    fn knowledge(&mut self, sources: &Value) {
        for source in sources.as_array().map_or(&[][..], Vec::as_slice) {
            let location = source
                .get("config")
                .and_then(|config| config.get("location"));
            match location.and_then(Value::as_str) {
                Some(folder) => {
                    let known = &mut self.out.config.output.knowledge;
                    if known.iter().all(|one| one.as_str() != folder) {
                        known.push(folder.into());
                    }
                }
                None => self.leave("knowledge.sources", "one of them names no folder"),
            }
        }
    }

    fn model(&mut self, key: &str, name: &str) -> Text {
        match name.strip_prefix("anthropic/") {
            Some(bare) => {
                self.out.changed.push(format!(
                    "`{key}` is {bare:?} here, without `anthropic/`, as Claude Code names it; \
                     remove it for the program's own default"
                ));
                bare.into()
            }
            None => name.into(),
        }
    }

    /// Reports the arguments for Claude Code, which cannot be configured here. Only the names of
    /// options are reported, because their values may be secrets.
    fn arguments(&mut self, args: &[&str]) {
        let mut others = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match *arg {
                "--verbose" | "--output-format=stream-json" => {}
                "--output-format" => {
                    if rest.as_slice().first() == Some(&"stream-json") {
                        rest.next();
                    } else {
                        others.push("--output-format");
                    }
                }
                option if option.starts_with('-') => {
                    others.push(option.split('=').next().unwrap_or(option));
                }
                _ => {}
            }
        }
        let ours = others.len() < args.len();
        if others.is_empty() && ours {
            let why = "planwright sets the agent program's arguments itself";
            self.leave("agent.args", why);
        } else if !others.is_empty() {
            let why = format!(
                "{}: planwright sets the agent program's arguments itself; see models.default, \
                 agent.tools and limits for what you can choose",
                others.join(", ")
            );
            self.leave("agent.args", why);
        }
    }

    /// Keeps the tools that planning needs and reports the others, which are for changing the
    /// project.
    fn tools(&mut self, tools: &[&str]) {
        let harmless = |tool: &&&str| super::HARMLESS_TOOLS.contains(*tool);
        let kept: Vec<Text> = tools
            .iter()
            .filter(harmless)
            .map(|it| (*it).into())
            .collect();
        let left: Vec<&str> = tools.iter().filter(|it| !harmless(it)).copied().collect();
        if kept.is_empty() {
            self.leave(
                "agent.allowed_tools",
                "none of them is needed for planning; the default tools are used",
            );
            return;
        }
        self.out.config.agent.tools = kept;
        if !left.is_empty() {
            let why = format!(
                "{}: planning needs none of these; add them to agent.tools if they are intended, and use --trust",
                left.join(", ")
            );
            self.leave("agent.allowed_tools", why);
        }
    }
}

fn old(why: String) -> ProjectError {
    ProjectError::Old {
        place: OLD_CONFIG.to_owned(),
        why,
    }
}

fn wrong(key: &str, expected: &str, value: &Value) -> ProjectError {
    ProjectError::WrongType {
        place: OLD_CONFIG.to_owned(),
        key: key.to_owned(),
        expected: expected.to_owned(),
        found: found(value),
    }
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(Value::as_str).collect()
}

fn fraction(key: &str, value: &Value) -> Result<f64, ProjectError> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    if (0.0..=1.0).contains(&number) {
        return Ok(number);
    }
    Err(ProjectError::Impossible {
        place: OLD_CONFIG.to_owned(),
        key: key.to_owned(),
        value: value.to_string(),
        why: "it must be 0 to 1".to_owned(),
    })
}

/// Returns an error if two repositories have the same name.
fn different_names(repos: &Value) -> Result<(), ProjectError> {
    let repos = repos.as_array().map_or(&[][..], Vec::as_slice);
    let mut seen = std::collections::HashSet::new();
    for name in repos.iter().filter_map(|repo| repo.get("name")?.as_str()) {
        if !seen.insert(name) {
            return Err(old(format!(
                "repos: name {name:?} is configured more than once; remove one of them"
            )));
        }
    }
    Ok(())
}
