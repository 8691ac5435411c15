//! Assembles the bot from store, GitHub client, workers and webhook receiver. This is the only
//! module that selects their implementations.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Failure, database, trouble};
use crate::adapters::github::{GitHub, GitHubConfig};
use crate::adapters::metrics::Exporter;
use crate::adapters::redact::Redactor;
use crate::adapters::web::health::{AppCheck, Health, StoreCheck};
use crate::adapters::web::login::{GitHubLogin, Login};
use crate::adapters::web::metrics::MetricsPage;
use crate::adapters::web::pages::Pages;
use crate::adapters::web::token::OperatorToken;
use crate::adapters::web::{self, server};
use crate::adapters::webhook::Receiver;
use crate::config::{Config, Secrets};
use crate::engine::agent::Agent;
use crate::engine::agent_output::RecordedAgent;
use crate::engine::clock::Clock;
use crate::engine::decide::AppSlug;
use crate::engine::forge::{Forge, ForgeError};
use crate::engine::intake::Intake;
use crate::engine::replicas::{Leader, SharedAgents};
use crate::engine::scan::Scan;
use crate::engine::services::Services;
use crate::engine::settings::Backoff;
use crate::engine::store::Store;
use crate::engine::sweep::Sweep;
use crate::engine::worker::Workers;

/// Pauses between requests for the App at the start.
const ASK_AGAIN: Backoff = Backoff {
    first: Duration::from_secs(1),
    max: Duration::from_mins(1),
};

/// Maximum time for which workers wait for the first search for missed commands.
const MAX_FIRST_SEARCH: Duration = Duration::from_mins(1);

/// The assembled bot.
pub(super) struct Bot {
    /// The store, for callers that inspect runs.
    pub(super) store: Arc<dyn Store>,
    app: Router,
    intake: Arc<Intake>,
    start: Start,
    /// Ends requests that watch runs when it is cancelled.
    watching: CancellationToken,
}

/// What is needed to start the workers.
struct Start {
    github: Arc<GitHub>,
    slug: AppSlug,
    search: Search,
    parts: Services,
    /// Why GitHub has not confirmed the App yet; `None` once it has.
    unconfirmed: watch::Sender<Option<String>>,
}

/// The search for missed commands, in one process at a time.
struct Search {
    leader: Leader,
    sweep: Sweep<GitHub>,
    scan: Scan<GitHub>,
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
        // Before anything that records metrics.
        let exporter = secrets.web_token.clone().map(|token| {
            let exporter = Exporter::install(clock.now());
            exporter.map(|exporter| (exporter, OperatorToken::new(token)))
        });
        let exporter = exporter.transpose();
        let exporter = exporter.map_err(|error| Failure::failed(error.to_string()))?;
        let (store, clock) = database::open(config, secrets, clock).await?;
        let replicas = store.replicas();
        let history = store.history();
        let store: Arc<dyn Store> = store;
        let watching = CancellationToken::new();
        let github = github(config, secrets, &clock)?.with_replicas(replicas.clone());
        let github = Arc::new(github);
        let facts = config.facts();
        let slug = facts.app_slug.clone();
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
        let unconfirmed = watch::Sender::new(Some("it has not answered".to_owned()));
        let checks = vec![
            Box::new(StoreCheck(Arc::clone(&store))) as _,
            Box::new(AppCheck(unconfirmed.subscribe())) as _,
        ];
        let health = Arc::new(Health::new(Arc::clone(&clock), checks));
        let mut routes = if config.server.transport.listens() {
            receiver.router(&config.server.webhook_path)
        } else {
            Router::new()
        };
        if let Some((exporter, token)) = exporter {
            let (store, github, clock) = (store.clone(), github.clone(), clock.clone());
            let page = MetricsPage::new(exporter, token, store, github, clock);
            routes = routes.merge(page.router());
        }
        let app = web::app(routes, health);
        let app = match login(config, secrets, Arc::clone(&github) as _, &clock)? {
            None => app,
            Some(login) => {
                let login = Arc::new(login);
                let pages = Pages::new(
                    Arc::clone(&login),
                    history,
                    Arc::clone(&store),
                    Arc::clone(&clock),
                    &config.engine.web,
                    config.engine.worker.limits(),
                    watching.clone(),
                );
                login.add_to(app, pages.router())
            }
        };
        let app = web::counted(app);
        let agent = super::agents::agent(config, secrets, &clock)?;
        let agent = match (agent, &replicas, config.agent.shared_concurrency) {
            (Some(agent), Some(replicas), Some(slots)) => {
                let (replicas, clock) = (Arc::clone(replicas), Arc::clone(&clock));
                let slots = usize::try_from(slots).unwrap_or(usize::MAX);
                Some(Arc::new(SharedAgents::new(agent, replicas, clock, slots)) as _)
            }
            (agent, ..) => agent,
        };
        let agent = agent.map(|agent| {
            let (store, clock) = (Arc::clone(&store), Arc::clone(&clock));
            Arc::new(RecordedAgent::new(agent, store, clock)) as Arc<dyn Agent>
        });
        let checkouts = super::agents::checkouts(config, agent.is_some())?;
        let parts = Services {
            store: Arc::clone(&store),
            forge: Arc::clone(&github) as _,
            clock,
            settings: Arc::new(config.engine.clone()),
            agent,
            checkouts,
            search_first: false,
        };
        let sweep = Sweep::new(
            Arc::clone(&github),
            Arc::clone(&store),
            Arc::clone(&intake),
            Arc::clone(&parts.clock),
            config.engine.sweep.clone(),
        );
        let scan = Scan::new(
            Arc::clone(&github),
            Arc::clone(&store),
            Arc::clone(&intake),
            Arc::clone(&parts.clock),
            config.engine.scan.clone(),
        );
        let search = Search {
            leader: Leader::new(replicas, Arc::clone(&parts.clock), "search"),
            sweep,
            scan,
        };
        let start = Start {
            github,
            slug,
            search,
            parts,
            unconfirmed,
        };
        Ok(Self {
            store,
            app,
            intake,
            start,
            watching,
        })
    }

    /// Returns why GitHub has not confirmed the App yet; `None` once it has.
    #[cfg(feature = "simulator")]
    pub(super) fn unconfirmed(&self) -> watch::Receiver<Option<String>> {
        self.start.unconfirmed.subscribe()
    }

    /// Serves requests on `listener`, if there is one, until `stop` is cancelled, and works on runs
    /// once GitHub has confirmed the App. Then finishes pending acknowledgements, waits for running
    /// work up to the configured grace period, and closes the store.
    ///
    /// # Errors
    /// Returns an error if the App id or the private key is wrong. `stop` is cancelled then.
    pub(super) async fn run(
        self,
        listener: Option<TcpListener>,
        config: &Config,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let Self {
            store,
            app,
            intake,
            start,
            watching,
        } = self;
        let receiving = async {
            if let Some(listener) = listener {
                let max_connections = config.server.max_connections;
                server::serve(listener, app, max_connections, stop.clone()).await;
            }
        };
        let working = async {
            let started = start.working(config, &stop).await;
            if started.is_err() {
                stop.cancel();
            }
            if let Some((search, workers)) = started? {
                let pulls = config.server.transport.pulls();
                let Search {
                    leader,
                    sweep,
                    scan,
                } = &search;
                let work = |stop: CancellationToken| async move {
                    tokio::join!(sweep.drive(pulls, &stop), scan.drive(&stop));
                };
                leader.drive(&stop, work).await;
                workers.stop(config.server.shutdown_grace).await;
            }
            Ok(())
        };
        let ending = async {
            stop.cancelled().await;
            watching.cancel();
        };
        let ((), worked, ()) = tokio::join!(receiving, working, ending);
        intake.close().await;
        store.close().await;
        worked
    }
}

