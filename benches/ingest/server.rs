//! The server process. It listens on a free port of 127.0.0.1 until its standard input ends.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::StatusCode;
use http_body_util::BodyExt;
use planwright::adapters::clock::SystemClock;
use planwright::adapters::store::{PostgresOptions, SqlStore, SqliteOptions};
use planwright::adapters::telemetry::LineFormat;
use planwright::adapters::web::health::{Health, StoreCheck};
use planwright::adapters::web::{self, server};
use planwright::adapters::webhook::Receiver;
use planwright::adapters::{signature, telemetry};
use planwright::engine::clock::Clock;
use planwright::engine::decide::{AppIdentity, AppSlug, Decision, Payload};
use planwright::engine::intake::Intake;
use planwright::engine::settings::LateSettings;
use planwright::engine::store::Store;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Outcome, payload};

/// First argument of a server process.
pub(crate) const FLAG: &str = "--serve";

/// Environment variable with the URL of an empty PostgreSQL database.
pub(crate) const POSTGRES: &str = "PLANWRIGHT_BENCH_POSTGRES";

/// App ID in the configuration of the bot.
pub(crate) const APP_ID: u64 = 424_242;

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The same HTTP stack and signature check, and the parse of the payload. Nothing is decided.
    Parse,
    /// The same HTTP stack, signature check and decision, without a store. It is the limit that the
    /// bot would reach if storing cost nothing.
    Limit,
    /// The same on the PostgreSQL database that the environment variable [`POSTGRES`] names.
    Postgres,
    /// The bot's receiver with its real store, but without workers, which would share the core.
    Bot {
        /// Same as `store.queue_depth`.
        queue_depth: usize,
    },
}

impl Mode {
    /// The bot with the default of `store.queue_depth`.
    pub(crate) const BOT: Self = Self::Bot { queue_depth: 1024 };

    /// Returns the argument of the server process that [`main`] reads.
    pub(crate) fn argument(self) -> String {
        match self {
            Self::Parse => "parse".to_owned(),
            Self::Limit => "limit".to_owned(),
            Self::Postgres => "postgres".to_owned(),
            Self::Bot { queue_depth } => queue_depth.to_string(),
        }
    }
}

/// Runs the server process. The arguments are [`Mode::argument`] and the path of the database.
pub(crate) fn main(arguments: &[String]) -> Outcome<()> {
    let [mode, database] = arguments else {
        return Err("a child takes a mode and a database".into());
    };
    let mode = match mode.as_str() {
        "parse" => Mode::Parse,
        "limit" => Mode::Limit,
        "postgres" => Mode::Postgres,
        queue_depth => Mode::Bot {
            queue_depth: queue_depth.parse()?,
        },
    };
    // The product's default, because writing log lines is part of its cost.
    let _telemetry = telemetry::init("info", LineFormat::Text, None)?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(serve(mode, database.into()))
}

async fn serve(mode: Mode, database: PathBuf) -> Outcome<()> {
    let app = match mode {
        Mode::Parse => limit(false),
        Mode::Limit => limit(true),
        Mode::Postgres => {
            let url = SecretString::from(std::env::var(POSTGRES)?);
            bot(SqlStore::open_postgres(&url, PostgresOptions::default()).await?)
        }
        Mode::Bot { queue_depth } => {
            let options = SqliteOptions {
                queue_depth,
                ..SqliteOptions::default()
            };
            let now = SystemClock.now();
            bot(SqlStore::open_sqlite(&database, options, now).await?)
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let parent = stop.clone();
    std::thread::spawn(move || {
        // Standard input ends when the parent process ends, for whatever reason.
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        parent.cancel();
    });
    server::serve(listener, app, 256, stop).await;
    Ok(())
}

fn facts() -> AppIdentity {
    AppIdentity {
        app_id: APP_ID,
        app_slug: AppSlug::new(Some("planwright".to_owned())),
        ..AppIdentity::default()
    }
}

fn secrets() -> Vec<SecretString> {
    vec![SecretString::from(payload::SECRET)]
}

fn bot(store: SqlStore) -> Router {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store: Arc<dyn Store> = Arc::new(store);
    let checks = vec![Box::new(StoreCheck(Arc::clone(&store))) as _];
    let health = Arc::new(Health::new(Arc::clone(&clock), checks));
    let late = LateSettings::default();
    let intake = Intake::new(store, Arc::clone(&clock), facts(), late, false);
    let receiver = Arc::new(Receiver::new(Arc::new(intake), clock, secrets()));
    web::app(receiver.router("/webhook"), health)
}

struct Known {
    facts: AppIdentity,
    secrets: Vec<SecretString>,
    decides: bool,
}

fn limit(decides: bool) -> Router {
    let known = Arc::new(Known {
        facts: facts(),
        secrets: secrets(),
        decides,
    });
    let routes = Router::new()
        .route("/webhook", any(verify_and_parse))
        .with_state(known);
    let health = Health::new(Arc::new(SystemClock), Vec::new());
    web::app(routes, Arc::new(health))
}

async fn verify_and_parse(State(known): State<Arc<Known>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let header = |name: &str| {
        let value = parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    };
    let Ok(body) = body.collect().await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body = body.to_bytes();
    if signature::verify(&known.secrets, &body, header("x-hub-signature-256")).is_err() {
        return (StatusCode::UNAUTHORIZED, "wrong signature").into_response();
    }
    let Ok(payload) = Payload::read(header("x-github-event"), &body) else {
        return (StatusCode::BAD_REQUEST, "payload").into_response();
    };
    let decided = known.decides.then(|| payload.decide(&known.facts));
    match decided.map(|decided| decided.decision) {
        Some(Decision::Runs { .. }) => (StatusCode::ACCEPTED, "command").into_response(),
        _ => (StatusCode::OK, "nothing").into_response(),
    }
}
