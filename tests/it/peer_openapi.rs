//! The checker on GitHub's OpenAPI description is itself checked: it finds the right operation, accepts
//! GitHub's own examples, and notices nearly every misspelt member in them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::{Map, Value, json};
use tower::ServiceExt;

use crate::support::openapi::tap::Tap;
use crate::support::openapi::{Client, Description, github};

/// What Planwright asks of GitHub: method, a path, and whether it has the JWT.
const OPERATIONS: [(&str, &str); 28] = [
    ("GET", "/app"),
    ("GET", "/app/hook/deliveries"),
    ("POST", "/app/hook/deliveries/1/attempts"),
    ("GET", "/app/installations"),
    ("POST", "/app/installations/1/access_tokens"),
    ("GET", "/repos/o/r"),
    ("GET", "/repos/o/r/installation"),
    ("GET", "/repos/o/r/collaborators/u/permission"),
    ("GET", "/repos/o/r/contents/docs/plan.md"),
    ("GET", "/repos/o/r/issues"),
    ("POST", "/repos/o/r/issues"),
    ("GET", "/repos/o/r/issues/1"),
    ("PATCH", "/repos/o/r/issues/1"),
    ("GET", "/repos/o/r/issues/1/comments"),
    ("POST", "/repos/o/r/issues/1/comments"),
    ("GET", "/repos/o/r/issues/comments/1"),
    ("PATCH", "/repos/o/r/issues/comments/1"),
    ("POST", "/repos/o/r/issues/comments/1/reactions"),
    ("POST", "/repos/o/r/issues/1/reactions"),
    ("POST", "/repos/o/r/issues/1/labels"),
    ("DELETE", "/repos/o/r/issues/1/labels/save-plan"),
    ("GET", "/repos/o/r/labels/erk-plan"),
    ("POST", "/repos/o/r/labels"),
    ("GET", "/repos/o/r/pulls/1"),
    ("GET", "/repos/o/r/pulls/1/comments"),
    ("GET", "/repos/o/r/pulls/1/reviews"),
    ("GET", "/repos/o/r/pulls/1/files"),
    ("GET", "/rate_limit"),
];

/// Published examples that contradict the published schemas: operation and status.
const KNOWN_BAD: [(&str, u16); 5] = [
    ("POST /app/hook/deliveries/{delivery_id}/attempts", 202),
    ("GET /app/installations", 200),
    ("GET /repos/{owner}/{repo}", 200),
    (
        "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
        200,
    ),
    ("GET /repos/{owner}/{repo}/pulls/{pull_number}", 200),
];

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
    let token = if app { "Bearer eyJ.eyJ.x" } else { "Bearer ghs_1_eyJ.a.b" };
    github.check_request(Client::Planwright, method, path, &headers(token), body.as_bytes())
}

#[test]
fn literal_segments_win_over_variables() {
    let Some(github) = github() else { return };
    let table = [
        ("GET", "/repos/o/r/issues/comments/1", "GET /repos/{owner}/{repo}/issues/comments/{comment_id}"),
        ("GET", "/repos/o/r/issues/1/comments", "GET /repos/{owner}/{repo}/issues/{issue_number}/comments"),
        ("get", "/repositories/1000/issues", "GET /repos/{owner}/{repo}/issues"),
        ("GET", "/repositories/1000", "GET /repos/{owner}/{repo}"),
        ("GET", "/api/v3/app", "GET /app"),
        ("GET", "/repos/o/r/contents/.github/a/b.md", "GET /repos/{owner}/{repo}/contents/{path}"),
        ("GET", "/repos/o/r/git/ref/heads/main", "GET /repos/{owner}/{repo}/git/ref/{ref}"),
        ("GET", "/repos/o/r/commits/a/b/check-runs", "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"),
        ("GET", "/repos/o/r/labels/a%2Fb", "GET /repos/{owner}/{repo}/labels/{name}"),
    ];
    for (method, path, expected) in table {
        let found = github.operation(method, path).map(|operation| operation.name());
        assert_eq!(found.as_deref(), Some(expected), "{method} {path}");
    }
    for path in ["/repositories/a/issues", "/repos/o/r/issue", "/repos/o//issues", "issues"] {
        assert!(github.operation("GET", path).is_none(), "{path}");
    }
}

