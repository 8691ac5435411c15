//! Files of a repository and attachments of comments: the requests, redirects that are not
//! followed, and size limits.

use std::sync::Arc;
use std::time::Duration;

use planwright::adapters::github::GitHub;
use planwright::engine::clock::Clock;
use planwright::engine::forge::{FileAt, Forge, ForgeError, ReadError};
use serde_json::json;

use super::stub::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
const RAW: &str = "application/vnd.github.raw+json; charset=utf-8";
const MOST: u64 = 100;

fn commit() -> Option<Reply> {
    let url = format!("https://github.com/octo/plans/commit/{SHA}");
    reply(
        200,
        json!({"sha": SHA, "html_url": url, "commit": {"surprise": true}}),
    )
}

/// A file as it is.
fn raw(pieces: Vec<&'static [u8]>) -> Option<Reply> {
    let kind = vec![("content-type", RAW.to_owned())];
    Some(Reply::Pieces(200, kind, pieces))
}

fn to(address: &str) -> Option<Reply> {
    let location = vec![("location", address.to_owned())];
    Some(Reply::Pieces(302, location, Vec::new()))
}

/// What came, and how it ended.
async fn file(
    github: &GitHub,
    path: &str,
    reference: Option<&str>,
) -> (Vec<u8>, Result<FileAt, ReadError>) {
    let mut all = Vec::new();
    let mut take = |piece: &[u8]| {
        all.extend_from_slice(piece);
        true
    };
    let end = github.file(&repo(), path, reference, MOST, &mut take).await;
    (all, end)
}

async fn attachment(github: &GitHub, address: &str) -> (Vec<u8>, Result<(), ReadError>) {
    let mut all = Vec::new();
    let mut take = |piece: &[u8]| {
        all.extend_from_slice(piece);
        true
    };
    let end = github.attachment(address, MOST, &mut take).await;
    (all, end)
}

fn address(stub: &Stub) -> String {
    format!("{}user-attachments/files/12/a.jsonl", stub.url)
}

#[tokio::test]
async fn a_file_is_read_as_it_is_at_one_commit() {
    for (reference, asked_for) in [
        (None, "HEAD"),
        (Some("main"), "main"),
        (Some("feature/x"), "feature%2Fx"),
    ] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, |asked| {
            if asked.path.contains("/commits/") {
                commit()
            } else if asked.path.contains("/contents/") {
                raw(vec![b"one\n", b"two\n"])
            } else {
                None
            }
        })
        .await;
        let (all, end) = file(&client(&stub, &clock), "logs/a b#?.jsonl", reference).await;
        assert_eq!(all, b"one\ntwo\n");
        let at = end.unwrap();
        assert_eq!(at.commit, SHA);
        assert_eq!(
            at.url,
            format!("https://github.com/octo/plans/blob/{SHA}/logs/a%20b%23%3F.jsonl")
        );
        assert_eq!(
            stub.lines(),
            [
                format!("GET /repos/octo/plans/commits/{asked_for}?per_page=1"),
                format!("GET /repos/octo/plans/contents/logs/a%20b%23%3F.jsonl?ref={SHA}"),
            ]
        );
        let last = stub.asked().pop().unwrap();
        assert_eq!(last.headers["accept"], "application/vnd.github.raw+json");
        assert_eq!(last.headers["x-github-api-version"], "2022-11-28");
        assert_eq!(last.token(), token(0));
    }
}

