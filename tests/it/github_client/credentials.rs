//! The App's JWT and the installation tokens: minted once, renewed in time, and never shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use planwright::engine::forge::{Forge, ForgeError};
use serde::Deserialize;
use serde_json::json;

use super::stub::*;

#[derive(Debug, PartialEq, Deserialize)]
struct Claims {
    iat: i64,
    exp: i64,
    iss: String,
}

fn claims(jwt: &str) -> Claims {
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    let key = DecodingKey::from_rsa_pem(keys().1.as_bytes()).unwrap();
    jsonwebtoken::decode(jwt, &key, &rules).unwrap().claims
}

/// Answers every permission question.
fn permission(asked: &Asked) -> Option<Reply> {
    asked
        .path
        .ends_with("/permission")
        .then(|| {
            reply(
                200,
                json!({"permission": "read", "user": {"id": 1, "login": "a"}}),
            )
        })
        .flatten()
}

fn unauthorised(message: &str) -> Option<Reply> {
    reply(401, json!({"message": message}))
}

#[tokio::test]
async fn eight_first_calls_mint_one_token() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, permission).await;
    let github = client(&stub, &clock);
    let repo = repo();
    for answer in join_all((0..8).map(|_| github.access(&repo, "a"))).await {
        answer.unwrap();
    }
    assert_eq!(stub.mints(), 1);
    let mint = &stub.asked()[0];
    assert_eq!(mint.line(), "POST /app/installations/5/access_tokens");
    let seconds = START.0 / 1000;
    assert_eq!(
        claims(mint.token()),
        Claims {
            iat: seconds - 60,
            exp: seconds + 480,
            iss: APP.to_string()
        }
    );
}

#[tokio::test]
async fn eight_first_calls_share_a_failed_mint_and_the_next_tries_again() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        (asked.path.ends_with("/access_tokens") && asked.before == 0)
            .then_some(Reply::Raw(502, ""))
            .or_else(|| permission(asked))
    })
    .await;
    let github = client(&stub, &clock);
    let repo = repo();
    for answer in join_all((0..8).map(|_| github.access(&repo, "a"))).await {
        // The operation itself was never sent.
        assert_eq!(
            answer.unwrap_err().to_string(),
            "GitHub cannot be reached for an access token of installation 5: GitHub answered 502: Bad Gateway"
        );
    }
    assert_eq!(stub.mints(), 1);
    github.access(&repo, "a").await.unwrap();
    assert_eq!(stub.mints(), 2);
}

#[tokio::test]
async fn every_installation_has_its_own_token() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, permission).await;
    let github = client(&stub, &clock);
    let mut other = repo();
    other.installation = 6;
    github.access(&repo(), "a").await.unwrap();
    github.access(&other, "a").await.unwrap();
    let mints: Vec<_> = stub
        .asked()
        .iter()
        .map(Asked::line)
        .filter(|line| line.contains("tokens"))
        .collect();
    assert_eq!(
        mints,
        [
            "POST /app/installations/5/access_tokens",
            "POST /app/installations/6/access_tokens"
        ]
    );
}

#[tokio::test]
async fn a_token_is_renewed_five_minutes_before_it_expires() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, permission).await;
    let github = client(&stub, &clock);
    github.access(&repo(), "a").await.unwrap();
    clock.pass(Duration::from_secs(55 * 60 - 1));
    github.access(&repo(), "a").await.unwrap();
    assert_eq!(stub.mints(), 1);
    clock.pass(Duration::from_secs(1));
    github.access(&repo(), "a").await.unwrap();
    assert_eq!(stub.mints(), 2);
    let used: Vec<_> = stub
        .asked()
        .into_iter()
        .filter(|asked| asked.path.ends_with("/permission"))
        .collect();
    let used: Vec<_> = used.iter().map(Asked::token).collect();
    assert_eq!(used, [token(0), token(0), token(1)]);
}

#[tokio::test]
async fn a_young_token_that_is_not_known_yet_gets_time() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if !asked.path.ends_with("/comments") {
            return None;
        }
        match asked.before {
            0 | 1 => unauthorised("Bad credentials"),
            _ => reply(201, own_comment(1, "b")),
        }
    })
    .await;
    client(&stub, &clock)
        .create_comment(&repo(), 7, "b")
        .await
        .unwrap();
    assert_eq!(clock.slept(), [1, 2]);
    assert_eq!((stub.mints(), stub.lines().len()), (1, 3));
}

