//! Schemas of the blocks in event comments, which record what happened to a plan.

use serde_json::{Map, Value};

use super::kind::FieldKind::{Any, AtLeast, Map as Fields, Positive, Text, TextOrNull, Word};
use super::kind::integer;
use super::{Era, Field, OPEN, Schema, SchemaError, may, must, number};

const STATUS: &str = "erk-implementation-status";

pub(super) static SCHEMAS: &[Schema] = &[
    Schema {
        keys: &["erk-worktree-creation"],
        eras: &[Era::Current],
        fields: &worktree_creation(number(false)),
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["erk-worktree-creation"],
        eras: &[Era::First],
        fields: &worktree_creation(may("issue_number", Positive)),
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &[STATUS],
        eras: &[Era::Current],
        fields: &[
            STATUS_WORD,
            must("timestamp", Text),
            may("summary", Any),
            may("branch_name", Any),
            may("pr_url", Any),
            may("commit_sha", Any),
            may("worktree_path", Any),
            may("status_history", Any),
        ],
        ..OPEN
    },
    Schema {
        keys: &[STATUS],
        eras: &[Era::First],
        fields: &[
            must("status", Word(&["starting"])),
            must("total_steps", AtLeast(1)),
            must("timestamp", Text),
            must("worktree", Text),
            must("branch", Text),
        ],
        form: Some(starts),
        ..OPEN
    },
    Schema {
        keys: &[STATUS],
        eras: &[Era::First],
        fields: &[
            STATUS_WORD,
            must("completed_steps", AtLeast(0)),
            must("total_steps", AtLeast(1)),
            must("timestamp", Text),
            may("summary", Any),
            may("step_description", Any),
            may("branch_name", Any),
            may("pr_url", Any),
            may("commit_sha", Any),
            may("worktree_path", Any),
            may("status_history", Any),
        ],
        rule: Some(within_total),
        ..OPEN
    },
    Schema {
        keys: &["submission-queued"],
        eras: &[Era::Current],
        fields: &submission_queued(number(true)),
        ..OPEN
    },
    Schema {
        keys: &["submission-queued"],
        eras: &[Era::First],
        fields: &submission_queued(must("issue_number", Positive)),
        ..OPEN
    },
    Schema {
        keys: &["workflow-started"],
        eras: &[Era::Current],
        fields: &workflow_started(number(true)),
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["workflow-started"],
        eras: &[Era::First],
        fields: &workflow_started(must("issue_number", Positive)),
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["plan-retry"],
        fields: &[
            must("retry_timestamp", Text),
            must("triggered_by", Text),
            must("retry_count", AtLeast(1)),
            may("previous_retry_timestamp", Text),
        ],
        closed: true,
        ..OPEN
    },
    // erk writes the following without a schema.
    Schema {
        keys: &["erk-pr-published"],
        fields: &[
            must("status", Word(&["pr_published"])),
            must("pr_number", Positive),
            must("pr_url", Text),
            must("branch_name", Text),
            must("timestamp", Text),
        ],
        ..OPEN
    },
    Schema {
        keys: &["impl-started", "impl-ended"],
        fields: &[must("timestamp", Text), may("session_id", TextOrNull)],
        ..OPEN
    },
    Schema {
        keys: &["learn-invoked"],
        fields: &[
            must("timestamp", Text),
            may("readable_sessions", AtLeast(0)),
            may("total_sessions", AtLeast(0)),
            may("session_id", TextOrNull),
        ],
        ..OPEN
    },
    Schema {
        keys: &["tripwire-candidates"],
        fields: &[must("candidates", Any)],
        rule: Some(candidates),
        ..OPEN
    },
];

const fn worktree_creation(plan: Field) -> [Field; 5] {
    [
        must("worktree_name", Text),
        must("branch_name", Text),
        must("timestamp", Text),
        plan,
        may("plan_file", Text),
    ]
}

const fn submission_queued(plan: Field) -> [Field; 7] {
    [
        must("status", Word(&["queued"])),
        must("queued_at", Text),
        must("submitted_by", Text),
        plan,
        must("validation_results", Fields),
        must("expected_workflow", Text),
        must("trigger_mechanism", Text),
    ]
}

const fn workflow_started(plan: Field) -> [Field; 7] {
    [
        must("status", Word(&["started"])),
        must("started_at", Text),
        must("workflow_run_id", Text),
        must("workflow_run_url", Text),
        plan,
        may("branch_name", Text),
        may("worktree_path", Text),
    ]
}

const STATUS_WORD: Field = must(
    "status",
    Word(&["complete", "failed", "in_progress", "pending"]),
);

/// Returns whether the fields announce an implementation: with a worktree or a branch, and nothing
/// completed yet.
fn starts(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    fields.get("status").is_some_and(|word| word == "starting")
        || ((has("worktree") || has("branch")) && !has("completed_steps"))
}

fn within_total(fields: &Map<String, Value>) -> Result<(), SchemaError> {
    let steps = |name: &str| fields.get(name).and_then(integer);
    match (steps("completed_steps"), steps("total_steps")) {
        (Some(done), Some(total)) if done > total => Err(SchemaError::Field {
            field: "completed_steps",
            message: "completed_steps cannot exceed total_steps".to_owned(),
        }),
        _ => Ok(()),
    }
}

fn candidates(fields: &Map<String, Value>) -> Result<(), SchemaError> {
    let wrong = |message: String| {
        Err(SchemaError::Field {
            field: "candidates",
            message,
        })
    };
    let Some(list) = fields.get("candidates").and_then(Value::as_array) else {
        return wrong("Missing or invalid 'candidates' list in JSON".to_owned());
    };
    for (index, candidate) in list.iter().enumerate() {
        if !candidate.is_object() {
            return wrong(format!("Candidate at index {index} is not an object"));
        }
        for name in ["action", "warning", "target_doc_path"] {
            if !candidate[name].is_string() {
                return wrong(format!(
                    "Candidate at index {index} missing '{name}' string"
                ));
            }
        }
    }
    Ok(())
}
