//! Every request is sent once, and an error shows whether it can have had an effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use planwright::adapters::github::GitHub;
use planwright::engine::forge::{Forge, ForgeError};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use super::stub::*;

#[tokio::test]
async fn a_post_is_sent_once_whatever_comes_back() {
    for status in [500, 502, 503, 504] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| {
            asked
                .path
                .ends_with("/issues")
                .then_some(Reply::Raw(status, "<html>Bad</html>"))
        })
        .await;
        let error = client(&stub, &clock)
            .create_issue(&repo(), "t", "b", &[])
            .await
            .unwrap_err();
        assert!(
            matches!(&error, ForgeError::Unknown { what, message }
                if what == "a new issue in octo/plans" && message.starts_with(&format!("GitHub answered {status}: "))),
            "{error}"
        );
        assert_eq!(stub.lines(), ["POST /repos/octo/plans/issues"]);
    }
}

#[tokio::test]
async fn a_get_is_sent_once_as_well() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked.path.ends_with("/7").then_some(Reply::Raw(502, ""))
    })
    .await;
    let error = client(&stub, &clock).thread(&place()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outcome of issue #7 of octo/plans is unknown: GitHub answered 502: Bad Gateway"
    );
    assert_eq!(stub.lines().len(), 1);
}

/// The answer that holds a token, on a connection that ends with it.
fn mint() -> String {
    let expires = START.plus(Duration::from_hours(1)).iso();
    let body = json!({"token": token(0), "expires_at": expires}).to_string();
    let length = body.len();
    format!("HTTP/1.1 201 Created\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A server that hands tokens out, reads everything else, writes `last` and closes the connection.
async fn closing(reads: &Arc<AtomicUsize>, last: &'static str) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let reads = Arc::clone(reads);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let read = socket.read(&mut head).await.unwrap();
            if head[..read]
                .windows(13)
                .any(|part| part == b"access_tokens")
            {
                socket.write_all(mint().as_bytes()).await.unwrap();
            } else {
                reads.fetch_add(1, Ordering::SeqCst);
                socket.write_all(last.as_bytes()).await.unwrap();
            }
        }
    });
    url
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_nothing_is_sent_again() {
    let reads = Arc::new(AtomicUsize::new(0));
    for last in ["", "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"] {
        let github = GitHub::new(config(&closing(&reads, last).await), TestClock::new()).unwrap();
        let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ForgeError::Unknown { .. }), "{text}");
        assert!(
            text.starts_with("the outcome of a new comment on issue #7 of octo/plans is unknown: "),
            "{text}"
        );
    }
    assert_eq!(reads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refusal_that_breaks_off_is_still_a_refusal() {
    let last = "HTTP/1.1 422 Unprocessable Entity\r\ncontent-length: 100\r\n\r\n{";
    let url = closing(&Arc::default(), last).await;
    let github = GitHub::new(config(&url), TestClock::new()).unwrap();
    let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "GitHub answered 422 for a new comment on issue #7 of octo/plans: Unprocessable Entity"
    );
}

#[tokio::test]
async fn a_refused_connection_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    drop(listener);
    let github = GitHub::new(config(&url), TestClock::new()).unwrap();
    let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{text}");
    assert!(
        text.starts_with("GitHub cannot be reached for an access token of installation 5: "),
        "{text}"
    );
    assert!(text.contains("onnection refused"), "{text}");
}

#[tokio::test]
async fn a_write_that_finds_nobody_after_the_mint_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let read = socket.read(&mut [0; 4096]).await.unwrap();
        assert!(read > 0);
        // Closed before the answer, so that the next connection finds nobody.
        drop(listener);
        socket.write_all(mint().as_bytes()).await.unwrap();
    });
    let github = GitHub::new(config(&url), TestClock::new()).unwrap();
    let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{text}");
    assert!(
        text.starts_with("GitHub cannot be reached for a new comment on issue #7 of octo/plans: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_failed_tls_handshake_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        let _ = socket.read(&mut [0; 4096]).await;
    });
    let github = GitHub::new(config(&url), TestClock::new()).unwrap();
    let error = github.slug().await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{text}");
    assert!(
        text.starts_with("GitHub cannot be reached for the App itself: "),
        "{text}"
    );
    assert!(text.contains("corrupt message"), "{text}");
}

#[tokio::test]
async fn no_answer_in_time_is_unknown() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked.path.ends_with("/comments").then_some(Reply::Never)
    })
    .await;
    let mut config = config(&stub.url);
    config.request_timeout = Duration::from_millis(300);
    let github = GitHub::new(config, clock.clone()).unwrap();
    let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outcome of a new comment on issue #7 of octo/plans is unknown: no answer within 300 ms"
    );
    assert_eq!(stub.lines().len(), 1);
}

#[tokio::test]
async fn a_created_issue_without_a_number_has_an_unknown_outcome() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked
            .path
            .ends_with("/issues")
            .then(|| reply(201, json!({"id": 1})))
            .flatten()
    })
    .await;
    let error = client(&stub, &clock)
        .create_issue(&repo(), "t", "b", &[])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outcome of a new issue in octo/plans is unknown: the answer cannot be read: missing field `number`"
    );
}

