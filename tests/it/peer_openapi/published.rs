//! GitHub's published examples: they pass unchanged, and fail with misspelt members.

use serde_json::{Map, Value};

use super::request;
use crate::support::openapi::github;

/// What Planwright asks of GitHub: a method and a path.
const OPERATIONS: [(&str, &str); 32] = [
    ("GET", "/app"),
    ("GET", "/app/hook/deliveries"),
    ("POST", "/app/hook/deliveries/1/attempts"),
    ("GET", "/app/installations"),
    ("POST", "/app/installations/1/access_tokens"),
    ("GET", "/repos/o/r"),
    ("GET", "/repos/o/r/installation"),
    ("POST", "/repos/o/r/check-runs"),
    ("GET", "/repos/o/r/check-runs/1"),
    ("PATCH", "/repos/o/r/check-runs/1"),
    ("GET", "/repos/o/r/collaborators/u/permission"),
    ("GET", "/repos/o/r/commits/main/check-runs"),
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
    assert!(
        requests >= 9 && answers >= 25,
        "{requests} requests, {answers} answers"
    );
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
                sent_caught +=
                    u32::from(!request(github, method, path, &wrong.to_string()).is_empty());
            }
        }
        for (_, status, body) in github.response_examples(&operation) {
            let check = |body: &Value| {
                let found =
                    github.check_response(method, path, status, body.to_string().as_bytes());
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
    println!(
        "misspelt members noticed: requests {sent_caught} of {sent}, answers {got_caught} of {got}"
    );
    assert!(
        sent >= 15 && got >= 200,
        "too few members: {sent} and {got}"
    );
    assert!(
        sent_caught * 100 >= sent * 90,
        "requests: {sent_caught} of {sent}"
    );
    assert!(
        got_caught * 100 >= got * 80,
        "answers: {got_caught} of {got}"
    );
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
    let wrong = if short.is_empty() || map.contains_key(&short) {
        format!("{key}{last}")
    } else {
        short
    };
    map.iter()
        .map(|(name, value)| {
            (
                if name == key {
                    wrong.clone()
                } else {
                    name.clone()
                },
                value.clone(),
            )
        })
        .collect()
}
