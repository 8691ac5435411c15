//! Conversations that are read-only, and lists that lag: the simulator responds as GitHub does.

use std::time::Duration;

use github_simulator::{Fault, FaultKind};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::simulator_support::{Got, REPO, World};

/// An issue with one comment.
fn issue(world: &World) -> (u64, u64) {
    let number = world.simulator.open_issue(REPO, "bob", "t", "b").unwrap();
    let comment = world.simulator.comment(REPO, number, "bob", "c").unwrap();
    (number, comment)
}

async fn comment_on(world: &World, number: u64) -> Got {
    let path = format!("/repos/{REPO}/issues/{number}/comments");
    world.post(&path, json!({"body": "x"})).await
}

fn message(got: &Got) -> String {
    got.json()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_locked_conversation_takes_edits_and_labels_but_no_comments_and_reactions() {
    let world = World::new().await;
    let (number, comment) = issue(&world);
    let own = comment_on(&world, number).await.json()["id"].clone();
    world
        .simulator
        .set_locked(REPO, number, "ada", true)
        .unwrap();
    let got = comment_on(&world, number).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        message(&got),
        "Unable to create comment because issue is locked."
    );
    for on in [format!("{number}"), format!("comments/{comment}")] {
        let path = format!("/repos/{REPO}/issues/{on}/reactions");
        let got = world.post(&path, json!({"content": "eyes"})).await;
        assert_eq!(got.status, StatusCode::FORBIDDEN, "{on}");
    }
    let issue = world.get(&format!("/repos/{REPO}/issues/{number}")).await;
    assert_eq!(issue.json()["locked"], true);
    let path = format!("/repos/{REPO}/issues/comments/{own}");
    let edited = world.call(Method::PATCH, &path, json!({"body": "y"})).await;
    assert_eq!(edited.status, StatusCode::OK);
    world
        .simulator
        .set_locked(REPO, number, "ada", false)
        .unwrap();
    assert_eq!(comment_on(&world, number).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn an_archived_repository_is_read_only() {
    let world = World::new().await;
    let (number, _) = issue(&world);
    world.simulator.set_archived(REPO, true).unwrap();
    let got = comment_on(&world, number).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(message(&got), "Repository was archived so is read-only.");
    let got = world
        .post(&format!("/repos/{REPO}/issues"), json!({"title": "t"}))
        .await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        world.get(&format!("/repos/{REPO}")).await.json()["archived"],
        true
    );
    let read = world.get(&format!("/repos/{REPO}/issues/{number}")).await;
    assert_eq!(read.status, StatusCode::OK);
}

#[tokio::test]
async fn a_deleted_issue_is_gone_with_its_comments_and_its_number_is_not_given_again() {
    let world = World::new().await;
    let (number, comment) = issue(&world);
    world.simulator.delete_issue(REPO, number, "ada").unwrap();
    for path in ["", "/comments"] {
        let got = world
            .get(&format!("/repos/{REPO}/issues/{number}{path}"))
            .await;
        assert_eq!(got.status, StatusCode::GONE, "{path}");
        assert_eq!(message(&got), "This issue was deleted");
    }
    assert_eq!(comment_on(&world, number).await.status, StatusCode::GONE);
    let got = world
        .get(&format!("/repos/{REPO}/issues/comments/{comment}"))
        .await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert_eq!(issue(&world).0, number + 1);
}

#[tokio::test]
async fn a_transferred_issue_redirects_and_what_is_below_it_does_not() {
    let world = World::new().await;
    let (number, comment) = issue(&world);
    let other = "acme/other";
    let id = world.simulator.add_repository(other, false).unwrap();
    world
        .simulator
        .open_issue(other, "bob", "first", "")
        .unwrap();
    let new = world.simulator.transfer_issue(REPO, number, other).unwrap();
    assert_eq!(new, 2);
    let got = world.get(&format!("/repos/{REPO}/issues/{number}")).await;
    assert_eq!(got.status, StatusCode::MOVED_PERMANENTLY);
    let location = got.header("location").unwrap();
    assert!(
        location.ends_with(&format!("/repositories/{id}/issues/2")),
        "{location}"
    );
    let there = world.get(location).await.json();
    assert_eq!(
        (there["number"].as_u64(), there["title"].as_str()),
        (Some(2), Some("t"))
    );
    let below = world
        .get(&format!("/repos/{REPO}/issues/{number}/comments"))
        .await;
    assert_eq!(below.status, StatusCode::NOT_FOUND);
    assert_eq!(
        comment_on(&world, number).await.status,
        StatusCode::NOT_FOUND
    );
    let comments = world
        .get(&format!("/repos/{other}/issues/2/comments"))
        .await
        .json();
    assert_eq!(comments[0]["body"], "c");
    assert_ne!(comments[0]["id"], comment);
}

#[tokio::test]
async fn a_hidden_comment_is_listed_with_the_reason() {
    let world = World::new().await;
    let (number, comment) = issue(&world);
    let path = format!("/repos/{REPO}/issues/{number}/comments");
    assert_eq!(world.get(&path).await.json()[0]["minimized"], Value::Null);
    world.simulator.hide_comment(comment, Some("spam")).unwrap();
    let hidden = json!({"reason": "spam"});
    assert_eq!(world.get(&path).await.json()[0]["minimized"], hidden);
    world.simulator.hide_comment(comment, None).unwrap();
    assert_eq!(world.get(&path).await.json()[0]["minimized"], Value::Null);
}

#[tokio::test]
async fn lists_lag_behind_what_is_read_by_number() {
    let world = World::new().await;
    let lag = Duration::from_secs(20);
    world.simulator.set_list_lag(lag);
    let (number, comment) = issue(&world);
    let lists = [
        format!("/repos/{REPO}/issues"),
        format!("/repos/{REPO}/issues/comments"),
        format!("/repos/{REPO}/issues/{number}/comments"),
    ];
    for list in &lists {
        assert_eq!(world.get(list).await.json(), json!([]), "{list}");
    }
    let issue = world
        .get(&format!("/repos/{REPO}/issues/{number}"))
        .await
        .json();
    assert_eq!(issue["comments"], 1);
    let got = world
        .get(&format!("/repos/{REPO}/issues/comments/{comment}"))
        .await;
    assert_eq!(got.status, StatusCode::OK);
    world.clock.advance(lag);
    for list in &lists {
        assert_eq!(
            world.get(list).await.json().as_array().unwrap().len(),
            1,
            "{list}"
        );
    }
}

#[tokio::test]
async fn a_fault_answers_any_status_with_any_body_and_does_nothing() {
    let world = World::new().await;
    let body = json!({"message": "Validation Failed", "errors": ["was submitted too quickly"],
        "documentation_url": "https://docs.github.com/rest"});
    let trouble = FaultKind::Response {
        status: 422,
        body: body.clone(),
    };
    let path = "/repos/*/*/issues";
    world
        .simulator
        .faults()
        .push(Fault::on("POST", path, trouble));
    let got = world
        .post(&format!("/repos/{REPO}/issues"), json!({"title": "t"}))
        .await;
    assert_eq!(
        (got.status, got.json()),
        (StatusCode::UNPROCESSABLE_ENTITY, body)
    );
    assert_eq!(world.simulator.issues(REPO).unwrap().len(), 0);
}

#[tokio::test]
async fn the_date_of_an_answer_is_the_simulators() {
    let world = World::new().await;
    let got = world.get(&format!("/repos/{REPO}")).await;
    assert_eq!(got.header("date"), Some("Fri, 15 Jan 2027 08:00:00 GMT"));
}