#[tokio::test]
async fn files_of_one_commit_ask_for_it_once_and_those_of_a_branch_each_time() {
    for (reference, lookups) in [(SHA, 1), ("main", 3)] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, |asked| {
            if asked.path.contains("/commits/") {
                commit()
            } else {
                asked
                    .path
                    .contains("/contents/")
                    .then(|| raw(vec![b"one"]))?
            }
        })
        .await;
        let github = client(&stub, &clock);
        for path in ["a", "b", "c"] {
            let (_, end) = file(&github, path, Some(reference)).await;
            assert_eq!(end.unwrap().commit, SHA);
        }
        let asked = stub.lines();
        let commits = asked.iter().filter(|line| line.contains("/commits/"));
        assert_eq!(commits.count(), lookups, "{asked:#?}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_told_apart() {
    let too_large = json!({
        "message": "This API returns blobs up to 100 MB in size.",
        "errors": [{"resource": "Blob", "field": "data", "code": "too_large"}],
    });
    let entry = |kind: &str| json!({"type": kind, "git_url": null, "name": "a", "path": "a"});
    let message = |text: &str| json!({"message": text});
    let no_log = json!({"type": "user", "text": "x".repeat(200)});
    for (commit_status, status, body, want) in [
        (200, 200, no_log, "it is larger than 0 MB"),
        (404, 0, json!({}), "there is no such branch, tag or commit"),
        (
            409,
            0,
            message("Git Repository is empty."),
            "there is no such branch, tag or commit",
        ),
        (
            422,
            0,
            message("No commit found for SHA: x"),
            "there is no such branch, tag or commit",
        ),
        (200, 404, message("Not Found"), "there is no such file"),
        (
            200,
            200,
            json!([entry("file"), entry("dir")]),
            "it is a directory, not a file",
        ),
        (
            200,
            200,
            entry("submodule"),
            "it is a submodule, not a file",
        ),
        (
            200,
            200,
            entry("symlink"),
            "it is a dangling symbolic link, not a file",
        ),
        (200, 403, too_large, "it is larger than 0 MB"),
        (
            200,
            403,
            message("Resource not accessible by integration"),
            "GitHub refuses the file a of octo/plans: Resource not accessible by integration",
        ),
        (
            200,
            502,
            message("Server Error"),
            "the outcome of the file a of octo/plans is unknown: GitHub answered 502: Server Error",
        ),
    ] {
        let clock = TestClock::new();
        let given = body.clone();
        let stub = Stub::start(&clock, move |asked| {
            if asked.path.contains("/commits/") && commit_status == 200 {
                commit()
            } else if asked.path.contains("/commits/") {
                reply(commit_status, given.clone())
            } else if asked.path.contains("/contents/") {
                let kind = vec![("content-type", "application/json; charset=utf-8".to_owned())];
                Some(Reply::With(status, kind, given.clone()))
            } else {
                None
            }
        })
        .await;
        let (all, end) = file(&client(&stub, &clock), "a", None).await;
        assert_eq!(end.unwrap_err().to_string(), want, "{body}");
        assert_eq!(all, b"", "{body}");
    }
}

#[tokio::test]
async fn a_file_that_a_server_calls_json_is_read_all_the_same() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.contains("/commits/") {
            return commit();
        }
        let kind = vec![("content-type", "application/json".to_owned())];
        let entry = br#"{"type":"user","sessionId":"s1"}"#;
        let pieces: Vec<&'static [u8]> = vec![entry, b"\n"];
        asked
            .path
            .contains("/contents/")
            .then_some(Reply::Pieces(200, kind, pieces))
    })
    .await;
    let (all, end) = file(&client(&stub, &clock), "a", None).await;
    end.unwrap();
    assert_eq!(all, b"{\"type\":\"user\",\"sessionId\":\"s1\"}\n");
}

#[tokio::test]
async fn a_rate_limit_on_a_file_is_a_limit() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.contains("/commits/") {
            return commit();
        }
        let body = json!({"message": "You have exceeded a secondary rate limit."});
        let wait = vec![("retry-after", "30".to_owned())];
        asked
            .path
            .contains("/contents/")
            .then_some(Reply::With(403, wait, body))
    })
    .await;
    let (_, end) = file(&client(&stub, &clock), "a", None).await;
    let limited = ReadError::Forge(ForgeError::Limited {
        what: "the file a of octo/plans".into(),
        until: START.plus(Duration::from_secs(30)),
    });
    assert_eq!(end.unwrap_err(), limited);
}

