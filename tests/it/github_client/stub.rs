//! A server that answers from a script and records the requests, a clock that advances only in
//! `sleep`, and an App key.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::engine::clock::Clock;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{IssueRef, Repo};
use rsa::RsaPrivateKey;
use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

/// 2026-01-01T00:00:00Z.
pub(super) const START: Millis = Millis(1_767_225_600_000);

/// The App's id.
pub(super) const APP: u64 = 1234;

/// Private and public key in PEM form.
pub(super) fn keys() -> &'static (String, String) {
    static KEYS: OnceLock<(String, String)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let public = key
            .to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .unwrap();
        (
            key.to_pkcs1_pem(LineEnding::LF).unwrap().to_string(),
            public,
        )
    })
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// Path and query.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    /// How many requests with the same method and path came before.
    pub(super) before: usize,
}

impl Asked {
    /// `METHOD /path?query`.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The bearer token.
    pub(super) fn token(&self) -> &str {
        self.headers["authorization"]
            .to_str()
            .unwrap()
            .strip_prefix("Bearer ")
            .unwrap()
    }
}

/// What to answer.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// Status, headers, JSON body.
    With(u16, Vec<(&'static str, String)>, Value),
    /// Status and a body that is not JSON.
    Raw(u16, &'static str),
    /// Status, headers and a body of unannounced length, in pieces.
    Pieces(u16, Vec<(&'static str, String)>, Vec<&'static [u8]>),
    /// Nothing, ever.
    Never,
}

/// A reply with a JSON body.
pub(super) fn reply(status: u16, body: Value) -> Option<Reply> {
    Some(Reply::With(status, Vec::new(), body))
}

type Script = dyn Fn(&Asked) -> Option<Reply> + Send + Sync;

/// The server.
pub(super) struct Stub {
    pub(super) url: Url,
    log: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone)]
struct Shared {
    script: Arc<Script>,
    log: Arc<Mutex<Vec<Asked>>>,
    clock: Arc<TestClock>,
}

impl Stub {
    /// Starts a server. Where the script has no answer, tokens are minted, the App is described,
    /// and the rest is 404.
    pub(super) async fn start(
        clock: &Arc<TestClock>,
        script: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let log = Arc::default();
        let shared = Shared {
            script: Arc::new(script),
            log: Arc::clone(&log),
            clock: Arc::clone(clock),
        };
        let app = Router::new().fallback(answer).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, log }
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }

    /// The requests other than for tokens and the App, as lines.
    pub(super) fn lines(&self) -> Vec<String> {
        self.asked()
            .iter()
            .filter(|asked| !asked.path.contains("/app"))
            .map(Asked::line)
            .collect()
    }

    pub(super) fn mints(&self) -> usize {
        self.asked()
            .iter()
            .filter(|asked| asked.path.ends_with("/access_tokens"))
            .count()
    }
}

async fn answer(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let asked = {
        let mut log = shared.log.lock().unwrap();
        let path = uri.to_string();
        let before = log
            .iter()
            .filter(|other| other.method == method && other.path == path)
            .count();
        let asked = Asked {
            method,
            path,
            headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            before,
        };
        log.push(asked.clone());
        asked
    };
    let reply = (shared.script)(&asked).unwrap_or_else(|| {
        if asked.path.ends_with("/access_tokens") {
            let expires = shared.clock.now().plus(Duration::from_hours(1)).iso();
            let token = token(asked.before);
            Reply::With(
                201,
                Vec::new(),
                json!({"token": token, "expires_at": expires}),
            )
        } else if asked.path.ends_with("/app") {
            let app = json!({"id": APP, "slug": "planwright", "name": "Planwright"});
            Reply::With(200, Vec::new(), app)
        } else {
            Reply::With(
                404,
                Vec::new(),
                json!({"message": "Not Found", "status": "404"}),
            )
        }
    });
    let (status, headers, body) = match reply {
        Reply::With(status, headers, body) => (status, headers, Body::from(body.to_string())),
        Reply::Raw(status, body) => (status, Vec::new(), Body::from(body)),
        Reply::Pieces(status, headers, pieces) => {
            let pieces = pieces.into_iter().map(Ok::<_, std::convert::Infallible>);
            let body = Body::from_stream(futures_util::stream::iter(pieces));
            (status, headers, body)
        }
        Reply::Never => std::future::pending().await,
    };
    let now = shared.clock.now().datetime();
    let mut response = Response::builder().status(status);
    if !headers.iter().any(|(name, _)| *name == "date") {
        let date = now.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        response = response.header("date", date);
    }
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body).unwrap()
}

