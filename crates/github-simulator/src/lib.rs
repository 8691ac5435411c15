//! Our own GitHub: REST API, webhook sender and pages in one process, for `try` and for tests.
//!
//! People's side: [`Simulator::open_issue`], [`Simulator::comment`], [`Simulator::label`] and so on change the state as a
//! person would and send the webhooks that GitHub would send. The App's side is HTTP: the endpoints planwright uses, at
//! [`Simulator::api_url`] and, as on an Enterprise Server, below `/api/v3`. [`Simulator::faults`] makes things go wrong.
//! Anybody's eyes: open [`Simulator::url`] in a browser.
//!
//! Answers have the shapes of GitHub's OpenAPI description. Where behaviour rests on GitHub's documentation or on issue
//! threads instead, a comment says so.

mod actions;
mod api;
mod app;
mod attachments;
mod checks;
mod clock;
mod comments;
mod commits;
mod contents;
mod faults;
mod issues;
mod json;
mod keys;
mod labels;
mod look;
pub mod model;
mod pages;
mod paging;
mod people;
mod pulls;
mod pushes;
mod reactions;
mod reply;
mod sender;
mod serve;
mod state;
mod tasks;
mod tokens;
mod trees;
mod webhooks;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use clock::{Clock, SystemClock};
pub use faults::{Fault, Faults, Storm, Trouble};
pub use keys::AppKeys;
pub use look::LoggedRequest;
pub use pushes::Proposal;
pub use tokens::TokenShape;

use model::{User, UserKind};
use state::{App, Base, FIRST_ID, Hook, State};

/// How long a shutdown waits for open connections.
const GRACE: Duration = Duration::from_secs(1);

/// What can go wrong with the simulator itself.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// Something that was named is not there.
    #[error("the simulator has no {what}: add it first")]
    Missing {
        /// What was named.
        what: String,
    },
    /// No key pair.
    #[error("the simulator cannot make a key pair: {message}")]
    Keys {
        /// Why.
        message: String,
    },
    /// The port cannot be had.
    #[error("the simulator cannot listen on {address}: {source}; choose another port")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

impl SimulatorError {
    fn missing(what: String) -> Self {
        Self::Missing { what }
    }
}

/// How the simulated GitHub and its one App are set up.
#[derive(Clone)]
pub struct SimulatorOptions {
    /// Time, for everything that has one: tokens, comments, delays.
    pub clock: Arc<dyn Clock>,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// App id.
    pub app_id: u64,
    /// App slug; its account is `<slug>[bot]`.
    pub slug: String,
    /// PEM of the App's public key.
    pub public_pem: String,
    /// Webhook secret.
    pub webhook_secret: SecretString,
    /// Webhook addresses, taken in turn; may be set later.
    pub targets: Vec<String>,
    /// Shape of installation tokens.
    pub token_shape: TokenShape,
    /// Permissions of the App and of new installations.
    pub permissions: BTreeMap<String, String>,
    /// Events the App is subscribed to; `installation` and `ping` come anyway.
    pub events: Vec<String>,
}

impl SimulatorOptions {
    /// App 4711 `planwright` with what planwright needs, a free port, classic tokens and no webhook address.
    pub fn new(clock: Arc<dyn Clock>, public_pem: String, webhook_secret: SecretString) -> Self {
        Self {
            clock,
            port: 0,
            app_id: 4711,
            slug: "planwright".to_owned(),
            public_pem,
            webhook_secret,
            targets: Vec::new(),
            token_shape: TokenShape::default(),
            permissions: [
                ("checks", "write"),
                ("contents", "read"),
                ("issues", "write"),
                ("metadata", "read"),
                ("pull_requests", "write"),
            ]
            .map(|(name, level)| (name.to_owned(), level.to_owned()))
            .into(),
            events: ["issue_comment", "issues", "label", "pull_request"]
                .map(str::to_owned)
                .into(),
        }
    }
}

/// What all parts share.
struct Shared {
    state: Mutex<State>,
    log: Mutex<Vec<LoggedRequest>>,
    faults: Faults,
    clock: Arc<dyn Clock>,
}

impl Shared {
    /// Runs `work` on the state, alone.
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        // A state left behind by a panic in a test is as good as any other.
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A running simulator. Clones are handles to the same one.
#[derive(Clone)]
pub struct Simulator {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: CancellationToken,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl fmt::Debug for Simulator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Simulator")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Simulator {
    /// Starts listening on 127.0.0.1 and sending webhooks.
    pub async fn start(options: SimulatorOptions) -> Result<Self, SimulatorError> {
        Self::start_wrapped(options, |router| router).await
    }

