//! Test vectors for specifications (the template, names, and search paths) and for the settings of
//! older programs.

use std::path::{Path, PathBuf};

use chrono::DateTime;
use planwright::config::project::{CONFIG, Models, ProjectConfig, Text, load, migrate};
use planwright::formats::specification::{
    DocumentKind, Name, number_prefix, numbered, resolve, slug, template, timestamped,
    title_from_name,
};
use serde_json::{Value, json};

use crate::harness::Tests;

crate::harness::tests!(
    spec_template,
    slugify,
    identifier,
    resolve_path,
    model_tier,
    env_expand,
    config_load,
);

/// What an error says before its remedy.
fn what(error: &impl ToString) -> String {
    let text = error.to_string();
    text.split(';').next().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

fn spec_template(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[(
        "SC-02",
        "the file is made in our own folder; the old one is only read",
    )];
    tests.hold_agent("spec_template", DEPARTURES, |case| {
        let given = Name::parse(case["input"]["name"].as_str().unwrap());
        let ours = match given {
            Err(error) if error.to_string().contains("path separators") => {
                json!({ "error": "path separators rejected" })
            }
            Err(error) => json!({ "error": what(&error) }),
            Ok(name) => {
                let title = case["input"]["title"].as_str().map(ToOwned::to_owned);
                let text = template(&title.unwrap_or_else(|| title_from_name(name.as_str())));
                assert!(text.starts_with("# Feature: "));
                json!({ "file": format!("{}/{name}.md", DocumentKind::Specification.folder()) })
            }
        };
        (ours, case["expect"].clone())
    });
}

fn slugify(tests: &mut Tests) {
    tests.hold_agent("slugify", &[], |case| {
        let ours = slug(case["input"]["in"].as_str().unwrap(), "project");
        (json!({ "out": ours }), case["expect"].clone())
    });
}

fn identifier(tests: &mut Tests) {
    tests.hold_agent("identifier", &[], |case| {
        let input = &case["input"];
        if let Some(prefixed) = input["has_prefix"].as_str() {
            let ours = json!({ "match": number_prefix(prefixed).is_some() });
            return (ours, case["expect"].clone());
        }
        let existing = texts(&input["existing"]);
        let made = Name::parse(input["name"].as_str().unwrap()).and_then(|name| {
            if input["method"] == "counter" {
                return numbered(&name, existing.iter().copied());
            }
            let now = input["now_utc"].as_str().unwrap();
            let now = DateTime::parse_from_rfc3339(now).unwrap().to_utc();
            Ok(timestamped(&name, now, &|id| existing.contains(&id)))
        });
        let ours = match made {
            Ok(name) => json!({ "name": name }),
            Err(error) => json!({ "error": what(&error) }),
        };
        (ours, case["expect"].clone())
    });
}

fn resolve_path(tests: &mut Tests) {
    tests.hold_agent("resolve_path", &[], |case| {
        let input = &case["input"];
        let kind = match input["kind"].as_str().unwrap() {
            "spec" => DocumentKind::Specification,
            _ => DocumentKind::Plan,
        };
        let exists: Vec<PathBuf> = texts(&input["exists"]).iter().map(PathBuf::from).collect();
        let there = |path: &Path| exists.iter().any(|found| found == path);
        let arg = input["arg"].as_str().unwrap();
        let ours = match resolve(arg, kind, Path::new(kind.folder()), &there) {
            Ok(path) => json!({ "path": path }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        (ours, case["expect"].clone())
    });
}

fn model_tier(tests: &mut Tests) {
    tests.hold_agent("model_tier", &[], |case| {
        let tier = Models::default().tier(case["input"]["score"].as_f64().unwrap());
        (json!({ "tier": tier.name() }), case["expect"].clone())
    });
}

fn env_expand(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[(
        "V-02",
        "a variable that is not set is an error, as the note there recommends",
    )];
    tests.hold_agent("env_expand", DEPARTURES, |case| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(CONFIG);
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let value = toml::Value::String(case["input"]["value"].as_str().unwrap().to_owned());
        std::fs::write(file, format!("[models]\ndefault = {value}\n")).unwrap();
        let env = |name: &str| {
            let value = case["input"]["env"][name].as_str();
            value.map(ToOwned::to_owned)
        };
        let ours = match load(folder.path(), &env) {
            Ok(loaded) => json!({ "value": loaded.config.models.default.as_str() }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        (ours, case["expect"].clone())
    });
}

/// What was taken over, as the old program names it.
fn as_recorded(config: &ProjectConfig) -> Value {
    let agent = &config.agent;
    let tools: Vec<&str> = agent.tools.iter().map(Text::as_str).collect();
    let args: Vec<&str> = agent.args.iter().map(Text::as_str).collect();
    json!({ "agent": { "command": agent.command.as_str(), "args": args, "allowed_tools": tools } })
}

/// The words of the data for one of our errors.
fn in_their_words(error: &str) -> String {
    for (ours, theirs) in [
        ("not a mapping", "not a mapping"),
        ("`agent` must be a mapping", "agent must be a mapping"),
        ("it must be 0 to 1", "threshold out of range 0..1"),
        ("not valid YAML", "invalid YAML"),
        (
            "spec_trigger_threshold must be one of \"strict\", \"moderate\", or \"lenient\"",
            "spec_trigger_threshold must be one of \"strict\", \"moderate\", or \"lenient\"",
        ),
        (
            "repos: name \"api\" is configured more than once",
            "repos: name \"api\" is configured more than once",
        ),
    ] {
        if error.contains(ours) {
            return theirs.to_owned();
        }
    }
    error.to_owned()
}

fn config_load(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[
        (
            "C-01",
            "our own defaults: no models, tools for planning alone, no key, no arguments",
        ),
        (
            "C-02",
            "the command is taken over; arguments and tools are ours, and an agent never runs without permissions",
        ),
        ("C-09", "there is no such debugging; that is said"),
        (
            "C-11",
            "only allowed tools are named; that is said, and AskUserQuestion is never allowed",
        ),
    ];
    tests.hold_agent("config_load", DEPARTURES, |case| {
        let ours = match migrate(case["input"]["yaml"].as_str().unwrap_or_default()) {
            Ok(migrated) => as_recorded(&migrated.config),
            Err(error) => json!({ "error": in_their_words(&error.to_string()) }),
        };
        (ours, case["expect"].clone())
    });
}
