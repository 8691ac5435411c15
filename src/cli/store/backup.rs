//! `planwright store backup` and `restore`: a SQLite database in one file, and back.

use std::path::PathBuf;

use clap::Args;

use crate::adapters::clock::SystemClock;
use crate::adapters::store::{backup_sqlite, restore_sqlite};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on};
use crate::config::Loaded;
use crate::engine::clock::Clock as _;
use crate::engine::store::StoreError;

const BACKUP_HELP: &str = "\
The bot may be running. The file is the state of one moment: every delivery
that was acknowledged before the command started is in it. Only this user can
read it.

A PostgreSQL database (store.url) is backed up with pg_dump.

Exit codes:
  0  written
  1  not written; the message says why
  2  the arguments or the configuration are wrong; nothing was done";

const RESTORE_HELP: &str = "\
Stop the bot first. The backup takes the place of the database that store.path
names. With --replace, what is there is renamed to NAME.replaced-TIME.

Commands that came after the backup, in the last late.max_age_hours (24), are
executed again. Set that to 0 for the first start if they should not be.

Exit codes:
  0  restored
  1  not restored, and nothing was changed; the message says why
  2  the arguments or the configuration are wrong; nothing was done";

/// Write the bot's SQLite database to a file, while the bot is running or not
#[derive(Debug, Args)]
#[command(after_help = BACKUP_HELP)]
pub(super) struct Backup {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Put a backup in the place of the bot's SQLite database
#[derive(Debug, Args)]
#[command(after_help = RESTORE_HELP)]
pub(super) struct Restore {
    /// A file that `store backup` has written
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a database that is there
    #[arg(long)]
    replace: bool,
}

/// Returns an error where the store is PostgreSQL, which has tools of its own.
fn refuse_postgres(loaded: &Loaded, tools: &str) -> Result<(), Failure> {
    if loaded.config.store.url.is_none() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "the store is a PostgreSQL database (store.url): {tools}"
    )))
}

#[allow(clippy::needless_pass_by_value, reason = "a function for `map_err`")]
fn failed(error: StoreError) -> Failure {
    Failure::failed(error.to_string())
}

impl Backup {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        refuse_postgres(
            &loaded,
            "back it up with pg_dump --format=custom, also while bots are running",
        )?;
        let path = &loaded.config.store.path;
        let bytes = block_on(async { backup_sqlite(path, &self.file).await.map_err(failed) })?;
        print(&format!(
            "backed up {} to {}: {bytes} bytes\n",
            path.display(),
            self.file.display()
        ))
    }
}

impl Restore {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        refuse_postgres(
            &loaded,
            "stop every bot and restore it with pg_restore into an empty database",
        )?;
        let path = &loaded.config.store.path;
        let now = SystemClock.now();
        let restored = block_on(async {
            restore_sqlite(&self.file, path, self.replace, now)
                .await
                .map_err(failed)
        })?;
        let mut text = format!(
            "restored {} from {} (schema {})\n",
            path.display(),
            self.file.display(),
            restored.schema
        );
        if let Some(old) = restored.set_aside {
            text.push_str(&format!("what was there is now {}\n", old.display()));
        }
        print(&text)
    }
}
