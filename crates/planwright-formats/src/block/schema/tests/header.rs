//! The header of a plan: read, written new, changed.

use super::{Era, Map, Value, json, map, says};
use crate::block::render_yaml;
use crate::block::schema::{
    header_set, in_order, new_header, number_field, text_field, update, update_header,
};
use crate::block::{Content, parse};

#[test]
fn a_new_header_suits_every_era_until_it_names_its_comment() {
    let before = new_header("2026-05-01T10:00:00Z", "ada", "cache-the-index", None);
    assert_eq!(says("plan-header", Era::First, &before), "ok");
    assert_eq!(says("plan-header", Era::Current, &before), "ok");
    let after = new_header("2026-05-01T10:00:00Z", "ada", "cache-the-index", Some(7));
    assert_eq!(
        says("plan-header", Era::First, &after),
        "Unknown fields: plan_comment_id"
    );
    assert_eq!(says("plan-header", Era::Current, &after), "ok");
    assert_eq!(in_order(after.clone()), after, "it is in erk's order");
    assert_eq!(
        says("plan-header", Era::Current, &new_header("t", "", "w", None)),
        "created_by must not be empty"
    );
}

/// PyYAML writes strings without quotes that readers of YAML 1.2 take for numbers.
#[test]
fn a_header_that_erk_has_updated_is_read_and_keeps_its_values() {
    let block = render_yaml(
        "plan-header",
        &map(json!({ "schema_version": "2", "worktree_name": "w" })),
    );
    for value in [
        "1234e567",
        "791e558",
        "0898123",
        "y",
        "1e5",
        "2026-13-45",
        "0o17",
    ] {
        let body = block.replace("worktree_name: w", &format!("worktree_name: {value}"));
        let Content::Yaml(header) = &parse(&body).blocks[0].content else {
            panic!("{body}");
        };
        assert_eq!(text_field(header, "worktree_name").as_deref(), Some(value));
        let updated = update(&body, &map(json!({ "plan_comment_id": 7 }))).unwrap();
        assert!(
            updated.contains(&format!("worktree_name: '{value}'\nplan_comment_id: 7\n")),
            "{updated}"
        );
    }
}

#[test]
fn a_header_is_put_into_erk_s_order() {
    let fields = json!({
        "zzz": 1, "lifecycle_stage": "impl", "review_pr": 2, "objective_issue": null, "aaa": 3, "created_by": "ada",
        "schema_version": "2",
    });
    assert_eq!(
        Value::Object(in_order(map(fields))).to_string(),
        r#"{"schema_version":"2","created_by":"ada","lifecycle_stage":"impl","zzz":1,"review_pr":2,"aaa":3}"#
    );
}

#[test]
fn headers_of_all_ages_are_read() {
    let old = json!({
        "schema_version": 2, "created_at": "2025-11-26", "created_by": "ada", "worktree_name": "w",
        "last_dispatched_run_id": 123, "last_dispatched_at": null, "plan_comment_id": "55", "review_pr": 4,
    });
    let old = map(old);
    for (name, want) in [
        ("schema_version", Some("2")),
        ("created_by", Some("ada")),
        ("last_dispatched_run_id", Some("123")),
        ("last_dispatched_at", None),
        ("branch_name", None),
    ] {
        assert_eq!(text_field(&old, name).as_deref(), want, "{name}");
    }
    assert_eq!(number_field(&old, "plan_comment_id"), Some(55));
    let new = map(json!({
        "created_by": "", "plan_comment_id": -1, "objective_issue": 9, "learned_from_issue": 0, "node_ids": [],
    }));
    assert_eq!(text_field(&new, "created_by"), None);
    assert_eq!(text_field(&new, "node_ids"), None);
    assert_eq!(number_field(&new, "plan_comment_id"), None);
    assert_eq!(number_field(&new, "learned_from_issue"), None);
    assert_eq!(number_field(&new, "objective_issue"), Some(9));
}