#[tokio::test]
async fn nothing_longer_than_the_limit_is_read_and_no_more_than_is_wanted() {
    let piece: &'static [u8] = &[b'x'; 60];
    let clock = TestClock::new();
    let stub = Stub::start(&clock, move |asked| {
        if asked.path.contains("/commits/") {
            commit()
        } else if asked.path.contains("announced") {
            let kind = vec![("content-type", RAW.to_owned())];
            Some(Reply::With(200, kind, json!("x".repeat(200))))
        } else if asked.path.contains("/contents/") || asked.path.contains("attachments") {
            raw(vec![piece; 3])
        } else {
            None
        }
    })
    .await;
    let github = client(&stub, &clock);
    let too_large = ReadError::TooLarge { most: MOST };
    let (all, end) = file(&github, "announced", None).await;
    assert_eq!((all.len(), end.unwrap_err()), (0, too_large.clone()));
    let (all, end) = file(&github, "streamed", None).await;
    assert_eq!((all.len(), end.unwrap_err()), (60, too_large.clone()));
    let (all, end) = attachment(&github, &address(&stub)).await;
    assert_eq!((all.len(), end.unwrap_err()), (60, too_large));
    let mut taken = 0;
    let mut take = |piece: &[u8]| {
        taken += piece.len();
        false
    };
    github
        .file(&repo(), "a", None, MOST, &mut take)
        .await
        .unwrap();
    assert_eq!(taken, 60);
}

#[tokio::test]
async fn a_file_that_has_moved_away_is_not_followed_with_the_token() {
    let clock = TestClock::new();
    let other = Stub::start(&clock, |_| raw(vec![b"x"])).await;
    let elsewhere = format!("{}stolen", other.url);
    let stub = Stub::start(&clock, move |asked| {
        if asked.path.contains("/commits/") {
            return commit();
        }
        asked
            .path
            .contains("/contents/")
            .then(|| to(&elsewhere))
            .flatten()
    })
    .await;
    let (all, end) = file(&client(&stub, &clock), "a", None).await;
    assert_eq!(all, b"");
    let error = end.unwrap_err().to_string();
    assert!(error.contains("it has moved to"), "{error}");
    assert_eq!(other.lines(), [""; 0]);
}

#[tokio::test]
async fn an_attachment_is_fetched_without_credentials_along_redirects_of_the_host() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.path.as_str() {
        "/user-attachments/files/12/a.jsonl" => to("/store/1?signature=a"),
        "/store/1?signature=a" => to("/store/2"),
        "/store/2" => Some(Reply::Pieces(
            200,
            vec![("content-type", "text/plain".to_owned())],
            vec![b"one\n", b"two\n"],
        )),
        _ => None,
    })
    .await;
    let (all, end) = attachment(&client(&stub, &clock), &address(&stub)).await;
    end.unwrap();
    assert_eq!(all, b"one\ntwo\n");
    let asked = stub.asked();
    assert_eq!(asked.len(), 3, "no token was minted either");
    for asked in asked {
        assert!(
            !asked.headers.contains_key("authorization"),
            "{}",
            asked.path
        );
        assert!(!asked.headers.contains_key("cookie"), "{}", asked.path);
        assert_eq!(asked.headers["accept-encoding"], "identity");
        let agent = asked.headers["user-agent"].to_str().unwrap();
        assert!(agent.starts_with("planwright/"), "{agent}");
    }
}