/// The token of the nth mint: both of GitHub's shapes.
pub(super) fn token(mint: usize) -> String {
    match mint % 2 {
        0 => format!("ghs_{}{mint}", "a1B2c3D4".repeat(5)),
        _ => format!(
            "ghs_{APP}_eyJhbGciOiJFUzI1NiJ9.eyJ{}.{}-_{mint}",
            "x".repeat(200),
            "y".repeat(200)
        ),
    }
}

/// Time stands still until somebody sleeps.
#[derive(Debug)]
pub(super) struct TestClock {
    now: Mutex<Millis>,
    slept: Mutex<Vec<Duration>>,
}

impl TestClock {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            now: Mutex::new(START),
            slept: Mutex::default(),
        })
    }

    pub(super) fn pass(&self, duration: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(duration);
    }

    pub(super) fn set_back(&self, duration: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.minus(duration);
    }

    /// Seconds of every sleep so far.
    pub(super) fn slept(&self) -> Vec<u64> {
        self.slept
            .lock()
            .unwrap()
            .iter()
            .map(Duration::as_secs)
            .collect()
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Millis {
        *self.now.lock().unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        self.pass(duration);
        self.slept.lock().unwrap().push(duration);
        tokio::task::yield_now().await;
    }
}

/// Settings for this server; no pauses between writes.
pub(super) fn config(url: &Url) -> GitHubConfig {
    let mut config = GitHubConfig::new(url.clone(), APP, SecretString::from(keys().0.clone()));
    config.write_gap = Duration::ZERO;
    config.notify_gap = Duration::ZERO;
    config
}

pub(super) fn client(stub: &Stub, clock: &Arc<TestClock>) -> GitHub {
    GitHub::new(config(&stub.url), Arc::clone(clock) as Arc<dyn Clock>).unwrap()
}

pub(super) fn repo() -> Repo {
    Repo {
        installation: 5,
        id: 1000,
        owner: "octo".to_owned(),
        name: "plans".to_owned(),
    }
}

pub(super) fn place() -> IssueRef {
    IssueRef {
        repo: repo(),
        number: 7,
        pull_request: false,
    }
}

/// A comment as GitHub writes it.
pub(super) fn comment(id: u64, body: &str) -> Value {
    json!({
        "id": id, "node_id": "x", "html_url": format!("https://github.com/octo/plans/issues/7#issuecomment-{id}"),
        "user": {"id": 21, "login": "ada", "type": "User", "site_admin": false},
        "author_association": "CONTRIBUTOR", "body": body, "surprise": {"new": ["member"]},
        "created_at": "2026-01-01T00:00:01Z", "updated_at": "2026-01-01T00:00:02Z",
        "performed_via_github_app": null,
    })
}

/// The same by the App itself.
pub(super) fn own_comment(id: u64, body: &str) -> Value {
    let mut comment = comment(id, body);
    comment["user"] = json!({"id": 99, "login": "planwright[bot]", "type": "Bot"});
    comment["performed_via_github_app"] = json!({"id": APP, "slug": "planwright"});
    comment
}

/// An issue by the App itself.
pub(super) fn own_issue(number: u64, body: &str, created: &str) -> Value {
    let mut issue = own_comment(number + 100_000, body);
    issue["number"] = json!(number);
    issue["title"] = json!("A plan");
    issue["state"] = json!("open");
    issue["html_url"] = json!(format!("https://github.com/octo/plans/issues/{number}"));
    issue["created_at"] = json!(created);
    issue
}
