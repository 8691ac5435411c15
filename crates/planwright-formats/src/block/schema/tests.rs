//! Schemas in own examples: each error text, each era, tolerance and updates.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde_json::{Map, Value, json};

use super::{Era, all, check, write};
use crate::block::{Content, parse, render_yaml};

mod events;
mod generated;
mod header;
mod review;

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not fields: {other}"),
    }
}

/// `base` with `changes`; what is changed to `"-"` is taken out.
fn with(base: &Value, changes: &Value) -> Map<String, Value> {
    let mut fields = map(base.clone());
    for (name, value) in map(changes.clone()) {
        if value == "-" {
            fields.remove(&name);
        } else {
            fields.insert(name, value);
        }
    }
    fields
}

fn says(key: &str, era: Era, fields: &Map<String, Value>) -> String {
    match check(key, era, fields) {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn table(key: &str, era: Era, base: &Value, cases: &[(Value, &str)]) {
    assert_eq!(says(key, era, &map(base.clone())), "ok", "{key}");
    for (changes, want) in cases {
        assert_eq!(
            says(key, era, &with(base, changes)),
            *want,
            "{key}: {changes}"
        );
    }
}

#[test]
fn a_header_of_the_current_era() {
    let base =
        json!({"schema_version": "2", "created_at": "2026-04-02T09:00:00Z", "created_by": "ada"});
    let cases = [
        (
            json!({"created_by": "-", "created_at": "-"}),
            "Missing required fields: created_at, created_by",
        ),
        (
            json!({"schema_version": 2}),
            "Invalid schema_version '2'. Must be '2'",
        ),
        (
            json!({"schema_version": null}),
            "Invalid schema_version 'None'. Must be '2'",
        ),
        (json!({"created_at": {}}), "created_at must be a string"),
        (json!({"created_by": ""}), "created_by must not be empty"),
        (json!({"worktree_name": null, "branch_name": "a"}), "ok"),
        (
            json!({"branch_name": 7}),
            "branch_name must be a string or null",
        ),
        (
            json!({"branch_name": ""}),
            "branch_name must not be empty when provided",
        ),
        (json!({"plan_comment_id": true}), "ok"),
        (
            json!({"plan_comment_id": false}),
            "plan_comment_id must be positive when provided",
        ),
        (
            json!({"plan_comment_id": 1.0}),
            "plan_comment_id must be an integer or null",
        ),
        (json!({"plan_comment_id": u64::MAX}), "ok"),
        (json!({"learn_run_id": 31}), "ok"),
        (
            json!({"learn_run_id": 3.1}),
            "learn_run_id must be a string or null",
        ),
        (json!({"last_dispatched_at": ""}), "ok"),
        (
            json!({"last_local_impl_event": "paused"}),
            "last_local_impl_event must be 'started' or 'ended', got 'paused'",
        ),
        (
            json!({"last_session_source": 1}),
            "last_session_source must be a string or null",
        ),
        (
            json!({"source_repo": "widgets"}),
            "source_repo must be in 'owner/repo' format",
        ),
        (
            json!({"source_repo": ""}),
            "source_repo must not be empty when provided",
        ),
        (json!({"node_ids": []}), "ok"),
        (json!({"node_ids": {}}), "node_ids must be a list or null"),
        (
            json!({"node_ids": ["1.1", null]}),
            "node_ids items must be strings",
        ),
        (
            json!({"learn_status": "done"}),
            "learn_status must be one of: completed_no_plan, completed_with_plan, not_started, pending, pending_review, plan_completed. Got 'done'",
        ),
        (
            json!({"lifecycle_stage": ["impl"]}),
            "lifecycle_stage must be a string or null",
        ),
        (
            json!({"review_pr": 3, "colour": 1}),
            "Unknown fields: colour, review_pr",
        ),
    ];
    table("plan-header", Era::Current, &base, &cases);
}

#[test]
fn a_header_of_the_first_era() {
    let base = json!({
        "schema_version": "2", "created_at": "2025-11-26", "created_by": "ada", "worktree_name": "w",
        "last_dispatched_run_id": null, "last_dispatched_at": "2025-11-27",
    });
    let cases = [
        (
            json!({"worktree_name": "-"}),
            "Missing required fields: worktree_name",
        ),
        (
            json!({"worktree_name": null}),
            "worktree_name must be a string",
        ),
        (
            json!({"last_dispatched_run_id": 12}),
            "last_dispatched_run_id must be a string or null",
        ),
        (
            json!({"plan_comment_id": 12}),
            "Unknown fields: plan_comment_id",
        ),
    ];
    table("plan-header", Era::First, &base, &cases);
}

#[test]
fn objectives() {
    let header =
        json!({"created_at": "t", "created_by": "ada", "slug": null, "objective_comment_id": 3});
    let cases = [
        (json!({"slug": 1}), "slug must be a string"),
        (json!({"slug": ""}), "slug must not be empty when provided"),
        (
            json!({"objective_comment_id": "3"}),
            "objective_comment_id must be an integer or null",
        ),
        (json!({"title": "x"}), "Unknown fields: title"),
    ];
    table("objective-header", Era::Current, &header, &cases);
    let node = |more: Value| json!({"nodes": [with(&json!({"id": "1.1", "description": "d", "status": "-"}), &more)]});
    let roadmap = json!({
        "schema_version": "4",
        "nodes": [{"id": "1.1", "description": "d", "status": "done", "pr": null, "depends_on": ["1.0"]}],
    });
    let cases = [
        (
            json!({"schema_version": "1"}),
            "Unsupported schema_version: 1",
        ),
        (
            json!({"nodes": "-"}),
            "Missing required field: nodes (or steps for v2)",
        ),
        (json!({"nodes": "-", "steps": []}), "ok"),
        (json!({"nodes": 1}), "Field 'steps' must be a list"),
        (json!({"nodes": [[]]}), "Step 0 is not a mapping"),
        (node(json!({})), "ok"),
        (
            node(json!({"id": "-"})),
            "Step 0 missing required field: id",
        ),
        (
            node(json!({"description": 1})),
            "Step 0 field 'description' must be a string",
        ),
        (
            node(json!({"status": "open"})),
            "Step 0 field 'status' must be one of: pending, planning, done, in_progress, blocked, skipped",
        ),
        (
            node(json!({"pr": 3})),
            "Step 0 field 'pr' must be a string or null",
        ),
        (
            node(json!({"depends_on": "1.0"})),
            "Step 0 field 'depends_on' must be a list or null",
        ),
        (
            node(json!({"depends_on": ["1.0", 1]})),
            "Step 0 field 'depends_on' item 1 must be a string",
        ),
    ];
    table("objective-roadmap", Era::Current, &roadmap, &cases);
}

#[test]
fn a_key_nobody_knows_is_not_written() {
    for (key, era) in [
        ("plan-footer", Era::Current),
        ("objective-header", Era::First),
    ] {
        assert_eq!(
            says(key, era, &Map::new()),
            format!(
                "there is no schema for `{key}` blocks: use one of erk's keys, such as `workflow-started`"
            )
        );
    }
}

#[test]
fn writing_checks_and_keeps_run_ids_text() {
    let fields = map(json!({
        "schema_version": "2", "created_at": "t", "created_by": "ada", "last_dispatched_run_id": 123,
    }));
    let text = write("plan-header", &fields).unwrap();
    assert!(text.contains("\nlast_dispatched_run_id: '123'\n"), "{text}");
    assert_eq!(
        write("plan-header", &Map::new()).unwrap_err().to_string(),
        "Missing required fields: created_at, created_by, schema_version"
    );
}

#[test]
fn an_event_with_an_issue_number_suits_every_era() {
    let fields = map(json!({
        "status": "started", "started_at": "t", "workflow_run_id": "1", "workflow_run_url": "u", "issue_number": 3,
    }));
    assert!(
        write("workflow-started", &fields)
            .unwrap()
            .contains("\nissue_number: 3\n")
    );
    assert_eq!(says("workflow-started", Era::First, &fields), "ok");
}