fn old() -> Map<String, Value> {
    map(json!({
        "lifecycle_stage": "planned", "schema_version": "2", "created_at": "t", "created_by": "ada", "review_pr": 4,
        "mood": {"a": [1]}, "last_dispatched_at": null, "last_dispatched_run_id": 5,
    }))
}

#[test]
fn an_update_touches_what_is_set_and_nothing_else() {
    let mut fields = old();
    let sets = json!({
        "learn_status": "pending", "last_dispatched_at": "u", "worktree_name": "w", "plan_comment_id": null,
        "last_remote_impl_run_id": 77, "lifecycle_stage": null,
    });
    update_header(&mut fields, &map(sets)).unwrap();
    let want = json!({
        "lifecycle_stage": null, "schema_version": "2", "created_at": "t", "created_by": "ada", "review_pr": 4,
        "mood": {"a": [1]}, "last_dispatched_at": "u", "last_dispatched_run_id": 5, "worktree_name": "w",
        "last_remote_impl_run_id": "77", "learn_status": "pending",
    });
    assert_eq!(
        Value::Object(fields).to_string(),
        want.to_string(),
        "order counts"
    );
}

#[test]
fn an_update_that_is_refused_changes_nothing() {
    for (sets, want) in [
        (
            json!({"created_by": "eve"}),
            "`created_by` is set when the plan is saved and cannot be changed",
        ),
        (
            json!({"schema_version": "2"}),
            "`schema_version` is set when the plan is saved and cannot be changed",
        ),
        (
            json!({"worktree_name": "w", "review_pr": 5, "mood": 1}),
            "Unknown fields: mood, review_pr",
        ),
        (
            json!({"worktree_name": "w", "lifecycle_stage": 5}),
            "lifecycle_stage must be a string or null",
        ),
        (
            json!({"branch_name": ""}),
            "branch_name must not be empty when provided",
        ),
    ] {
        let mut fields = old();
        assert_eq!(
            update_header(&mut fields, &map(sets))
                .unwrap_err()
                .to_string(),
            want
        );
        assert_eq!(fields, old());
    }
}

#[test]
fn a_header_is_updated_inside_its_text() {
    let sets = map(json!({"lifecycle_stage": "impl"}));
    let text = format!(
        "\u{feff}Hello\r\n\n{}\r\n\n---\nbye",
        render_yaml("plan-header", &old())
    );
    let changed = update(&text, &sets).unwrap();
    assert_eq!(
        changed,
        text.replace("lifecycle_stage: planned", "lifecycle_stage: impl")
    );
    assert_eq!(
        update("Hello", &sets).unwrap_err().to_string(),
        "plan-header block not found in issue body"
    );
    let broken = text.replace("created_by: ada", "created_by: [");
    let error = update(&broken, &sets).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "Metadata block 'plan-header' cannot be read and was left as it is: line 4:"
        ),
        "{error}"
    );
    assert_eq!(
        update(&text, &map(json!({"created_at": "u"})))
            .unwrap_err()
            .to_string(),
        "`created_at` is set when the plan is saved and cannot be changed"
    );
}

#[test]
fn a_change_is_given_as_key_and_value() {
    for (pair, value) in [
        ("objective_issue=42", json!(42)),
        ("objective_issue=-4", json!(-4)),
        ("objective_issue=null", Value::Null),
        ("branch_name=null", Value::Null),
        ("last_dispatched_run_id=42", json!("42")),
        ("last_remote_impl_run_id=042", json!("042")),
        ("learn_run_id=7", json!("7")),
        ("branch_name=31", json!("31")),
        ("branch_name=", json!("")),
        (
            "created_from_workflow_run_url=https://x/?a=b",
            json!("https://x/?a=b"),
        ),
        ("something=7", json!(7)),
        (
            "objective_issue=99999999999999999999",
            json!("99999999999999999999"),
        ),
    ] {
        let name = pair.split('=').next().unwrap().to_owned();
        assert_eq!(header_set(pair).unwrap(), (name, value), "{pair}");
    }
    assert_eq!(
        header_set("branch_name").unwrap_err().to_string(),
        "Invalid field format: 'branch_name'. Expected key=value."
    );
}