impl Start {
    /// Starts the workers once GitHub has confirmed the App and the commands that were missed are
    /// stored, so that commands at one place are executed in order. Returns `None` if `stop` is
    /// cancelled before.
    async fn working(
        self,
        config: &Config,
        stop: &CancellationToken,
    ) -> Result<Option<(Search, Workers)>, Failure> {
        let starting = async {
            self.confirm(config).await?;
            if !self.search.leader.leads().await {
                return Ok(());
            }
            tokio::select! {
                () = async {
                    self.search.sweep.round(config.server.transport.pulls()).await;
                    self.search.scan.round().await;
                } => {}
                () = self.parts.clock.sleep(MAX_FIRST_SEARCH) => {
                    tracing::warn!(
                        "looking for missed commands takes long; runs start before it is done"
                    );
                }
            }
            Ok::<(), Failure>(())
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(None),
            started = starting => started?,
        }
        let workers = Workers::start(self.parts, config.store.retention);
        Ok(Some((self.search, workers)))
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

/// Creates the login for the pages; `None` if there are none.
fn login(
    config: &Config,
    secrets: &Secrets,
    forge: Arc<dyn Forge>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Login>, Failure> {
    let public_url = config.web.url.as_deref().map(Url::parse).transpose();
    // The configuration is checked.
    let public_url = public_url.map_err(|error| Failure::failed(format!("web.url: {error}")))?;
    let token = secrets.web_token.clone().map(OperatorToken::new);
    let github = match (
        &public_url,
        &config.web.client_id,
        &secrets.web_client_secret,
    ) {
        (Some(url), Some(id), Some(secret)) => {
            let api_url = &config.github.api_url;
            Some(GitHubLogin::new(url, api_url, id.clone(), secret.clone()))
        }
        _ => None,
    };
    let clock = Arc::clone(clock);
    Ok(Login::new(public_url.as_ref(), token, github, forge, clock))
}

/// Creates the client of the App.
///
/// # Errors
/// The private key is not set or cannot be used.
pub(super) fn github(
    config: &Config,
    secrets: &Secrets,
    clock: &Arc<dyn Clock>,
) -> Result<GitHub, Failure> {
    let Some(key) = secrets.private_key.clone() else {
        return Err(Failure::failed("the App's private key is not set"));
    };
    let mut known = secrets.webhook.clone();
    known.push(key.clone());
    known.extend(secrets.agent_key.clone());
    known.extend(secrets.store_password.clone());
    known.extend(secrets.web_token.clone());
    known.extend(secrets.web_client_secret.clone());
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