#[tokio::test]
async fn redirects_to_other_places_are_refused() {
    let clock = TestClock::new();
    let other = Stub::start(&clock, |_| raw(vec![b"x"])).await;
    let port = other.url.port().unwrap();
    for address_of_other in [
        other.url.to_string(),
        format!("http://localhost:{port}/x"),
        format!("//127.0.0.1:{port}/x"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "https://github.com.evil.example/x".to_owned(),
        "https://objects.githubusercontent.com.evil.example/x".to_owned(),
        "https://objects.githubusercontent.com@127.0.0.1/x".to_owned(),
        "https://objects.githubusercontent.com:8443/x".to_owned(),
        "http://objects.githubusercontent.com/x".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let leads = address_of_other.clone();
        let stub = Stub::start(&clock, move |_| to(&leads)).await;
        let (all, end) = attachment(&client(&stub, &clock), &address(&stub)).await;
        assert_eq!(all, b"");
        let error = end.unwrap_err();
        assert!(
            matches!(&error, ReadError::Elsewhere { to } if !to.contains("meta-data")),
            "{address_of_other}: {error}"
        );
        assert_eq!(stub.asked().len(), 1, "{address_of_other}");
    }
    assert_eq!(other.asked().len(), 0);
}

#[tokio::test]
async fn only_addresses_of_attachments_are_asked_at_all() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |_| raw(vec![b"x"])).await;
    let github = client(&stub, &clock);
    let port = stub.url.port().unwrap();
    for address in [
        format!("{}octo/plans/settings", stub.url),
        format!("http://localhost:{port}/user-attachments/files/12/a.jsonl"),
        format!("http://user@127.0.0.1:{port}/user-attachments/files/12/a.jsonl"),
        format!("http://127.0.0.1:{port}@evil.example/user-attachments/files/12/a.jsonl"),
        format!("https://127.0.0.1:{port}/user-attachments/files/12/a.jsonl"),
        "http://127.0.0.1/user-attachments/files/12/a.jsonl".to_owned(),
        "https://github.com/user-attachments/files/12/a.jsonl".to_owned(),
        "https://objects.githubusercontent.com/a.jsonl".to_owned(),
        "http://169.254.169.254/user-attachments/files/12/a.jsonl".to_owned(),
        String::new(),
    ] {
        let (_, end) = attachment(&github, &address).await;
        let error = end.unwrap_err();
        assert!(
            matches!(error, ReadError::Elsewhere { .. }),
            "{address}: {error}"
        );
    }
    assert_eq!(stub.asked().len(), 0);
}

#[tokio::test]
async fn what_is_no_attachment_is_told_apart() {
    let page = || vec![("content-type", "text/html; charset=utf-8".to_owned())];
    let packed = || vec![("content-encoding", "gzip".to_owned())];
    for (reply, want) in [
        (
            Reply::Pieces(404, page(), vec![b"<html>"]),
            "GitHub does not let the App read it (404 Not Found)",
        ),
        (
            Reply::Pieces(403, page(), vec![b"<html>"]),
            "GitHub does not let the App read it (403 Forbidden)",
        ),
        (
            Reply::Pieces(200, page(), vec![b"<html>"]),
            "GitHub does not let the App read it (GitHub returned a web page instead of the file)",
        ),
        (
            to("/login?return_to=x").unwrap(),
            "GitHub does not let the App read it (it asks to sign in)",
        ),
        (
            Reply::Pieces(200, packed(), vec![b"\x1f\x8b"]),
            "GitHub's answer to an attachment cannot be read: it is compressed although no compression was requested",
        ),
        (
            Reply::Pieces(302, Vec::new(), Vec::new()),
            "GitHub's answer to an attachment cannot be read: a redirect has no target",
        ),
        (
            to("/user-attachments/files/12/a.jsonl").unwrap(),
            "GitHub's answer to an attachment cannot be read: its redirects do not end",
        ),
        (
            Reply::Raw(400, "bad"),
            "GitHub does not let the App read it (400 Bad Request)",
        ),
        (
            Reply::Raw(429, "slowly"),
            "the outcome of an attachment is unknown: 429 Too Many Requests",
        ),
        (
            Reply::Raw(503, "later"),
            "the outcome of an attachment is unknown: 503 Service Unavailable",
        ),
    ] {
        let clock = TestClock::new();
        let given = reply.clone();
        let stub = Stub::start(&clock, move |_| Some(given.clone())).await;
        let (all, end) = attachment(&client(&stub, &clock), &address(&stub)).await;
        assert_eq!(all, b"", "{reply:?}");
        assert_eq!(end.unwrap_err().to_string(), want, "{reply:?}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_an_outage() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |_| Some(Reply::Never)).await;
    let mut settings = config(&stub.url);
    settings.request_timeout = Duration::from_millis(20);
    let github = GitHub::new(settings, Arc::clone(&clock) as Arc<dyn Clock>).unwrap();
    let (_, end) = attachment(&github, &address(&stub)).await;
    assert_eq!(
        end.unwrap_err().to_string(),
        "the outcome of an attachment is unknown: no answer within 20 ms"
    );
}
