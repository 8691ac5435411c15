//! Assembles the bot from store, GitHub client, workers and webhook receiver. This is the only
//! module that selects their implementations.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Failure, trouble};
use crate::adapters::github::{GitHub, GitHubConfig};
use crate::adapters::redact::Redactor;
use crate::adapters::store::{SqliteOptions, SqliteStore};
use crate::adapters::web::health::{AppCheck, Health, StoreCheck};
use crate::adapters::web::{self, server};
use crate::adapters::webhook::Receiver;
use crate::config::{Config, Secrets};
use crate::engine::clock::Clock;
use crate::engine::decide::AppSlug;
use crate::engine::forge::ForgeError;
use crate::engine::services::Services;
use crate::engine::settings::Backoff;
use crate::engine::store::{Store, StoreError};
use crate::engine::worker::Workers;

/// Pauses between requests for the App at the start.
const ASK_AGAIN: Backoff = Backoff {
    first: Duration::from_secs(1),
    max: Duration::from_mins(1),
};

/// The assembled bot.
pub(super) struct Bot {
    /// The store, for callers that inspect runs.
    pub(super) store: Arc<dyn Store>,
    app: axum::Router,
    start: Start,
}

/// What is needed to start the workers.
struct Start {
    github: Arc<GitHub>,
    slug: AppSlug,
    parts: Services,
    /// Why GitHub has not confirmed the App yet; `None` once it has.
    unconfirmed: watch::Sender<Option<String>>,
}

impl Bot {
    /// Opens the store. Sends no request to GitHub.
    ///
    /// # Errors
    /// Returns an error if the store cannot be opened or the private key cannot be used.
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
        let facts = config.facts();
        let slug = facts.app_slug.clone();
        let receiver = Arc::new(Receiver::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            facts,
            secrets.webhook.clone(),
            config.store.keep_payloads,
        ));
        let unconfirmed = watch::Sender::new(Some("it has not answered".to_owned()));
        let checks = vec![
            Box::new(StoreCheck(Arc::clone(&store))) as _,
            Box::new(AppCheck(unconfirmed.subscribe())) as _,
        ];
        let health = Arc::new(Health::new(Arc::clone(&clock), checks));
        let app = web::app(receiver.router(&config.server.webhook_path), health);
        let agent = super::agents::agent(config, secrets, &clock)?;
        let checkouts = super::agents::checkouts(config, agent.is_some())?;
        let parts = Services {
            store: Arc::clone(&store),
            forge: Arc::clone(&github) as _,
            clock,
            settings: Arc::new(config.engine.clone()),
            agent,
            checkouts,
        };
        let start = Start {
            github,
            slug,
            parts,
            unconfirmed,
        };
        Ok(Self { store, app, start })
    }

    /// Returns why GitHub has not confirmed the App yet; `None` once it has.
    pub(super) fn unconfirmed(&self) -> watch::Receiver<Option<String>> {
        self.start.unconfirmed.subscribe()
    }

    /// Serves requests until `stop` is cancelled, and works on runs once GitHub has confirmed the
    /// App. Then finishes pending acknowledgements, waits for running work up to the configured
    /// grace period, and closes the store.
    ///
    /// # Errors
    /// Returns an error if the App id or the private key is wrong. `stop` is cancelled then.
    pub(super) async fn run(
        self,
        listener: TcpListener,
        config: &Config,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let Self { store, app, start } = self;
        let receiving = server::serve(listener, app, config.server.max_connections, stop.clone());
        let working = async {
            let started = start.working(config, &stop).await;
            if started.is_err() {
                stop.cancel();
            }
            if let Some(workers) = started? {
                stop.cancelled().await;
                workers.stop(config.server.shutdown_grace).await;
            }
            Ok(())
        };
        let ((), worked) = tokio::join!(receiving, working);
        store.close().await;
        worked
    }
}

impl Start {
    /// Starts the workers once GitHub has confirmed the App. Returns `None` if `stop` is cancelled
    /// before.
    async fn working(
        self,
        config: &Config,
        stop: &CancellationToken,
    ) -> Result<Option<Workers>, Failure> {
        let starting = async {
            self.confirm(config).await?;
            Ok(Workers::start(self.parts.clone(), config.store.retention))
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => Ok(None),
            started = starting => started.map(Some),
        }
    }

    /// Asks GitHub for the App until it answers. Each reason for trying again is logged once.
    async fn confirm(&self, config: &Config) -> Result<(), Failure> {
        let (url, id) = (&config.github.api_url, config.github.app_id);
        let clock = &self.parts.clock;
        let mut logged = BTreeSet::new();
        let mut faults = 0;
        let slug = loop {
            let error = match self.github.slug().await {
                Ok(slug) => break slug,
                Err(error) => error,
            };
            let why = trouble::at_start(&error, url, id);
            if trouble::is_final(&error) {
                return Err(Failure::failed(why));
            }
            self.unconfirmed.send_replace(Some(why.clone()));
            if logged.insert(why.clone()) {
                tracing::warn!(why, "GitHub has not confirmed the App yet; trying again");
            }
            faults += 1;
            let wait = match error {
                ForgeError::Limited { until, .. } => until
                    .since(clock.now())
                    .clamp(ASK_AGAIN.first, ASK_AGAIN.max),
                _ => ASK_AGAIN.after(faults),
            };
            clock.sleep(wait).await;
        };
        if let Some(configured) = config.github.app_slug.as_ref()
            && !configured.eq_ignore_ascii_case(&slug)
        {
            tracing::warn!(
                configured,
                slug,
                "github.app_slug is not the slug of the App; GitHub's is used"
            );
        }
        self.slug.confirm(&slug);
        self.unconfirmed.send_replace(None);
        tracing::info!(slug, "GitHub has confirmed the App");
        Ok(())
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
