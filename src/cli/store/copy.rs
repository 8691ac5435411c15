//! `planwright store copy`: moves a bot from SQLite to PostgreSQL or back.

use clap::Args;
use serde_json::json;

use crate::adapters::clock::SystemClock;
use crate::adapters::store::{Compared, Content, Copied, CopyOptions, Location, Progress, copy};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};
use crate::config::{Secrets, postgres_url};
use crate::engine::clock::Clock as _;

const HELP: &str = "\
An address is sqlite:PATH or postgres://USER@HOST:PORT/DATABASE. The password is
that of the configuration: PLANWRIGHT_STORE_PASSWORD, or store.password_file.

First stop every bot on both databases. The target must be new or empty. A copy
that was interrupted is continued by the same command. In the end every table is
compared; until all are equal, no bot starts on the target.

Examples:
  planwright store copy --from sqlite:planwright.db \\
      --to postgres://planwright@db.example.com/planwright
  planwright store copy --from postgres://planwright@db.example.com/planwright \\
      --to sqlite:/var/lib/planwright/new.sqlite

JSON: from, to, equal, and tables; each has table, equal, and, for source and
target, rows and digest.

Exit codes:
  0  copied; source and target are equal
  1  not copied, or not equal; the message says what to do
  2  the arguments or the configuration are wrong; nothing was done";

/// Copy the bot's database from SQLite to PostgreSQL, or back
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Copy {
    // Parsed later: clap's error would print an address that has a password.
    /// The database to copy; it stays as it is
    #[arg(long, value_name = "ADDRESS")]
    from: String,
    /// The database to copy into
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Parses the address of a database, which has no password, and adds that of the configuration.
fn location(option: &str, address: &str, secrets: &Secrets) -> Result<Location, Failure> {
    let path = address.strip_prefix("sqlite:");
    match path.map(|path| path.strip_prefix("//").unwrap_or(path)) {
        Some("") => Err(Failure::Usage(format!(
            "{option} names no file; write sqlite:PATH"
        ))),
        Some(path) => Ok(Location::Sqlite(path.into())),
        None if address.starts_with("postgres") => match postgres_url(address) {
            Ok(url) => Ok(Location::Postgres(database::with_password(url, secrets))),
            Err(why) => Err(Failure::Usage(format!("{option} {why}"))),
        },
        None => Err(Failure::Usage(format!(
            "{option} must be sqlite:PATH or postgres://USER@HOST:PORT/DATABASE"
        ))),
    }
}

impl Copy {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let from = location("--from", &self.from, &loaded.secrets)?;
        let to = location("--to", &self.to, &loaded.secrets)?;
        let copied = block_on(async {
            let now = SystemClock.now();
            let mut shown = 0;
            let mut show = |step: Progress| shown = tell(step, shown);
            copy(&from, &to, now, &CopyOptions::default(), &mut show)
                .await
                // Messages of the store are about the configuration.
                .map_err(|error| error.to_string().replace("store.url", "the address"))
                .map_err(Failure::Failed)
        })?;
        if self.json {
            let text = serde_json::to_string_pretty(&as_json(&copied))
                .map_err(|error| Failure::failed(error.to_string()))?;
            print(&format!("{text}\n"))?;
        } else {
            print(&as_table(&copied.tables))?;
        }
        if copied.is_complete() {
            return Ok(());
        }
        let differing = copied.tables.iter().filter(|one| !one.is_equal());
        let names: Vec<_> = differing.map(|one| one.table).collect();
        Err(Failure::failed(format!(
            "{} differs from {} in {}: no bot can use it; the same command copies what differs again",
            copied.to,
            copied.from,
            names.join(", ")
        )))
    }
}

/// Number of rows of a table after which it is shown how far the copy is.
const SHOWN_ROWS: u64 = 100_000;

/// Reports on standard error what was done. Takes and returns the number of rows that was shown last.
fn tell(step: Progress, shown: u64) -> u64 {
    match step {
        Progress::Copied {
            table,
            rows,
            is_last: true,
        } => terminal::print_stderr(&format!("copied {table}: {rows} rows\n")),
        Progress::Copied { table, rows, .. } if rows >= shown + SHOWN_ROWS => {
            terminal::print_stderr(&format!("copying {table}: {rows} rows\n"));
            return rows;
        }
        Progress::Copied { .. } => return shown,
        Progress::Comparing => terminal::print_stderr("comparing\n"),
    }
    0
}

/// Number of digits of a digest that are shown to people.
const SHOWN_DIGITS: usize = 16;

fn as_table(tables: &[Compared]) -> String {
    let mut text = format!(
        "{:<13} {:>10}  {:<16}  compared\n",
        "table", "rows", "digest"
    );
    for one in tables {
        let compared = if one.is_equal() {
            "equal".to_owned()
        } else {
            let target = &one.target;
            let digest = target.digest();
            format!("differs: {} rows, {}", target.rows, &digest[..SHOWN_DIGITS])
        };
        let digest = one.source.digest();
        text.push_str(&format!(
            "{:<13} {:>10}  {}  {compared}\n",
            one.table,
            one.source.rows,
            &digest[..SHOWN_DIGITS]
        ));
    }
    text
}

fn as_json(copied: &Copied) -> serde_json::Value {
    let side = |content: &Content| json!({"rows": content.rows, "digest": content.digest()});
    let table = |one: &Compared| {
        json!({
            "table": one.table,
            "equal": one.is_equal(),
            "source": side(&one.source),
            "target": side(&one.target),
        })
    };
    json!({
        "from": copied.from,
        "to": copied.to,
        "equal": copied.is_complete(),
        "tables": copied.tables.iter().map(table).collect::<Vec<_>>(),
    })
}
