//! GitHub's published webhook examples: the set is complete, and the receiver accepts all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;

use http::Method;
use planwright::engine::decide::{AppIdentity, AppSlug, Decision, decide};
use planwright::formats::command::Command;

use crate::receiver_support::{Delivery, start};
use crate::support::openapi::github;
use crate::support::webhook_examples::webhook_examples;

#[test]
fn all_published_examples_are_there() {
    let Some(examples) = webhook_examples() else {
        return;
    };
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    for example in &examples {
        *events.entry(&example.event).or_default() += 1;
    }
    assert_eq!(examples.len(), 329);
    assert_eq!(events.len(), 58);
    assert_eq!(events["issue_comment"], 9);
    let created = examples.iter().filter(|example| {
        example.event == "issue_comment" && example.action.as_deref() == Some("created")
    });
    assert_eq!(created.count(), 5);
    assert!(
        examples
            .iter()
            .all(|example| example.payload.starts_with(b"{"))
    );
}

/// What the receiver says to `event` with `action`; the examples hold no command.
fn expected(event: &str, action: Option<&str>) -> (u16, &'static str) {
    match (event, action) {
        ("ping", _) => (200, "pong"),
        ("installation", Some("deleted")) => (202, "accepted"),
        ("installation", Some("created" | "unsuspend" | "new_permissions_accepted")) => {
            (200, "installed")
        }
        _ => (200, "ignored"),
    }
}

#[tokio::test]
async fn every_published_example_gets_the_answer_of_the_table() {
    let Some(examples) = webhook_examples() else {
        return;
    };
    let rig = start().await;
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    let mut stored = 0;
    for example in &examples {
        let name = format!("{} {:?}", example.event, example.action);
        let delivery = Delivery::new(&example.event, example.payload.clone());
        let got = rig.send(&delivery).await;
        let (status, word) = expected(&example.event, example.action.as_deref());
        assert_eq!(got.status, status, "{name}: {}", got.text);
        assert_eq!(got.json()["status"], word, "{name}: {}", got.text);
        *said.entry(word.to_owned()).or_default() += 1;
        stored += usize::from(status == 202);

        // Delivered again: what was stored is known, all else is answered as before.
        let again = rig.send(&delivery).await;
        let word = if status == 202 { "duplicate" } else { word };
        assert_eq!(
            (again.status.as_u16(), &again.json()["status"]),
            (200, &word.into()),
            "{name}"
        );
    }
    assert_eq!(rig.store.stored(), stored);
    assert!(stored > 0);
    assert_eq!(said.values().sum::<usize>(), examples.len());
}

#[tokio::test]
async fn no_forged_example_comes_through() {
    let Some(examples) = webhook_examples() else {
        return;
    };
    let rig = start().await;
    let app = "x-github-hook-installation-target-id";
    for (index, example) in examples.iter().enumerate() {
        let genuine = Delivery::new(&example.event, example.payload.clone());
        let mut tampered = genuine.clone();
        let mut bytes = example.payload.clone();
        // One bit, at another place in every example.
        let at = (index * 7919) % bytes.len();
        bytes[at] ^= 1;
        tampered.body = bytes.into();
        let mut cut = genuine.clone();
        cut.body = cut.body.slice(..cut.body.len() - 1);
        let cases = [
            (tampered, 401),
            (cut, 401),
            (genuine.clone().signed_with("guessed"), 401),
            (genuine.clone().without("x-hub-signature-256"), 401),
            (genuine.clone().without("x-github-event"), 400),
            (genuine.clone().without("x-github-delivery"), 400),
            (
                genuine
                    .clone()
                    .with("content-type", "application/x-www-form-urlencoded"),
                415,
            ),
            (genuine.clone().with(app, "79929171"), 421),
            (
                Delivery {
                    method: Method::PUT,
                    ..genuine.clone()
                },
                405,
            ),
        ];
        for (case, (delivery, status)) in cases.into_iter().enumerate() {
            let got = rig.send(&delivery).await;
            let name = format!("{} {:?}, case {case}", example.event, example.action);
            assert_eq!(got.status, status, "{name}: {}", got.text);
            assert_eq!(got.json()["status"], "refused", "{name}");
        }
    }
    assert_eq!(rig.store.stored(), 0);
    assert_eq!(rig.receiver.forged(), 3 * examples.len() as u64);
}

/// The same examples with a command in them: comments and labels of people become runs, whatever
/// else the payload holds.
#[test]
fn published_examples_that_are_given_a_command_become_runs() {
    let Some(examples) = webhook_examples() else {
        return;
    };
    let mut classes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for example in &examples {
        let mut payload: serde_json::Value = serde_json::from_slice(&example.payload).unwrap();
        let label = payload["label"]["name"].as_str().unwrap_or("save-plan");
        let facts = AppIdentity {
            app_id: 424_242,
            app_slug: AppSlug::new(Some("planwright".to_owned())),
            labels: vec![(Command::SavePlan, label.to_owned())],
            allowed_bots: Vec::new(),
        };
        if payload["comment"]["body"].is_string() {
            payload["comment"]["body"] = "/save-plan with tests".into();
        }
        // The examples are of repositories' webhooks, most of them without an installation.
        let installed = payload["installation"]["id"].is_u64();
        if !installed {
            payload["installation"] = serde_json::json!({"id": 7});
        }
        let decision = decide(&example.event, payload.to_string().as_bytes(), &facts)
            .unwrap_or_else(|error| panic!("{} {:?}: {error}", example.event, example.action));
        let action = example.action.as_deref().unwrap_or("-");
        let class = classes
            .entry(format!("{} {action}", example.event))
            .or_default();
        class[0] += 1;
        if let Decision::Runs { triggers, .. } = decision.decision {
            class[1] += 1;
            assert_eq!(triggers.len(), 1);
            assert_eq!(triggers[0].command, Command::SavePlan);
            assert!(triggers[0].place.number > 0);
        }
    }
    let runs: Vec<(&str, [usize; 2])> = classes
        .iter()
        .filter(|(_, counts)| counts[1] > 0)
        .map(|(name, counts)| (&**name, *counts))
        .collect();
    assert_eq!(
        runs,
        [
            ("issue_comment created", [5, 5]),
            ("issue_comment edited", [2, 2]),
            ("issues labeled", [2, 2]),
            ("pull_request labeled", [2, 2]),
        ]
    );
}

/// The judge of the simulator's payloads is judged: it accepts GitHub's own, but for those that are
/// older than the description they are held against.
#[test]
fn published_examples_are_what_github_describes() {
    let (Some(github), Some(examples)) = (github(), webhook_examples()) else {
        return;
    };
    let described = |event: &str| {
        let found = examples.iter().filter(|example| example.event == event);
        let judged = found.map(|example| {
            let payload = serde_json::from_slice(&example.payload).unwrap();
            github.check_delivery(event, &payload).is_empty()
        });
        let judged: Vec<bool> = judged.collect();
        let good = judged.iter().filter(|good| **good).count();
        (good, judged.len())
    };
    let events = ["issue_comment", "issues", "label", "ping", "pull_request"];
    let counts = events.map(described);
    assert_eq!(counts, [(8, 9), (27, 29), (4, 6), (4, 4), (13, 29)]);
}
