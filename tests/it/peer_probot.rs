//! Tests with Probot, GitHub's framework for Apps, as the receiver: it accepts deliveries only if
//! they are signed and framed as by GitHub.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;

use secrecy::SecretString;
use serde_json::json;

use crate::simulator_support::{REPO, World};
use crate::support::openapi::github;
use crate::support::peers;
use crate::support::webhook_examples::{post_all, post_forgeries, webhook_examples};

const SECRET: &str = "It's a Secret to Everybody";

#[tokio::test]
async fn probot_accepts_every_signed_example_and_refuses_forgeries() {
    let Some(mut probot) = peers::start("probot.mjs", &[("WEBHOOK_SECRET", SECRET)]) else {
        return;
    };
    let port = probot.next().await.expect("a line with the port")["port"].clone();
    let url = format!("http://127.0.0.1:{port}/webhooks");

    let refused = post_forgeries(&url, SECRET).await.unwrap();
    let refused: Vec<(&str, u16)> = refused
        .iter()
        .map(|(name, status)| (&**name, *status))
        .collect();
    assert_eq!(
        refused,
        [
            ("without x-hub-signature-256", 400),
            ("without x-github-event", 400),
            ("without x-github-delivery", 400),
            ("tampered", 400),
            ("wrong secret", 400),
            ("as a form", 415),
            ("not JSON", 400),
        ]
    );

    let answers = post_all(&url, SECRET).await.unwrap();
    let statuses: BTreeSet<u16> = answers.iter().map(|(_, status)| *status).collect();
    assert_eq!(statuses, BTreeSet::from([200]), "{answers:?}");
    let (events, success) = probot.finish().await;
    assert!(success);
    let examples = webhook_examples().unwrap();
    assert_eq!(
        events.len(),
        examples.len(),
        "only what was signed came through"
    );
    let pairs = events.iter().zip(&examples);
    for (event, example) in pairs {
        assert_eq!(event["event"], example.event.as_str());
        assert!(event["id"].is_string());
    }
}

