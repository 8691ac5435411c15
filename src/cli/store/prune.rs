//! `planwright store prune`: deletes what is past its retention, as the bot does every hour.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::adapters::clock::SystemClock;
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database};
use crate::engine::store::Store as _;
use crate::engine::worker;

const HELP: &str = "\
The bot does the same every hour. It deletes runs that have ended, with all that
belongs to them, their deliveries, and decisions, but never a run that has not
ended. What agents have used is kept for 400 days. A SQLite database must not be
used by a bot, and its file does not shrink: `store backup` and `store restore`
shrink it.

Exit codes:
  0  done
  1  the database cannot be used
  2  the arguments or the configuration are wrong; nothing was done";

/// Number of seconds of a day.
const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Delete runs and decisions that are past their retention now
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Prune {
    /// Days that ended runs are kept [default: store.retention_days]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=3_650))]
    before: Option<u64>,
}

impl Prune {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let config = &loaded.config;
        let retention = self.before.map_or(config.store.retention, |days| {
            Duration::from_secs(days * DAY_SECONDS)
        });
        let path = &config.store.path;
        if config.store.url.is_none() && !path.exists() {
            return Err(Failure::failed(format!(
                "there is no database at {}; store.path must be that of the bot",
                path.display()
            )));
        }
        // Opening an empty file makes it a database.
        if config.store.url.is_none() && path.metadata().is_ok_and(|file| file.len() == 0) {
            return Err(Failure::failed(format!(
                "{} is not a database: it is empty; store.path must be that of the bot",
                path.display()
            )));
        }
        let deliveries = block_on(async {
            let (store, clock) =
                database::open(config, &loaded.secrets, Arc::new(SystemClock)).await?;
            let pruned = worker::prune(&*store, clock.now(), retention).await;
            store.close().await;
            pruned.map_err(|error| Failure::failed(error.to_string()))
        })?;
        print(&format!(
            "deliveries deleted with their runs: {deliveries} (older than {} days)\n",
            retention.as_secs() / DAY_SECONDS
        ))
    }
}
