//! `planwright serve`: receives webhooks and processes the queue until it is stopped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::bot::Bot;
use super::config::{network_warning, read_access_warning, sandbox_warning};
use super::signals::stop_requested;
use super::{Failure, Settings, block_on, setup};
use crate::adapters::agent::sandbox;
use crate::adapters::clock::SystemClock;
use crate::adapters::telemetry::{self, LineFormat, Telemetry};
use crate::config::{Loaded, LogFormat};
use crate::engine::clock::Clock;

const EXAMPLES: &str = "\
Examples:
  PLANWRIGHT_WEBHOOK_SECRETS_FILE=secrets \\
    PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE=app.pem \\
    planwright serve --set github.app_id=123456
  planwright serve --config /etc/planwright.toml --listen 0.0.0.0:8300

`planwright config --check` checks the configuration without starting. Webhooks
are accepted at once; runs begin when GitHub has confirmed the App, which is
tried until it succeeds. A wrong App id or private key ends the program with
exit code 1.

SIGINT and SIGTERM shut down gracefully: connections are refused,
acknowledgements finish, and runs are put back into the queue at their next
step. Running turns of agents and runs that publish have
server.shutdown_grace_seconds; after that, agents are ended.";

/// Receive webhooks and save plans until stopped
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Serve {
    /// Address and port, instead of server.listen
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Folder with the App's credentials; while it has none, the page /setup creates the App
    #[arg(long, value_name = "DIR", requires = "url")]
    setup: Option<PathBuf>,
    /// Public address of this bot, for --setup
    #[arg(long, value_name = "URL", requires = "setup")]
    url: Option<Url>,
}

impl Serve {
    pub(super) fn run(self, mut settings: Settings) -> Result<(), Failure> {
        settings.set.extend(
            self.listen
                .map(|address| format!("server.listen={address}")),
        );
        // Exports the last traces after everything else has ended.
        let (loaded, _telemetry) = match self.setup.as_deref().zip(self.url) {
            None => begin(&settings)?,
            Some((folder, url)) => set_up(&mut settings, folder, url)?,
        };
        loaded.ready_to_serve()?;
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        let agent = &loaded.config.agent;
        let here = sandbox::active(agent.sandbox);
        let odd = [
            sandbox_warning(agent, &here)?,
            read_access_warning(&loaded.config, &here)?,
            network_warning(&loaded, &here)?,
        ];
        for warning in odd.into_iter().flatten() {
            tracing::warn!("{warning}");
        }
        block_on(serve(loaded))
    }
}

/// Reads the configuration and starts the log.
fn begin(settings: &Settings) -> Result<(Loaded, Telemetry), Failure> {
    let loaded = settings.load()?;
    let log = &loaded.config.log;
    let format = match log.format {
        LogFormat::Text => LineFormat::Text,
        LogFormat::Json => LineFormat::Json,
    };
    let telemetry = telemetry::init(&log.level, format, log.otlp_endpoint.as_ref());
    Ok((loaded, telemetry.map_err(Failure::failed)?))
}

/// Returns the configuration in `folder`, after the App was created if there is none yet.
fn set_up(
    settings: &mut Settings,
    folder: &Path,
    url: Url,
) -> Result<(Loaded, Telemetry), Failure> {
    let config = folder.join(setup::CONFIG);
    if let Some(other) = &settings.config {
        return Err(Failure::Usage(format!(
            "--setup reads its configuration from {}: omit --config {}",
            config.display(),
            other.display()
        )));
    }
    if config.exists() {
        settings.config = Some(config);
        return begin(settings);
    }
    let (loaded, telemetry) = begin(settings)?;
    block_on(setup::on_server(loaded, folder, url))?;
    settings.config = Some(config);
    Ok((settings.load()?, telemetry))
}

async fn serve(loaded: Loaded) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let asked_to_stop = stop.clone();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // Bind before opening anything else, so that a second instance on the same port fails without
    // side effects.
    let server = &loaded.config.server;
    let listener = if loaded.listens() {
        let address = server.listen;
        let bound = TcpListener::bind(address).await;
        Some(
            bound
                .map_err(|error| Failure::failed(format!("cannot listen on {address}: {error}")))?,
        )
    } else {
        None
    };
    let bot = Bot::assemble(&loaded.config, &loaded.secrets, clock).await?;
    let stopped = stop_requested();
    tokio::spawn(async move {
        stopped.await;
        tracing::info!("stopping");
        asked_to_stop.cancel();
    });
    if let Some(listener) = &listener {
        // The actual port if the configuration asked for any port (0).
        let address = listener.local_addr().unwrap_or(server.listen);
        let path = server.transport.listens().then_some(&*server.webhook_path);
        tracing::info!(%address, path, "listening");
    }
    if server.transport.pulls() {
        let seconds = loaded.config.engine.sweep.pull_every.as_secs();
        tracing::info!(seconds, "reading deliveries from GitHub's log");
    }
    bot.run(listener, &loaded.config, stop).await?;
    tracing::info!("stopped");
    Ok(())
}
