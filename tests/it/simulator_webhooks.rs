//! The simulator sends the webhooks that GitHub would send, signed and in order.

use http::{Method, StatusCode};
use planwright::adapters::signature::{SignatureError, verify};
use secrecy::SecretString;
use serde_json::json;

use crate::simulator_support::{REPO, Receiver, SECRET, World};

#[tokio::test]
async fn every_change_is_announced_in_order() {
    let world = World::new().await;
    let simulator = &world.simulator;
    simulator.settle().await;
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    simulator.set_targets(vec![receiver.url.clone()]);
    simulator.ping();
    let issue = simulator.open_issue(REPO, "ada", "One", "body").unwrap();
    let comment = simulator.comment(REPO, issue, "ada", "first").unwrap();
    simulator.edit_comment(comment, "ada", "second").unwrap();
    simulator.label(REPO, issue, "ada", "save-plan").unwrap();
    simulator.unlabel(REPO, issue, "ada", "save-plan").unwrap();
    simulator
        .edit_issue(REPO, issue, "ada", Some("Two"), None)
        .unwrap();
    simulator.delete_comment(comment, "ada").unwrap();
    simulator.set_closed(REPO, issue, "ada", true).unwrap();
    let pull = simulator.open_pull_request(REPO, "ada", "PR", "").unwrap();
    simulator.label(REPO, pull, "ada", "save-plan").unwrap();
    simulator.unlabel(REPO, pull, "ada", "save-plan").unwrap();
    simulator.suspend(world.installation).unwrap();
    simulator
        .comment(REPO, pull, "ada", "nobody hears this")
        .unwrap();
    simulator.unsuspend(world.installation).unwrap();
    simulator.uninstall(world.installation).unwrap();
    simulator.settle().await;
    let expected = [
        "ping",
        "issues opened",
        "issue_comment created",
        "issue_comment edited",
        "label created",
        "issues labeled",
        "issues unlabeled",
        "issues edited",
        "issue_comment deleted",
        "issues closed",
        "pull_request opened",
        "pull_request labeled",
        "pull_request unlabeled",
        "installation suspend",
        "installation unsuspend",
        "installation deleted",
    ];
    assert_eq!(receiver.events(), expected);
    let payloads = receiver.payloads();
    assert_eq!(payloads[3].1["changes"]["body"]["from"], "first");
    assert_eq!(payloads[3].1["comment"]["body"], "second");
    assert_eq!(payloads[5].1["label"]["name"], "save-plan");
    assert_eq!(payloads[7].1["changes"]["title"]["from"], "One");
    assert_eq!(payloads[11].1["number"], pull);
    assert_eq!(payloads[2].1["installation"]["id"], world.installation);
    assert_eq!(payloads[2].1["sender"]["login"], "ada");
}

#[tokio::test]
async fn deliveries_are_signed_over_their_bytes() {
    let world = World::new().await;
    let receiver = Receiver::start(StatusCode::OK).await;
    world.simulator.set_targets(vec![receiver.url.clone()]);
    world
        .simulator
        .open_issue(REPO, "ada", "One", "ünï \u{1f680}")
        .unwrap();
    world
        .simulator
        .set_webhook_secret(SecretString::from("next"));
    world.simulator.settle().await;
    world.simulator.open_issue(REPO, "ada", "Two", "").unwrap();
    world.simulator.settle().await;
    let got = receiver.got.lock().unwrap();
    for (headers, body) in got.iter() {
        let header = headers["x-hub-signature-256"].to_str().unwrap();
        let secrets = [SecretString::from(SECRET), SecretString::from("next")];
        assert_eq!(verify(&secrets, body, header), Ok(()));
        let other = [SecretString::from("other")];
        assert_eq!(verify(&other, body, header), Err(SignatureError::Mismatch));
        assert!(
            headers["user-agent"]
                .to_str()
                .unwrap()
                .starts_with("GitHub-Hookshot/")
        );
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["x-github-hook-installation-target-id"], "4711");
        assert!(headers.contains_key("x-github-hook-id"));
    }
    let last = got.last().unwrap();
    let header = last.0["x-hub-signature-256"].to_str().unwrap();
    assert_eq!(
        verify(&[SecretString::from("next")], &last.1, header),
        Ok(())
    );
}

