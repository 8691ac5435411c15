//! What reading finds odd.

use super::{json, map};
use crate::block::schema::review;

fn found(key: &str, fields: serde_json::Value) -> Vec<String> {
    let found = review(key, &map(fields));
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_header_s_oddities_are_named_and_nothing_is_refused() {
    assert_eq!(
        found(
            "plan-header",
            json!({
                "schema_version": 2, "created_at": "t", "learn_run_id": 77, "plan_comment_id": "31", "plan_type": "odd",
                "review_pr": 9, "colour": "red", "lifecycle_stage": "gone", "objective_issue": "soon",
            })
        ),
        [
            "`created_by` is missing",
            "`schema_version` has the wrong type; it is read as \"2\"",
            "`learn_run_id` has the wrong type; it is read as \"77\"",
            "`plan_comment_id` has the wrong type; it is read as 31",
            "`plan_type` is a field erk no longer uses; it is kept as it is",
            "`review_pr` is a field erk no longer uses; it is kept as it is",
            "`colour` is not a field erk knows; it is kept as it is",
            "lifecycle_stage must be one of: impl, implemented, implementing, planned, planning, prompted. Got 'gone'",
            "objective_issue must be an integer or null",
        ]
    );
}

#[test]
fn every_era_is_fine_in_its_own_words() {
    for (key, fields) in [
        (
            "plan-header",
            json!({
                "schema_version": "2", "created_at": "t", "created_by": "ada", "worktree_name": "w",
                "last_dispatched_run_id": null, "last_dispatched_at": null,
            }),
        ),
        (
            "erk-plan",
            json!({"issue_number": 1, "worktree_name": "w", "timestamp": "t"}),
        ),
        (
            "erk-plan",
            json!({"pr_number": 1, "worktree_name": "w", "timestamp": "t"}),
        ),
        (
            "erk-implementation-status",
            json!({
                "status": "starting", "total_steps": 1, "timestamp": "t", "worktree": "w", "branch": "b",
            }),
        ),
        (
            "erk-implementation-status",
            json!({"status": "failed", "timestamp": "t"}),
        ),
        ("impl-started", json!({"timestamp": "t", "anything": [1]})),
        ("a-key-of-somebody", json!({"x": 1})),
    ] {
        assert_eq!(found(key, fields.clone()), [""; 0], "{key} {fields}");
    }
}

#[test]
fn a_field_is_named_as_it_is_written() {
    let fields =
        json!({"plan_number": 0, "worktree_name": "w", "timestamp": 3, "issue_number": -1});
    assert_eq!(
        found("erk-pr", fields),
        [
            "`plan_number` is not a field erk knows; it is kept as it is",
            "`timestamp` has the wrong type; it is read as \"3\"",
            "issue_number must be positive",
        ]
    );
}

#[test]
fn what_is_inside_a_field_is_looked_at() {
    assert_eq!(
        found(
            "tripwire-candidates",
            json!({"candidates": [{"action": "a"}]})
        ),
        ["Candidate at index 0 missing 'warning' string"]
    );
    assert_eq!(
        found(
            "objective-roadmap",
            json!({"schema_version": "9", "nodes": []})
        ),
        ["Unsupported schema_version: 9"]
    );
    assert_eq!(
        found("tripwire-candidates", json!({})),
        ["`candidates` is missing"]
    );
}

#[test]
fn findings_are_json_for_programs() {
    let found = review(
        "impl-ended",
        &map(json!({"timestamp": 5, "session_id": []})),
    );
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        json!([
            {"field": "timestamp", "oddity": "misspelt", "detail": "\"5\""},
            {"field": "session_id", "oddity": "wrong", "detail": "session_id must be a string or null"},
        ])
    );
    let found = review("impl-ended", &map(json!({})));
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        json!([{"field": "timestamp", "oddity": "missing"}])
    );
}
