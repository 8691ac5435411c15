//! Tests of every row of the table in `adapters::webhook`, over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use http::Method;
use planwright::engine::model::trigger::Origin;
use serde_json::{Value, json};

use crate::receiver_support::{
    CREATED, Delivery, Mood, OLD_SECRET, asking, edited, start, start_with,
};

fn comment() -> Delivery {
    Delivery::new("issue_comment", CREATED)
}

#[tokio::test]
async fn what_is_refused_before_the_event() {
    let rig = start().await;
    let mut doubled = comment();
    doubled
        .headers
        .push(("x-github-event", "issues".to_owned()));
    let mut tampered = comment();
    tampered.body = CREATED.replace("mira-solano", "mira-salano").into();
    let app = "x-github-hook-installation-target-id";
    let kind = "x-github-hook-installation-target-type";
    let cases = [
        (
            Delivery {
                method: Method::GET,
                ..comment()
            },
            405,
            "this address takes GitHub webhooks, sent with POST",
        ),
        (
            comment().with("content-type", "application/x-www-form-urlencoded"),
            415,
            "the content type is application/x-www-form-urlencoded; set \"Content type\" to application/json in the \
             webhook section of the App's settings",
        ),
        (
            comment().without("content-type"),
            415,
            "the content type is nothing; set \"Content type\" to application/json in the webhook section of the App's settings",
        ),
        (
            comment().without("x-github-event"),
            400,
            "the header X-GitHub-Event is missing; this address takes GitHub webhooks",
        ),
        (
            doubled,
            400,
            "the header X-GitHub-Event is present more than once; this address takes GitHub webhooks",
        ),
        (
            comment().with("x-github-event", "Issue Comment"),
            400,
            "the header X-GitHub-Event is malformed; this address takes GitHub webhooks",
        ),
        (
            comment().without("x-github-delivery"),
            400,
            "the header X-GitHub-Delivery is missing; this address takes GitHub webhooks",
        ),
        (
            comment().with("x-github-delivery", "a'b"),
            400,
            "the header X-GitHub-Delivery is malformed; this address takes GitHub webhooks",
        ),
        (
            comment().with("x-github-delivery", &"a".repeat(65)),
            400,
            "the header X-GitHub-Delivery is malformed; this address takes GitHub webhooks",
        ),
        (
            comment().without("x-hub-signature-256"),
            401,
            "the header X-Hub-Signature-256 is missing; set a webhook secret in the App's settings",
        ),
        (
            comment().with(app, "7"),
            421,
            "this delivery is for the App with id 7, and github.app_id is 424242",
        ),
        (
            comment().with(kind, "repository"),
            421,
            "this delivery comes from the webhook of a repository; delete that webhook and install \
             the GitHub App instead, which has its own webhook",
        ),
    ];
    for (delivery, status, message) in cases {
        let got = rig.send(&delivery).await;
        assert_eq!(got.status, status, "{message}: {}", got.text);
        assert_eq!(got.json()["status"], "refused");
        assert_eq!(got.json()["message"], message);
        if status == 405 {
            assert_eq!(got.headers["allow"], "POST");
        }
    }
    // The words before the semicolon are the signature module's.
    for delivery in [
        tampered,
        comment().signed_with("guessed"),
        comment().with("x-hub-signature-256", "sha1=00"),
    ] {
        let got = rig.send(&delivery).await;
        assert_eq!(got.status, 401);
        let message = got.json()["message"].as_str().unwrap().to_owned();
        assert!(
            message.ends_with("; the App's webhook secret must be one of the configured ones"),
            "{message}"
        );
    }
    assert_eq!(rig.receiver.forged(), 3);
    assert_eq!(rig.store.stored(), 0);
}

#[tokio::test]
async fn a_command_is_stored_before_it_is_accepted() {
    let rig = start().await;
    let delivery = comment();
    let got = rig.send(&delivery).await;
    assert_eq!(got.status, 202);
    assert_eq!(got.headers["content-type"], "application/json");
    let stored = rig.store.deliveries.lock().unwrap().clone();
    let stored = &stored[0];
    assert_eq!(
        got.json(),
        json!({"status": "accepted", "runs": [stored.runs[0].id]})
    );
    assert_eq!(stored.event, "issue_comment");
    assert_eq!(stored.action.as_deref(), Some("created"));
    assert_eq!(stored.installation, 51_020_304);
    assert_eq!(stored.received.0, 1_780_000_000_000);
    assert!(stored.payload.is_none() && !stored.installation_gone);
    let run = &stored.runs[0];
    assert_eq!(run.command, "save-plan");
    assert_eq!(run.place, "812340077#42");
    assert_eq!(run.serial.as_deref(), Some("812340077#42"));
    assert_eq!((run.repo_id, run.installation), (812_340_077, 51_020_304));
    let trigger = &run.trigger;
    assert_eq!(trigger.actor.login, "mira-solano");
}