fn moved(status: u16, to: String) -> Option<Reply> {
    Some(Reply::With(
        status,
        vec![("location", to)],
        json!({"message": "Moved"}),
    ))
}

#[tokio::test]
async fn redirects_on_the_same_host_are_followed_with_the_token_and_end() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.line().as_str() {
        "GET /repos/octo/plans/issues/7" => moved(301, "/repositories/1000/issues/7".to_owned()),
        "GET /repositories/1000/issues/7" => reply(200, own_issue(7, "x", "2026-01-01T00:00:00Z")),
        "GET /repos/octo/plans/issues/7/comments?per_page=100" => reply(200, json!([])),
        "POST /repos/octo/plans/issues/7/comments" => {
            moved(307, "/repositories/1000/issues/7/comments".to_owned())
        }
        "POST /repositories/1000/issues/7/comments" => reply(201, own_comment(3, "hello")),
        // GitHub wants a write to be repeated as it is, also after a 301.
        "POST /repos/octo/plans/issues" => moved(301, "/repositories/1000/issues".to_owned()),
        "POST /repositories/1000/issues" => moved(301, "/repositories/1001/issues".to_owned()),
        "POST /repositories/1001/issues" => reply(201, own_issue(12, "b", "2026-01-01T00:00:00Z")),
        "PATCH /repos/octo/plans/issues/7" => {
            moved(308, "/repos/octo/plans/issues/7?again".to_owned())
        }
        "PATCH /repos/octo/plans/issues/7?again" => {
            moved(308, "/repos/octo/plans/issues/7".to_owned())
        }
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    assert_eq!(github.thread(&place()).await.unwrap().posts.len(), 1);
    assert_eq!(
        github.create_comment(&repo(), 7, "hello").await.unwrap().id,
        3
    );
    let sent = stub
        .asked()
        .into_iter()
        .find(|asked| asked.line() == "POST /repositories/1000/issues/7/comments");
    let sent = sent.unwrap();
    assert_eq!(
        (sent.token(), &sent.body),
        (token(0).as_str(), &json!({"body": "hello"}))
    );
    let created = github.create_issue(&repo(), "t", "b", &[]).await;
    assert_eq!(created.unwrap().id, 12);
    assert_eq!(
        github
            .update_issue_body(&repo(), 7, "b")
            .await
            .unwrap_err()
            .to_string(),
        "GitHub answered 308 for the new text of issue #7 of octo/plans: it has moved to /repos/octo/plans/issues/7"
    );
}

#[tokio::test]
async fn the_comments_of_a_transferred_issue_are_read_where_it_is() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.line().as_str() {
        "GET /repos/octo/plans/issues/7" => moved(301, "/repositories/1001/issues/3".to_owned()),
        "GET /repositories/1001/issues/3" => {
            let mut issue = own_issue(3, "x", "2026-01-01T00:00:00Z");
            issue["repository_url"] = json!("https://api.github.com/repos/octo/other");
            issue["comments"] = json!(3);
            reply(200, issue)
        }
        "GET /repos/octo/other/issues/3/comments?per_page=100" => {
            let mut hidden = comment(5, "spam");
            hidden["minimized"] = json!({"reason": "spam"});
            reply(200, json!([comment(4, "four"), hidden]))
        }
        "GET /repos/octo/other" => reply(
            200,
            json!({"id": 1001, "full_name": "octo/other", "archived": false}),
        ),
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    let thread = github.thread(&place()).await.unwrap();
    assert_eq!(thread.posts.len(), 2);
    assert_eq!((thread.hidden.len(), thread.hidden[0].id), (1, 5));
    assert_eq!(thread.hidden[0].reason, "spam");
    assert_eq!(
        thread.unlisted, 1,
        "the issue has three comments, the list two"
    );
    let now = github.locate(&place()).await.unwrap();
    assert_eq!((now.number, now.repo.id), (3, 1001));
    assert_eq!(now.repo.full_name(), "octo/other");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_refused_and_gets_nothing() {
    let clock = TestClock::new();
    let evil = Stub::start(&clock, |_| reply(200, json!({}))).await;
    let target = evil
        .url
        .join("/repos/octo/plans/issues/7?token=x")
        .unwrap()
        .to_string();
    let stub = Stub::start(&clock, move |asked| {
        asked
            .path
            .ends_with("/issues/7")
            .then(|| moved(307, target.clone()))
            .flatten()
    })
    .await;
    let github = client(&stub, &clock);
    let named = evil.url.join("/repos/octo/plans/issues/7").unwrap();
    for error in [
        github.thread(&place()).await.unwrap_err(),
        github.update_issue_body(&repo(), 7, "b").await.unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(
            text.ends_with(&format!("it has moved to {named}")),
            "{text}"
        );
    }
    assert!(evil.asked().is_empty());
}
