//! Formats the results of `planwright check` as JSON.

use serde_json::{Value, json};

use super::fix;
use super::verdict::{Checked, Verdict};
use crate::formats::action_plan::check::Finding;
use crate::formats::action_plan::{PlanError, Rejected};

/// Returns one document for all files. Its fields are documented in the help text.
pub(super) fn document(checked: &[Checked]) -> Value {
    let files: Vec<Value> = checked.iter().map(file).collect();
    json!({ "files": files })
}

fn file(checked: &Checked) -> Value {
    let (title, actions, error, diff, findings) = match &checked.verdict {
        Verdict::Plan { plan, findings } => (
            json!(plan.title),
            json!(plan.actions),
            Value::Null,
            Value::Null,
            json!(
                findings
                    .as_ref()
                    .map(|all| all.iter().map(finding).collect::<Vec<_>>())
            ),
        ),
        Verdict::Refused { rejected, .. } => (
            Value::Null,
            json!([]),
            json!(rejected.errors.first().map(error)),
            structure(rejected),
            Value::Null,
        ),
    };
    json!({
        "file": checked.name,
        "ok": checked.is_good(),
        "title": title,
        "actions": actions,
        "error": error,
        "diff": diff,
        "fix": fix::diff(checked),
        "findings": findings,
    })
}

fn error(error: &PlanError) -> Value {
    json!({
        "kind": error.kind,
        "message": error.message(),
        "line": error.span.start,
        "end_line": error.span.end,
        "action": error.action,
        "expected": error.expected,
        "found": error.found,
        "hints": error.hints,
    })
}

fn structure(rejected: &Rejected) -> Value {
    let diff = rejected.diff();
    let errors: Vec<Value> = diff.errors.iter().map(error).collect();
    json!({ "errors": errors, "expected": diff.expected, "actual": diff.actual })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind,
        "message": finding.message(),
        "line": finding.span.start,
        "end_line": finding.span.end,
        "action": { "number": finding.action, "name": finding.name },
        "pair": finding.pair,
        "path": finding.path,
        "hints": finding.hints,
        "near_miss": finding.near_miss,
    })
}
