//! `planwright replay`: sends a webhook payload from a file as GitHub would, or prints the decision
//! for it.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use url::Url;

use super::failure::print;
use super::{Failure, Settings, block_on, input};
use crate::adapters::{http, signature};
use crate::config::Loaded;
use crate::engine::decide::{Decision, decide};
use crate::engine::model::trigger::{Origin, Trigger};

/// Maximum time to wait for a response, which is the time GitHub waits.
const TIMEOUT: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  planwright replay payload.json --event issue_comment --dry-run
  PLANWRIGHT_WEBHOOK_SECRETS=… \\
    planwright replay payload.json --event issue_comment
  planwright replay payload.json --event issues \\
    --url https://bot.example.com/webhook

The request is signed with the first configured webhook secret. Requests
with the same --delivery are one delivery.";

/// Sign and send a webhook payload from a file, or print what would be decided
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Replay {
    /// File with the payload (JSON)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the event, e.g. issue_comment
    #[arg(long, value_name = "NAME")]
    event: String,
    /// URL to send it to [default: the configured address on this machine]
    #[arg(long, conflicts_with = "dry_run")]
    url: Option<Url>,
    /// Print the decision; send nothing
    #[arg(long)]
    dry_run: bool,
    /// GUID of the delivery [default: a new one]
    #[arg(long, value_name = "GUID", conflicts_with = "dry_run")]
    delivery: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Replay {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let body = input::bytes(&self.file)?;
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            return Err(Failure::Usage(format!(
                "{} is not JSON: {error}",
                self.file.display()
            )));
        }
        if self.dry_run {
            return self.dry_run(&loaded, &body);
        }
        self.send(&loaded, body)
    }

    fn dry_run(&self, loaded: &Loaded, body: &[u8]) -> Result<(), Failure> {
        let decision = decide(&self.event, body, &loaded.config.facts())
            .map_err(|error| Failure::failed(error.to_string()))?
            .decision;
        if self.json {
            return print(&format!("{:#}\n", as_json(&decision)));
        }
        print(&as_text(&decision))
    }

    fn send(self, loaded: &Loaded, body: Vec<u8>) -> Result<(), Failure> {
        let Some(secret) = loaded.secrets.webhook.first() else {
            return Err(Failure::Usage(
                "there is no webhook secret to sign with: set PLANWRIGHT_WEBHOOK_SECRETS or webhook.secrets_file"
                    .to_owned(),
            ));
        };
        let url = match self.url {
            Some(url) => url,
            None => own_address(loaded)?,
        };
        let guid = self
            .delivery
            .unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            (
                "user-agent",
                concat!("planwright/", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
            ("x-github-event", self.event),
            ("x-github-delivery", guid.clone()),
            ("x-hub-signature-256", signature::sign(secret, &body)),
        ];
        if loaded.config.github.app_id != 0 {
            let id = loaded.config.github.app_id.to_string();
            headers.push((
                "x-github-hook-installation-target-type",
                "integration".to_owned(),
            ));
            headers.push(("x-github-hook-installation-target-id", id));
        }
        let reply = block_on(async {
            http::post(url.as_str(), header_map(&headers)?, body.into(), TIMEOUT)
                .await
                .map_err(|error| Failure::failed(format!("cannot reach {url}: {error}")))
        })?;
        let answer = String::from_utf8_lossy(&reply.body);
        if self.json {
            let answer: serde_json::Value =
                serde_json::from_str(&answer).unwrap_or_else(|_| json!(answer));
            let all = json!({ "delivery": guid, "status": reply.status, "answer": answer });
            print(&format!("{all:#}\n"))?;
        } else {
            print(&format!("delivery {guid}: {} {answer}\n", reply.status))?;
        }
        if (200..300).contains(&reply.status) {
            Ok(())
        } else {
            Err(Failure::failed(format!(
                "the delivery was rejected with status {}",
                reply.status
            )))
        }
    }
}

/// Converts the headers to the type of the HTTP client.
///
/// # Errors
/// Returns [`Failure::Usage`] if a value contains characters that are not allowed in headers.
fn header_map(headers: &[(&'static str, String)]) -> Result<::http::HeaderMap, Failure> {
    let mut map = ::http::HeaderMap::new();
    for (name, value) in headers {
        let value = ::http::HeaderValue::from_str(value).map_err(|_| {
            Failure::Usage(format!(
                "`{value}` is not a valid {name}: it contains characters that are not allowed in a header"
            ))
        })?;
        map.insert(*name, value);
    }
    Ok(map)
}

/// Returns the URL of the webhook that `serve` would listen on with this configuration, as seen
/// from this machine.
fn own_address(loaded: &Loaded) -> Result<Url, Failure> {
    let server = &loaded.config.server;
    let mut address = server.listen;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    Url::parse(&format!("http://{address}{}", server.webhook_path))
        .map_err(|error| Failure::failed(format!("no address to send to: {error}")))
}

fn as_json(decision: &Decision) -> serde_json::Value {
    match decision {
        Decision::Ignore { why } => json!({ "decision": "ignore", "why": why }),
        Decision::Ping { missing_events } => {
            json!({ "decision": "ping", "missing_events": missing_events })
        }
        Decision::Runs { action, triggers } => {
            json!({ "decision": "run", "action": action, "runs": triggers })
        }
        Decision::InstallationGone {
            installation,
            action,
        } => {
            json!({ "decision": "installation_gone", "action": action, "installation": installation })
        }
        Decision::Installed {
            installation,
            account,
        } => {
            json!({ "decision": "installed", "installation": installation, "account": account })
        }
    }
}

fn as_text(decision: &Decision) -> String {
    match decision {
        Decision::Ignore { why } => format!("ignore: {why}\n"),
        Decision::Ping { missing_events } if missing_events.is_empty() => {
            "answer the ping\n".to_owned()
        }
        Decision::Ping { missing_events } => format!(
            "answer the ping; the App is not subscribed to {}\n",
            missing_events.join(", ")
        ),
        Decision::Runs { triggers, .. } => triggers.iter().map(run_as_text).collect(),
        Decision::InstallationGone { installation, .. } => {
            format!("cancel the unfinished runs of installation {installation}\n")
        }
        Decision::Installed {
            installation,
            account,
        } => {
            format!("note that {account} installed the App (installation {installation})\n")
        }
    }
}

fn run_as_text(trigger: &Trigger) -> String {
    let origin = match &trigger.origin {
        Origin::Comment { url, .. } => format!("comment {url}"),
        Origin::Label { name } => format!("label {name}"),
        Origin::Push { head } => format!("commits up to {head}"),
        Origin::Boxes { url, .. } => format!("checkboxes ticked in {url}"),
        Origin::Local { .. } => "a terminal".to_owned(),
    };
    let mut text = format!(
        "run {}\n  for       {} (id {})\n  at        {}#{}\n  because   {origin}\n",
        trigger.command.spec().name,
        trigger.actor.login,
        trigger.actor.id,
        trigger.place.repo.full_name(),
        trigger.place.number,
    );
    if let Some(line) = trigger
        .guidance
        .as_deref()
        .and_then(|text| text.lines().next())
    {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  guidance  {line}");
    }
    if let Some(inline) = &trigger.inline {
        let _ = writeln!(
            text,
            "  plan      {} bytes in the comment itself",
            inline.len()
        );
    }
    text
}