#[tokio::test]
async fn every_command_of_a_comment_comes_with_its_text() {
    let rig = start().await;
    let text =
        "/save-plan one\n\n/save-plan two\n\n".to_owned() + &"Words of the comment. ".repeat(500);
    let mut body: Value = serde_json::from_str(CREATED).unwrap();
    body["comment"]["body"] = json!(text);
    let delivery = Delivery::new("issue_comment", body.to_string());
    assert_eq!(rig.send(&delivery).await.status, 202);
    let stored = rig.store.deliveries.lock().unwrap();
    let texts: Vec<_> = stored[0]
        .runs
        .iter()
        .map(|run| run.trigger.text())
        .collect();
    assert_eq!(texts, [Some(&*text); 2]);
}

#[tokio::test]
async fn the_same_comment_has_the_same_dedup_key_in_every_delivery() {
    let rig = start().await;
    let mut edit: Value = serde_json::from_str(CREATED).unwrap();
    edit["comment"]["body"] = json!("/save-plan other words");
    for body in [CREATED.to_owned(), CREATED.to_owned(), edit.to_string()] {
        let got = rig.send(&Delivery::new("issue_comment", body)).await;
        assert_eq!(got.status, 202);
    }
    let stored = rig.store.deliveries.lock().unwrap();
    let keys: Vec<&str> = stored
        .iter()
        .map(|it| it.dedup_key.as_deref().unwrap())
        .collect();
    assert_ne!(stored[0].guid, stored[1].guid);
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[1], keys[2]);
}

#[tokio::test]
async fn commands_about_other_runs_wait_for_none() {
    let rig = start().await;
    let mut body: Value = serde_json::from_str(CREATED).unwrap();
    body["comment"]["body"] = json!("/plan-status\n\n/cancel\n\n/retry\n\n/plan-help");
    let got = rig
        .send(&Delivery::new("issue_comment", body.to_string()))
        .await;
    assert_eq!(
        got.json()["runs"].as_array().unwrap().len(),
        1,
        "answered together"
    );
    let stored = rig.store.deliveries.lock().unwrap();
    assert!(stored[0].runs.iter().all(|run| run.serial.is_none()));
    assert!(stored[0].runs.iter().all(|run| run.place == "812340077#42"));
}

/// The run that asked is active until it is answered.
#[tokio::test]
async fn ticked_boxes_are_stored_when_they_are_sent_and_wait_for_no_run() {
    let rig = start().await;
    let asked = asking();
    let chosen = asked.replacen("[ ]", "[x]", 1);
    let sent = chosen.replace("- [ ] **Send", "- [x] **Send");
    let choice = Delivery::new("issue_comment", edited(&asked, &chosen));
    let got = rig.send(&choice).await;
    assert_eq!(got.status, 200, "{}", got.text);
    let why = "checkboxes were ticked; the answers count once *Send these answers* is ticked";
    assert_eq!(got.json(), json!({"status": "ignored", "why": why}));
    assert_eq!(rig.store.stored(), 0);
    let answer = Delivery::new("issue_comment", edited(&chosen, &sent));
    let got = rig.send(&answer).await;
    assert_eq!(got.status, 202, "{}", got.text);
    {
        let stored = rig.store.deliveries.lock().unwrap();
        assert_eq!(stored[0].action.as_deref(), Some("edited"));
        assert_eq!(stored[0].runs.len(), 1);
        let run = &stored[0].runs[0];
        assert_eq!((run.command.as_str(), &run.serial), ("answer", &None));
        assert_eq!(run.place, "812340077#42");
        let trigger = &run.trigger;
        assert_eq!(trigger.actor.login, "mira-solano");
        let Origin::Boxes { id, .. } = trigger.origin else {
            panic!("boxes: {:?}", trigger.origin);
        };
        assert_eq!((id, trigger.text()), (3_310_000_004, Some(&*sent)));
    }
    assert_eq!(
        rig.send(&answer).await.json(),
        json!({"status": "duplicate"})
    );
}

