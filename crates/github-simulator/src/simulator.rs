//! The handle of a running simulator.

mod code;
mod control;
mod inspect;
mod operations;
mod people;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::{Result, SimulatorError};
use crate::faults::Faults;
use crate::model::Actor;
use crate::options::SimulatorOptions;
use crate::shared::{Shared, lock};
use crate::state::State;
use crate::{sender, server};

pub use code::NewPullRequest;
pub use operations::{FaultName, Operation, WebhookFaultName};

/// Time that a shutdown waits for open connections.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A running simulator. Clones are handles to the same simulator.
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
    pub async fn start(options: SimulatorOptions) -> Result<Self> {
        Self::start_wrapped(options, |router| router).await
    }

    /// Starts a simulator with layers around its router, e.g. to record requests and responses.
    pub async fn start_wrapped(
        options: SimulatorOptions,
        wrap: impl FnOnce(Router) -> Router,
    ) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let failed = |source| SimulatorError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (queue, queued) = mpsc::unbounded_channel();
        let has_control = options.control;
        let shared = Arc::new(Shared {
            clock: Arc::clone(&options.clock),
            state: Mutex::new(State::new(options, format!("http://{address}"), queue)),
            log: Mutex::default(),
            faults: Faults::default(),
        });
        let stop = CancellationToken::new();
        let simulator = Self {
            shared: Arc::clone(&shared),
            address,
            stop: stop.clone(),
            tasks: Arc::default(),
        };
        let mut router = server::router(Arc::clone(&shared));
        if has_control {
            router = router.merge(control::router(simulator.clone()));
        }
        let server = axum::serve(listener, wrap(router))
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        let stopped = stop.clone();
        let server = tokio::spawn(async move {
            tokio::select! {
                _ = server => {}
                () = async {
                    stopped.cancelled().await;
                    tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
                } => {}
            }
        });
        let sender = sender::run(Arc::clone(&shared), queued);
        let stopped = stop.clone();
        let sender = tokio::spawn(async move {
            stopped.run_until_cancelled_owned(sender).await;
        });
        lock(&simulator.tasks).extend([server, sender]);
        Ok(simulator)
    }

    /// Returns the root of the pages, `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the root of the REST API with the paths of github.com.
    pub fn api_url(&self) -> String {
        self.url()
    }

    /// Returns the root of the REST API with the paths of an Enterprise Server.
    pub fn enterprise_api_url(&self) -> String {
        format!("{}/api/v3", self.url())
    }

    /// Returns the faults that are injected into requests to the API.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Waits until every webhook so far has been delivered or has failed, or until a shutdown.
    pub async fn settle(&self) {
        let mut pending = self.shared.with(|state| state.webhook.pending.subscribe());
        tokio::select! {
            // The sender of this channel lives in the state, which this handle keeps alive.
            _ = pending.wait_for(|pending| *pending == 0) => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Stops listening and sending webhooks. Open connections are closed after a second.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            // A task that panicked has stopped too.
            let _ = task.await;
        }
    }

    /// Calls `work` with the state and the id of `owner/name`.
    fn in_repository<T>(
        &self,
        repository: &str,
        work: impl FnOnce(&mut State, u64) -> Result<T>,
    ) -> Result<T> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            work(state, id)
        })
    }

    /// Calls `work` with the state, the person `login` and the id of `owner/name`.
    fn act<T>(
        &self,
        repository: &str,
        login: &str,
        work: impl FnOnce(&mut State, &Actor, u64) -> Result<T>,
    ) -> Result<T> {
        self.in_repository(repository, |state, id| {
            let actor = state.person(login);
            work(state, &actor, id)
        })
    }
}
