//! The request of each operation, and the interpretation of the response.

use planwright::adapters::redact::Redactor;
use planwright::engine::forge::{Access, Forge, LabelSpec, ReactTo, Reaction};
use planwright::formats::command::Permission;
use secrecy::SecretString;
use serde_json::json;

use super::stub::*;

const LABEL: LabelSpec = LabelSpec {
    name: "plans: saved/raw",
    colour: "0E8A16",
    description: "Implementation plan",
};

#[tokio::test]
async fn every_request_carries_the_headers_once() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        asked
            .path
            .ends_with("/comments")
            .then(|| reply(201, own_comment(1, "hello")))
            .flatten()
    })
    .await;
    client(&stub, &clock)
        .create_comment(&repo(), 7, "hello")
        .await
        .unwrap();
    let asked = stub.asked();
    assert_eq!(asked.len(), 2);
    for asked in &asked {
        for (name, value) in [
            ("accept", "application/vnd.github+json"),
            ("x-github-api-version", "2022-11-28"),
            (
                "user-agent",
                concat!("planwright/", env!("CARGO_PKG_VERSION")),
            ),
        ] {
            let values: Vec<_> = asked.headers.get_all(name).iter().collect();
            assert_eq!(values, [value], "{name}");
        }
        assert_eq!(asked.headers.get_all("authorization").iter().count(), 1);
    }
    assert_eq!(asked[1].headers["content-type"], "application/json");
    assert_eq!(asked[1].token(), token(0));
}

#[tokio::test]
async fn writes_have_exactly_these_bodies() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.line().as_str() {
        "POST /repos/octo/plans/issues" => {
            reply(201, own_issue(12, "the body", "2026-01-01T00:00:00Z"))
        }
        "POST /repos/octo/plans/issues/7/comments" => {
            reply(201, own_comment(31, "stored differently"))
        }
        "PATCH /repos/octo/plans/issues/12" => {
            reply(200, own_issue(12, "b", "2026-01-01T00:00:00Z"))
        }
        "PATCH /repos/octo/plans/issues/comments/31" => Some(Reply::Raw(200, "not json, but done")),
        "POST /repos/octo/plans/issues/7/reactions" => {
            reply(201, json!({"id": 71, "content": "eyes"}))
        }
        "POST /repos/octo/plans/issues/comments/31/reactions" => {
            // 200: it was there already.
            reply(200, json!({"id": 72, "content": "rocket"}))
        }
        "DELETE /repos/octo/plans/issues/7/reactions/71" => Some(Reply::Raw(204, "")),
        "DELETE /repos/octo/plans/issues/7/labels/save%20plan%2F%C3%A9" => reply(200, json!([])),
        _ => None,
    })
    .await;
    let github = client(&stub, &clock);
    let (repo, place) = (repo(), place());

    let issue = github
        .create_issue(&repo, "A title", "the body", &["erk-plan"])
        .await
        .unwrap();
    assert_eq!(
        (issue.id, issue.url.as_str(), issue.body.as_str()),
        (12, "https://github.com/octo/plans/issues/12", "the body")
    );
    let comment = github.create_comment(&repo, 7, "sent").await.unwrap();
    assert_eq!(
        (comment.id, comment.body.as_str()),
        (31, "stored differently")
    );
    github.update_issue_body(&repo, 12, "b").await.unwrap();
    github.update_comment(&repo, 31, "c").await.unwrap();
    assert_eq!(
        github
            .react(&place, &ReactTo::Issue, Reaction::Eyes)
            .await
            .unwrap(),
        71
    );
    assert_eq!(
        github
            .react(&place, &ReactTo::Comment(31), Reaction::Rocket)
            .await
            .unwrap(),
        72
    );
    github.unreact(&place, &ReactTo::Issue, 71).await.unwrap();
    github
        .unreact(&place, &ReactTo::Comment(31), 404)
        .await
        .unwrap();
    github.remove_label(&place, "save plan/é").await.unwrap();
    github.remove_label(&place, "gone").await.unwrap();

    let sent: Vec<_> = stub
        .asked()
        .into_iter()
        .skip(1)
        .map(|asked| (asked.line(), asked.body))
        .collect();
    let line = |line: &str, body| (line.to_owned(), body);
    assert_eq!(
        sent,
        [
            line(
                "POST /repos/octo/plans/issues",
                json!({"title": "A title", "body": "the body", "labels": ["erk-plan"]})
            ),
            line(
                "POST /repos/octo/plans/issues/7/comments",
                json!({"body": "sent"})
            ),
            line("PATCH /repos/octo/plans/issues/12", json!({"body": "b"})),
            line(
                "PATCH /repos/octo/plans/issues/comments/31",
                json!({"body": "c"})
            ),
            line(
                "POST /repos/octo/plans/issues/7/reactions",
                json!({"content": "eyes"})
            ),
            line(
                "POST /repos/octo/plans/issues/comments/31/reactions",
                json!({"content": "rocket"})
            ),
            line(
                "DELETE /repos/octo/plans/issues/7/reactions/71",
                json!(null)
            ),
            line(
                "DELETE /repos/octo/plans/issues/comments/31/reactions/404",
                json!(null)
            ),
            line(
                "DELETE /repos/octo/plans/issues/7/labels/save%20plan%2F%C3%A9",
                json!(null)
            ),
            line("DELETE /repos/octo/plans/issues/7/labels/gone", json!(null)),
        ]
    );
}

