//! The simulator accepts the same credentials as GitHub.

use github_simulator::Clock as _;
use std::time::Duration;

use github_simulator::model::Role;
use github_simulator::model::TokenFormat;
use http::{Method, StatusCode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::simulator_support::{REPO, Receiver, World, jwt};

#[tokio::test]
async fn jwts_are_checked() {
    let world = World::new().await;
    let now = world.clock.now().timestamp();
    let message = async |claims: Value| {
        let jwt = jwt(&claims);
        let request = world.request(Method::GET, "/app", &jwt, None);
        let got = world.send(request).await.unwrap();
        let text = got.json()["message"].as_str().unwrap_or("").to_owned();
        (got.status.as_u16(), text)
    };
    let good = json!({"iss": 4711, "iat": now, "exp": now + 600});
    assert_eq!(message(good).await.0, 200);
    let (status, text) = message(json!({"iss": 4711, "iat": now, "exp": now + 700})).await;
    assert_eq!(
        (status, text.as_str()),
        (
            401,
            "'Expiration time' claim ('exp') is too far in the future"
        )
    );
    let (status, text) = message(json!({"iss": 4711, "iat": now - 700, "exp": now - 60})).await;
    assert_eq!(status, 401);
    assert!(text.contains("must be a numeric value representing the future time"));
    let (status, text) = message(json!({"iss": 4711, "iat": now + 60, "exp": now + 500})).await;
    assert_eq!(status, 401);
    assert!(text.contains("'Issued at' claim ('iat')"));
    assert_eq!(
        message(json!({"iss": 1, "iat": now, "exp": now + 60}))
            .await
            .0,
        404
    );
}

#[tokio::test]
async fn a_jwt_of_another_key_is_refused() {
    let world = World::new().await;
    let jwt = world.good_jwt();
    let (rest, signature) = jwt.rsplit_once('.').unwrap();
    let forged = format!("{rest}.{}", signature.chars().rev().collect::<String>());
    for bad in [forged.as_str(), "nonsense", world.token.as_str()] {
        let request = world.request(Method::GET, "/app", bad, None);
        let got = world.send(request).await.unwrap();
        assert_eq!(got.status, StatusCode::UNAUTHORIZED);
        assert_eq!(
            got.json()["message"],
            "A JSON web token could not be decoded"
        );
    }
}

#[tokio::test]
async fn tokens_expire_after_an_hour() {
    let world = World::new().await;
    assert_eq!(
        world.get("/repos/acme/widgets").await.status,
        StatusCode::OK
    );
    world.clock.advance(Duration::from_hours(1));
    let got = world.get("/repos/acme/widgets").await;
    assert_eq!(got.status, StatusCode::UNAUTHORIZED);
    assert_eq!(got.json()["message"], "Bad credentials");
}

#[tokio::test]
async fn tokens_have_both_shapes() {
    let classic = World::new().await;
    assert_eq!(classic.token.len(), 40);
    let long = World::with(|options| options.token_format = TokenFormat::Stateless).await;
    assert!(long.token.starts_with("ghs_4711_"), "{}", long.token);
    assert!(
        (500..=560).contains(&long.token.len()),
        "{}",
        long.token.len()
    );
    assert_eq!(long.token.matches('.').count(), 2);
    assert_eq!(long.get("/rate_limit").await.status, StatusCode::OK);
}

#[tokio::test]
async fn tokens_can_be_narrowed() {
    let world = World::new().await;
    world.simulator.add_repository("acme/secret", true).unwrap();
    let installation = world.simulator.install(&["acme/secret"]).unwrap();
    let path = format!("/app/installations/{installation}/access_tokens");
    let body = json!({"repositories": ["secret"], "permissions": {"issues": "read"}});
    let got = world.as_app(Method::POST, &path, Some(&body)).await;
    assert_eq!(got.status, StatusCode::CREATED);
    assert_eq!(got.json()["repositories"][0]["full_name"], "acme/secret");
    let token = got.json()["token"].as_str().unwrap().to_owned();
    let body = json!({"title": "x"});
    let request = world.request(
        Method::POST,
        "/repos/acme/secret/issues",
        &token,
        Some(&body),
    );
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        got.json()["message"],
        "Resource not accessible by integration"
    );
    let body = json!({"repositories": ["widgets"]});
    let got = world.as_app(Method::POST, &path, Some(&body)).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    let body = json!({"permissions": {"contents": "write"}});
    let got = world.as_app(Method::POST, &path, Some(&body)).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn private_and_unknown_repositories_look_the_same() {
    let world = World::new().await;
    world
        .simulator
        .add_repository("other/private", true)
        .unwrap();
    world
        .simulator
        .add_repository("other/public", false)
        .unwrap();
    let hidden = world.get("/repos/other/private").await;
    let missing = world.get("/repos/other/nothing").await;
    assert_eq!(hidden.status, StatusCode::NOT_FOUND);
    assert_eq!(hidden.json(), missing.json());
    assert_eq!(hidden.json()["message"], "Not Found");
    assert_eq!(
        world.get("/repos/other/public/issues").await.status,
        StatusCode::OK
    );
    let got = world
        .post("/repos/other/public/issues", json!({"title": "x"}))
        .await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_suspended_installation_has_no_token() {
    let world = World::new().await;
    let path = format!("/app/installations/{}/access_tokens", world.installation);
    world.simulator.suspend(world.installation).unwrap();
    let got = world.as_app(Method::POST, &path, None).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        got.json()["message"],
        "This installation has been suspended"
    );
    assert_eq!(
        world.get("/repos/acme/widgets").await.status,
        StatusCode::FORBIDDEN
    );
    world.simulator.unsuspend(world.installation).unwrap();
    assert_eq!(
        world.get("/repos/acme/widgets").await.status,
        StatusCode::OK
    );
    world.simulator.uninstall(world.installation).unwrap();
    let got = world.get("/repos/acme/widgets").await;
    assert_eq!(got.status, StatusCode::UNAUTHORIZED);
    let got = world.as_app(Method::POST, &path, None).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn missing_permissions_are_refused() {
    let world = World::new().await;
    let number = world.simulator.open_issue(REPO, "ada", "t", "b").unwrap();
    let installation = world.installation;
    world
        .simulator
        .set_permission(installation, "issues", Some("read"))
        .unwrap();
    let mut world = world;
    world.token = world.mint().await;
    let path = format!("/repos/{REPO}/issues/{number}/comments");
    assert_eq!(world.get(&path).await.status, StatusCode::OK);
    let got = world.post(&path, json!({"body": "x"})).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert!(world.simulator.comments(REPO, number).unwrap().is_empty());
}

#[tokio::test]
async fn rules_for_headers() {
    let world = World::new().await;
    let mut request = world.request(Method::GET, "/rate_limit", &world.token, None);
    request.headers_mut().remove("user-agent");
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert!(got.text().contains("User-Agent"));
    let mut request = world.request(Method::GET, "/rate_limit", &world.token, None);
    let headers = request.headers_mut();
    headers.insert("x-github-api-version", "2020-01-01".parse().unwrap());
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    let mut request = world.request(Method::GET, "/rate_limit", &world.token, None);
    request.headers_mut().remove("authorization");
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::UNAUTHORIZED);
    assert_eq!(got.json()["message"], "Requires authentication");
}

#[tokio::test]
async fn requests_are_counted() {
    let world = World::new().await;
    let first = world.get("/repos/acme/widgets").await;
    let second = world.get("/repos/acme/widgets").await;
    let left = |header: Option<&str>| header.unwrap().parse::<u32>().unwrap();
    assert_eq!(
        left(first.header("x-ratelimit-remaining")),
        left(second.header("x-ratelimit-remaining")) + 1
    );
    assert_eq!(second.header("x-ratelimit-resource"), Some("core"));
    assert!(second.header("x-github-request-id").is_some());
    let rate = world.get("/rate_limit").await.json();
    assert_eq!(rate["rate"]["used"], 2);
}

/// Comments are edited and deleted by their author and by people with write, whoever wrote them.
#[tokio::test]
async fn people_edit_their_own_comments_and_with_write_those_of_others() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let issue = simulator.open_issue(REPO, "ada", "One", "").unwrap();
    let path = format!("/repos/{REPO}/issues/{issue}/comments");
    let bots = world.post(&path, json!({"body": "- [ ] a"})).await.json()["id"].clone();
    let bens = simulator.comment(REPO, issue, "ben", "hello").unwrap();
    simulator.grant(REPO, "tess", Role::Triage).unwrap();
    simulator.settle().await;
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    simulator.set_targets(vec![receiver.url.clone()]);
    let reading = "Resource not accessible by personal access token";
    let rights = "Must have admin rights to Repository.";
    let cases = [
        (simulator.personal_token("ada"), &bots, Some(reading)),
        (simulator.writing_token("ben"), &bots, Some(rights)),
        (simulator.writing_token("tess"), &bots, Some(rights)),
        (simulator.writing_token("ada"), &bots, None),
        (simulator.writing_token("ben"), &json!(bens), None),
        (simulator.writing_token("ada"), &json!(bens), None),
    ];
    for (index, (token, comment, refused)) in cases.into_iter().enumerate() {
        let path = format!("/repos/{REPO}/issues/comments/{comment}");
        let body = json!({"body": format!("edit {index}")});
        let token = token.expose_secret();
        for method in [Method::PATCH, Method::DELETE] {
            // What may be deleted is deleted below.
            if refused.is_none() && method == Method::DELETE {
                continue;
            }
            let request = world.request(method, &path, token, Some(&body));
            let got = world.send(request).await.unwrap();
            match refused {
                Some(message) => {
                    assert_eq!(got.status, StatusCode::FORBIDDEN, "case {index}");
                    assert_eq!(got.json()["message"], message, "case {index}");
                }
                None => assert_eq!(got.status, StatusCode::OK, "case {index}"),
            }
        }
    }
    simulator.settle().await;
    let edits: Vec<_> = receiver
        .payloads()
        .into_iter()
        .map(|(_, payload)| {
            let comment = &payload["comment"];
            [
                &payload["sender"]["login"],
                &comment["user"]["login"],
                &payload["changes"]["body"]["from"],
                &comment["body"],
            ]
            .map(|text| text.as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(
        edits,
        [
            ["ada", "planwright[bot]", "- [ ] a", "edit 3"],
            ["ben", "ben", "hello", "edit 4"],
            ["ada", "ben", "edit 4", "edit 5"],
        ]
    );
    let path = format!("/repos/{REPO}/issues/comments/{bots}");
    let token = simulator.writing_token("ada");
    let request = world.request(Method::DELETE, &path, token.expose_secret(), None);
    let got = world.send(request).await.unwrap();
    assert_eq!(got.status, StatusCode::NO_CONTENT);
}
