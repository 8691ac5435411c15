//! Requests: closed objects, described parameters, and the rules that are documented in prose.

use http::HeaderValue;
use serde_json::json;

use super::{headers, request};
use crate::support::openapi::{Client, github};

#[test]
fn requests_are_checked_with_closed_objects() {
    let Some(github) = github() else { return };
    let issues = "/repos/o/r/issues";
    let long = |chars: usize| json!({ "body": "ü".repeat(chars) }).to_string();
    let table: [(&str, &str, &str, &str); 21] = [
        (
            "POST",
            issues,
            r#"{"title":"t","body":"b","labels":["erk-plan"]}"#,
            "",
        ),
        (
            "POST",
            issues,
            r#"{"title":"t","labels":[{"name":"a"}],"milestone":null}"#,
            "",
        ),
        ("POST", issues, r#"{"title":"t","labls":[]}"#, "labls"),
        (
            "POST",
            issues,
            r#"{"title":"t","labels":[{"nam":"a"}]}"#,
            "labels",
        ),
        ("POST", issues, r#"{"body":"b"}"#, "title"),
        ("POST", issues, "", "required body is missing"),
        ("POST", issues, "{", "not JSON"),
        ("GET", issues, "{}", "none is described"),
        (
            "GET",
            "/repos/o/r/issues?per_page=100&state=all&labels=erk-plan&since=2026-01-01T00:00:00Z",
            "",
            "",
        ),
        (
            "GET",
            "/repos/o/r/issues?per_page=101",
            "",
            "per_page is 101",
        ),
        (
            "GET",
            "/repos/o/r/issues?stat=all",
            "",
            "`stat` is not described",
        ),
        (
            "GET",
            "/repos/o/r/issues?state=any",
            "",
            "`state` cannot be `any`",
        ),
        ("GET", "/repos/o/r/issues?page=1&page=2", "", "given twice"),
        ("GET", "/search/issues?page=1", "", "`q` is missing"),
        (
            "GET",
            "/repos/o/r/issues/seven",
            "",
            "`issue_number` cannot be `seven`",
        ),
        (
            "POST",
            "/repos/o/r/labels",
            r##"{"name":"a","color":"#0e8a16"}"##,
            "six hexadecimal",
        ),
        (
            "POST",
            "/repos/o/r/issues/1/reactions",
            r#"{"content":"tada"}"#,
            "tada",
        ),
        (
            "POST",
            "/repos/o/r/check-runs",
            r#"{"name":"n","head_sha":"s","status":"completed","conclusion":"success"}"#,
            "",
        ),
        (
            "POST",
            "/repos/o/r/check-runs",
            r#"{"name":"n","head_sha":"s","statsu":"completed"}"#,
            "statsu",
        ),
        (
            "POST",
            "/app/installations/1/access_tokens",
            r#"{"permissions":{"isues":"write"}}"#,
            "isues",
        ),
        ("POST", "/graphql", "{}", "no such operation"),
    ];
    let comments = "/repos/o/r/issues/1/comments";
    let limits = [
        ("POST", comments, long(65_536), ""),
        ("POST", comments, long(65_537), "65537 characters"),
        (
            "PATCH",
            "/repos/o/r/labels/a",
            json!({ "description": "d".repeat(101) }).to_string(),
            "101 characters",
        ),
        (
            "POST",
            issues,
            json!({ "title": "t".repeat(257) }).to_string(),
            "257 characters",
        ),
    ];
    let annotated = |more: serde_json::Value| {
        let mut one = json!({
            "path": "p", "start_line": 1, "end_line": 2, "annotation_level": "notice", "message": "m",
        });
        one.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let output = json!({"title": "t", "summary": "s", "annotations": [one]});
        json!({"name": "n", "head_sha": "s", "output": output}).to_string()
    };
    let runs = "/repos/o/r/check-runs";
    let checks = [
        (
            "POST",
            runs,
            annotated(json!({"title": "t".repeat(255)})),
            "",
        ),
        (
            "POST",
            runs,
            annotated(json!({"title": "t".repeat(256)})),
            "title of an annotation",
        ),
        (
            "POST",
            runs,
            annotated(json!({"message": "m".repeat(65_537)})),
            "`message` of an",
        ),
        (
            "POST",
            runs,
            annotated(json!({"start_column": 1})),
            "columns are for",
        ),
        (
            "POST",
            runs,
            r#"{"name":"n","head_sha":"s","status":"completed"}"#.to_owned(),
            "conclusion",
        ),
        (
            "PATCH",
            "/repos/o/r/check-runs/1",
            r#"{"conclusion":"stale"}"#.to_owned(),
            "stale",
        ),
    ];
    let table =
        table.map(|(method, path, body, expected)| (method, path, body.to_owned(), expected));
    for (method, path, body, expected) in table.into_iter().chain(limits).chain(checks) {
        let found = request(github, method, path, &body).join("\n");
        assert_eq!(
            found.is_empty(),
            expected.is_empty(),
            "{method} {path}: {found}"
        );
        assert!(found.contains(expected), "{method} {path}: {found}");
    }
}

#[test]
fn headers_are_checked_by_hand() {
    let Some(github) = github() else { return };
    let check = |client, name: &'static str, value: Option<&'static str>, path: &str| {
        let mut all = headers("Bearer ghs_1");
        all.remove(name);
        if let Some(value) = value {
            all.insert(name, HeaderValue::from_static(value));
        }
        github
            .check_request(client, "GET", path, &all, b"")
            .join("\n")
    };
    let ours = Client::Planwright;
    let path = "/repos/o/r";
    assert_eq!(check(ours, "x-nothing", None, path), "");
    assert_eq!(check(ours, "authorization", None, "/rate_limit"), "");
    for (name, value, text) in [
        ("accept", None, "header Accept is None"),
        ("accept", Some("application/json"), "header Accept is Some"),
        ("x-github-api-version", None, "header X-GitHub-Api-Version"),
        ("x-github-api-version", Some("2021-01-01"), "2021-01-01"),
        ("user-agent", None, "User-Agent is missing"),
        ("authorization", None, "Authorization is missing"),
        ("authorization", Some("token ghs_1"), "scheme `token`"),
        ("authorization", Some("Bearer eyJ.eyJ.x"), "not the JWT"),
        (
            "authorization",
            Some("Bearer github_pat_1"),
            "not an installation token",
        ),
    ] {
        let found = check(ours, name, value, path);
        assert!(found.contains(text), "{name} {value:?}: {found}");
        assert!(
            !found.contains("ghs_1") && !found.contains("_pat_1"),
            "{found}"
        );
    }
    assert!(check(ours, "x-nothing", None, "/app").contains("needs the App's JWT"));
    assert_eq!(check(Client::Other, "x-github-api-version", None, path), "");
    assert_eq!(
        check(Client::Other, "authorization", Some("token ghs_1"), path),
        ""
    );
}