#[test]
fn requests_are_checked_with_closed_objects() {
    let Some(github) = github() else { return };
    let issues = "/repos/o/r/issues";
    let long = |chars: usize| json!({ "body": "ü".repeat(chars) }).to_string();
    let table: [(&str, &str, &str, &str); 21] = [
        ("POST", issues, r#"{"title":"t","body":"b","labels":["erk-plan"]}"#, ""),
        ("POST", issues, r#"{"title":"t","labels":[{"name":"a"}],"milestone":null}"#, ""),
        ("POST", issues, r#"{"title":"t","labls":[]}"#, "labls"),
        ("POST", issues, r#"{"title":"t","labels":[{"nam":"a"}]}"#, "labels"),
        ("POST", issues, r#"{"body":"b"}"#, "title"),
        ("POST", issues, "", "required body is missing"),
        ("POST", issues, "{", "not JSON"),
        ("GET", issues, "{}", "none is described"),
        ("GET", "/repos/o/r/issues?per_page=100&state=all&labels=erk-plan&since=2026-01-01T00:00:00Z", "", ""),
        ("GET", "/repos/o/r/issues?per_page=101", "", "per_page is 101"),
        ("GET", "/repos/o/r/issues?stat=all", "", "`stat` is not described"),
        ("GET", "/repos/o/r/issues?state=any", "", "`state` cannot be `any`"),
        ("GET", "/repos/o/r/issues?page=1&page=2", "", "given twice"),
        ("GET", "/search/issues?page=1", "", "`q` is missing"),
        ("GET", "/repos/o/r/issues/seven", "", "`issue_number` cannot be `seven`"),
        ("POST", "/repos/o/r/labels", r##"{"name":"a","color":"#0e8a16"}"##, "six hexadecimal"),
        ("POST", "/repos/o/r/issues/1/reactions", r#"{"content":"tada"}"#, "tada"),
        ("POST", "/repos/o/r/check-runs", r#"{"name":"n","head_sha":"s","status":"completed","conclusion":"success"}"#, ""),
        ("POST", "/repos/o/r/check-runs", r#"{"name":"n","head_sha":"s","statsu":"completed"}"#, "statsu"),
        ("POST", "/app/installations/1/access_tokens", r#"{"permissions":{"isues":"write"}}"#, "isues"),
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
        ("POST", issues, json!({ "title": "t".repeat(257) }).to_string(), "257 characters"),
    ];
    let table = table.map(|(method, path, body, expected)| (method, path, body.to_owned(), expected));
    for (method, path, body, expected) in table.into_iter().chain(limits) {
        let found = request(github, method, path, &body).join("\n");
        assert_eq!(found.is_empty(), expected.is_empty(), "{method} {path}: {found}");
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
        github.check_request(client, "GET", path, &all, b"").join("\n")
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
        ("authorization", Some("Bearer github_pat_1"), "not an installation token"),
    ] {
        let found = check(ours, name, value, path);
        assert!(found.contains(text), "{name} {value:?}: {found}");
        assert!(!found.contains("ghs_1") && !found.contains("_pat_1"), "{found}");
    }
    assert!(check(ours, "x-nothing", None, "/app").contains("needs the App's JWT"));
    assert_eq!(check(Client::Other, "x-github-api-version", None, path), "");
    assert_eq!(check(Client::Other, "authorization", Some("token ghs_1"), path), "");
}

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
        (labels, 200, label.to_string(), "status 200 is not described"),
        (labels, 201, wrong.to_string(), "not an address"),
        (labels, 201, missing.to_string(), "color"),
        (labels, 201, String::new(), "not JSON"),
        (labels, 422, invalid.to_string(), ""),
        (labels, 422, json!({ "message": "m" }).to_string(), "documentation_url"),
        (labels, 403, error.to_string(), ""),
        (labels, 502, error.to_string(), ""),
        (labels, 502, "<html>".to_owned(), "error body is not JSON"),
        (labels, 429, json!({ "massage": "m" }).to_string(), "no `message`"),
        (labels, 418, error.to_string(), "status 418"),
        (gone, 204, String::new(), ""),
        (gone, 204, "{}".to_owned(), "without a body"),
    ];
    for ((method, path), status, body, expected) in table {
        let found = github.check_response(method, path, status, body.as_bytes()).join("\n");
        assert_eq!(found.is_empty(), expected.is_empty(), "{status} {body}: {found}");
        assert!(found.contains(expected), "{status} {body}: {found}");
    }
}

#[test]
fn published_examples_pass() {
    let Some(github) = github() else { return };
    let mut requests = 0;
    let mut answers = 0;
    for (method, path) in OPERATIONS {
        let operation = github.operation(method, path).expect(path);
        let name = operation.name();
        for (_, body) in github.request_examples(&operation) {
            let found = request(github, method, path, &body.to_string());
            assert_eq!(found, Vec::<String>::new(), "{name}: {body}");
            requests += 1;
        }
        for (_, status, body) in github.response_examples(&operation) {
            let found = github.check_response(method, path, status, body.to_string().as_bytes());
            let bad = KNOWN_BAD.contains(&(name.as_str(), status));
            assert!(bad || found.is_empty(), "{name} {status}: {found:?}");
            answers += 1;
        }
    }
    println!("published examples: {requests} requests, {answers} answers");
    assert!(requests >= 9 && answers >= 25, "{requests} requests, {answers} answers");
}

#[test]
fn nearly_every_misspelt_member_is_noticed() {
    let Some(github) = github() else { return };
    let (mut sent, mut sent_caught) = (0_u32, 0_u32);
    let (mut got, mut got_caught) = (0_u32, 0_u32);
    for (method, path) in OPERATIONS {
        let operation = github.operation(method, path).expect(path);
        for (_, body) in github.request_examples(&operation) {
            for wrong in misspellings(&body) {
                sent += 1;
                sent_caught += u32::from(!request(github, method, path, &wrong.to_string()).is_empty());
            }
        }
        for (_, status, body) in github.response_examples(&operation) {
            let check = |body: &Value| {
                let found = github.check_response(method, path, status, body.to_string().as_bytes());
                found.is_empty()
            };
            if !(200..300).contains(&status) || !check(&body) {
                continue;
            }
            for wrong in misspellings(&body) {
                got += 1;
                got_caught += u32::from(!check(&wrong));
            }
        }
    }
    println!("misspelt members noticed: requests {sent_caught} of {sent}, answers {got_caught} of {got}");
    assert!(sent >= 15 && got >= 200, "too few members: {sent} and {got}");
    assert!(sent_caught * 100 >= sent * 90, "requests: {sent_caught} of {sent}");
    assert!(got_caught * 100 >= got * 80, "answers: {got_caught} of {got}");
}

/// The value with each of its members misspelt in turn; of an array, those of its first item.
fn misspellings(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => map.keys().map(|key| misspelt(map, key).into()).collect(),
        Value::Array(items) => {
            let first = items.first().map_or_else(Vec::new, misspellings);
            let with = |wrong| [&[wrong], &items[1..]].concat().into();
            first.into_iter().map(with).collect()
        }
        _ => Vec::new(),
    }
}

/// The last letter of `key` is left out, or doubled where the shorter name is taken.
fn misspelt(map: &Map<String, Value>, key: &str) -> Map<String, Value> {
    let mut short = key.to_owned();
    let last = short.pop().unwrap_or('x');
    let wrong = if short.is_empty() || map.contains_key(&short) { format!("{key}{last}") } else { short };
    map.iter()
        .map(|(name, value)| (if name == key { wrong.clone() } else { name.clone() }, value.clone()))
        .collect()
}

#[tokio::test]
async fn the_tap_lists_violations_and_coverage() {
    let Some(github) = github() else { return };
    let tap = Tap::with(Some(github), Client::Planwright);
    let router = Router::new()
        .route(
            "/repos/o/r/issues/1/reactions",
            post(|body: String| async move { (StatusCode::CREATED, body) }),
        )
        .route("/lost/{*rest}", get(|| async { lost() }))
        .route("/repos/o/r/issues/{number}", get(|| async { lost() }));
    let router = tap.wrap(router);
    let ask = |method: &str, path: &str, body: &'static str| {
        let mut request = Request::builder().method(method).uri(path);
        request.headers_mut().unwrap().extend(headers("Bearer ghs_1"));
        router.clone().oneshot(request.body(Body::from(body)).unwrap())
    };
    let answer = ask("POST", "/repos/o/r/issues/1/reactions", r#"{"content":"eyes"}"#).await.unwrap();
    let bytes = axum::body::to_bytes(answer.into_body(), 100).await.unwrap();
    assert_eq!(bytes, r#"{"content":"eyes"}"#, "the tap changes nothing");
    let answer = ask("GET", "/repos/o/r/issues/1?x=1", "").await.unwrap();
    assert!(axum::body::to_bytes(answer.into_body(), 100).await.is_err(), "a lost answer stays lost");
    ask("GET", "/repos/o/r/nothing", "").await.unwrap();

    let seen: Vec<String> = tap.exchanges().iter().map(ToString::to_string).collect();
    assert!(seen[0].starts_with("POST /repos/o/r/issues/1/reactions -> 201\n    answer: at ``"), "{}", seen[0]);
    assert!(!seen[0].contains("request:"), "{}", seen[0]);
    assert_eq!(
        seen[1],
        "GET /repos/o/r/issues/1?x=1 -> no answer\n    request: query parameter `x` is not described"
    );
    assert!(seen[2].contains("-> 404\n    request: GitHub describes no such operation"), "{}", seen[2]);
    assert_eq!(
        tap.coverage().to_string().split_whitespace().collect::<Vec<_>>(),
        ["POST", "/repos/{owner}/{repo}/issues/{issue_number}/reactions", "201×1"]
    );
    let refused = std::panic::catch_unwind(|| tap.assert_clean()).unwrap_err();
    let text = refused.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("3 of 3 exchanges contradict GitHub's description:\nPOST"), "{text}");
}

fn lost() -> Body {
    let error = std::io::Error::other("cut off");
    Body::from_stream(futures_util::stream::once(async { Err::<Vec<u8>, _>(error) }))
}