#[tokio::test]
async fn a_retired_secret_is_good_while_it_is_configured() {
    let rig = start().await;
    assert_eq!(
        rig.send(&comment().signed_with(OLD_SECRET)).await.status,
        202
    );
}

#[tokio::test]
async fn senders_that_name_no_target_are_believed() {
    let rig = start().await;
    let bare = comment()
        .without("x-github-hook-installation-target-id")
        .without("x-github-hook-installation-target-type")
        .with("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(rig.send(&bare).await.status, 202);
}

#[tokio::test]
async fn what_is_not_for_us_is_answered_and_not_stored() {
    let rig = start().await;
    let plain = include_str!("../../fixtures/payloads/issue_comment.created.plain.json");
    let ping = include_str!("../../fixtures/payloads/ping.json");
    let installed = include_str!("../../fixtures/payloads/installation.created.json");
    let cases = [
        (
            "issue_comment",
            plain,
            json!({"status": "ignored", "why": "no command in this comment"}),
        ),
        (
            "sub_issues",
            "{}",
            json!({"status": "ignored", "why": "this App does not handle `sub_issues` events"}),
        ),
        ("ping", ping, json!({"status": "pong"})),
        (
            "ping",
            r#"{"hook":{"events":["issues"]}}"#,
            json!({"status": "pong", "missing_events": ["issue_comment", "pull_request"]}),
        ),
        ("installation", installed, json!({"status": "installed"})),
    ];
    for (event, body, answer) in cases {
        let got = rig.send(&Delivery::new(event, body)).await;
        assert_eq!(got.status, 200, "{event}");
        assert_eq!(got.json(), answer);
    }
    assert_eq!(rig.store.stored(), 0);
}

#[tokio::test]
async fn a_body_that_cannot_be_used_is_refused_with_the_members_path() {
    let rig = start().await;
    let mut body: Value = serde_json::from_str(CREATED).unwrap();
    body["sender"]["login"] = json!(7);
    let got = rig
        .send(&Delivery::new("issue_comment", body.to_string()))
        .await;
    assert_eq!(got.status, 400);
    let message = got.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("(at `sender.login`)"), "{message}");
    assert_eq!(got.json()["check"], "payload");
}

#[tokio::test]
async fn ids_that_no_store_can_keep_are_refused_and_not_called_a_fault_of_ours() {
    let rig = start().await;
    for path in [
        "/repository/id",
        "/installation/id",
        "/comment/id",
        "/issue/number",
    ] {
        let mut body: Value = serde_json::from_str(CREATED).unwrap();
        *body.pointer_mut(path).unwrap() = json!(u64::MAX);
        let delivery = Delivery::new("issue_comment", body.to_string());
        let got = rig.send(&delivery).await;
        assert_eq!(got.status, 400, "{path}: {}", got.text);
        let message = got.json()["message"].as_str().unwrap().to_owned();
        let why = "18446744073709551615 is not a GitHub id";
        assert!(message.contains(why), "{path}: {message}");
    }
    assert_eq!(rig.store.stored(), 0);
}

#[tokio::test]
async fn a_body_that_is_json_but_no_object_is_refused() {
    let rig = start().await;
    for event in ["issue_comment", "issues", "pull_request", "installation"] {
        for body in ["[]", " [{}]", "7", "null", "\"x\""] {
            let got = rig.send(&Delivery::new(event, body)).await;
            assert_eq!(got.status, 400, "{event} {body}: {}", got.text);
        }
    }
}

#[tokio::test]
async fn an_installation_that_goes_is_stored_without_runs() {
    let rig = start().await;
    let gone = include_str!("../../fixtures/payloads/installation.deleted.json");
    let got = rig.send(&Delivery::new("installation", gone)).await;
    assert_eq!(got.status, 202);
    assert_eq!(got.json(), json!({"status": "accepted", "runs": []}));
    let stored = rig.store.deliveries.lock().unwrap();
    assert!(stored[0].installation_gone && stored[0].runs.is_empty());
    assert_eq!(stored[0].action.as_deref(), Some("deleted"));
}

