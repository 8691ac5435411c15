//! Probot, GitHub's framework for Apps, as the receiver: what it accepts is signed and framed as GitHub does it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;

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
