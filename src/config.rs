//! Loads and checks the operator's configuration.
//!
//! The [schema] lists every setting with its default. A configuration file, environment variables
//! and `--set` flags override the defaults, in this order.

pub mod agent;
mod erk;
mod error;
mod layers;
mod origin;
pub mod project;
mod prompts;
mod rules;
pub mod schema;
mod secrets;
mod show;
mod token;
mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::engine::decide::{AppIdentity, AppSlug};
use crate::engine::settings::Settings;
use crate::engine::steps::source::attachment::web_root;
use crate::setting::Rule::{
    AccountIds, AppId, BaseUrl, Boolean, CollectorUrl, Integer, Line, LogFilter, OneOf,
    OptionalPath, Path, PostgresUrl, PublicUrl, SocketAddress, WebhookPath,
};
use crate::setting::{days, milliseconds, optional, optional_url, seconds, settings, url};

pub use agent::Agent;
pub use error::{ConfigError, Missing};
pub use layers::Sources;
pub use origin::Origin;
pub use rules::postgres_url;
pub use secrets::Secrets;
pub use token::{UserToken, user_token};

/// The effective configuration, the origin of each value, and the secrets.
#[derive(Debug)]
pub struct Loaded {
    /// The effective values.
    pub config: Config,
    /// The secrets; their `Debug` output is redacted.
    pub secrets: Secrets,
    /// Warnings about settings that are allowed but probably unintended.
    pub warnings: Vec<String>,
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    merged: layers::Merged,
}

/// Merges and validates all layers.
///
/// # Errors
/// Returns the first error, with its place, its key and how to fix it.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let merged = layers::merge(schema::settings(), sources)?;
    rules::check(&merged)?;
    let mut config = Config::read(merged.table()).map_err(|error| ConfigError::Unreadable {
        why: error.message().to_owned(),
    })?;
    let (secrets, mut warnings) = secrets::load(&config, sources)?;
    let agent = &mut config.engine.agent;
    if let Some(folder) = &agent.prompts_folder {
        agent.prompts = prompts::read(folder)?;
    }
    config.agent.program = config.agent.locate(sources);
    warnings.extend(config.agent.odd(secrets.agent_key.is_some(), sources));
    warnings.extend(layers::unknown_variables(&merged, sources));
    Ok(Loaded {
        config,
        secrets,
        warnings,
        file: sources.file.as_ref().map(|(path, _)| PathBuf::from(path)),
        merged,
    })
}

impl Loaded {
    /// Returns the effective configuration as a valid TOML configuration file, with secrets masked
    /// and origins as comments.
    pub fn show(&self) -> String {
        show::show(&self.merged, &self.secrets)
    }

    /// Returns the settings that are not defaults, as a configuration file.
    pub fn changed(&self) -> toml::Table {
        let entries = self.merged.0.iter();
        let changed = entries.filter(|entry| entry.origin != Origin::Default);
        layers::Merged(changed.cloned().collect()).table()
    }

    /// Returns where the value of `key` came from, or `None` if there is no such key.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.merged.get(key).map(|entry| &entry.origin)
    }

    /// Returns whether `serve` listens: for webhooks, or for requests for pages and metrics.
    pub fn listens(&self) -> bool {
        let secrets = &self.secrets;
        let has_pages = secrets.web_token.is_some() || secrets.web_client_secret.is_some();
        self.config.server.transport.listens() || has_pages
    }

    /// Checks that every setting that `serve` needs is set and that the agent's program can be run.
    ///
    /// # Errors
    /// Returns one error that lists everything that is missing.
    pub fn ready_to_serve(&self) -> Result<(), Missing> {
        let mut missing = Vec::new();
        if self.config.server.transport.listens() && self.secrets.webhook.is_empty() {
            missing.push(
                "a webhook secret: set PLANWRIGHT_WEBHOOK_SECRETS or webhook.secrets_file to what the App's settings hold"
                    .to_owned(),
            );
        }
        if self.config.github.app_id == 0 {
            missing.push("the App's id: set github.app_id or PLANWRIGHT_GITHUB_APP_ID".to_owned());
        }
        if self.secrets.private_key.is_none() {
            missing.push(
                "the App's private key: set PLANWRIGHT_GITHUB_PRIVATE_KEY or github.private_key_file"
                    .to_owned(),
            );
        }
        missing.extend(self.config.agent.not_runnable());
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Missing(missing))
        }
    }
}

