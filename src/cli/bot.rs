//! Assembles the bot from store, GitHub client, workers and webhook receiver. This is the only
//! module that selects their implementations.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Failure, trouble};
use crate::adapters::github::{GitHub, GitHubConfig};
use crate::adapters::redact::Redactor;
use crate::adapters::store::{SqliteOptions, SqliteStore};
use crate::adapters::web::health::{Health, StoreCheck};
use crate::adapters::web::{self, server};
use crate::adapters::webhook::Receiver;
use crate::config::{Config, Secrets};
use crate::engine::clock::Clock;
use crate::engine::intake::Intake;
use crate::engine::services::Services;
use crate::engine::store::{Store, StoreError};
use crate::engine::worker::Workers;

/// The assembled bot. Its workers are already running.
pub(super) struct Bot {
    /// The store, for callers that inspect runs.
    pub(super) store: Arc<dyn Store>,
    app: axum::Router,
    workers: Workers,
}

impl Bot {
    /// Opens the store and starts the workers.
    ///
    /// # Errors
    /// Returns an error if the store cannot be opened, the private key cannot be used, or GitHub
    /// does not return the App.
    pub(super) async fn assemble(
        config: &Config,
        secrets: &Secrets,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
        let options = SqliteOptions {
            queue_depth: config.store.queue_depth,
            ..SqliteOptions::default()
        };
        let store = SqliteStore::open(&config.store.path, options, clock.now())
            .await
            .map_err(|error| match error {
                // Exit code 2 prevents a restart: only the operator can resolve a lost store.
                StoreError::Lost(_) => Failure::Usage(error.to_string()),
                error => failed(&error),
            })?;
        let store: Arc<dyn Store> = Arc::new(store);
        let github = Arc::new(github(config, secrets, &clock)?);
        let mut facts = config.facts();
        if facts.app_slug.is_none() {
            let slug = github.slug().await.map_err(|error| {
                let (url, id) = (&config.github.api_url, config.github.app_id);
                Failure::failed(trouble::at_start(&error, url, id))
            })?;
            facts.app_slug = Some(slug);
        }
        let intake = Arc::new(Intake::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            facts,
            config.engine.late.clone(),
            config.store.keep_payloads,
        ));
        let receiver = Arc::new(Receiver::new(
            Arc::clone(&intake),
            Arc::clone(&clock),
            secrets.webhook.clone(),
        ));
        let checks = vec![Box::new(StoreCheck(Arc::clone(&store))) as _];
        let health = Arc::new(Health::new(Arc::clone(&clock), checks));
        let app = web::app(receiver.router(&config.server.webhook_path), health);
        let agent = super::agents::agent(config, secrets, &clock)?;
        let checkouts = super::agents::checkouts(config, agent.is_some())?;
        let parts = Services {
            store: Arc::clone(&store),
            forge: github,
            clock,
            settings: Arc::new(config.engine.clone()),
            agent,
            checkouts,
        };
        let workers = Workers::start(parts, config.store.retention);
        Ok(Self {
            store,
            app,
            workers,
        })
    }

    /// Serves requests until `stop` is cancelled. Then finishes pending acknowledgements, waits for
    /// running work up to the configured grace period, and closes the store.
    pub(super) async fn run(self, listener: TcpListener, config: &Config, stop: CancellationToken) {
        let Self {
            store,
            app,
            workers,
        } = self;
        let grace = config.server.shutdown_grace;
        let receiving = server::serve(listener, app, config.server.max_connections, stop.clone());
        let working = async {
            stop.cancelled().await;
            workers.stop(grace).await;
        };
        tokio::join!(receiving, working);
        store.close().await;
    }
}

fn github(config: &Config, secrets: &Secrets, clock: &Arc<dyn Clock>) -> Result<GitHub, Failure> {
    let Some(key) = secrets.private_key.clone() else {
        return Err(Failure::failed("the App's private key is not set"));
    };
    let mut known = secrets.webhook.clone();
    known.push(key.clone());
    known.extend(secrets.agent_key.clone());
    let mut settings = GitHubConfig::new(config.github.api_url.clone(), config.github.app_id, key);
    settings.app_slug.clone_from(&config.github.app_slug);
    settings.write_gap = config.github.write_gap;
    settings.notify_gap = config.github.notify_gap;
    settings.request_timeout = config.github.request_timeout;
    settings.download_timeout = config.engine.source.timeout;
    settings
        .redirect_hosts
        .clone_from(&config.engine.source.redirect_hosts);
    settings.redactor = Redactor::new(known);
    GitHub::new(settings, Arc::clone(clock)).map_err(|error| Failure::failed(error.to_string()))
}
