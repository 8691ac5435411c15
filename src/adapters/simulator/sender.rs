//! Sends queued deliveries one after another, signed, with GitHub's headers, and logs what came back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc;

use super::Shared;
use crate::adapters::http::{Client, HttpError, Reply};
use crate::adapters::signature;

/// GitHub ends a delivery after 10 seconds
/// (<https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries>).
const TIMEOUT: Duration = Duration::from_secs(10);

/// One request to be made.
struct Outgoing {
    url: String,
    headers: HeaderMap,
    body: Bytes,
}

/// The sender's loop; ends with the queue.
pub(super) async fn run(shared: Arc<Shared>, mut queue: mpsc::UnboundedReceiver<u64>) {
    let client = Client::new();
    while let Some(id) = queue.recv().await {
        send(&shared, &client, id).await;
        shared.with(|state| state.hook.pending.send_modify(|pending| *pending -= 1));
    }
}

/// Makes one attempt and logs its outcome.
pub(super) async fn send(shared: &Shared, client: &Client, id: u64) {
    let started = Instant::now();
    let outcome = match prepare(shared, id) {
        Some(Outgoing { url, headers, body }) => {
            client
                .post(&url, headers, body, TIMEOUT)
                .await
                .map_err(|error| match error {
                    // The words and codes of GitHub's delivery log; they are not in the OpenAPI description.
                    HttpError::Timeout { .. } => (504, "timed out"),
                    _ => (502, "failed to connect to host"),
                })
        }
        None => Err((502, "failed to connect to host")),
    };
    let duration = started.elapsed().as_secs_f64();
    shared.with(|state| {
        let now = state.now();
        let Some(delivery) = state.deliveries.get_mut(&id) else {
            return;
        };
        delivery.delivered = now;
        delivery.duration = duration;
        match outcome {
            Ok(Reply { status, body, .. }) => {
                delivery.status_code = Some(status);
                delivery.status = if (200..300).contains(&status) {
                    "OK".to_owned()
                } else {
                    format!("Invalid HTTP Response: {status}")
                };
                delivery.response = String::from_utf8_lossy(&body).into_owned();
            }
            Err((code, words)) => {
                delivery.status_code = Some(code);
                words.clone_into(&mut delivery.status);
            }
        }
    });
}

/// The request of a delivery; nothing when there is no address to send to.
fn prepare(shared: &Shared, id: u64) -> Option<Outgoing> {
    shared.with(|state| {
        let hook = &mut state.hook;
        // Several addresses stand for replicas behind a load balancer: in turn.
        if !hook.targets.is_empty() {
            hook.targets.rotate_left(1);
        }
        let url = hook.targets.last()?.clone();
        let delivery = state.deliveries.get(&id)?;
        let body = delivery.payload.clone();
        let (hook_id, app_id) = (state.hook.id.to_string(), state.app.id.to_string());
        let signature = signature::sign(&state.hook.secret, &body);
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("accept", "*/*"),
            ("content-type", "application/json"),
            ("user-agent", "GitHub-Hookshot/0a1b2c3"),
            ("x-github-delivery", &delivery.guid),
            ("x-github-event", &delivery.event),
            ("x-github-hook-id", &hook_id),
            ("x-github-hook-installation-target-id", &app_id),
            ("x-github-hook-installation-target-type", "integration"),
            ("x-hub-signature-256", &signature),
        ] {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        Some(Outgoing { url, headers, body })
    })
}
