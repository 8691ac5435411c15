//! `planwright serve`: receive webhooks and work the queue until told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Failure, Settings, block_on};
use crate::adapters::clock::SystemClock;
use crate::adapters::telemetry;
use crate::adapters::web::health::{Health, StoreCheck};
use crate::adapters::web::{self, server};
use crate::adapters::webhook::Receiver;
use crate::config::Loaded;
use crate::engine::clock::Clock;
use crate::engine::store::Store;

const EXAMPLES: &str = "\
Examples:
  PLANWRIGHT_WEBHOOK_SECRETS_FILE=secrets PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE=app.pem \\
    planwright serve --set github.app_id=123456
  planwright serve --config /etc/planwright.toml --listen 0.0.0.0:8300

`planwright config --check` tells beforehand whether everything is set. SIGINT and SIGTERM stop orderly: no more
connections, acknowledgements finished, running work given server.shutdown_grace_seconds, the rest back in the queue.";

/// Receive webhooks and save plans until stopped
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Serve {
    /// Address and port, instead of server.listen
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub(super) fn run(self, mut settings: Settings) -> Result<(), Failure> {
        settings.set.extend(
            self.listen
                .map(|address| format!("server.listen={address}")),
        );
        let loaded = settings.load()?;
        loaded.ready_to_serve()?;
        telemetry::init(&loaded.config.log);
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        block_on(serve(loaded))
    }
}

async fn serve(loaded: Loaded) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let asked_to_stop = stop.clone();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // Before anything else is opened: a second copy on the same port ends here and disturbs nothing.
    let address = loaded.config.server.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::failed(format!("cannot listen on {address}: {error}")))?;
    let back = assemble(&loaded, &clock).await?;
    tokio::spawn(async move {
        asked().await;
        tracing::info!("stopping");
        asked_to_stop.cancel();
    });

    let config = &loaded.config;
    let mut facts = config.facts();
    facts.app_slug = facts.app_slug.or_else(|| back.app_slug.clone());
    let receiver = Arc::new(Receiver::new(
        Arc::clone(&back.store),
        Arc::clone(&clock),
        facts,
        loaded.secrets.webhook.clone(),
        config.store.keep_payloads,
    ));
    let health = Health::new(clock, vec![Box::new(StoreCheck(Arc::clone(&back.store)))]);
    let app = web::app(
        receiver.router(&config.server.webhook_path),
        Arc::new(health),
    );
    tracing::info!(%address, path = config.server.webhook_path, "listening");
    server::serve(listener, app, config.server.max_connections, stop).await;
    back.stop(config.server.shutdown_grace).await;
    tracing::info!("stopped");
    Ok(())
}

/// Returns at SIGINT or SIGTERM.
async fn asked() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    // Without a handler the signal ends the process at once, which the store survives.
    let _ = tokio::signal::ctrl_c().await;
}

/// What works behind the receiver.
struct Back {
    store: Arc<dyn Store>,
    /// Our slug as GitHub knows it, where the configuration does not say.
    app_slug: Option<String>,
}

impl Back {
    /// Gives running work `grace`, puts the rest back in the queue and closes the store.
    async fn stop(self, _grace: Duration) {
        self.store.close().await;
    }
}

/// ASSEMBLY: opens the store and starts the workers. The one place that knows which adapters there are.
async fn assemble(_loaded: &Loaded, _clock: &Arc<dyn Clock>) -> Result<Back, Failure> {
    Err(Failure::failed("this build has no store"))
}
