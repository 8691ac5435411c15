//! The simulator's log of deliveries, faults on their way, conditional requests and events of
//! issues, as GitHub has them.

use std::time::Duration;

use github_simulator::WebhookFault;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::simulator_support::{Got, REPO, Receiver, World};

const LOG: &str = "/app/hook/deliveries?per_page=100";

impl World {
    async fn log(&self) -> Vec<Value> {
        let got = self.as_app(Method::GET, LOG, None).await;
        assert_eq!(got.status, StatusCode::OK, "{}", got.text());
        got.json().as_array().unwrap().clone()
    }

    /// Sends a GET that is conditional on `etag`.
    async fn get_unless(&self, path: &str, etag: &str) -> Got {
        let mut request = self.request(Method::GET, path, &self.token, None);
        request
            .headers_mut()
            .insert("if-none-match", etag.parse().unwrap());
        self.send(request).await.unwrap()
    }
}

#[tokio::test]
async fn ids_of_attempts_have_19_digits_and_grow() {
    let world = World::new().await;
    for title in ["1", "2", "3"] {
        world.simulator.open_issue(REPO, "ada", title, "").unwrap();
    }
    world.simulator.settle().await;
    let ids: Vec<u64> = world
        .log()
        .await
        .iter()
        .map(|one| one["id"].as_u64().unwrap())
        .collect();
    assert!(ids.len() >= 3);
    assert!(ids.iter().all(|id| id.to_string().len() == 19));
    assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
}

#[tokio::test]
async fn attempts_disappear_after_three_days() {
    let world = World::new().await;
    world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.settle().await;
    let id = world.log().await[0]["id"].as_u64().unwrap();
    world.clock.advance(Duration::from_hours(72));
    assert!(!world.log().await.is_empty());
    world.clock.advance(Duration::from_secs(1));
    assert!(world.log().await.is_empty());
    for (method, path) in [
        (Method::GET, format!("/app/hook/deliveries/{id}")),
        (Method::POST, format!("/app/hook/deliveries/{id}/attempts")),
    ] {
        let got = world.as_app(method, &path, None).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn new_attempts_appear_after_the_lag() {
    let world = World::new().await;
    let before = world.log().await.len();
    world
        .simulator
        .set_delivery_log_lag(Duration::from_secs(30));
    world.clock.advance(Duration::from_mins(1));
    world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.settle().await;
    assert_eq!(world.log().await.len(), before);
    world.clock.advance(Duration::from_secs(30));
    assert_eq!(world.log().await.len(), before + 1);
}

#[tokio::test]
async fn faults_drop_refuse_hold_and_double_deliveries() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    simulator.settle().await;
    simulator.set_targets(vec![receiver.url.clone()]);
    simulator.set_webhook_faults(|delivery| {
        let text = String::from_utf8_lossy(&delivery.payload).into_owned();
        [
            ("never", WebhookFault::NotCreated),
            ("proxy", WebhookFault::Proxy(413)),
            ("held", WebhookFault::Held),
            ("twice", WebhookFault::Duplicated),
        ]
        .into_iter()
        .find(|(title, _)| text.contains(title))
        .map(|(_, fault)| fault)
    });
    let before = world.log().await.len();
    for title in ["never", "proxy", "held 1", "held 2", "twice", "plain"] {
        simulator.open_issue(REPO, "ada", title, "").unwrap();
    }
    simulator.settle().await;
    let titles = || {
        let payloads = receiver.payloads();
        let titles = payloads
            .iter()
            .map(|(_, one)| one["issue"]["title"].clone());
        titles.collect::<Vec<_>>()
    };
    assert_eq!(titles(), ["twice", "twice", "plain"]);
    let log = world.log().await;
    // Those that are held back have no attempt yet.
    assert_eq!(log.len(), before + 4);
    assert_eq!(log[3]["status_code"], 413);
    assert_eq!(log[3]["status"], "Invalid HTTP Response: 413");
    assert_eq!(log[1]["guid"], log[2]["guid"]);
    simulator.clear_webhook_faults();
    simulator.release_deliveries(true);
    simulator.settle().await;
    assert_eq!(titles()[3..], ["held 2", "held 1"]);
    assert_eq!(world.log().await.len(), before + 6);
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again_and_costs_nothing() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.simulator.comment(REPO, issue, "ada", "Hm.").unwrap();
    for path in [
        format!("/repos/{REPO}/issues/comments?since=2020-01-01T00:00:00Z"),
        format!("/repos/{REPO}/issues?state=open"),
        format!("/repos/{REPO}/issues/{issue}"),
        "/installation/repositories".to_owned(),
    ] {
        let first = world.get(&path).await;
        let etag = first.header("etag").unwrap().to_owned();
        let used = first.header("x-ratelimit-used").unwrap().to_owned();
        let second = world.get_unless(&path, &etag).await;
        assert_eq!(second.status, StatusCode::NOT_MODIFIED, "{path}");
        assert!(second.body.is_empty());
        assert_eq!(second.header("etag"), Some(&*etag));
        assert_eq!(second.header("x-ratelimit-used"), Some(&*used));
        let other = world.get_unless(&path, "W/\"0\"").await;
        assert_eq!(other.status, StatusCode::OK);
    }
    let path = format!("/repos/{REPO}/issues/comments");
    let etag = world.get(&path).await.header("etag").unwrap().to_owned();
    world.simulator.comment(REPO, issue, "ada", "Oh.").unwrap();
    let changed = world.get_unless(&path, &etag).await;
    assert_eq!(changed.status, StatusCode::OK);
}

#[tokio::test]
async fn comments_of_a_repository_are_listed_by_the_time_of_their_change() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    let mut ids = Vec::new();
    for text in ["a", "b", "c"] {
        ids.push(world.simulator.comment(REPO, issue, "ada", text).unwrap());
        world.clock.advance(Duration::from_secs(10));
    }
    world.simulator.edit_comment(ids[0], "ada", "a2").unwrap();
    let path = format!("/repos/{REPO}/issues/comments?sort=updated&direction=asc");
    let listed = |got: Got| {
        let list = got.json();
        let ids = list
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_u64().unwrap());
        ids.collect::<Vec<_>>()
    };
    let all = world.get(&path).await;
    let since = all.json()[1]["updated_at"].as_str().unwrap().to_owned();
    assert_eq!(listed(all), [ids[1], ids[2], ids[0]]);
    // The time itself is included.
    let rest = world.get(&format!("{path}&since={since}")).await;
    assert_eq!(listed(rest), [ids[2], ids[0]]);
}

