//! `planwright runs export`: prints runs as JSON lines, for other programs.

use clap::Args;

use super::list::Which;
use super::summary;
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};

/// Number of runs that are read at once.
const PORTION: u32 = 500;

const HELP: &str = "\
Prints one JSON object on a line for each run, newest first, with the fields of
`planwright runs list --json`. It reads the database in portions, so that it can
be of any size.

Exit codes:
  0  printed; there may be none
  1  the database cannot be read, or there is no such repository in it
  2  the arguments or the configuration are wrong; nothing was done";

/// Print runs as JSON lines
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Export {
    #[command(flatten)]
    which: Which,
}

impl Export {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        block_on(async {
            let history = database::history(&loaded.config, &loaded.secrets).await?;
            let mut filter = self.which.filter(&history).await?;
            loop {
                let runs = history.runs(&filter, PORTION).await;
                let runs = runs.map_err(|error| Failure::failed(error.to_string()))?;
                let mut lines = String::new();
                for run in &runs {
                    lines.push_str(&terminal::json(&summary(run).to_string()));
                    lines.push('\n');
                }
                print(&lines)?;
                let Some(last) = runs.last() else {
                    return Ok(());
                };
                filter.before = Some(last.seq);
            }
        })
    }
}