/// The whole configuration. The sections that the engine uses are in [`Config::engine`].
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    /// The `[server]` section.
    pub server: Server,
    /// The `[webhook]` section.
    pub webhook: Webhook,
    /// The `[github]` section.
    pub github: GitHub,
    /// The `[store]` section.
    pub store: Store,
    /// The part of the `[agent]` section that says which agent is run and how.
    pub agent: Agent,
    /// The `[web]` section.
    pub web: Web,
    /// The `[log]` section.
    pub log: Log,
    /// The settings of the engine: all other sections, and the limits in `[agent]`.
    #[serde(skip)]
    pub engine: Settings,
}

impl Config {
    /// Reads the configuration from its sections, with what is derived from several of them.
    fn read(table: toml::Table) -> Result<Self, toml::de::Error> {
        let mut config: Self = table.clone().try_into()?;
        if let Some(agent) = table.get("agent") {
            config.agent.resources = agent.clone().try_into()?;
        }
        config.engine = table.try_into()?;
        config.engine.web = web_root(&config.github.api_url);
        config.engine.research.backoff = config.engine.worker.delays();
        Ok(config)
    }

    /// Returns what [`crate::engine::decide`] needs to know about this App.
    pub fn facts(&self) -> AppIdentity {
        AppIdentity {
            app_id: self.github.app_id,
            app_slug: AppSlug::new(self.github.app_slug.clone()),
            labels: self.engine.labels.clone(),
            allowed_bots: self.github.allowed_bots.clone(),
        }
    }
}

settings! {
    /// The HTTP listener.
    pub struct Server in "server" {
        /// How deliveries are received: as webhook requests, from GitHub's delivery log (`pull`),
        /// which needs no address that GitHub can reach, or both. With `webhook`, the log is read as
        /// well, to find deliveries that did not arrive.
        transport: Transport = "webhook", OneOf(&["webhook", "pull", "both"]);
        /// Address and port to listen on. Where `transport` is `pull`, the bot listens only if
        /// there are pages and metrics (`[web]`).
        listen: SocketAddr = "127.0.0.1:8300", SocketAddress;
        /// Path of the webhook endpoint.
        webhook_path: String = "/webhook", WebhookPath;
        /// Maximum number of concurrent connections; further ones wait in the backlog. A public IP
        /// address can use half of them, a private one (a reverse proxy) all.
        max_connections: usize = 256, Integer(1, 65_536, "connections");
        /// Seconds that running agents, and runs that are saving a plan, have to finish after a
        /// termination signal. Other runs go back to the queue at their next step.
        shutdown_grace("shutdown_grace_seconds"): Duration as "seconds" = 25, Integer(0, 3_600, "seconds");
    }
}

settings! {
    /// The secrets that GitHub signs webhooks with.
    pub struct Webhook in "webhook" {
        /// File with one webhook secret per line; empty for none.
        secrets_file: Option<PathBuf> as "optional" = "", OptionalPath;
    }
}

settings! {
    /// The GitHub App and how its API is called.
    pub struct GitHub in "github" {
        /// Base URL of the REST API. For GitHub Enterprise Server it is `https://HOST/api/v3`.
        api_url: Url as "url" = "https://api.github.com", BaseUrl;
        /// ID of the GitHub App, from its settings page; 0 if it is not set.
        app_id: u64 = 0, AppId;
        /// Slug of the App, as in `https://github.com/apps/SLUG`; used until GitHub has confirmed
        /// the App.
        app_slug: Option<String> as "optional" = "", Line(100);
        /// File with the App's private key, in PEM form; empty for none.
        private_key_file: Option<PathBuf> as "optional" = "", OptionalPath;
        /// Minimum time between two writes of one installation, in milliseconds. GitHub recommends
        /// 1000.
        write_gap("write_gap_ms"): Duration as "milliseconds" = 1000, Integer(0, 60_000, "milliseconds");
        /// Minimum time between two writes of one installation that notify people, in milliseconds.
        notify_gap("notify_gap_ms"): Duration as "milliseconds" = 3000, Integer(0, 60_000, "milliseconds");
        /// Timeout of one request, in seconds. GitHub terminates requests after 10 seconds.
        request_timeout("request_timeout_seconds"): Duration as "seconds" = 10, Integer(1, 120, "seconds");
        /// Account IDs of the bots that may use commands. The environment variable is
        /// comma-separated.
        allowed_bots: Vec<u64> = [], AccountIds;
    }
}

