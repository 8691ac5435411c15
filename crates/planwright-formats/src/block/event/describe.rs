//! Describes an event block in one line for people.

use serde_json::{Map, Value};

use crate::block::{Block, Content};

/// Maximum length of a shown value, in characters; what erk writes is far shorter.
const MAX_SHOWN: usize = 200;

/// Returns the sentence about an event. `{name}` stands for a field, or its length if it is a list; a part in brackets is
/// left out if one of its fields is missing.
fn sentence(key: &str, status: Option<&str>) -> Option<&'static str> {
    Some(match (key, status) {
        ("submission-queued", _) => {
            "queued for implementation[ by {submitted_by}][ at {queued_at}]"
        }
        ("workflow-started", _) => {
            "workflow run[ {workflow_run_id}] started[ at {started_at}][ on branch {branch_name}][: {workflow_run_url}]"
        }
        ("plan-retry", _) => {
            "retried[ by {triggered_by}][ at {retry_timestamp}][, retry {retry_count}]"
        }
        ("erk-worktree-creation", _) => {
            "worktree[ {worktree_name}] created[ on branch {branch_name}][ at {timestamp}]"
        }
        ("erk-plan" | "erk-pr", _) => "plan saved[ for worktree {worktree_name}][ at {timestamp}]",
        ("erk-implementation-status", Some("starting")) => {
            "implementation starting[ in worktree {worktree}][ on branch {branch}][ at {timestamp}][, {total_steps} steps]"
        }
        ("erk-implementation-status", Some("pending")) => "implementation pending[ at {timestamp}]",
        ("erk-implementation-status", Some("in_progress")) => {
            "implementation in progress[, step {completed_steps} of {total_steps} done][ at {timestamp}][: {step_description}]"
        }
        ("erk-implementation-status", Some("complete" | "failed")) => {
            "implementation[ {status}][ at {timestamp}][: {summary}]"
        }
        ("erk-implementation-status", _) => "implementation status[ {status}][ at {timestamp}]",
        ("erk-pr-published", _) => {
            "pull request[ #{pr_number}] published[ at {timestamp}][: {pr_url}]"
        }
        ("impl-started", _) => "implementation started[ at {timestamp}][ in session {session_id}]",
        ("impl-ended", _) => "implementation ended[ at {timestamp}][ in session {session_id}]",
        ("learn-invoked", _) => {
            "learning invoked[ at {timestamp}][, {readable_sessions} of {total_sessions} sessions readable]"
        }
        ("tripwire-candidates", _) => "tripwire candidates noted[: {candidates}]",
        _ => return None,
    })
}

/// Returns one line without control characters about the event in `block`, such as `queued for implementation by octocat
/// at 2025-11-25T16:00:00Z`; `None` if the block is not an event or cannot be parsed.
pub fn describe(block: &Block) -> Option<String> {
    let Content::Yaml(fields) = &block.content else {
        return None;
    };
    let status = fields.get("status").and_then(Value::as_str);
    Some(fill(sentence(&block.key, status)?, fields))
}

fn fill(sentence: &str, fields: &Map<String, Value>) -> String {
    let mut filled = String::new();
    for part in sentence.split_inclusive(']') {
        let (fixed, optional) = part
            .strip_suffix(']')
            .and_then(|part| part.split_once('['))
            .unwrap_or((part, ""));
        filled.push_str(fixed);
        filled.push_str(&substitute(optional, fields).unwrap_or_default());
    }
    filled
}

/// Fills in the fields of `part`; `None` if one is missing.
fn substitute(part: &str, fields: &Map<String, Value>) -> Option<String> {
    let mut pieces = part.split('{');
    let mut filled = pieces.next()?.to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}')?;
        filled.push_str(&shown(fields.get(name)?)?);
        filled.push_str(rest);
    }
    Some(filled)
}

fn shown(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.len().to_string(),
        Value::Null | Value::Bool(_) | Value::Object(_) => return None,
    };
    let visible: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SHOWN)
        .collect();
    (!visible.is_empty()).then_some(visible)
}