#[tokio::test]
async fn an_old_token_is_minted_anew_once() {
    let clock = TestClock::new();
    let revoked = Arc::new(AtomicBool::new(false));
    let stub = Stub::start(&clock, {
        let revoked = Arc::clone(&revoked);
        move |asked| {
            let old = asked.path.ends_with("/permission") && asked.token() == token(0);
            if old && revoked.load(Ordering::SeqCst) {
                return unauthorised("Bad credentials");
            }
            permission(asked)
        }
    })
    .await;
    let github = client(&stub, &clock);
    github.access(&repo(), "a").await.unwrap();
    clock.pass(Duration::from_mins(2));
    revoked.store(true, Ordering::SeqCst);
    let repo = repo();
    for answer in join_all((0..4).map(|_| github.access(&repo, "a"))).await {
        answer.unwrap();
    }
    assert_eq!(stub.mints(), 2);
    assert!(clock.slept().is_empty());
}

#[tokio::test]
async fn credentials_that_stay_refused_are_an_error_in_the_end() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked
            .path
            .ends_with("/permission")
            .then(|| unauthorised("Bad credentials"))
            .flatten()
    })
    .await;
    let github = client(&stub, &clock);
    let error = github.access(&repo(), "a").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "GitHub does not accept the App's credentials for the permission of a in octo/plans: Bad credentials"
    );
    assert_eq!((stub.mints(), stub.lines().len()), (1, 4));
}

#[tokio::test]
async fn slow_refusals_do_not_mint_for_ever() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, {
        let clock = Arc::clone(&clock);
        move |asked| {
            // Every answer takes so long that the token is old when it comes.
            clock.pass(Duration::from_mins(2));
            if asked.path.ends_with("/permission") && asked.before < 5 {
                return unauthorised("Bad credentials");
            }
            permission(asked)
        }
    })
    .await;
    let error = client(&stub, &clock)
        .access(&repo(), "a")
        .await
        .unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error}");
    assert_eq!((stub.mints(), stub.lines().len()), (2, 2));
}

#[tokio::test]
async fn a_refused_mint_says_what_to_look_at() {
    for (status, message) in [
        (401, "A JSON web token could not be decoded"),
        (403, "This installation has been suspended"),
        (404, "Not Found"),
    ] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| {
            asked
                .path
                .ends_with("/access_tokens")
                .then(|| reply(status, json!({"message": message})))
                .flatten()
        })
        .await;
        let error = client(&stub, &clock)
            .create_comment(&repo(), 7, "b")
            .await
            .unwrap_err();
        assert!(matches!(error, ForgeError::Unauthorized { .. }));
        assert_eq!(
            error.to_string(),
            format!(
                "GitHub does not accept the App's credentials for an access token of installation 5: \
                 {status} {message}; is the App still installed and not suspended, and do app id and private key \
                 belong together?"
            )
        );
        assert_eq!(stub.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_clock_that_is_off_is_corrected_by_githubs() {
    const COMPLAINT: &str = "'Expiration time' claim ('exp') is too far in the future";
    let clock = TestClock::new();
    // GitHub is twenty minutes behind us.
    let date = "Wed, 31 Dec 2025 23:40:00 GMT";
    let github_now = START.0 / 1000 - 1200;
    let stub = Stub::start(&clock, move |asked| {
        if !asked.path.ends_with("/access_tokens") {
            return permission(asked);
        }
        if claims(asked.token()).exp > github_now + 600 {
            let headers = vec![("date", date.to_owned())];
            return Some(Reply::With(401, headers, json!({"message": COMPLAINT})));
        }
        reply(
            201,
            json!({"token": token(0), "expires_at": "2026-01-01T00:40:00Z"}),
        )
    })
    .await;
    let github = client(&stub, &clock);
    github.access(&repo(), "a").await.unwrap();
    assert_eq!(stub.mints(), 2);
    assert_eq!(claims(stub.asked()[1].token()).iat, github_now - 60);
    // The token lives by GitHub's clock: 00:40 there is an hour from now.
    clock.pass(Duration::from_mins(50));
    github.access(&repo(), "a").await.unwrap();
    assert_eq!(stub.mints(), 2);
}

#[tokio::test]
async fn a_correction_that_does_not_help_is_not_repeated() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let complaint = "'Issued at' claim ('iat') must be an Integer";
        asked
            .path
            .ends_with("/access_tokens")
            .then(|| unauthorised(complaint))
            .flatten()
    })
    .await;
    client(&stub, &clock)
        .access(&repo(), "a")
        .await
        .unwrap_err();
    assert_eq!(stub.mints(), 2);
}
