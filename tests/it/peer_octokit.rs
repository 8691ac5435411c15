//! Tests of the simulator with Octokit, GitHub's own client.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use github_simulator::{Simulator, SimulatorOptions};
use http::{HeaderMap, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::simulator_support::{KEYS, SECRET};
use crate::support::openapi::Client;
use crate::support::openapi::tap::Tap;
use crate::support::peers;

/// Runs the script against `base` as the App `app_id` with the key in the file `key`: the lines it
/// printed, and whether every call did what it should. `None` where peers are missing.
pub(crate) async fn octokit(
    base: &str,
    app_id: u64,
    key: &Path,
    installation: u64,
    (owner, repo): (&str, &str),
) -> Option<(Vec<Value>, bool)> {
    let (app_id, installation) = (app_id.to_string(), installation.to_string());
    let env = [
        ("BASE_URL", base),
        ("APP_ID", &app_id),
        ("PRIVATE_KEY", key.to_str().unwrap()),
        ("INSTALLATION_ID", &installation),
        ("OWNER", owner),
        ("REPO", repo),
    ];
    Some(peers::start("octokit.mjs", &env)?.finish().await)
}

/// The script against a server that knows nobody: it must ask as an App, and must say where it
/// failed.
#[tokio::test]
async fn octokit_asks_as_the_app_and_reports_a_refusal() {
    let tap = Tap::new(Client::Other);
    let (sender, mut requests) = mpsc::unbounded_channel();
    let stranger = Router::new().fallback(move |request: Request| {
        let sent = sender.send((request.uri().path().to_owned(), request.headers().clone()));
        async move {
            sent.unwrap();
            let body = r#"{"message":"Bad credentials","status":"401"}"#;
            let headers = HeaderMap::from_iter([(
                http::header::CONTENT_TYPE,
                "application/json; charset=utf-8".parse().unwrap(),
            )]);
            (StatusCode::UNAUTHORIZED, headers, body)
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/api/v3", listener.local_addr().unwrap());
    let server = tokio::spawn(axum::serve(listener, tap.wrap(stranger)).into_future());

    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, pem()).unwrap();
    let Some((lines, success)) = octokit(&base, 7, &key, 1, ("o", "r")).await else {
        return;
    };
    server.abort();
    assert!(!success);
    let last = lines.last().expect("the script says why it failed");
    assert_eq!(last["failed"], "app", "{last}");
    assert_eq!(last["status"], 401, "{last}");
    assert_eq!(last["message"], "Bad credentials", "{last}");
    let (path, headers) = requests.recv().await.unwrap();
    assert_eq!(path, "/api/v3/app");
    let authorization = headers["authorization"].to_str().unwrap();
    assert!(
        authorization.to_ascii_lowercase().starts_with("bearer eyj"),
        "the App's JWT"
    );
    tap.assert_clean();
}

/// Octokit does on the simulator what a bot does on GitHub, and every answer it gets is one that
/// GitHub describes.
#[tokio::test]
async fn octokit_works_with_the_simulator() {
    let tap = Tap::new(Client::Other);
    let wrapped = tap.clone();
    let options = SimulatorOptions::new(
        "planwright",
        Arc::new(github_simulator::SystemClock),
        KEYS.public_pem.clone(),
        SecretString::from(SECRET),
    );
    let simulator = Simulator::start_wrapped(options, |router| wrapped.wrap(router))
        .await
        .unwrap();
    simulator.add_repository("acme/widgets", false).unwrap();
    let installation = simulator.install(&["acme/widgets"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, KEYS.private_pem.expose_secret()).unwrap();
    for base in [simulator.api_url(), simulator.enterprise_api_url()] {
        let at = ("acme", "widgets");
        let Some((lines, success)) = octokit(&base, 4711, &key, installation, at).await else {
            return;
        };
        let last = lines.last().expect("the script says what it did");
        assert!(success, "{base}: {last}");
        assert_eq!(last["done"], true, "{base}: {last}");
    }
    tap.assert_clean();
    let coverage = tap.coverage();
    assert_eq!(coverage.0.len(), 14, "{coverage}");
    simulator.shutdown().await;
}

/// A key of its own for the test, as GitHub hands it out (PKCS #1).
fn pem() -> String {
    use rsa::pkcs1::EncodeRsaPrivateKey;
    let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
    key.to_pkcs1_pem(rsa::pkcs8::LineEnding::LF)
        .unwrap()
        .to_string()
}
