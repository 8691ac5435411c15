//! `planwright audit`: lists the entries of the audit log.

use clap::Args;
use serde_json::{Value, json};

use super::failure::print;
use super::runs::run_id;
use super::{Failure, Settings, block_on, database, terminal};
use crate::engine::model::run::RunId;
use crate::engine::overview::{AuditFilter, NumberedEntry};

const HELP: &str = "\
The table shows time (UTC), person, decision, run and reason, newest first.

JSON fields:
  entries  newest first: at, run, delivery, actor, decision, why

Exit codes:
  0  listed; there may be none
  1  the database cannot be read
  2  the arguments or the configuration are wrong; nothing was done";

/// List the entries of the audit log, newest first
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Audit {
    /// Only entries about this run
    #[arg(long, value_name = "RUN", value_parser = run_id)]
    run: Option<RunId>,
    /// Only entries of this person
    #[arg(long, value_name = "LOGIN")]
    actor: Option<String>,
    /// Only this decision, such as `saved`, `failed`, `refused` or `cancel`
    #[arg(long, value_name = "DECISION")]
    decision: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let filter = AuditFilter {
            run: self.run,
            actor: self.actor,
            decision: self.decision,
            before: None,
        };
        let entries = block_on(async {
            let history = database::history(&loaded.config, &loaded.secrets).await?;
            let entries = history.audit(&filter, self.limit).await;
            entries.map_err(|error| Failure::failed(error.to_string()))
        })?;
        if self.json {
            let entries: Vec<Value> = entries.iter().map(value).collect();
            let text = format!("{:#}", json!({ "entries": entries }));
            return print(&format!("{}\n", terminal::json(&text)));
        }
        if entries.is_empty() {
            terminal::print_stderr("there are no such entries\n");
        }
        let rows: Vec<[String; 5]> = entries.iter().map(row).collect();
        print(&terminal::table(&rows))
    }
}

fn value(NumberedEntry { entry, .. }: &NumberedEntry) -> Value {
    json!({
        "at": entry.at.iso(),
        "run": entry.run,
        "delivery": entry.guid,
        "actor": entry.actor,
        "decision": entry.decision,
        "why": entry.why,
    })
}

fn row(NumberedEntry { entry, .. }: &NumberedEntry) -> [String; 5] {
    let run = entry.run.as_ref();
    [
        entry.at.iso(),
        entry.actor.clone(),
        entry.decision.clone(),
        run.map_or_else(String::new, ToString::to_string),
        entry.why.clone(),
    ]
}
