//! Checks texts of the settings after variables are expanded, and rules that involve several keys.

use std::path::{Component, Path};

use toml::Value;

use super::error::ProjectError;
use super::{AgentKind, ProjectConfig, Text};
use crate::config::agent;

/// Expands the variables and checks all texts. `place` returns the file (and line) of a key and its
/// name in that file.
pub(super) fn finish(
    config: &mut ProjectConfig,
    env: &dyn Fn(&str) -> Option<String>,
    place: &dyn Fn(&str) -> (String, String),
) -> Result<(), ProjectError> {
    for (key, texts) in config.texts_mut() {
        for text in texts {
            text.expand(env).map_err(|variable| {
                let (place, key) = place(key);
                ProjectError::Unset {
                    place,
                    key,
                    variable,
                }
            })?;
        }
    }
    check(config, place)
}

/// Checks all texts. A text whose variables are not expanded is checked as written.
pub(super) fn check(
    config: &ProjectConfig,
    place: &dyn Fn(&str) -> (String, String),
) -> Result<(), ProjectError> {
    let impossible = |key: &str, value: String, why: String| {
        let (place, key) = place(key);
        Err(ProjectError::Impossible {
            place,
            key,
            value,
            why,
        })
    };
    for (key, texts) in config.texts() {
        if let Some(why) = broken(key, texts) {
            return impossible(key, shown(key, config), why);
        }
    }
    if config.agent.kind == AgentKind::Claude && !config.agent.args.is_empty() {
        let why = "it must be empty unless `agent.kind` is \"command\"".to_owned();
        return impossible("agent.args", shown("agent.args", config), why);
    }
    let thresholds = &config.models.thresholds;
    if thresholds.simple > thresholds.medium {
        let (_, other) = place("models.thresholds.medium");
        let why = format!(
            "it must not be above `{other}`, which is {}",
            thresholds.medium
        );
        let key = "models.thresholds.simple";
        return impossible(key, thresholds.simple.to_string(), why);
    }
    Ok(())
}

/// Formats the value as written, in TOML. Values of `agent.environment` after `=` are masked,
/// because they may be secrets.
fn shown(key: &str, config: &ProjectConfig) -> String {
    let value = config.values().into_iter().find(|(name, _)| *name == key);
    let value = value.map_or(Value::String(String::new()), |(_, value)| value);
    if key == "agent.environment" {
        agent::names_only(&value)
    } else {
        value.to_string()
    }
}

/// Returns an error text if the texts of a key are invalid.
fn broken(key: &str, texts: &[Text]) -> Option<String> {
    let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
    let any = |bad: &dyn Fn(&str) -> bool| texts.iter().any(|text| bad(text));
    let controls = |text: &str| text.chars().any(char::is_control);
    match key {
        "agent.command" => {
            let bad = |text: &str| {
                text.is_empty() || text.starts_with('-') || text.len() > 4_096 || controls(text)
            };
            any(&bad).then(|| "it must be a program's path or name, e.g. claude".to_owned())
        }
        "agent.args" => any(&|text| text.contains('\0'))
            .then(|| "it must be a list of strings without NUL".to_owned()),
        "agent.tools" => {
            let bad = |text: &str| {
                text.trim() != text || text.is_empty() || text.starts_with('-') || controls(text)
            };
            // With an empty list the client would use its default tools, which are more.
            (texts.is_empty() || any(&bad))
                .then(|| "it must name at least one tool, e.g. [\"Read\", \"Write\"]".to_owned())
        }
        "agent.environment" => {
            let names = texts.iter().map(|name| Value::String((*name).to_owned()));
            agent::wrong_variable(&Value::Array(names.collect()))
        }
        "output.plans" | "output.specs" | "output.knowledge" => any(&|text| !is_inside(text))
            .then(|| {
                "it must be below the project's folder: relative, with / between names, without .. and not in .git"
                    .to_owned()
            }),
        _ => {
            let bad = |text: &str| {
                text.chars().count() > 100 || text.starts_with('-') || controls(text)
            };
            any(&bad).then(|| {
                "it must be at most 100 characters on one line and not begin with -, or it would be taken for an option"
                    .to_owned()
            })
        }
    }
}

/// Returns whether a path is below the project's folder and not in `.git`.
fn is_inside(path: &str) -> bool {
    let normal = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::CurDir => true,
        _ => false,
    };
    let named = Path::new(path)
        .components()
        .any(|part| matches!(part, Component::Normal(_)));
    named
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
        && Path::new(path).components().all(normal)
}
