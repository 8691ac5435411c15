//! Responses: described statuses, open objects, and GitHub's error shapes.

use serde_json::json;

use crate::support::openapi::github;

#[test]
fn answers_are_checked_with_open_objects() {
    let Some(github) = github() else { return };
    let label = json!({
        "id": 1, "node_id": "n", "url": "https://example.com/l", "name": "a",
        "color": "0e8a16", "default": false, "description": null, "more": 1,
    });
    let error = json!({ "message": "Not Found", "documentation_url": "https://example.com", "status": "404" });
    let invalid = json!({
        "message": "Validation Failed", "documentation_url": "https://example.com",
        "errors": [{ "resource": "Label", "field": "name", "code": "already_exists" }],
    });
    let mut wrong = label.clone();
    wrong["url"] = json!("not an address");
    let mut missing = label.clone();
    missing.as_object_mut().unwrap().remove("color");
    let labels = ("POST", "/repos/o/r/labels");
    let gone = ("DELETE", "/repos/o/r/issues/comments/1");
    let table = [
        (labels, 201, label.to_string(), ""),
        (
            labels,
            200,
            label.to_string(),
            "status 200 is not described",
        ),
        (labels, 201, wrong.to_string(), "not an address"),
        (labels, 201, missing.to_string(), "color"),
        (labels, 201, String::new(), "not JSON"),
        (labels, 422, invalid.to_string(), ""),
        (
            labels,
            422,
            json!({ "message": "m" }).to_string(),
            "documentation_url",
        ),
        (labels, 403, error.to_string(), ""),
        (labels, 307, error.to_string(), ""),
        (labels, 502, error.to_string(), ""),
        (labels, 502, "<html>".to_owned(), "error body is not JSON"),
        (
            labels,
            429,
            json!({ "massage": "m" }).to_string(),
            "no `message`",
        ),
        (labels, 418, error.to_string(), "status 418"),
        (gone, 204, String::new(), ""),
        (gone, 204, "{}".to_owned(), "without a body"),
    ];
    for ((method, path), status, body, expected) in table {
        let found = github
            .check_response(method, path, status, body.as_bytes())
            .join("\n");
        assert_eq!(
            found.is_empty(),
            expected.is_empty(),
            "{status} {body}: {found}"
        );
        assert!(found.contains(expected), "{status} {body}: {found}");
    }
}
