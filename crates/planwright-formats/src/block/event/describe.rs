//! One line for people about an event block.

use serde_json::{Map, Value};

use crate::block::{Block, Content};

/// Longest value that is shown, in characters; what erk writes is far shorter.
const SHOWN: usize = 200;

/// Key, status (any where there is none), and what to say. `{name}` is a field, of a list its length; a part in square
/// brackets is left out when one of its fields is missing.
const SENTENCES: &[(&str, Option<&str>, &str)] = &[
    (
        "submission-queued",
        None,
        "queued for implementation[ by {submitted_by}][ at {queued_at}]",
    ),
    (
        "workflow-started",
        None,
        "workflow run[ {workflow_run_id}] started[ at {started_at}][ on branch {branch_name}][: {workflow_run_url}]",
    ),
    (
        "plan-retry",
        None,
        "retried[ by {triggered_by}][ at {retry_timestamp}][, retry {retry_count}]",
    ),
    (
        "erk-worktree-creation",
        None,
        "worktree[ {worktree_name}] created[ on branch {branch_name}][ at {timestamp}]",
    ),
    (
        "erk-plan",
        None,
        "plan saved[ for worktree {worktree_name}][ at {timestamp}]",
    ),
    (
        "erk-pr",
        None,
        "plan saved[ for worktree {worktree_name}][ at {timestamp}]",
    ),
    (
        "erk-implementation-status",
        Some("starting"),
        "implementation starting[ in worktree {worktree}][ on branch {branch}][ at {timestamp}][, {total_steps} steps]",
    ),
    (
        "erk-implementation-status",
        Some("pending"),
        "implementation pending[ at {timestamp}]",
    ),
    (
        "erk-implementation-status",
        Some("in_progress"),
        "implementation in progress[, step {completed_steps} of {total_steps} done][ at {timestamp}][: {step_description}]",
    ),
    (
        "erk-implementation-status",
        Some("complete"),
        "implementation complete[ at {timestamp}][: {summary}]",
    ),
    (
        "erk-implementation-status",
        Some("failed"),
        "implementation failed[ at {timestamp}][: {summary}]",
    ),
    (
        "erk-implementation-status",
        None,
        "implementation status[ {status}][ at {timestamp}]",
    ),
    (
        "erk-pr-published",
        None,
        "pull request[ #{pr_number}] published[ at {timestamp}][: {pr_url}]",
    ),
    (
        "impl-started",
        None,
        "implementation started[ at {timestamp}][ in session {session_id}]",
    ),
    (
        "impl-ended",
        None,
        "implementation ended[ at {timestamp}][ in session {session_id}]",
    ),
    (
        "learn-invoked",
        None,
        "learning invoked[ at {timestamp}][, {readable_sessions} of {total_sessions} sessions readable]",
    ),
    (
        "tripwire-candidates",
        None,
        "tripwire candidates noted[: {candidates}]",
    ),
];

/// What the event in `block` was, in one line without control characters, such as `queued for implementation by
/// octocat at 2025-11-25T16:00:00Z`; `None` when the block is no event or cannot be read.
pub fn describe(block: &Block) -> Option<String> {
    let Content::Yaml(fields) = &block.content else {
        return None;
    };
    let status = fields.get("status").and_then(Value::as_str);
    let (_, _, sentence) = SENTENCES
        .iter()
        .find(|(key, when, _)| *key == block.key && (when.is_none() || *when == status))?;
    Some(fill(sentence, fields))
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

/// `part` with its fields put in; `None` when one is missing.
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
        .take(SHOWN)
        .collect();
    (!visible.is_empty()).then_some(visible)
}
