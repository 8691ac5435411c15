//! `planwright doctor`: checks an installation, from the configuration to GitHub's deliveries.

mod agent;
mod app;
mod configuration;
mod installations;
mod report;
mod round_trip;
mod store;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::failure::print;
use super::{Failure, Settings, block_on, bot, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::GitHub;
use crate::config::Loaded;
use crate::engine::clock::Clock;

pub(super) use report::{Report, Status};
pub(super) use round_trip::RoundTrip;

const EXAMPLES: &str = "\
Examples:
  planwright doctor --config /etc/planwright.toml
  planwright doctor --json
  planwright doctor --repo acme/search --issue 12

Run it as the user of the bot, with the bot's configuration; the bot may be
running. Each line is a check: ok, warning, error or skipped, what was seen, and
what to do. Nothing is changed, except that --issue writes a comment, waits
until GitHub has delivered it, and deletes it.

Exit codes:
  0  no errors; there may be warnings
  1  an error was found
  2  the arguments are wrong; nothing was checked";

/// Check the configuration, the database, the App on GitHub, its webhook and the agent
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Doctor {
    /// Check also whether the App can be used in this repository
    #[arg(long, value_name = "OWNER/REPO", value_parser = repository)]
    repo: Option<(String, String)>,
    /// Write a comment on this issue of --repo, wait for its delivery, and delete it
    #[arg(long, value_name = "NUMBER", requires = "repo", value_parser = clap::value_parser!(u64).range(1..))]
    issue: Option<u64>,
    /// Seconds to wait for the delivery
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "issue", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    wait: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is checked in addition to what always is.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    /// A repository, and an issue to comment on.
    pub(super) round_trip: Option<RoundTrip>,
}

impl Doctor {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let options = Options {
            round_trip: self.repo.map(|(owner, name)| RoundTrip {
                owner,
                name,
                issue: self.issue,
                wait: Duration::from_secs(self.wait),
            }),
        };
        let report = match settings.load() {
            Ok(loaded) => block_on(async { Ok(examine(&loaded, &options).await) })?,
            Err(Failure::Config(error)) => {
                let mut report = Report::default();
                configuration::unusable(&mut report, &error);
                let why = "not checked: the configuration cannot be used";
                for name in ["store", "github", "installations", "webhook", "agent"] {
                    report.skipped(name, why, None);
                }
                report
            }
            Err(other) => return Err(other),
        };
        if self.json {
            print(&format!(
                "{}\n",
                terminal::json(&format!("{:#}", report.json()))
            ))?;
        } else {
            print(&terminal::lines(&report.to_string()))?;
        }
        match report.count(Status::Error) {
            0 => Ok(()),
            1 => Err(Failure::failed("1 check found an error")),
            count => Err(Failure::failed(format!("{count} checks found errors"))),
        }
    }
}

/// Parses `OWNER/REPO`.
fn repository(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((owner, name)) if !owner.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok((owner.to_owned(), name.to_owned()))
        }
        _ => Err("name a repository as OWNER/REPO, e.g. acme/search".to_owned()),
    }
}

/// Makes all checks, one after another. Must be called inside a Tokio runtime.
pub(super) async fn examine(loaded: &Loaded, options: &Options) -> Report {
    let mut report = Report::default();
    configuration::examine(&mut report, loaded);
    let in_use = store::examine(&mut report, loaded).await;
    webhook::listening(&mut report, &loaded.config, in_use).await;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    if let Some(github) = client(&mut report, loaded, &clock) {
        on_github(
            &mut report,
            loaded,
            &github,
            clock.as_ref(),
            in_use,
            options,
        )
        .await;
    }
    agent::examine(&mut report, loaded).await;
    report
}

/// Creates the client of the App.
fn client(report: &mut Report, loaded: &Loaded, clock: &Arc<dyn Clock>) -> Option<GitHub> {
    let config = &loaded.config;
    let missing = if loaded.secrets.private_key.is_none() {
        "not checked: the App's private key is not set"
    } else if config.github.app_id == 0 {
        "not checked: github.app_id is not set"
    } else {
        match bot::github(config, &loaded.secrets, clock) {
            Ok(github) => return Some(github),
            Err(error) => {
                let text = error.to_string();
                if text.contains("github.private_key") {
                    report.error("secrets.key", text, configuration::key_remedy(loaded));
                } else {
                    let remedy =
                        "set github.api_url to https://api.github.com, or https://HOST/api/v3";
                    let (seen, remedy) = report::split(&text, "; ", remedy);
                    report.error("github", seen, remedy);
                }
                "not checked: there is no client for GitHub"
            }
        }
    };
    for name in ["github", "installations", "webhook"] {
        report.skipped(name, missing, None);
    }
    None
}

async fn on_github(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    clock: &dyn Clock,
    in_use: bool,
    options: &Options,
) {
    let Some(app) = app::examine(report, loaded, github, clock).await else {
        for name in ["installations", "webhook", "deliveries"] {
            report.skipped(name, "not checked: GitHub has not confirmed the App", None);
        }
        return;
    };
    let installations = installations::examine(report, loaded, github, &app).await;
    webhook::examine(report, loaded, github, &installations, in_use).await;
    if let Some(trip) = &options.round_trip {
        round_trip::examine(report, loaded, github, clock, trip).await;
    }
}
