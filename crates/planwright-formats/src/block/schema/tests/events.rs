//! What may be said about an implementation.

use super::{Era, json, table};

#[test]
fn what_happened_to_a_plan() {
    let queued = json!({
        "status": "queued", "queued_at": "t", "submitted_by": "ada", "issue_number": 4, "validation_results": {},
        "expected_workflow": "implement.yml", "trigger_mechanism": "label-based-webhook", "more": 1,
    });
    for era in [Era::First, Era::Current] {
        let cases = [
            (
                json!({"status": "started"}),
                "Invalid status 'started'. Must be 'queued'",
            ),
            (
                json!({"status": true}),
                "Invalid status 'True'. Must be 'queued'",
            ),
            (
                json!({"validation_results": []}),
                "validation_results must be a dict",
            ),
            (
                json!({"submitted_by": null}),
                "submitted_by must be a string",
            ),
        ];
        table("submission-queued", era, &queued, &cases);
    }
    let started = json!({
        "status": "started", "started_at": "t", "workflow_run_id": "9", "workflow_run_url": "u", "plan_number": 4,
    });
    let cases = [
        (json!({"plan_number": "-", "pr_number": 4}), "ok"),
        (
            json!({"plan_number": "-"}),
            "Missing required fields: pr_number",
        ),
        (json!({"plan_number": 0}), "pr_number must be positive"),
        (
            json!({"issue_number": 4, "pr_number": 4, "plan_number": "-"}),
            "Unknown fields: issue_number",
        ),
        (
            json!({"workflow_run_id": 9}),
            "workflow_run_id must be a string",
        ),
        (
            json!({"worktree_path": ""}),
            "worktree_path must not be empty",
        ),
    ];
    table("workflow-started", Era::Current, &started, &cases);
    let retry = json!({"retry_timestamp": "t", "triggered_by": "ada", "retry_count": 2});
    let cases = [
        (json!({"retry_count": 0}), "retry_count must be at least 1"),
        (
            json!({"retry_count": "2"}),
            "retry_count must be an integer",
        ),
        (
            json!({"previous_retry_timestamp": null}),
            "previous_retry_timestamp must be a string",
        ),
        (json!({"again": 1}), "Unknown fields: again"),
    ];
    table("plan-retry", Era::First, &retry, &cases);
    let worktree =
        json!({"worktree_name": "w", "branch_name": "b", "timestamp": "t", "issue_number": 4});
    let cases = [
        (
            json!({"issue_number": "4"}),
            "issue_number must be an integer",
        ),
        (
            json!({"pr_number": 4, "issue_number": "-"}),
            "Unknown fields: pr_number",
        ),
    ];
    table("erk-worktree-creation", Era::First, &worktree, &cases);
    let plan =
        json!({"issue_number": 4, "worktree_name": "w", "timestamp": "t", "plan_file": "p.md"});
    table(
        "erk-plan",
        Era::First,
        &plan,
        &[(json!({"plan_file": ""}), "plan_file must not be empty")],
    );
    table(
        "erk-pr",
        Era::Current,
        &plan,
        &[(json!({"issue_number": -1}), "pr_number must be positive")],
    );
}

#[test]
fn how_far_an_implementation_is() {
    let key = "erk-implementation-status";
    let base =
        json!({"status": "in_progress", "completed_steps": 1, "total_steps": 2, "timestamp": "t"});
    let cases = [
        (
            json!({"completed_steps": 3}),
            "completed_steps cannot exceed total_steps",
        ),
        (
            json!({"completed_steps": -1}),
            "completed_steps must be non-negative",
        ),
        (json!({"total_steps": 0}), "total_steps must be at least 1"),
        (json!({"total_steps": true}), "ok"),
        (
            json!({"status": "done"}),
            "Invalid status 'done'. Must be one of: complete, failed, in_progress, pending",
        ),
        (
            json!({"status": "starting"}),
            "Missing required fields: branch, worktree",
        ),
    ];
    table(key, Era::First, &base, &cases);
    table(
        key,
        Era::Current,
        &base,
        &[(json!({"completed_steps": "-", "total_steps": "-"}), "ok")],
    );
    let start = json!({"status": "starting", "total_steps": 3, "timestamp": "t", "worktree": "w", "branch": "b"});
    let cases = [
        (
            json!({"status": "failed"}),
            "Invalid status 'failed'. Must be 'starting'",
        ),
        (json!({"branch": ""}), "branch must not be empty"),
    ];
    table(key, Era::First, &start, &cases);
}

#[test]
fn blocks_that_erk_writes_without_a_schema() {
    let published = json!({
        "status": "pr_published", "pr_number": 8, "pr_url": "https://x/8", "branch_name": "b", "timestamp": "t",
    });
    table(
        "erk-pr-published",
        Era::Current,
        &published,
        &[(json!({"pr_number": 0}), "pr_number must be positive")],
    );
    let session = json!({"timestamp": "t", "session_id": null, "outcome": "success"});
    for key in ["impl-started", "impl-ended", "learn-invoked"] {
        table(
            key,
            Era::Current,
            &session,
            &[(
                json!({"timestamp": "-"}),
                "Missing required fields: timestamp",
            )],
        );
    }
    let wires = json!({"candidates": [{"action": "a", "warning": "w", "target_doc_path": "d.md"}]});
    let cases = [
        (
            json!({"candidates": {}}),
            "Missing or invalid 'candidates' list in JSON",
        ),
        (
            json!({"candidates": [1]}),
            "Candidate at index 0 is not an object",
        ),
        (
            json!({"candidates": [{"action": "a"}]}),
            "Candidate at index 0 missing 'warning' string",
        ),
    ];
    table("tripwire-candidates", Era::Current, &wires, &cases);
}
