//! The tap: what it records, what it does not change, and how it fails a test.

use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use http::{Request, StatusCode};
use tower::ServiceExt;

use super::headers;
use crate::support::openapi::tap::Tap;
use crate::support::openapi::{Client, github};

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
        request
            .headers_mut()
            .unwrap()
            .extend(headers("Bearer ghs_1"));
        router
            .clone()
            .oneshot(request.body(Body::from(body)).unwrap())
    };
    let answer = ask(
        "POST",
        "/repos/o/r/issues/1/reactions",
        r#"{"content":"eyes"}"#,
    )
    .await
    .unwrap();
    let bytes = axum::body::to_bytes(answer.into_body(), 100).await.unwrap();
    assert_eq!(bytes, r#"{"content":"eyes"}"#, "the tap changes nothing");
    let answer = ask("GET", "/repos/o/r/issues/1?x=1", "").await.unwrap();
    assert!(
        axum::body::to_bytes(answer.into_body(), 100).await.is_err(),
        "a lost answer stays lost"
    );
    ask("GET", "/repos/o/r/nothing", "").await.unwrap();

    let seen: Vec<String> = tap.exchanges().iter().map(ToString::to_string).collect();
    assert!(
        seen[0].starts_with("POST /repos/o/r/issues/1/reactions -> 201\n    answer: at ``"),
        "{}",
        seen[0]
    );
    assert!(!seen[0].contains("request:"), "{}", seen[0]);
    assert_eq!(
        seen[1],
        "GET /repos/o/r/issues/1?x=1 -> no answer\n    request: query parameter `x` is not described"
    );
    assert!(
        seen[2].contains("-> 404\n    request: GitHub describes no such operation"),
        "{}",
        seen[2]
    );
    assert_eq!(
        tap.coverage()
            .to_string()
            .split_whitespace()
            .collect::<Vec<_>>(),
        [
            "POST",
            "/repos/{owner}/{repo}/issues/{issue_number}/reactions",
            "201×1"
        ]
    );
    let refused = std::panic::catch_unwind(AssertUnwindSafe(|| tap.assert_clean())).unwrap_err();
    let text = refused.downcast_ref::<String>().unwrap();
    assert!(
        text.starts_with("3 of 3 exchanges contradict GitHub's description:\nPOST"),
        "{text}"
    );
}

fn lost() -> Body {
    let error = std::io::Error::other("cut off");
    Body::from_stream(futures_util::stream::once(async {
        Err::<Vec<u8>, _>(error)
    }))
}
