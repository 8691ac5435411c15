//! Signs GitHub's published webhook examples (npm `@octokit/webhooks-examples`) and posts them to a
//! receiver.

use std::fs;

use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderValue, Request};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use sha2::Sha256;

use super::peers::peers;

/// A published payload.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    /// Event name, as in `X-GitHub-Event`.
    pub(crate) event: String,
    /// The `action` of the payload, if it has one.
    pub(crate) action: Option<String>,
    /// The payload as compact JSON, as GitHub sends it.
    pub(crate) payload: Vec<u8>,
}

/// Returns all published examples in the order of the file, or `None` if the peers are missing.
pub(crate) fn webhook_examples() -> Option<Vec<Example>> {
    let file = peers()?.join("@octokit/webhooks-examples/api.github.com/index.json");
    let events: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut all = Vec::new();
    for event in events.as_array().unwrap() {
        for example in event["examples"].as_array().unwrap() {
            all.push(Example {
                event: event["name"].as_str().unwrap().to_owned(),
                action: example["action"].as_str().map(str::to_owned),
                payload: example.to_string().into_bytes(),
            });
        }
    }
    Some(all)
}

/// Returns GitHub's signature of `payload`: `sha256=…`.
fn signature(secret: &str, payload: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(payload);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// Builds a delivery as GitHub sends it.
fn delivery(url: &str, secret: &str, example: &Example) -> Request<Full<bytes::Bytes>> {
    Request::post(url)
        .header("content-type", "application/json")
        .header("user-agent", "GitHub-Hookshot/044aadd")
        .header("x-github-event", &example.event)
        .header("x-github-delivery", uuid::Uuid::new_v4().to_string())
        .header("x-github-hook-id", "292430182")
        .header("x-github-hook-installation-target-id", "79929171")
        .header("x-github-hook-installation-target-type", "repository")
        .header("x-hub-signature-256", signature(secret, &example.payload))
        .body(Full::from(example.payload.clone()))
        .unwrap()
}

/// Sends one request and returns the status of the response.
async fn send(request: Request<Full<bytes::Bytes>>) -> u16 {
    let client = Client::builder(TokioExecutor::new()).build_http();
    client.request(request).await.unwrap().status().as_u16()
}

/// Posts requests that a receiver must refuse. Returns the name and the response status of each
/// case. The caller must also check that the receiver accepted none of them.
pub(crate) async fn post_forgeries(url: &str, secret: &str) -> Option<Vec<(String, u16)>> {
    let examples = webhook_examples()?;
    let (first, second) = (examples.first()?, examples.get(1)?);
    let genuine = || delivery(url, secret, first);
    let mut cases = Vec::new();
    for header in ["x-hub-signature-256", "x-github-event", "x-github-delivery"] {
        let mut request = genuine();
        request.headers_mut().remove(header);
        cases.push((format!("without {header}"), request));
    }
    let mut tampered = genuine();
    *tampered.body_mut() = second.payload.clone().into();
    cases.push(("tampered".to_owned(), tampered));
    cases.push((
        "wrong secret".to_owned(),
        delivery(url, "not the secret", first),
    ));
    let mut form = genuine();
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    form.headers_mut().insert("content-type", kind);
    cases.push(("as a form".to_owned(), form));
    let text = Example {
        payload: b"{ not JSON".to_vec(),
        ..first.clone()
    };
    cases.push(("not JSON".to_owned(), delivery(url, secret, &text)));
    let mut answers = Vec::new();
    for (name, request) in cases {
        answers.push((name, send(request).await));
    }
    Some(answers)
}

/// Posts all examples in turn and returns `event.action` and the status of each.
pub(crate) async fn post_all(url: &str, secret: &str) -> Option<Vec<(String, u16)>> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut all = Vec::new();
    for example in webhook_examples()? {
        let answer = client
            .request(delivery(url, secret, &example))
            .await
            .unwrap();
        let name = match &example.action {
            Some(action) => format!("{}.{action}", example.event),
            None => example.event.clone(),
        };
        all.push((name, answer.status().as_u16()));
    }
    Some(all)
}