#[tokio::test]
async fn secrets_are_taken_out_of_every_post() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match asked.method.as_str() {
        "POST" if asked.path.ends_with("/issues") => {
            reply(201, own_issue(1, "", "2026-01-01T00:00:00Z"))
        }
        "POST" if asked.path.ends_with("/comments") => reply(201, own_comment(1, "")),
        "PATCH" => reply(200, own_comment(1, "")),
        _ => None,
    })
    .await;
    let mut config = config(&stub.url);
    config.redactor = Redactor::new(vec![SecretString::from("webhook-secret")]);
    let github = planwright::adapters::github::GitHub::new(config, clock.clone()).unwrap();
    let text = format!("{} webhook-secret", token(1));
    github
        .create_issue(&repo(), &text, &text, &[])
        .await
        .unwrap();
    github.create_comment(&repo(), 7, &text).await.unwrap();
    github.update_comment(&repo(), 7, &text).await.unwrap();
    github.update_issue_body(&repo(), 7, &text).await.unwrap();
    let bodies: Vec<_> = stub
        .asked()
        .into_iter()
        .skip(1)
        .map(|asked| asked.body)
        .collect();
    let clean = "***REDACTED:github-token*** ***REDACTED:configured-secret***";
    assert_eq!(
        bodies[0],
        json!({"title": clean, "body": clean, "labels": []})
    );
    for body in &bodies[1..] {
        assert_eq!(*body, json!({"body": clean}));
    }
    assert_eq!(bodies.len(), 4);
}

#[tokio::test]
async fn a_label_is_made_only_when_it_is_missing() {
    for (there, answer, posts) in [
        (true, 500, 0),
        (false, 201, 1),
        // Somebody else made it meanwhile.
        (false, 422, 1),
    ] {
        let clock = TestClock::new();
        let stub = Stub::start(&clock, move |asked| match asked.line().as_str() {
            "GET /repos/octo/plans/labels/plans%3A%20saved%2Fraw" if there => {
                reply(200, json!({"id": 1}))
            }
            "POST /repos/octo/plans/labels" => reply(
                answer,
                json!({"id": 1, "message": "Validation Failed", "errors": [
                    {"resource": "Label", "code": "already_exists", "field": "name"}]}),
            ),
            _ => None,
        })
        .await;
        client(&stub, &clock)
            .ensure_label(&repo(), &LABEL)
            .await
            .unwrap();
        let made: Vec<_> = stub
            .asked()
            .into_iter()
            .filter(|asked| asked.path.ends_with("/labels"))
            .collect();
        assert_eq!(made.len(), posts);
        for made in made {
            let body = json!({"name": "plans: saved/raw", "color": "0E8A16", "description": "Implementation plan"});
            assert_eq!(made.body, body);
        }
    }
}

#[tokio::test]
async fn another_refusal_of_a_label_is_an_error() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        let wrong = json!({"message": "Validation Failed", "errors": [{"code": "invalid", "field": "color"}]});
        (asked.line() == "POST /repos/octo/plans/labels").then(|| reply(422, wrong)).flatten()
    })
    .await;
    let error = client(&stub, &clock)
        .ensure_label(&repo(), &LABEL)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "GitHub answered 422 for the label plans: saved/raw in octo/plans: Validation Failed (color: invalid)"
    );
}

#[tokio::test]
async fn access_is_the_role_and_an_unknown_account_has_none() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        (asked.path == "/repos/octo/plans/collaborators/ada/permission")
            .then(|| reply(200, json!({"permission": "write", "role_name": "maintain", "user": {"id": 21, "login": "ada"}})))
            .flatten()
    })
    .await;
    let github = client(&stub, &clock);
    assert_eq!(
        github.access(&repo(), "ada").await.unwrap(),
        Access {
            user_id: 21,
            permission: Some(Permission::Maintain)
        }
    );
    assert_eq!(
        github.access(&repo(), "no/body?").await.unwrap(),
        Access {
            user_id: 0,
            permission: None
        }
    );
    assert_eq!(
        stub.lines()[1],
        "GET /repos/octo/plans/collaborators/no%2Fbody%3F/permission"
    );
}