#[tokio::test]
async fn the_apps_own_changes_are_announced_too() {
    let world = World::new().await;
    let number = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.settle().await;
    let receiver = Receiver::start(StatusCode::OK).await;
    world.simulator.set_targets(vec![receiver.url.clone()]);
    let path = format!("/repos/{REPO}/issues/{number}/comments");
    world.post(&path, json!({"body": "hello"})).await;
    let body = json!({"title": "Plan", "labels": ["erk-plan"]});
    world.post("/repos/acme/widgets/issues", body).await;
    world.simulator.settle().await;
    assert_eq!(
        receiver.events(),
        [
            "issue_comment created",
            "label created",
            "issues opened",
            "issues labeled"
        ]
    );
    let payload = &receiver.payloads()[0].1;
    assert_eq!(payload["sender"]["login"], "planwright[bot]");
    assert_eq!(payload["sender"]["type"], "Bot");
    assert_eq!(payload["comment"]["performed_via_github_app"]["id"], 4711);
}

#[tokio::test]
async fn failed_deliveries_are_listed_and_delivered_again() {
    let world = World::new().await;
    world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.settle().await;
    let path = "/app/hook/deliveries?status=failure";
    let failed = world.as_app(Method::GET, path, None).await.json();
    let failed = failed.as_array().unwrap();
    assert_eq!(failed[0]["event"], "issues");
    assert_eq!(failed[0]["status"], "failed to connect to host");
    let receiver = Receiver::start(StatusCode::OK).await;
    world.simulator.set_targets(vec![receiver.url.clone()]);
    let path = format!("/app/hook/deliveries/{}", failed[0]["id"]);
    let one = world.as_app(Method::GET, &path, None).await.json();
    assert_eq!(one["request"]["payload"]["issue"]["title"], "One");
    let got = world
        .as_app(Method::POST, &format!("{path}/attempts"), None)
        .await;
    assert_eq!(got.status, StatusCode::ACCEPTED);
    world.simulator.settle().await;
    let sent = receiver.got.lock().unwrap()[0].0["x-github-delivery"].clone();
    assert_eq!(sent.to_str().unwrap(), failed[0]["guid"]);
    let path = "/app/hook/deliveries?status=success";
    let done = world.as_app(Method::GET, path, None).await.json();
    assert_eq!(done[0]["redelivery"], true);
    assert_eq!(done[0]["guid"], failed[0]["guid"]);
    assert_ne!(done[0]["id"], failed[0]["id"]);
}

#[tokio::test]
async fn the_delivery_log_is_read_by_cursor() {
    let world = World::new().await;
    for title in ["1", "2", "3", "4"] {
        world.simulator.open_issue(REPO, "ada", title, "").unwrap();
    }
    world.simulator.settle().await;
    let mut next = Some("/app/hook/deliveries?per_page=2".to_owned());
    let mut ids = Vec::new();
    while let Some(path) = next {
        let got = world.as_app(Method::GET, &path, None).await;
        let page = got.json();
        ids.extend(
            page.as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].as_u64().unwrap()),
        );
        next = got.link("next");
    }
    let mut expected: Vec<u64> = world
        .simulator
        .deliveries()
        .iter()
        .map(|one| one.id)
        .collect();
    expected.reverse();
    assert_eq!(ids, expected);
    let got = world
        .as_app(Method::GET, "/app/hook/deliveries?cursor=zzz", None)
        .await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn duplicates_share_a_guid() {
    let world = World::new().await;
    let receiver = Receiver::start(StatusCode::SERVICE_UNAVAILABLE).await;
    world.simulator.set_targets(vec![receiver.url.clone()]);
    world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.settle().await;
    let first = world.simulator.deliveries().pop().unwrap();
    assert_eq!(first.status, "Invalid HTTP Response: 503");
    let codes = world.simulator.duplicate(first.id, 20).await.unwrap();
    assert_eq!(codes, vec![Some(503); 20]);
    let got = receiver.got.lock().unwrap();
    let same = got
        .iter()
        .filter(|(headers, body)| {
            headers["x-github-delivery"] == first.guid.as_str() && *body == first.payload
        })
        .count();
    assert_eq!(same, 21);
}
