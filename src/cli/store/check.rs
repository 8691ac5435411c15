//! `planwright store check`: reads the whole database and reports what is wrong with it.

use clap::Args;
use serde_json::json;

use crate::adapters::store::{Checked, Location, check_store};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};

const HELP: &str = "\
The bot may be running. Every row is read. SQLite also checks its file, its
indexes and the references between tables; PostgreSQL reports indexes and
constraints that are not valid.

JSON: ok, schema, problems (texts), and tables; each has table, rows and digest.

Exit codes:
  0  nothing is wrong
  1  something is wrong, or the database cannot be opened
  2  the configuration is wrong; nothing was checked";

/// Read the bot's whole database and report what is wrong with it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Check {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let location = match database::postgres_url(&loaded.config, &loaded.secrets) {
            Some(url) => Location::Postgres(url),
            None => Location::Sqlite(loaded.config.store.path.clone()),
        };
        let checked = block_on(async {
            check_store(&location)
                .await
                .map_err(|error| Failure::failed(error.to_string()))
        })?;
        if self.json {
            let text = serde_json::to_string_pretty(&as_json(&checked))
                .map_err(|error| Failure::failed(error.to_string()))?;
            print(&format!("{text}\n"))?;
        } else {
            print(&as_text(&checked))?;
        }
        match checked.problems.len() {
            0 => Ok(()),
            1 => Err(Failure::failed("a problem was found")),
            count => Err(Failure::failed(format!("{count} problems were found"))),
        }
    }
}

fn as_text(checked: &Checked) -> String {
    let mut text = format!(
        "schema {}\n{:<13} {:>10}\n",
        checked.schema, "table", "rows"
    );
    for (table, content) in &checked.tables {
        text.push_str(&format!("{table:<13} {:>10}\n", content.rows));
    }
    for problem in &checked.problems {
        text.push_str(&format!("problem: {}\n", terminal::one_line(problem)));
    }
    if checked.problems.is_empty() {
        text.push_str("nothing is wrong\n");
    }
    text
}

fn as_json(checked: &Checked) -> serde_json::Value {
    let tables = checked.tables.iter().map(
        |(table, content)| json!({"table": table, "rows": content.rows, "digest": content.digest()}),
    );
    json!({
        "ok": checked.problems.is_empty(),
        "schema": checked.schema,
        "problems": checked.problems,
        "tables": tables.collect::<Vec<_>>(),
    })
}
