//! The header of a plan: read it whatever its age, write a new one, change fields of an old one.

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::SchemaError;
use super::plan::{CURRENT, HEADER, IMMUTABLE, VERSION};
use crate::block::{self, Content, EditError, Parsed, find};

/// What readers want to know from a `plan-header` block. Whatever is missing, null, empty or unusable is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Header {
    /// Always `2` so far.
    pub schema_version: Option<String>,
    /// When the plan was saved, as written (ISO 8601).
    pub created_at: Option<String>,
    /// GitHub login of who saved it.
    pub created_by: Option<String>,
    /// Name of the worktree for it.
    pub worktree_name: Option<String>,
    /// Branch on which it is, or is to be, implemented.
    pub branch_name: Option<String>,
    /// Comment that holds the plan.
    pub plan_comment_id: Option<u64>,
    /// Actions run to which it was sent last.
    pub last_dispatched_run_id: Option<String>,
    /// When that was, as written.
    pub last_dispatched_at: Option<String>,
    /// Last sign of an implementation on somebody's machine, as written.
    pub last_local_impl_at: Option<String>,
    /// `started` or `ended`.
    pub last_local_impl_event: Option<String>,
    /// Last implementation by Actions, as written.
    pub last_remote_impl_at: Option<String>,
    /// The Actions run of that.
    pub last_remote_impl_run_id: Option<String>,
    /// `owner/repo` where it is implemented, when elsewhere.
    pub source_repo: Option<String>,
    /// Number of the objective it belongs to.
    pub objective_issue: Option<u64>,
    /// Nodes of the objective's roadmap that it covers.
    pub node_ids: Vec<String>,
    /// Agent session in which it was made.
    pub created_from_session: Option<String>,
    /// How far learning from it has come.
    pub learn_status: Option<String>,
    /// Plan from which it was learned.
    pub learned_from_issue: Option<u64>,
    /// How far the plan itself has come.
    pub lifecycle_stage: Option<String>,
}

impl Header {
    /// Reads the fields of a header of any era. Numbers pass for text and digits for numbers.
    pub fn read(fields: &Map<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).and_then(text);
        let number = |name: &str| fields.get(name).and_then(positive);
        Self {
            schema_version: text("schema_version"),
            created_at: text("created_at"),
            created_by: text("created_by"),
            worktree_name: text("worktree_name"),
            branch_name: text("branch_name"),
            plan_comment_id: number("plan_comment_id"),
            last_dispatched_run_id: text("last_dispatched_run_id"),
            last_dispatched_at: text("last_dispatched_at"),
            last_local_impl_at: text("last_local_impl_at"),
            last_local_impl_event: text("last_local_impl_event"),
            last_remote_impl_at: text("last_remote_impl_at"),
            last_remote_impl_run_id: text("last_remote_impl_run_id"),
            source_repo: text("source_repo"),
            objective_issue: number("objective_issue"),
            node_ids: match fields.get("node_ids") {
                Some(Value::Array(items)) => items.iter().filter_map(self::text).collect(),
                _ => Vec::new(),
            },
            created_from_session: text("created_from_session"),
            learn_status: text("learn_status"),
            learned_from_issue: number("learned_from_issue"),
            lifecycle_stage: text("lifecycle_stage"),
        }
    }

    /// The header among the blocks of a text; `None` when there is none that can be read.
    pub fn of(parsed: &Parsed) -> Option<Self> {
        match &find(parsed, HEADER)?.content {
            Content::Yaml(fields) => Some(Self::read(fields)),
            Content::Text(_) | Content::Raw(_) => None,
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn positive(value: &Value) -> Option<u64> {
    let number = match value {
        Value::String(digits) => digits.trim().parse().ok(),
        other => other.as_u64(),
    };
    number.filter(|number| *number > 0)
}

/// The fields of a new header. `plan_comment_id` is left out as long as there is no comment.
///
/// Without it, and with a worktree name, every version of erk takes the header: the first one
/// refuses fields it does not know, later ones leave out null. With it, erk until 23 December 2025
/// still reads the header but refuses to update it; later versions find the plan by it even when
/// another comment came first.
pub fn fresh(
    created_at: &str,
    created_by: &str,
    worktree_name: &str,
    plan_comment_id: Option<u64>,
) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, text) in [
        ("schema_version", VERSION),
        ("created_at", created_at),
        ("created_by", created_by),
        ("worktree_name", worktree_name),
    ] {
        fields.insert(name.to_owned(), Value::String(text.to_owned()));
    }
    if let Some(id) = plan_comment_id {
        fields.insert(
            "plan_comment_id".to_owned(),
            Value::Number(Number::from(id)),
        );
    }
    fields
}