#[tokio::test]
async fn the_same_delivery_again() {
    let rig = start().await;
    let delivery = comment();
    assert_eq!(rig.send(&delivery).await.status, 202);
    let again = rig.send(&delivery).await;
    assert_eq!(
        (again.status.as_u16(), again.json()),
        (200, json!({"status": "duplicate"}))
    );
    *rig.store.mood.lock().unwrap() = Mood::Requeues;
    let failed_before = rig.send(&delivery).await;
    assert_eq!(failed_before.status, 202);
    assert_eq!(failed_before.json(), json!({"status": "requeued"}));
}

#[tokio::test]
async fn a_store_that_cannot_take_it_is_a_503_and_keeps_its_words_to_itself() {
    let rig = start().await;
    for (mood, message) in [
        (
            Mood::Busy,
            "the store has too many deliveries waiting to be written",
        ),
        (Mood::Broken, "the delivery could not be stored"),
    ] {
        *rig.store.mood.lock().unwrap() = mood;
        let got = rig.send(&comment()).await;
        assert_eq!(got.status, 503);
        assert_eq!(got.headers["retry-after"], "5");
        assert_eq!(got.json(), json!({"status": "busy", "message": message}));
    }
}

#[tokio::test]
async fn payloads_are_kept_only_where_that_is_asked_for() {
    let rig = start_with(true).await;
    rig.send(&comment()).await;
    let stored = rig.store.deliveries.lock().unwrap();
    assert_eq!(stored[0].payload.as_deref(), Some(CREATED.as_bytes()));
}

/// `projects_v2_item` is an event like any other: a digit in its name does not make the delivery
/// malformed.
#[tokio::test]
async fn an_event_with_a_digit_in_its_name_is_ignored_and_not_refused() {
    let rig = start().await;
    let got = rig
        .send(&Delivery::new(
            "projects_v2_item",
            r#"{"action":"created"}"#,
        ))
        .await;
    assert_eq!(got.status, 200, "{}", got.text);
    assert_eq!(
        got.json(),
        json!({"status": "ignored", "why": "this App does not handle `projects_v2_item` events"})
    );
}

#[tokio::test]
async fn every_signed_delivery_leaves_one_decision() {
    let rig = start().await;
    let other = |body: String| Delivery::new("issue_comment", body);
    let with = |member: &str, value: Value| {
        let mut payload: Value = serde_json::from_str(CREATED).unwrap();
        *payload.pointer_mut(member).unwrap() = value;
        other(payload.to_string())
    };
    let command = comment();
    let cases = [
        (command.clone(), None),
        (command, Some("duplicate")),
        (with("/comment/body", json!("Nice.")), Some("ignored")),
        (with("/action", json!("deleted")), Some("ignored")),
        (
            other("{\"action\": \"created\"}".to_owned()),
            Some("refused"),
        ),
        (Delivery::new("ping", "{}"), Some("ignored")),
        (Delivery::new("push", "{}"), Some("ignored")),
    ];
    for (delivery, _) in &cases {
        rig.send(delivery).await;
    }
    rig.send(&comment().signed_with("a forgery")).await;
    rig.intake.flush().await;
    let decisions = rig.store.decisions.lock().unwrap();
    let verdicts: Vec<&str> = decisions.iter().map(|one| one.verdict.name()).collect();
    let expected: Vec<&str> = cases.iter().filter_map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, expected, "accepted ones are in the deliveries");
    assert!(decisions[0].subject.comment.is_some());
    assert_eq!(decisions[1].subject, decisions[0].subject);
    assert_eq!(
        decisions[1].verdict.reason(),
        Some("no command in this comment")
    );
}

/// Under load there is always a decision that came during the last write. If it were written at
/// once, each write would hold a few decisions, and cost as much as one for all.
#[tokio::test]
async fn a_decision_that_comes_during_a_write_waits_for_others() {
    let rig = start().await;
    let store = &rig.store;
    let before = store.record_gate.available_permits();
    store.record_gate.forget_permits(before);
    let push = || Delivery::new("push", "{}");
    rig.send(&push()).await;
    let flushing = tokio::spawn({
        let intake = std::sync::Arc::clone(&rig.intake);
        async move { intake.flush().await }
    });
    store.recorded.acquire().await.unwrap().forget();
    rig.send(&push()).await;
    store.record_gate.add_permits(1);
    flushing.await.unwrap();
    assert_eq!(store.decisions.lock().unwrap().len(), 1);
    store.record_gate.add_permits(1);
    rig.intake.flush().await;
    assert_eq!(store.decisions.lock().unwrap().len(), 2);
}
