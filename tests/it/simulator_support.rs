//! A simulator with one repository, and an HTTP client that authenticates as the App.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use github_simulator::Clock;
use github_simulator::model::Role;
use github_simulator::{AppKeys, Simulator, SimulatorOptions};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::support::openapi;
use crate::support::openapi::tap::Tap;

pub(crate) const REPO: &str = "acme/widgets";
pub(crate) const SECRET: &str = "correct horse";

/// One key pair for all tests: making one takes longer than any of them.
pub(crate) static KEYS: LazyLock<AppKeys> = LazyLock::new(|| AppKeys::generate().unwrap());

/// A clock that moves when told to; sleeping moves it.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    pub(crate) fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0.load(Ordering::SeqCst)).unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

/// `claims` signed with the App's key.
pub(crate) fn jwt(claims: &Value) -> String {
    let key = EncodingKey::from_rsa_pem(KEYS.private_pem.expose_secret().as_bytes()).unwrap();
    encode(&Header::new(Algorithm::RS256), claims, &key).unwrap()
}

/// An answer.
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn link(&self, relation: &str) -> Option<String> {
        self.header("link")?.split(", ").find_map(|link| {
            let (url, rel) = link.split_once("; ")?;
            (rel == format!("rel=\"{relation}\"")).then(|| url[1..url.len() - 1].to_owned())
        })
    }
}

/// The simulator, its clock and a client with a token.
pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) installation: u64,
    pub(crate) token: String,
    tap: Tap,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl World {
    /// `acme/widgets` with a writer called `ada`, App installed.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut SimulatorOptions)) -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(1_800_000_000_000)));
        let mut options = SimulatorOptions::new(
            "planwright",
            clock.clone(),
            KEYS.public_pem.clone(),
            SecretString::from(SECRET),
        );
        change(&mut options);
        let tap = Tap::new(openapi::Client::Other);
        let wrapped = tap.clone();
        let simulator = Simulator::start_wrapped(options, move |router| wrapped.wrap(router))
            .await
            .unwrap();
        simulator.add_repository(REPO, false).unwrap();
        simulator.grant(REPO, "ada", Role::Write).unwrap();
        let installation = simulator.install(&[REPO]).unwrap();
        let mut world = Self {
            simulator,
            clock,
            installation,
            token: String::new(),
            tap,
            client: Client::builder(TokioExecutor::new()).build_http(),
        };
        world.token = world.mint().await;
        world
    }

    pub(crate) fn good_jwt(&self) -> String {
        let now = self.clock.now().timestamp();
        jwt(&json!({"iss": "4711", "iat": now - 60, "exp": now + 540}))
    }

    pub(crate) async fn mint(&self) -> String {
        let path = format!("/app/installations/{}/access_tokens", self.installation);
        let got = self.as_app(Method::POST, &path, None).await;
        assert_eq!(got.status, StatusCode::CREATED, "{}", got.text());
        got.json()["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Option<Got> {
        let (parts, body) = self.client.request(request).await.ok()?.into_parts();
        Some(Got {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.ok()?.to_bytes(),
        })
    }

    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        authorisation: &str,
        body: Option<&Value>,
    ) -> Request<Full<Bytes>> {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.simulator.url())
        };
        Request::builder()
            .method(method)
            .uri(url)
            .header("authorization", format!("Bearer {authorisation}"))
            .header("user-agent", "tests")
            .body(Full::from(
                body.map_or_else(String::new, ToString::to_string),
            ))
            .unwrap()
    }

    pub(crate) async fn as_app(&self, method: Method, path: &str, body: Option<&Value>) -> Got {
        let request = self.request(method, path, &self.good_jwt(), body);
        self.send(request).await.unwrap()
    }

    pub(crate) async fn try_call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<Got> {
        self.send(self.request(method, path, &self.token, body))
            .await
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: Value) -> Got {
        let body = (!body.is_null()).then_some(&body);
        self.try_call(method, path, body).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.call(Method::GET, path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Got {
        self.call(Method::POST, path, body).await
    }
}

/// Where the API begins; everything else on the simulator's host is a page for people.
const API: [&str; 6] = [
    "/api/v3",
    "/app",
    "/installation",
    "/repos/",
    "/repositories/",
    "/search/",
];

/// What GitHub's description cannot judge.
fn exempt(request: &str) -> bool {
    let path = request.split([' ', '?']).nth(1).unwrap_or_default();
    // Pages: GitHub has them on another host than the API.
    let page = !API.iter().any(|start| path.starts_with(start));
    // The root directory: "Get repository content" answers without a path too, but its template has
    // one.
    page || path == format!("/repos/{REPO}/contents")
}

/// Whatever a test was about: the simulator has given no answer that GitHub's description forbids.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let wrong = self.tap.wrong_answers(exempt);
        assert!(
            wrong.is_empty(),
            "GitHub would not answer so:\n{}",
            wrong.join("\n")
        );
    }
}

/// A webhook receiver that keeps what it gets and answers with `status`.
pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) got: Arc<std::sync::Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl Receiver {
    pub(crate) async fn start(status: StatusCode) -> Self {
        let got = Arc::new(std::sync::Mutex::new(Vec::new()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhook", listener.local_addr().unwrap());
        let kept = Arc::clone(&got);
        let router = axum::Router::new().fallback(move |request: axum::extract::Request<Body>| {
            let kept = Arc::clone(&kept);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                kept.lock().unwrap().push((parts.headers, body));
                status
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, got }
    }

    /// `event action` of everything received, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        self.payloads()
            .iter()
            .map(|(event, payload)| match payload["action"].as_str() {
                Some(action) => format!("{event} {action}"),
                None => event.clone(),
            })
            .collect()
    }

    pub(crate) fn payloads(&self) -> Vec<(String, Value)> {
        self.got
            .lock()
            .unwrap()
            .iter()
            .map(|(headers, body)| {
                let event = headers["x-github-event"].to_str().unwrap().to_owned();
                (event, serde_json::from_slice(body).unwrap())
            })
            .collect()
    }
}
