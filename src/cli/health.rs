//! `planwright health`: asks the running bot whether it is alive, for containers without a shell.

use std::time::Duration;

use clap::Args;

use super::failure::print;
use super::{Failure, Settings, block_on, runs};
use crate::adapters::http::Client;

const HELP: &str = "\
It uses the configuration of `serve`, so give it the same --config and --set, or
set both in the environment. Where nothing listens (server.transport = \"pull\"
without pages and metrics), the check succeeds: the container supervises the
process.

Exit codes:
  0  the bot answers, or listens nowhere
  1  it does not answer
  2  the configuration is wrong";

/// Maximum time for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Check that the bot with this configuration answers at /livez
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Health {}

/// Runs the command.
pub(super) fn run(settings: &Settings) -> Result<(), Failure> {
    let loaded = settings.load()?;
    let server = &loaded.config.server;
    if !loaded.listens() {
        return print("the bot listens nowhere: server.transport is \"pull\"\n");
    }
    let url = format!("http://{}/livez", runs::local(server.listen));
    let answer = block_on(async {
        let answer = Client::new()
            .get(&url, ::http::HeaderMap::new(), TIMEOUT)
            .await;
        answer.map_err(|error| Failure::failed(error.to_string()))
    })?;
    if answer.status == 200 {
        print("alive\n")
    } else {
        Err(Failure::failed(format!(
            "{url} answers with status {}; see the log of the bot",
            answer.status
        )))
    }
}
