//! Archives of repositories: the redirect is followed without the token, and only to known hosts.

use planwright::adapters::github::GitHub;
use planwright::engine::forge::{Forge, ReadError};
use serde_json::json;

use super::stub::*;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// The token in the target of the redirect.
const TOKEN: &str = "ABCDEFGH";

fn to(status: u16, address: &str) -> Option<Reply> {
    let location = vec![("location", address.to_owned())];
    Some(Reply::Pieces(status, location, Vec::new()))
}

/// What came, and how it ended.
async fn archive(github: &GitHub, most: usize) -> (Vec<u8>, Result<(), ReadError>) {
    let mut all = Vec::new();
    let mut take = |piece: &[u8]| {
        all.extend_from_slice(piece);
        all.len() < most
    };
    let end = github.archive(&repo(), SHA, &mut take).await;
    (all, end)
}

fn pieces() -> Option<Reply> {
    let kind = vec![("content-type", "application/x-gzip".to_owned())];
    Some(Reply::Pieces(200, kind, vec![b"one ", b"two ", b"three"]))
}

#[tokio::test]
async fn the_redirect_is_followed_without_the_token() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let host = asked.headers["host"].to_str().unwrap();
        match asked.path.split('?').next().unwrap() {
            // A renamed repository: within the API, with the token.
            path if path.starts_with("/repos/") => {
                let target = format!("http://{host}/repositories/1/tarball/{SHA}");
                to(301, &target)
            }
            path if path.starts_with("/repositories/") => to(
                302,
                &format!("http://{host}/codeload/o/r/legacy.tar.gz/{SHA}?token={TOKEN}"),
            ),
            path if path.starts_with("/codeload/") => pieces(),
            _ => None,
        }
    })
    .await;
    let (all, end) = archive(&client(&stub, &clock), 1_000).await;
    assert_eq!((&all[..], end), (&b"one two three"[..], Ok(())));
    let asked = stub.asked();
    let asked: Vec<_> = asked.iter().filter(|asked| asked.method == "GET").collect();
    let with_token: Vec<_> = asked
        .iter()
        .map(|asked| {
            (
                asked.path.as_str(),
                asked.headers.contains_key("authorization"),
            )
        })
        .collect();
    assert_eq!(
        with_token,
        [
            (&*format!("/repos/octo/plans/tarball/{SHA}"), true),
            (&*format!("/repositories/1/tarball/{SHA}"), true),
            (
                &*format!("/codeload/o/r/legacy.tar.gz/{SHA}?token={TOKEN}"),
                false
            ),
        ]
    );
    // Whoever has enough gets no more.
    let (all, end) = archive(&client(&stub, &clock), 1).await;
    assert!(all.starts_with(b"one ") && end.is_ok());
}

#[tokio::test]
async fn a_redirect_to_another_host_is_refused_without_its_token() {
    let clock = TestClock::new();
    let other = Stub::start(&clock, |_| pieces()).await;
    let port = other.url.port().unwrap();
    for address in [
        format!("{}x?token={TOKEN}", other.url),
        format!("http://localhost:{port}/x?token={TOKEN}"),
        format!("https://codeload.github.com/o/r/legacy.tar.gz/x?token={TOKEN}"),
        format!("https://codeload.github.com.evil.example/x?token={TOKEN}"),
        format!("http://user:{TOKEN}@127.0.0.1:{port}/x"),
        format!("file:///etc/passwd?token={TOKEN}"),
    ] {
        let leads = address.clone();
        let stub = Stub::start(&clock, move |asked| {
            asked.path.contains("/tarball/").then(|| to(302, &leads))?
        })
        .await;
        let (all, end) = archive(&client(&stub, &clock), 1_000).await;
        assert_eq!(all, b"");
        let error = end.unwrap_err();
        assert!(
            matches!(error, ReadError::Elsewhere { .. }),
            "{address}: {error}"
        );
        assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
    }
    assert_eq!(other.asked().len(), 0);
}

#[tokio::test]
async fn answers_without_an_archive_are_told_apart() {
    let what = format!("the files of octo/plans at {SHA}");
    let table = [
        (
            reply(404, json!({"message": "Not Found"})),
            format!("GitHub answered 404 for {what}: it does not exist or the App cannot see it"),
        ),
        (
            reply(
                403,
                json!({"message": "Resource not accessible by integration"}),
            ),
            format!("GitHub refuses {what}: Resource not accessible by integration"),
        ),
        (
            reply(200, json!({})),
            format!("GitHub's answer to {what} cannot be read: it does not redirect to an archive"),
        ),
        (
            Some(Reply::Pieces(302, Vec::new(), Vec::new())),
            format!("GitHub's answer to {what} cannot be read: a redirect has no target"),
        ),
        (
            reply(502, json!({"message": "Server Error"})),
            format!("the outcome of {what} is unknown: GitHub answered 502: Server Error"),
        ),
    ];
    for (given, why) in table {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| {
            asked.path.contains("/tarball/").then(|| given.clone())?
        })
        .await;
        let (_, end) = archive(&client(&stub, &clock), 1_000).await;
        assert_eq!(end.unwrap_err().to_string(), why);
    }
}
