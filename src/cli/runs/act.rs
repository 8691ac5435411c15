//! `planwright runs cancel`, `retry` and `run-again`: ask the running bot to change a run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use secrecy::ExposeSecret as _;

use super::run_id;
use crate::adapters::http::Client;
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, terminal};
use crate::engine::model::run::RunId;
use crate::engine::operate::Action;

/// Maximum time for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

const HELP: &str = "\
It asks the bot that runs with this configuration at server.listen, with the
operator's token: set web.token_file or PLANWRIGHT_WEB_TOKEN for both. The
request is recorded in the audit log.

Exit codes:
  0  done
  1  the bot does not answer or has another token, or the run is unknown or in
     another state
  2  the arguments or the configuration are wrong; nothing was done";

/// The arguments of the three subcommands, whose names are those of the actions.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Act {
    /// Id of the run
    #[arg(value_name = "RUN", value_parser = run_id)]
    id: RunId,
}

impl Act {
    pub(super) fn run(self, action: Action, settings: &Settings) -> Result<(), Failure> {
        let run = self.id;
        let loaded = settings.load()?;
        let Some(token) = &loaded.secrets.web_token else {
            return Err(Failure::Usage(
                "the operator's token is needed: set web.token_file or PLANWRIGHT_WEB_TOKEN as for the bot"
                    .to_owned(),
            ));
        };
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()));
        let mut bearer = bearer.map_err(|error| Failure::failed(error.to_string()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        let address = local(loaded.config.server.listen);
        let url = format!("http://{address}/ui/runs/{run}/{}", action.name());
        let answer = block_on(async {
            let answer = Client::new()
                .post(&url, headers, Bytes::new(), TIMEOUT)
                .await;
            answer.map_err(|error| {
                Failure::failed(format!(
                    "{error}; is the bot running, and listening at {address}?"
                ))
            })
        })?;
        let text = String::from_utf8_lossy(&answer.body);
        let text = terminal::lines(text.trim());
        let is_text = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/plain");
        if !answer.headers.get(CONTENT_TYPE).is_some_and(is_text) {
            return Err(Failure::failed(format!(
                "what answers at {address} ({}) is not the bot: check server.listen",
                answer.status
            )));
        }
        match answer.status {
            200 => print(&format!("{text}\n")),
            404 if text == "nothing here" => Err(Failure::failed(format!(
                "the bot at {address} has another operator's token, or none"
            ))),
            _ => Err(Failure::failed(text)),
        }
    }
}

/// Returns the address at which this machine reaches a listener.
pub(in crate::cli) fn local(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
