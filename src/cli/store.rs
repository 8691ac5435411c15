//! `planwright store`: copies, backs up, restores, checks and prunes the bot's database.

mod backup;
mod check;
mod copy;
mod prune;

use clap::{Args, Subcommand};

use super::{Failure, Settings};

const EXAMPLES: &str = "\
Examples:
  planwright store backup /backup/planwright-monday.db
  planwright store restore /backup/planwright-monday.db --replace
  planwright store check
  planwright store copy --from sqlite:planwright.db \\
      --to postgres://planwright@db.example.com/planwright

Run it with the bot's configuration, as its user.";

/// Back up, restore, check, prune or move the bot's database
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Store {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Backup(backup::Backup),
    Restore(backup::Restore),
    Check(check::Check),
    Prune(prune::Prune),
    Copy(copy::Copy),
}

impl Store {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.command {
            Command::Backup(backup) => backup.run(settings),
            Command::Restore(restore) => restore.run(settings),
            Command::Check(check) => check.run(settings),
            Command::Prune(prune) => prune.run(settings),
            Command::Copy(copy) => copy.run(settings),
        }
    }
}
