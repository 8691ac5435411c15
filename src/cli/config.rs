//! `planwright config`: the effective configuration and where each value came from.

use clap::Args;

use super::failure::print;
use super::{Failure, Settings};

const EXAMPLES: &str = "\
Examples:
  planwright config                        everything in effect; secrets are masked
  planwright config > planwright.toml      a file to start from
  planwright config --default              the documentation of every key
  planwright config --check --config /etc/planwright.toml
                                           exit 2 unless `serve` would start with it";

/// Print the effective configuration and where each value came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Config {
    /// Print nothing; fail unless everything that `serve` needs is set and right
    #[arg(long, conflicts_with = "default")]
    check: bool,
    /// Print the documented defaults instead
    #[arg(long)]
    default: bool,
}

impl Config {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        if self.default {
            return print(crate::config::DEFAULT);
        }
        let loaded = settings.load()?;
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        if self.check {
            return Ok(loaded.ready_to_serve()?);
        }
        print(&loaded.show())
    }
}