    /// The same with layers of the caller's around the router.
    pub async fn start_wrapped(
        options: SimulatorOptions,
        wrap: impl FnOnce(Router) -> Router,
    ) -> Result<Self, SimulatorError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let failed = |source| SimulatorError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (queue, queued) = mpsc::unbounded_channel();
        let clock = Arc::clone(&options.clock);
        let shared = Arc::new(Shared {
            state: Mutex::new(first_state(options, address, queue)),
            log: Mutex::default(),
            faults: Faults::default(),
            clock,
        });
        let stop = CancellationToken::new();
        let router = wrap(serve::router(Arc::clone(&shared)));
        let simulator = Self {
            shared,
            address,
            stop: stop.clone(),
            tasks: Arc::default(),
        };
        let ended = stop.clone();
        simulator.keep(tokio::spawn(async move {
            let graceful = ended.clone();
            let server = axum::serve(listener, router)
                .with_graceful_shutdown(async move { graceful.cancelled().await });
            let late = async move {
                ended.cancelled().await;
                tokio::time::sleep(GRACE).await;
            };
            tokio::select! {
                _ = server => {}
                () = late => {}
            }
        }));
        let sender = sender::run(Arc::clone(&simulator.shared), queued);
        simulator.keep(tokio::spawn(async move {
            tokio::select! {
                () = sender => {}
                () = stop.cancelled() => {}
            }
        }));
        Ok(simulator)
    }

    fn keep(&self, task: JoinHandle<()>) {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(task);
    }

    /// The router by itself, for a listener of the caller's own.
    pub fn router(&self) -> Router {
        serve::router(Arc::clone(&self.shared))
    }

    /// Root of the pages, `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Root of the REST API as on github.com.
    pub fn api_url(&self) -> String {
        self.url()
    }

    /// Root of the REST API as on an Enterprise Server.
    pub fn enterprise_api_url(&self) -> String {
        format!("{}/api/v3", self.url())
    }

    /// What goes wrong.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Returns when every webhook so far has been answered or has failed, or after a shutdown.
    pub async fn settle(&self) {
        let mut pending = self.shared.with(|state| state.hook.pending.subscribe());
        tokio::select! {
            // The sending half lives in the state, which this handle keeps alive.
            _ = pending.wait_for(|pending| *pending == 0) => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Stops listening and sending; open connections get a second.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            // A task that has failed has stopped, which is all that matters here.
            let _ = task.await;
        }
    }
}

fn first_state(
    options: SimulatorOptions,
    address: SocketAddr,
    queue: mpsc::UnboundedSender<u64>,
) -> State {
    let now = options.clock.now();
    let account = |id, login: String, kind| User { id, login, kind };
    let owner = account(FIRST_ID + 1, "planwright-labs".to_owned(), UserKind::User);
    let bot = account(
        FIRST_ID + 2,
        format!("{}[bot]", options.slug),
        UserKind::Bot,
    );
    let web = format!("http://{address}");
    State {
        base: Base {
            api: web.clone(),
            web,
        },
        app: App {
            id: options.app_id,
            slug: options.slug,
            public_pem: options.public_pem,
            owner: owner.clone(),
            bot: bot.clone(),
            permissions: options.permissions,
            events: options.events,
            created: now,
        },
        token_shape: options.token_shape,
        users: vec![owner, bot],
        visitor: None,
        repositories: BTreeMap::new(),
        comments: BTreeMap::new(),
        attachments: BTreeMap::new(),
        installations: BTreeMap::new(),
        tokens: BTreeMap::new(),
        deliveries: BTreeMap::new(),
        hook: Hook {
            id: FIRST_ID + 3,
            targets: options.targets,
            secret: options.webhook_secret,
            queue,
            pending: watch::Sender::new(0),
        },
        used: BTreeMap::new(),
        list_lag: Duration::ZERO,
        next_id: FIRST_ID + 100,
        clock: options.clock,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn errors_name_the_thing_and_the_remedy() {
        assert_eq!(
            SimulatorError::missing("repository a/b".to_owned()).to_string(),
            "the simulator has no repository a/b: add it first"
        );
        let listen = SimulatorError::Listen {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
            source: std::io::Error::other("in use"),
        };
        assert_eq!(
            listen.to_string(),
            "the simulator cannot listen on 127.0.0.1:80: in use; choose another port"
        );
        let message = "no randomness".to_owned();
        assert_eq!(
            SimulatorError::Keys { message }.to_string(),
            "the simulator cannot make a key pair: no randomness"
        );
    }

    #[test]
    fn keys_are_a_pair_in_githubs_form() {
        use secrecy::ExposeSecret as _;
        let keys = AppKeys::generate().unwrap();
        let private = keys.private_pem.expose_secret();
        assert!(private.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
        assert!(keys.public_pem.starts_with("-----BEGIN PUBLIC KEY-----\n"));
        assert!(!format!("{keys:?}").contains("RSA PRIVATE"));
    }
}
