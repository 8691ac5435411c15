//! `planwright store`: copies the bot's database.

mod copy;

use clap::{Args, Subcommand};

use super::{Failure, Settings};

/// Copy the bot's database
#[derive(Debug, Args)]
pub(super) struct Store {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Copy(copy::Copy),
}

impl Store {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.command {
            Command::Copy(copy) => copy.run(settings),
        }
    }
}