/// Everything people and the App can do on the simulator: Probot accepts each delivery, and
/// GitHub's description of the webhook finds nothing wrong with its payload.
#[tokio::test]
async fn the_simulators_deliveries_are_githubs() {
    let Some(mut probot) = peers::start("probot.mjs", &[("WEBHOOK_SECRET", SECRET)]) else {
        return;
    };
    let port = probot.next().await.expect("a line with the port")["port"].clone();
    let world = World::with(|options| {
        options.targets = vec![format!("http://127.0.0.1:{port}/webhooks")];
        options.webhook_secret = SecretString::from(SECRET);
    })
    .await;
    story(&world).await;
    world.simulator.settle().await;
    let deliveries = world.simulator.deliveries();
    let mut kinds = BTreeSet::new();
    let mut wrong = Vec::new();
    for delivery in &deliveries {
        let payload: serde_json::Value = serde_json::from_slice(&delivery.payload).unwrap();
        let action = payload["action"].as_str().unwrap_or_default();
        let kind = format!("{} {action}", delivery.event);
        assert_eq!(delivery.status_code, Some(200), "{kind}");
        if let Some(github) = github() {
            let found = github.check_delivery(&delivery.event, &payload);
            wrong.extend(found.iter().map(|text| format!("{kind}: {text}")));
        }
        kinds.insert(kind);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let expected = [
        "installation created",
        "installation deleted",
        "installation new_permissions_accepted",
        "installation suspend",
        "installation unsuspend",
        "issue_comment created",
        "issue_comment deleted",
        "issue_comment edited",
        "issues closed",
        "issues edited",
        "issues labeled",
        "issues opened",
        "issues reopened",
        "issues unlabeled",
        "label created",
        "ping ",
        "pull_request labeled",
        "pull_request opened",
        "pull_request unlabeled",
    ];
    assert_eq!(kinds, expected.map(str::to_owned).into());

    let (events, success) = probot.finish().await;
    assert!(success);
    let accepted: Vec<(&str, &str)> = events
        .iter()
        .map(|event| {
            (
                event["event"].as_str().unwrap(),
                event["id"].as_str().unwrap(),
            )
        })
        .collect();
    let sent: Vec<(&str, &str)> = deliveries
        .iter()
        .map(|delivery| (&*delivery.event, &*delivery.guid))
        .collect();
    assert_eq!(accepted, sent);
}

/// The judge of the payloads is judged: it misses none of the members that planwright reads.
#[tokio::test]
async fn a_payload_without_a_member_that_is_read_is_noticed() {
    let Some(github) = github() else { return };
    let world = World::new().await;
    let issue = world.simulator.open_issue(REPO, "ada", "One", "").unwrap();
    world
        .simulator
        .comment(REPO, issue, "ada", "Hello")
        .unwrap();
    world.simulator.label(REPO, issue, "ada", "x").unwrap();
    let deliveries = world.simulator.deliveries();
    let payload = |event: &str, action: &str| {
        let payloads = deliveries
            .iter()
            .filter(|delivery| delivery.event == event)
            .map(|delivery| {
                serde_json::from_slice::<serde_json::Value>(&delivery.payload).unwrap()
            });
        let found: Vec<_> = payloads
            .filter(|payload| payload["action"] == action)
            .collect();
        found.into_iter().next().expect("the delivery")
    };
    for (event, action, member) in [
        ("issue_comment", "created", "/action"),
        ("issue_comment", "created", "/sender/login"),
        ("issue_comment", "created", "/comment/id"),
        ("issue_comment", "created", "/comment/body"),
        ("issue_comment", "created", "/comment/created_at"),
        ("issue_comment", "created", "/comment/html_url"),
        ("issue_comment", "created", "/issue/number"),
        ("issue_comment", "created", "/repository/owner/login"),
        ("issue_comment", "created", "/installation/id"),
        ("issues", "labeled", "/issue/number"),
        ("issues", "labeled", "/label/name"),
        ("installation", "created", "/installation/account"),
        ("installation", "created", "/installation/id"),
    ] {
        let mut payload = payload(event, action);
        assert_eq!(github.check_delivery(event, &payload), [""; 0]);
        let (holder, name) = member.rsplit_once('/').unwrap();
        let holder = payload
            .pointer_mut(holder)
            .unwrap()
            .as_object_mut()
            .unwrap();
        assert!(holder.remove(name).is_some(), "{member}");
        assert_ne!(
            github.check_delivery(event, &payload),
            [""; 0],
            "{event} without {member}"
        );
    }
    let odd = json!({"action": "exploded"});
    assert_eq!(
        github.check_delivery("issue_comment", &odd),
        ["GitHub describes no webhook `issue-comment-exploded`"]
    );
}

async fn story(world: &World) {
    let simulator = &world.simulator;
    simulator.ping();
    let issue = simulator
        .open_issue(REPO, "ada", "Export as CSV", "Reports, please.")
        .unwrap();
    simulator.open_issue(REPO, "ben", "No text", "").unwrap();
    let comment = simulator
        .comment(REPO, issue, "ada", "/save-plan with tests")
        .unwrap();
    simulator
        .edit_comment(comment, "ada", "never mind")
        .unwrap();
    simulator.react(REPO, comment, "ben", "eyes").unwrap();
    simulator.label(REPO, issue, "ada", "save-plan").unwrap();
    simulator.unlabel(REPO, issue, "ada", "save-plan").unwrap();
    simulator
        .edit_issue(REPO, issue, "ada", Some("Export reports"), Some("As CSV."))
        .unwrap();
    simulator.set_closed(REPO, issue, "ada", true).unwrap();
    simulator.set_closed(REPO, issue, "ada", false).unwrap();
    let pull = simulator
        .open_pull_request(REPO, "ada", "CSV", "See the issue.")
        .unwrap();
    simulator.label(REPO, pull, "ada", "save-plan").unwrap();
    simulator.comment(REPO, pull, "ben", "/plan-help").unwrap();
    simulator.unlabel(REPO, pull, "ada", "save-plan").unwrap();

    // The App's own doing.
    let issues = format!("/repos/{REPO}/issues");
    let made = world
        .post(
            &issues,
            json!({"title": "Plan", "body": "x", "labels": ["erk-plan"]}),
        )
        .await;
    let number = made.json()["number"].as_u64().unwrap();
    world
        .post(
            &format!("{issues}/{number}/comments"),
            json!({"body": "the plan"}),
        )
        .await;
    simulator.delete_comment(comment, "ada").unwrap();

    let id = world.installation;
    simulator.suspend(id).unwrap();
    simulator.unsuspend(id).unwrap();
    simulator.set_permission(id, "contents", None).unwrap();
    simulator.uninstall(id).unwrap();
}
