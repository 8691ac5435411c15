//! A good set-up: the simulator, an App that is installed, a receiver that accepts deliveries, and
//! the bot's configuration, database and secrets in a folder.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use github_simulator::model::Role;
use github_simulator::{Fault, FaultKind, Simulator, SimulatorOptions, WebhookFault};
use planwright::engine::model::time::Millis;
use planwright::engine::store::Store;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use crate::simulator_support::KEYS;
use crate::support::rig;

/// Longest that the program may take, far more than it needs.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) const REPO: &str = "acme/search";
pub(super) const SECRET: &str = "a webhook secret of good length";
pub(super) const API_KEY: &str = "sk-ant-correct-horse-battery-staple";

/// A clock that differs from this computer's by a number of milliseconds.
struct OffClock(Arc<AtomicI64>);

#[async_trait::async_trait]
impl github_simulator::Clock for OffClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now() + chrono::Duration::milliseconds(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// What the program said.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) error: String,
}

pub(super) struct Place {
    pub(super) sim: Simulator,
    pub(super) installation: u64,
    pub(super) environment: BTreeMap<String, String>,
    /// GitHub's clock minus this computer's, in milliseconds.
    pub(super) ahead: Arc<AtomicI64>,
    /// Base of the receiver's address.
    pub(super) receiver: String,
    folder: TempDir,
    kept: Vec<Box<dyn Any + Send>>,
}

/// Runs a future to its end, on a runtime with several threads.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}

/// Executes a statement in the database at `path`, which is created if it does not exist.
pub(super) fn execute(path: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(path);
    let options = options.create_if_missing(true);
    wait(async {
        let mut connection = options.connect().await.unwrap();
        let done = sqlx::raw_sql(statement).execute(&mut connection).await;
        done.unwrap();
        connection.close().await.unwrap();
    });
}

impl Place {
    /// Makes the set-up, with an App as `registered` changes it. It was installed ten minutes ago.
    pub(super) async fn new(registered: fn(&mut SimulatorOptions)) -> Self {
        let ahead = Arc::new(AtomicI64::new(-600_000));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = format!("http://{}", listener.local_addr().unwrap());
        let accept = axum::routing::post(|| async { http::StatusCode::ACCEPTED });
        let router = axum::Router::new().route("/webhook", accept);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut options = SimulatorOptions::new(
            "planwright",
            Arc::new(OffClock(Arc::clone(&ahead))),
            KEYS.public_pem.clone(),
            SecretString::from(SECRET),
        );
        options.targets = vec![format!("{receiver}/webhook")];
        registered(&mut options);
        let sim = Simulator::start(options).await.unwrap();
        sim.add_repository(REPO, false).unwrap();
        sim.grant(REPO, "ada", Role::Write).unwrap();
        let installation = sim.install(&[REPO]).unwrap();
        sim.settle().await;
        ahead.store(0, Ordering::SeqCst);
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut place = Self {
            sim,
            installation,
            environment: BTreeMap::new(),
            ahead,
            receiver,
            folder,
            kept: Vec::new(),
        };
        let key = place.write("app.pem", KEYS.private_pem.expose_secret());
        let secrets = place.write("webhook-secrets", SECRET);
        let api_url = place.sim.api_url();
        place.set("PLANWRIGHT_GITHUB_API_URL", &api_url);
        place.set("PLANWRIGHT_GITHUB_APP_ID", "4711");
        place.set("PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE", &key);
        place.set("PLANWRIGHT_WEBHOOK_SECRETS_FILE", &secrets);
        place.set("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0");
        place.set("PLANWRIGHT_STORE_PATH", &place.path("planwright.db"));
        let store = rig::open(place.database().as_ref(), Millis(0)).await;
        store.close().await;
        place
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn database(&self) -> PathBuf {
        self.folder.path().join("planwright.db")
    }

    pub(super) fn set(&mut self, variable: &str, value: &str) {
        self.environment
            .insert(variable.to_owned(), value.to_owned());
    }

    pub(super) fn unset(&mut self, variable: &str) {
        self.environment.remove(variable).unwrap();
    }

    /// Writes a file that only its owner can use, and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        self.mode(name, 0o600);
        path
    }

    /// Sets the mode of a file of the folder.
    pub(super) fn mode(&self, name: &str, mode: u32) {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.folder.path().join(name), permissions).unwrap();
    }

    /// Writes an agent's program, and configures it.
    pub(super) fn agent(&mut self, script: &str) {
        let program = self.write("agent", script);
        self.mode("agent", 0o700);
        self.set("PLANWRIGHT_AGENT_KIND", "claude");
        self.set("PLANWRIGHT_AGENT_PATH", &program);
        self.set("PLANWRIGHT_AGENT_API_KEY", API_KEY);
        self.set("PLANWRIGHT_AGENT_NETWORK", "open");
        self.set("PLANWRIGHT_AGENT_SANDBOX", "off");
    }

    /// Starts a model's API that answers every request with this status, and configures it.
    pub(super) fn model(&mut self, status: u16) {
        let listener = wait(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let status = http::StatusCode::from_u16(status).unwrap();
        let router = axum::Router::new().fallback(move || async move { status });
        tokio::spawn(async move { axum::serve(listener, router).await });
        self.set("PLANWRIGHT_AGENT_API_URL", &url);
    }

    /// Keeps something until the end of the test.
    pub(super) fn keep(&mut self, thing: impl Any + Send) {
        self.kept.push(Box::new(thing));
    }

    /// Locks the database as a running bot does.
    pub(super) fn lock(&mut self) {
        let file = fs::File::create(self.path("planwright.db.lock")).unwrap();
        file.try_lock().unwrap();
        self.keep(file);
    }

    /// Makes GitHub answer requests with this status and body.
    pub(super) fn answers(&self, method: &str, path: &str, status: u16, body: Value) {
        let kind = FaultKind::Response { status, body };
        self.sim
            .faults()
            .push(Fault::on(method, path, kind).times(100));
    }

    /// Makes GitHub answer with this configuration of the webhook, besides its URL.
    pub(super) fn hook(&self, member: &str, value: &Value) {
        let mut config = json!({
            "url": "https://bot.example/webhook",
            "content_type": "json",
            "insecure_ssl": "0",
            "secret": "********",
        });
        config[member] = value.clone();
        self.answers("GET", "/app/hook/config", 200, config);
    }

    /// Makes the next delivery fail with this status of a proxy.
    pub(super) fn delivery_fails(&self, status: u16) {
        self.sim
            .set_webhook_faults(move |_| Some(WebhookFault::Proxy(status)));
        self.sim.ping();
    }

    /// Opens an issue and returns its number.
    pub(super) fn issue(&self) -> u64 {
        self.sim
            .open_issue(REPO, "ada", "Search is slow", "It takes a minute.")
            .unwrap()
    }

    /// Returns the program with the configuration.
    pub(super) fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `doctor`, and checks that it prints no secret.
    pub(super) async fn doctor(&self, arguments: &[&str]) -> Said {
        self.sim.settle().await;
        let output = self.program().arg("doctor").args(arguments).output();
        let output = timeout(PATIENCE, output).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let said = Said {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            error: text(output.stderr),
        };
        let key = KEYS.private_pem.expose_secret().lines().nth(1).unwrap();
        for secret in [SECRET, API_KEY, key] {
            for text in [&said.out, &said.error] {
                assert!(!text.contains(secret), "{text}");
            }
        }
        said
    }
}
