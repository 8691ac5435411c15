//! Probot, GitHub's framework for Apps, as the receiver: what it accepts is signed and framed as GitHub does it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;

use http::HeaderValue;

use crate::support::peers;
use crate::support::webhook_examples::{delivery, post_all, send, webhook_examples};

const SECRET: &str = "It's a Secret to Everybody";

#[tokio::test]
async fn probot_accepts_every_signed_example_and_refuses_forgeries() {
    let Some(mut probot) = peers::start("probot.mjs", &[("WEBHOOK_SECRET", SECRET)]) else {
        return;
    };
    let port = probot.next().await.expect("a line with the port")["port"].clone();
    let url = format!("http://127.0.0.1:{port}/webhooks");

    let examples = webhook_examples().unwrap();
    let mut statuses = BTreeSet::new();
    for (change, expected) in [
        ("x-hub-signature-256", 400),
        ("x-github-event", 400),
        ("x-github-delivery", 400),
    ] {
        let mut request = delivery(&url, SECRET, &examples[0]);
        request.headers_mut().remove(change);
        assert_eq!(send(request).await, expected, "without {change}");
    }
    let mut tampered = delivery(&url, SECRET, &examples[0]);
    *tampered.body_mut() = examples[1].payload.clone().into();
    assert_eq!(send(tampered).await, 400, "tampered");
    assert_eq!(
        send(delivery(&url, "another secret", &examples[0])).await,
        400,
        "forged"
    );
    let mut form = delivery(&url, SECRET, &examples[0]);
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    form.headers_mut().insert("content-type", kind);
    assert_eq!(send(form).await, 415, "as a form");

    let answers = post_all(&url, SECRET).await.unwrap();
    statuses.extend(answers.iter().map(|(_, status)| *status));
    assert_eq!(statuses, BTreeSet::from([200]), "{answers:?}");
    let (events, success) = probot.finish().await;
    assert!(success);
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
