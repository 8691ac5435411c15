//! Configuration: one documented source, `config/default.toml`, compiled in. File, environment and flags on top.
//!
//! The default file is also the schema: a key is known when it is there, and has the type it has there. So the
//! documentation cannot drift from the code.

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

use crate::engine::decide::Facts;
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

/// The effective configuration, where each value came from, and the secrets.
#[derive(Debug)]
pub struct Loaded {
    /// Values.
    pub config: Config,
    /// Secrets; their `Debug` shows nothing.
    pub secrets: Secrets,
    /// Things that are allowed and probably not meant.
    pub warnings: Vec<String>,
    merged: layers::Merged,
}

/// Puts the layers together and checks them.
///
/// # Errors
/// The first thing that is wrong, with its place, key and remedy.
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
    /// The effective configuration as TOML: readable as a configuration file, secrets masked, origins as comments.
    pub fn show(&self) -> String {
        show::show(&self.merged, &self.secrets)
    }

    /// Where the value of `key` came from; `None` when there is no such key.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.merged.get(key).map(|entry| &entry.origin)
    }

    /// Everything that `serve` needs and that has no default, and the agent's program.
    ///
    /// # Errors
    /// One error that lists all that is missing.
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

/// All settings. `config/default.toml` says what each means and which values it takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[server]`
    pub server: Server,
    /// `[webhook]`
    pub webhook: Webhook,
    /// `[github]`
    pub github: GitHub,
    /// `[store]`
    pub store: Store,
    /// `[worker]`
    pub worker: Worker,
    /// `[labels]`
    pub labels: Labels,
    /// `[check]`
    pub check: check::Check,
    /// `[extract]`
    pub extract: extract::Extract,
    /// `[outsiders]`
    pub outsiders: outsiders::Outsiders,
    /// `[research]`
    pub research: research::Research,
    /// `[source]`
    pub source: Source,
    /// `[publish]`
    pub publish: Publish,
    /// `[erk]`
    pub erk: erk::Erk,
    /// `[report]`
    pub report: erk::Report,
    /// `[agent]`
    pub agent: Agent,
    /// `[log]`
    pub log: Log,
}

/// `[server]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Address and port.
    pub listen: SocketAddr,
    /// Path of the webhook, with its leading slash.
    pub webhook_path: String,
    /// Most connections at once.
    pub max_connections: usize,
    /// Time that running work gets after a signal.
    #[serde(rename = "shutdown_grace_seconds", deserialize_with = "seconds")]
    pub shutdown_grace: Duration,
}

/// `[webhook]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// File with one secret a line.
    #[serde(deserialize_with = "optional")]
    pub secrets_file: Option<PathBuf>,
}

/// `[github]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitHub {
    /// Base of the REST API.
    #[serde(deserialize_with = "url")]
    pub api_url: Url,
    /// App id; 0 for not set.
    pub app_id: u64,
    /// App slug, where it is known.
    #[serde(deserialize_with = "optional")]
    pub app_slug: Option<String>,
    /// File with the private key.
    #[serde(deserialize_with = "optional")]
    pub private_key_file: Option<PathBuf>,
    /// Least time between two writes of one installation.
    #[serde(rename = "write_gap_ms", deserialize_with = "milliseconds")]
    pub write_gap: Duration,
    /// The same for writes that notify.
    #[serde(rename = "notify_gap_ms", deserialize_with = "milliseconds")]
    pub notify_gap: Duration,
    /// Longest time for one request.
    #[serde(rename = "request_timeout_seconds", deserialize_with = "seconds")]
    pub request_timeout: Duration,
    /// Ids of bots that may command.
    pub allowed_bots: Vec<u64>,
}

/// `[store]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// SQLite file.
    pub path: PathBuf,
    /// Most deliveries waiting to be written.
    pub queue_depth: usize,
    /// Keep raw bodies.
    pub keep_payloads: bool,
    /// How long finished runs are kept.
    #[serde(rename = "retention_days", deserialize_with = "days")]
    pub retention: Duration,
}

/// `[worker]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Runs at once.
    pub concurrency: usize,
    /// How long a claim holds.
    #[serde(rename = "lease_seconds", deserialize_with = "seconds")]
    pub lease: Duration,
    /// Claims of one run before it fails.
    pub max_attempts: u32,
    /// First wait after a fault.
    #[serde(rename = "backoff_seconds", deserialize_with = "seconds")]
    pub backoff: Duration,
    /// Longest wait between tries.
    #[serde(rename = "backoff_most_seconds", deserialize_with = "seconds")]
    pub backoff_most: Duration,
    /// Faults for longer than this fail a run.
    #[serde(rename = "give_up_after_hours", deserialize_with = "hours")]
    pub give_up_after: Duration,
    /// How long a write of unknown outcome may still be at work.
    #[serde(rename = "settle_seconds", deserialize_with = "seconds")]
    pub settle: Duration,
}

/// `[labels]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Means `/save-plan`.
    #[serde(deserialize_with = "optional")]
    pub save_plan: Option<String>,
    /// Means `/save-raw-plan`.
    #[serde(deserialize_with = "optional")]
    pub save_raw_plan: Option<String>,
    /// Means `/plan`.
    #[serde(deserialize_with = "optional")]
    pub plan: Option<String>,
    /// Means `/check-plan`.
    #[serde(deserialize_with = "optional")]
    pub check_plan: Option<String>,
}

/// `[source]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Longest session log, in bytes.
    #[serde(rename = "most_log_mb", deserialize_with = "megabytes")]
    pub most_log: u64,
    /// Longest time for one session log.
    #[serde(rename = "timeout_seconds", deserialize_with = "seconds")]
    pub timeout: Duration,
    /// Where downloads of attachments may be sent on to.
    #[serde(deserialize_with = "list")]
    pub redirect_hosts: Vec<String>,
}

/// `[publish]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// Put before every title.
    pub title_prefix: String,
    /// Most comments one plan may take.
    pub most_parts: usize,
}

/// `[log]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// `tracing` directives.
    pub level: String,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// What the engine has to know of the operator's wishes.
    pub fn engine(&self) -> Settings {
        let worker = &self.worker;
        Settings {
            concurrency: worker.concurrency,
            lease: worker.lease,
            max_attempts: worker.max_attempts,
            backoff: worker.backoff,
            backoff_most: worker.backoff_most,
            give_up_after: worker.give_up_after,
            adopt_delay: worker.settle,
            title_prefix: self.publish.title_prefix.clone(),
            most_parts: self.publish.most_parts,
            erk: self.erk.engine(),
            next_steps: self.report.engine(),
            web: web_root(&self.github.api_url),
            most_log: self.source.most_log,
            labels: self.label_names(),
            check: self.check.engine(),
            when_unclear: self.extract.engine(),
            outsiders: self.outsiders.engine(),
            agent: self.agent.engine(),
            research: self.research.engine(worker.backoff, worker.backoff_most),
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

    /// What the decision has to know of us.
    pub fn facts(&self) -> Facts {
        Facts {
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

/// Names between commas; the empty text is none.
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

/// TOML has no null: the empty text stands for "not set".
fn optional<'de, D: Deserializer<'de>, T: From<String>>(value: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(value)?;
    Ok((!text.is_empty()).then(|| text.into()))
}
