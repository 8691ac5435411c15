//! Loads and checks the operator's configuration.
//!
//! Defaults come from `config/default.toml`, which is compiled in. A configuration file,
//! environment variables and `--set` flags override them, in this order. The default file is also
//! the schema: it lists every known key and its type, so the documentation of the keys cannot drift
//! from the code.

pub mod agent;
mod check;
mod erk;
mod error;
mod extract;
mod layers;
mod origin;
mod outsiders;
pub mod project;
mod prompts;
mod research;
mod rules;
mod secrets;
mod show;
mod token;
mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};
use url::Url;

use crate::engine::decide::AppIdentity;
use crate::engine::settings::Settings;
use crate::engine::steps::source::attachment::web_root;
use crate::formats::command::Command;

pub use agent::Agent;
pub use error::{ConfigError, Missing};
pub use layers::Sources;
pub use origin::Origin;
pub use secrets::Secrets;
pub use token::{UserToken, user_token};

/// The default configuration with its documentation.
pub const DEFAULT: &str = include_str!("config/default.toml");

/// The effective configuration, the origin of each value, and the secrets.
#[derive(Debug)]
pub struct Loaded {
    /// The effective values.
    pub config: Config,
    /// The secrets; their `Debug` output is redacted.
    pub secrets: Secrets,
    /// Warnings about settings that are allowed but probably unintended.
    pub warnings: Vec<String>,
    merged: layers::Merged,
}

/// Merges and validates all layers.
///
/// # Errors
/// Returns the first error, with its place, its key and how to fix it.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let merged = layers::merge(sources)?;
    rules::check(&merged)?;
    let mut config: Config = merged
        .table()
        .try_into()
        .map_err(|error: toml::de::Error| ConfigError::Unreadable {
            why: error.message().to_owned(),
        })?;
    let (secrets, mut warnings) = secrets::load(&config, sources)?;
    if let Some(folder) = &config.agent.prompts {
        config.agent.own = prompts::read(folder)?;
    }
    config.agent.program = config.agent.locate(sources);
    warnings.extend(config.agent.odd(secrets.agent_key.is_some(), sources));
    warnings.extend(layers::unknown_variables(sources));
    Ok(Loaded {
        config,
        secrets,
        warnings,
        merged,
    })
}

impl Loaded {
    /// Returns the effective configuration as a valid TOML configuration file, with secrets masked
    /// and origins as comments.
    pub fn show(&self) -> String {
        show::show(&self.merged, &self.secrets)
    }

    /// Returns where the value of `key` came from, or `None` if there is no such key.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.merged.get(key).map(|entry| &entry.origin)
    }

    /// Checks that every setting that `serve` needs is set and that the agent's program can be run.
    ///
    /// # Errors
    /// Returns one error that lists everything that is missing.
    pub fn ready_to_serve(&self) -> Result<(), Missing> {
        let mut missing = Vec::new();
        if self.secrets.webhook.is_empty() {
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

/// The whole configuration. `config/default.toml` documents each key and its allowed values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The `[server]` section.
    pub server: Server,
    /// The `[webhook]` section.
    pub webhook: Webhook,
    /// The `[github]` section.
    pub github: GitHub,
    /// The `[store]` section.
    pub store: Store,
    /// The `[worker]` section.
    pub worker: Worker,
    /// The `[labels]` section.
    pub labels: Labels,
    /// The `[check]` section.
    pub check: check::Check,
    /// The `[extract]` section.
    pub extract: extract::Extract,
    /// The `[outsiders]` section.
    pub outsiders: outsiders::Outsiders,
    /// The `[research]` section.
    pub research: research::Research,
    /// The `[source]` section.
    pub source: Source,
    /// The `[publish]` section.
    pub publish: Publish,
    /// The `[erk]` section.
    pub erk: erk::Erk,
    /// The `[report]` section.
    pub report: erk::Report,
    /// The `[agent]` section.
    pub agent: Agent,
    /// The `[log]` section.
    pub log: Log,
}

/// The `[server]` section: the HTTP listener.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Path of the webhook endpoint, with a leading slash.
    pub webhook_path: String,
    /// Maximum number of concurrent connections.
    pub max_connections: usize,
    /// Time that running work gets to finish after a termination signal.
    #[serde(rename = "shutdown_grace_seconds", deserialize_with = "seconds")]
    pub shutdown_grace: Duration,
}

/// The `[webhook]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// File with one webhook secret per line.
    #[serde(deserialize_with = "optional")]
    pub secrets_file: Option<PathBuf>,
}

/// The `[github]` section: the GitHub App and how its API is called.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitHub {
    /// Base URL of the REST API.
    #[serde(deserialize_with = "url")]
    pub api_url: Url,
    /// App ID; 0 if it is not set.
    pub app_id: u64,
    /// App slug; `None` to ask GitHub for it.
    #[serde(deserialize_with = "optional")]
    pub app_slug: Option<String>,
    /// File with the App's private key, in PEM form.
    #[serde(deserialize_with = "optional")]
    pub private_key_file: Option<PathBuf>,
    /// Minimum time between two writes of one installation.
    #[serde(rename = "write_gap_ms", deserialize_with = "milliseconds")]
    pub write_gap: Duration,
    /// Minimum time between two writes of one installation that notify people.
    #[serde(rename = "notify_gap_ms", deserialize_with = "milliseconds")]
    pub notify_gap: Duration,
    /// Timeout of one request.
    #[serde(rename = "request_timeout_seconds", deserialize_with = "seconds")]
    pub request_timeout: Duration,
    /// Account IDs of bots that may use commands.
    pub allowed_bots: Vec<u64>,
}