/// `fields` the way erk writes a new header: in its order, without nulls; fields it does not know come last.
pub fn in_order(mut fields: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    for field in CURRENT {
        if let Some(entry) = fields.shift_remove_entry(field.name) {
            ordered.insert(entry.0, entry.1);
        }
    }
    ordered.extend(fields);
    ordered.retain(|_, value| !value.is_null());
    ordered
}

/// One change to a header, from `key=value` as given on a command line: `null` is null, and an integer a number unless
/// the field holds text, as run ids do.
///
/// # Errors
/// There is no `=`.
pub fn header_set(pair: &str) -> Result<(String, Value), SchemaError> {
    let (name, value) = pair
        .split_once('=')
        .ok_or_else(|| SchemaError::Pair(pair.to_owned()))?;
    let is_text = CURRENT
        .iter()
        .any(|field| field.name == name && field.kind.is_text());
    let value = match (value, value.parse::<i64>()) {
        ("null", _) => Value::Null,
        (_, Ok(number)) if !is_text => Value::Number(Number::from(number)),
        _ => Value::String(value.to_owned()),
    };
    Ok((name.to_owned(), value))
}

/// Sets fields of a header. All or none are set; only what is set is checked, everything else stays as it is and where
/// it is, known to erk or not. New fields come last, in erk's order; a new field is not added to hold null.
///
/// # Errors
/// A field that is set is immutable, unknown or retired, or may not hold its value.
pub fn update_header(
    fields: &mut Map<String, Value>,
    sets: &Map<String, Value>,
) -> Result<(), SchemaError> {
    if let Some(name) = sets.keys().find(|name| IMMUTABLE.contains(&name.as_str())) {
        return Err(SchemaError::Immutable(name.clone()));
    }
    let mut unknown: Vec<_> = sets
        .keys()
        .filter(|name| CURRENT.iter().all(|field| field.name != *name))
        .cloned()
        .collect();
    if !unknown.is_empty() {
        unknown.sort_unstable();
        return Err(SchemaError::Unknown(unknown));
    }
    let known = || {
        let set = |field: &'static super::Field| Some((field, sets.get(field.name)?));
        CURRENT.iter().filter_map(set)
    };
    for (field, value) in known() {
        if let Some(message) = field.kind.problem(field.name, value) {
            return Err(SchemaError::Field {
                field: field.name,
                message,
            });
        }
    }
    for (field, value) in known() {
        let mut value = value.clone();
        field.kind.settle(&mut value);
        match fields.get_mut(field.name) {
            Some(old) => *old = value,
            None if value.is_null() => {}
            None => {
                fields.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// `body` with fields of its header set, by [`update_header`]. No byte outside the block changes.
///
/// # Errors
/// As [`update_header`]; there is no header, or none that can be read.
pub fn update(body: &str, sets: &Map<String, Value>) -> Result<String, SchemaError> {
    let mut checked = Ok(());
    let changed = block::update(body, HEADER, |fields| checked = update_header(fields, sets));
    checked?;
    changed.map_err(|error| match error {
        EditError::Missing { .. } => SchemaError::NoHeader,
        unreadable => SchemaError::Unreadable(unreadable),
    })
}
