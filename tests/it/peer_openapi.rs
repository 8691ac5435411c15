//! Tests of the checker on GitHub's OpenAPI description: it finds the right operation, accepts
//! GitHub's own examples, and detects nearly every misspelt member in them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod answers;
mod documentation;
mod published;
mod requests;
mod tap;

use http::{HeaderMap, HeaderValue};

use crate::support::openapi::{Client, Description, github};

fn headers(token: &'static str) -> HeaderMap {
    let mut all = HeaderMap::new();
    for (name, value) in [
        ("accept", "application/vnd.github+json"),
        ("x-github-api-version", "2022-11-28"),
        ("user-agent", "planwright/0.1"),
        ("authorization", token),
        ("content-type", "application/json; charset=utf-8"),
    ] {
        all.insert(name, HeaderValue::from_static(value));
    }
    all
}

/// Violations of a request with the right headers for the path.
fn request(github: &Description, method: &str, path: &str, body: &str) -> Vec<String> {
    let app = path.starts_with("/app") || path.ends_with("/installation");
    let token = if app {
        "Bearer eyJ.eyJ.x"
    } else {
        "Bearer ghs_1_eyJ.a.b"
    };
    github.check_request(
        Client::Planwright,
        method,
        path,
        &headers(token),
        body.as_bytes(),
    )
}

#[test]
fn literal_segments_win_over_variables() {
    let Some(github) = github() else { return };
    let table = [
        (
            "GET",
            "/repos/o/r/issues/comments/1",
            "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
        ),
        (
            "GET",
            "/repos/o/r/issues/1/comments",
            "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
        ),
        (
            "get",
            "/repositories/1000/issues",
            "GET /repos/{owner}/{repo}/issues",
        ),
        ("GET", "/repositories/1000", "GET /repos/{owner}/{repo}"),
        ("GET", "/api/v3/app", "GET /app"),
        (
            "GET",
            "/repos/o/r/contents/.github/a/b.md",
            "GET /repos/{owner}/{repo}/contents/{path}",
        ),
        (
            "GET",
            "/repos/o/r/git/ref/heads/main",
            "GET /repos/{owner}/{repo}/git/ref/{ref}",
        ),
        (
            "GET",
            "/repos/o/r/commits/a/b/check-runs",
            "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
        ),
        (
            "GET",
            "/repos/o/r/labels/a%2Fb",
            "GET /repos/{owner}/{repo}/labels/{name}",
        ),
    ];
    for (method, path, expected) in table {
        let found = github
            .operation(method, path)
            .map(|operation| operation.name());
        assert_eq!(found.as_deref(), Some(expected), "{method} {path}");
    }
    for path in [
        "/repositories/a/issues",
        "/repos/o/r/issue",
        "/repos/o//issues",
        "issues",
    ] {
        assert!(github.operation("GET", path).is_none(), "{path}");
    }
}