/// The `[store]` section: the database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Path of the SQLite file.
    pub path: PathBuf,
    /// Maximum number of deliveries that wait to be written.
    pub queue_depth: usize,
    /// Whether the raw bodies of deliveries with commands are kept.
    pub keep_payloads: bool,
    /// How long finished runs and their deliveries are kept.
    #[serde(rename = "retention_days", deserialize_with = "days")]
    pub retention: Duration,
}

/// The `[worker]` section: concurrency, leases and retries of runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Maximum number of concurrent runs.
    pub concurrency: usize,
    /// How long a claim is valid without a heartbeat.
    #[serde(rename = "lease_seconds", deserialize_with = "seconds")]
    pub lease: Duration,
    /// Maximum number of claims of one run before it fails.
    pub max_attempts: u32,
    /// Wait before the first retry after an external fault.
    #[serde(rename = "backoff_seconds", deserialize_with = "seconds")]
    pub backoff: Duration,
    /// Maximum wait between two tries.
    #[serde(rename = "max_backoff_seconds", deserialize_with = "seconds")]
    pub max_backoff: Duration,
    /// How long external faults may last before the run fails.
    #[serde(rename = "give_up_after_hours", deserialize_with = "hours")]
    pub give_up_after: Duration,
    /// How long a write of unknown outcome may still be in progress at GitHub.
    #[serde(rename = "settle_seconds", deserialize_with = "seconds")]
    pub settle: Duration,
}

/// The `[labels]` section: labels that act as commands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Label that acts as `/save-plan`.
    #[serde(deserialize_with = "optional")]
    pub save_plan: Option<String>,
    /// Label that acts as `/save-raw-plan`.
    #[serde(deserialize_with = "optional")]
    pub save_raw_plan: Option<String>,
    /// Label that acts as `/plan`.
    #[serde(deserialize_with = "optional")]
    pub plan: Option<String>,
    /// Label that acts as `/check-plan`.
    #[serde(deserialize_with = "optional")]
    pub check_plan: Option<String>,
}

/// The `[source]` section: limits of session logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Maximum size of a session log, in bytes.
    #[serde(rename = "max_log_mb", deserialize_with = "megabytes")]
    pub max_log: u64,
    /// Timeout for reading one session log.
    #[serde(rename = "timeout_seconds", deserialize_with = "seconds")]
    pub timeout: Duration,
    /// Hosts that the download of an attachment may be redirected to, besides GitHub's own.
    #[serde(deserialize_with = "list")]
    pub redirect_hosts: Vec<String>,
}

/// The `[publish]` section: the form of saved plans.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// Text put before every plan title.
    pub title_prefix: String,
    /// Maximum number of comments that one plan may take.
    pub max_parts: usize,
}

/// The `[log]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Format of the log lines.
    pub format: LogFormat,
    /// `tracing` filter directives.
    pub level: String,
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

impl Config {
    /// Returns the settings that the engine uses.
    pub fn engine(&self) -> Settings {
        let worker = &self.worker;
        Settings {
            concurrency: worker.concurrency,
            lease: worker.lease,
            max_attempts: worker.max_attempts,
            backoff: worker.backoff,
            max_backoff: worker.max_backoff,
            give_up_after: worker.give_up_after,
            adopt_delay: worker.settle,
            title_prefix: self.publish.title_prefix.clone(),
            max_parts: self.publish.max_parts,
            erk: self.erk.engine(),
            next_steps: self.report.engine(),
            web: web_root(&self.github.api_url),
            max_log: self.source.max_log,
            labels: self.label_names(),
            check: self.check.engine(),
            when_unclear: self.extract.engine(),
            outsiders: self.outsiders.engine(),
            agent: self.agent.engine(),
            research: self.research.engine(worker.backoff, worker.max_backoff),
        }
    }

    fn label_names(&self) -> Vec<(Command, String)> {
        [
            (Command::SavePlan, &self.labels.save_plan),
            (Command::SaveRawPlan, &self.labels.save_raw_plan),
            (Command::Plan, &self.labels.plan),
            (Command::CheckPlan, &self.labels.check_plan),
        ]
        .into_iter()
        .filter_map(|(command, name)| Some((command, name.clone()?)))
        .collect()
    }

    /// Returns what [`crate::engine::decide`] needs to know about this App.
    pub fn facts(&self) -> AppIdentity {
        AppIdentity {
            app_id: self.github.app_id,
            app_slug: self.github.app_slug.clone(),
            labels: self.label_names(),
            allowed_bots: self.github.allowed_bots.clone(),
        }
    }
}

fn seconds<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).map(Duration::from_secs)
}

fn milliseconds<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).map(Duration::from_millis)
}

fn megabytes<'de, D: Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    u64::deserialize(value).map(|megabytes| megabytes.saturating_mul(1024 * 1024))
}

/// Parses a comma-separated list; the empty string is the empty list.
fn list<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(value)?;
    let names = text.split(',').map(str::trim);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

fn hours<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).map(|hours| Duration::from_secs(hours.saturating_mul(3600)))
}

fn days<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).map(|days| Duration::from_secs(days.saturating_mul(86_400)))
}

fn url<'de, D: Deserializer<'de>>(value: D) -> Result<Url, D::Error> {
    let text = String::deserialize(value)?;
    Url::parse(&text).map_err(de::Error::custom)
}

/// Parses an optional string. TOML has no null, so the empty string means "not set".
fn optional<'de, D: Deserializer<'de>, T: From<String>>(value: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(value)?;
    Ok((!text.is_empty()).then(|| text.into()))
}
