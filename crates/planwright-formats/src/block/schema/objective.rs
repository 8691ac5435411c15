//! Schemas of the blocks of an objective, which is a plan of plans.

use serde_json::{Map, Value};

use super::kind::FieldKind::{Any, PositiveOrNull, SlugOrNull, Text};
use super::{Era, OPEN, Schema, SchemaError, may, must};

pub(super) static SCHEMAS: &[Schema] = &[
    Schema {
        keys: &["objective-header"],
        eras: &[Era::Current],
        fields: &[
            must("created_at", Text),
            must("created_by", Text),
            may("objective_comment_id", PositiveOrNull),
            may("slug", SlugOrNull),
        ],
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["objective-roadmap"],
        eras: &[Era::Current],
        fields: &[
            must("schema_version", Any),
            may("nodes", Any),
            may("steps", Any),
        ],
        rule: Some(roadmap),
        ..OPEN
    },
];

/// Versions of a roadmap; version 2 calls its nodes steps.
const VERSIONS: &[&str] = &["2", "3", "4"];

/// Statuses of a node. `-` is how erk displays `skipped`.
const STATUSES: &[&str] = &[
    "pending",
    "planning",
    "done",
    "in_progress",
    "blocked",
    "skipped",
    "-",
];

fn roadmap(fields: &Map<String, Value>) -> Result<(), SchemaError> {
    let wrong = |field: &'static str, message: String| Err(SchemaError::Field { field, message });
    let version = match fields.get("schema_version").unwrap_or(&Value::Null) {
        Value::String(version) if VERSIONS.contains(&&**version) => None,
        Value::String(version) => Some(version.clone()),
        other => Some(other.to_string()),
    };
    if let Some(version) = version {
        let message = format!("Unsupported schema_version: {version}");
        return wrong("schema_version", message);
    }
    let Some(nodes) = fields.get("nodes").or_else(|| fields.get("steps")) else {
        return wrong(
            "nodes",
            "Missing required field: nodes (or steps for v2)".to_owned(),
        );
    };
    let Some(nodes) = nodes.as_array() else {
        return wrong("nodes", "Field 'steps' must be a list".to_owned());
    };
    for (index, node) in nodes.iter().enumerate() {
        let problem = match node.as_object() {
            Some(fields) => node_problem(fields).map(|what| format!("Step {index} {what}")),
            None => Some(format!("Step {index} is not a mapping")),
        };
        if let Some(message) = problem {
            return wrong("nodes", message);
        }
    }
    Ok(())
}

fn node_problem(node: &Map<String, Value>) -> Option<String> {
    let required = ["id", "description", "status"];
    if let Some(name) = required.iter().find(|name| !node.contains_key(**name)) {
        return Some(format!("missing required field: {name}"));
    }
    let string = |name: &&str| node.get(*name).is_some_and(Value::is_string);
    if let Some(name) = required.iter().find(|name| !string(name)) {
        return Some(format!("field '{name}' must be a string"));
    }
    if !node
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| STATUSES.contains(&status))
    {
        let known = &STATUSES[..STATUSES.len() - 1];
        return Some(format!(
            "field 'status' must be one of: {}",
            known.join(", ")
        ));
    }
    let given = |name: &str| node.get(name).filter(|value| !value.is_null());
    if let Some(name) = ["pr", "slug", "comment"]
        .iter()
        .find(|name| given(name).is_some_and(|value| !value.is_string()))
    {
        return Some(format!("field '{name}' must be a string or null"));
    }
    let depends_on = given("depends_on")?;
    let Some(items) = depends_on.as_array() else {
        return Some("field 'depends_on' must be a list or null".to_owned());
    };
    let item = items.iter().position(|item| !item.is_string())?;
    Some(format!("field 'depends_on' item {item} must be a string"))
}
