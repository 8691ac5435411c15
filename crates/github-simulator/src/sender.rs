//! Sends queued webhook deliveries one after another, signed and with GitHub's headers, and logs
//! the responses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use tokio::sync::mpsc;

use crate::shared::Shared;

/// HTTP client for webhook receivers. They run on the same computer, so TLS is not supported.
pub(crate) type Client = hyper_util::client::legacy::Client<HttpConnector, Full<Bytes>>;

/// Creates a client.
pub(crate) fn client() -> Client {
    hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http()
}

/// Time after which GitHub aborts a delivery
/// (<https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries>).
const TIMEOUT: Duration = Duration::from_secs(10);

/// Status that GitHub's delivery log shows for a failed connection.
const UNREACHABLE: (u16, &str) = (502, "failed to connect to host");
/// Status that GitHub's delivery log shows for a timeout.
const TIMED_OUT: (u16, &str) = (504, "timed out");

/// Maximum length of a receiver's response, in bytes.
const MAX_RESPONSE: usize = 1024 * 1024;

/// Sends queued deliveries until the queue is closed.
pub(crate) async fn run(shared: Arc<Shared>, mut queue: mpsc::UnboundedReceiver<u64>) {
    let client = client();
    while let Some(id) = queue.recv().await {
        send(&shared, &client, id).await;
        shared.with(|state| state.webhook.pending.send_modify(|pending| *pending -= 1));
    }
}

/// Makes an attempt to deliver and logs its result.
pub(crate) async fn send(shared: &Shared, client: &Client, id: u64) {
    let started = Instant::now();
    let outcome = match prepare(shared, id) {
        Some(request) => tokio::time::timeout(TIMEOUT, exchange(client, request))
            .await
            .unwrap_or(Err(TIMED_OUT)),
        None => Err(UNREACHABLE),
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
            Ok((status, body)) => {
                delivery.status_code = Some(status);
                delivery.status = if (200..300).contains(&status) {
                    "OK".to_owned()
                } else {
                    format!("Invalid HTTP Response: {status}")
                };
                delivery.response = String::from_utf8_lossy(&body).into_owned();
            }
            Err((code, status)) => {
                delivery.status_code = Some(code);
                status.clone_into(&mut delivery.status);
            }
        }
    });
}

/// Returns status and body of the receiver's response, or the status for the delivery log.
async fn exchange(
    client: &Client,
    request: Request<Full<Bytes>>,
) -> Result<(u16, Bytes), (u16, &'static str)> {
    let response = client.request(request).await.map_err(|_| UNREACHABLE)?;
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), MAX_RESPONSE)
        .collect()
        .await;
    Ok((status, body.map_err(|_| UNREACHABLE)?.to_bytes()))
}

/// Builds the request of a delivery; `None` if there is no webhook URL.
fn prepare(shared: &Shared, id: u64) -> Option<Request<Full<Bytes>>> {
    shared.with(|state| {
        let hook = &mut state.webhook;
        // Several URLs stand for replicas behind a load balancer, which take turns.
        if !hook.targets.is_empty() {
            hook.targets.rotate_left(1);
        }
        let delivery = state.deliveries.get(&id)?;
        let url = delivery.target.as_ref().or(hook.targets.last())?.clone();
        let body = delivery.payload.clone();
        let (hook_id, app_id) = (state.webhook.id.to_string(), state.app.id.to_string());
        let signature = signature(&state.webhook.secret, &body);
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
        let mut request = Request::post(url).body(Full::new(body)).ok()?;
        *request.headers_mut() = headers;
        Some(request)
    })
}

/// Returns the value of `X-Hub-Signature-256`, the HMAC-SHA256 of the body
/// (<https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>).
fn signature(secret: &SecretString, body: &[u8]) -> String {
    // HMAC accepts keys of any length, so this does not fail.
    let digest = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .map(|mac| hex::encode(mac.chain_update(body).finalize().into_bytes()))
        .unwrap_or_default();
    format!("sha256={digest}")
}
