//! Odd and unusable payloads.

use crate::engine::model::time::Millis;
use serde_json::{Value, json};

use super::*;

#[test]
fn times_may_be_numbers() {
    let body = with(CREATED, &[("/comment/created_at", json!(1_763_633_700))]);
    assert_eq!(
        one(decided("issue_comment", &body)).at,
        Millis(1_763_633_700_000)
    );
}

#[test]
fn an_unusable_payload_names_the_member() {
    let cases = [
        (
            with(CREATED, &[("/comment/id", json!("seven"))]),
            "the `issue_comment` payload cannot be used: invalid type: string \"seven\", expected u64",
            "(at `comment.id`)",
        ),
        (
            with(CREATED, &[("/repository/owner/login", Value::Null)]),
            "the `issue_comment` payload cannot be used: missing field `login`",
            "(at `repository.owner`)",
        ),
        (
            with(CREATED, &[("/comment/created_at", json!("yesterday"))]),
            "the `issue_comment` payload cannot be used: invalid value: string \"yesterday\", expected a time as RFC 3339 text",
            "(at `comment.created_at`)",
        ),
        (
            with(CREATED, &[("/comment/created_at", json!(u64::MAX))]),
            "the `issue_comment` payload cannot be used: invalid value: integer",
            "(at `comment.created_at`)",
        ),
        (
            "{".to_owned(),
            "the `issue_comment` payload cannot be used: EOF while parsing",
            "(at `",
        ),
        (
            " [".to_owned(),
            "the `issue_comment` payload cannot be used: it is not a JSON object",
            "(at `.`)",
        ),
        (
            with(CREATED, &[("/repository/id", json!(1_u64 << 63))]),
            "the `issue_comment` payload cannot be used: 9223372036854775808 is not a GitHub id",
            "(at `repository.id`)",
        ),
        (
            format!("{CREATED} trailing"),
            "the `issue_comment` payload cannot be used: trailing characters",
            "(at `.`)",
        ),
    ];
    for (body, start, end) in cases {
        let error = decide("issue_comment", body.as_bytes(), &facts()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(end), "{text}");
    }
}