settings! {
    /// The database.
    pub struct Store in "store" {
        /// The SQLite file. Its folder must exist. The files whose names continue this one with
        /// `-wal`, `-shm` and `.changes` belong to it: move, back up and restore them together.
        /// Not used where `url` is set.
        path: PathBuf = "planwright.db", Path;
        /// The PostgreSQL database that several processes share, without the password; empty for
        /// SQLite. `sslmode=verify-full` and `sslrootcert=FILE` as parameters check the server's
        /// certificate.
        url: Option<String> as "optional" = "", PostgresUrl;
        /// File with the password of the user in `url`; empty for none.
        password_file: Option<PathBuf> as "optional" = "", OptionalPath;
        /// Maximum number of connections of one process to PostgreSQL, besides one that listens for
        /// notifications.
        max_connections: u32 = 10, Integer(2, 1_000, "connections");
        /// Maximum number of deliveries that wait to be written. Further ones are answered with
        /// 503.
        queue_depth: usize = 1024, Integer(1, 100_000, "deliveries");
        /// Whether the raw bodies of deliveries with commands are kept, for `planwright replay`.
        /// This costs about two thirds of the throughput.
        keep_payloads: bool = false, Boolean;
        /// Days that finished runs and their deliveries are kept. A delivery whose runs were all
        /// refused for lack of permission is kept for at most three days.
        retention("retention_days"): Duration as "days" = 30, Integer(1, 3_650, "days");
    }
}

settings! {
    /// The pages about runs, plans and costs below `/ui`, and the metrics at `/metrics`, on the
    /// address of `server.listen`. Without an operator's token and without a GitHub login there are
    /// none: requests are answered with 404.
    pub struct Web in "web" {
        /// File with the operator's token, of at least 32 characters; empty for none. Whoever has it
        /// sees everything and may cancel and retry every run. Prometheus sends it as bearer token.
        token_file: Option<PathBuf> as "optional" = "", OptionalPath;
        /// Public address of this bot, for the login with GitHub; empty for none. The App's settings
        /// need this address with `/ui/login/github/callback` behind it as callback URL. With an
        /// https address, browsers send the session over https only.
        url: Option<String> as "optional" = "", PublicUrl;
        /// Client ID of the App, from its settings page, for the login with GitHub.
        client_id: Option<String> as "optional" = "", Line(100);
        /// File with a client secret of the App, for the login with GitHub; empty for none.
        client_secret_file: Option<PathBuf> as "optional" = "", OptionalPath;
    }
}

settings! {
    /// The log, which is written to standard error.
    pub struct Log in "log" {
        /// Format of the log lines.
        format: LogFormat = "text", OneOf(&["text", "json"]);
        /// Minimum level of the messages, or `tracing` directives.
        level: String = "info", LogFilter;
        /// Base URL of the OpenTelemetry collector that gets a trace of every run, over OTLP with
        /// HTTP; empty for none. Needs a build with the feature `otel`.
        otlp_endpoint: Option<Url> as "optional_url" = "", CollectorUrl;
    }
}

/// How deliveries are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// As webhook requests.
    Webhook,
    /// From GitHub's delivery log.
    Pull,
    /// In both ways.
    Both,
}

impl Transport {
    /// Returns whether webhook requests are received.
    pub fn listens(self) -> bool {
        self != Self::Pull
    }

    /// Returns whether the delivery log is read often.
    pub fn pulls(self) -> bool {
        self != Self::Webhook
    }
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}