#[tokio::test]
async fn issues_have_events_for_their_labels() {
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world.clock.advance(Duration::from_secs(10));
    world
        .simulator
        .label(REPO, issue, "ada", "save-plan")
        .unwrap();
    let path = format!("/repos/{REPO}/issues/{issue}");
    let updated = world.get(&path).await.json()["updated_at"].clone();
    world.clock.advance(Duration::from_secs(10));
    let label = format!("{path}/labels/save-plan");
    world.call(Method::DELETE, &label, Value::Null).await;
    let events = world.get(&format!("{path}/events")).await.json();
    let shown: Vec<Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["event"], one["actor"]["login"], one["label"]["name"]]))
        .collect();
    assert_eq!(
        shown,
        [
            json!(["labeled", "ada", "save-plan"]),
            json!(["unlabeled", "planwright[bot]", "save-plan"])
        ]
    );
    assert_eq!(events[0]["created_at"], updated);
}

#[tokio::test]
async fn the_configuration_of_the_webhook_has_its_first_url_and_no_secret() {
    let world = World::new().await;
    let urls = [
        "https://bot.example/webhook",
        "https://other.example/webhook",
    ];
    world.simulator.set_targets(urls.map(str::to_owned).into());
    let config = async || {
        let got = world.as_app(Method::GET, "/app/hook/config", None).await;
        assert_eq!(got.status, StatusCode::OK, "{}", got.text());
        got.json()
    };
    assert_eq!(
        config().await,
        json!({
            "content_type": "json",
            "insecure_ssl": "0",
            "secret": "********",
            "url": urls[0],
        })
    );
    world.simulator.set_targets(Vec::new());
    assert_eq!(config().await.get("url"), None);
}
