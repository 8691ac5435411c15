//! `planwright runs log`: shows what happened in a run, and what its agents have printed.

use clap::Args;
use serde_json::json;

use super::{no_run, run_id};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};
use crate::engine::model::run::RunId;
use crate::engine::overview::Output;
use crate::engine::store::StoreError;
use crate::engine::timeline::Event;

/// Maximum number of portions of the agents' output that are read.
const MAX_PORTIONS: u32 = 100_000;

const HELP: &str = "\
One line for each step, audit entry, write to GitHub and agent's turn: time
(UTC), kind, what happened, and the seconds that it took.

JSON fields:
  events  oldest first: at, kind, text, millis (or null)
  output  what the agents have printed: at, text

Exit codes:
  0  shown
  1  there is no such run, or the database cannot be read
  2  the arguments or the configuration are wrong; nothing was done";

/// Show what happened in a run, in the order of time
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Log {
    /// Id of the run
    #[arg(value_name = "RUN", value_parser = run_id)]
    id: RunId,
    /// Also print what the agents have printed
    #[arg(long)]
    output: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Log {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let (events, output) = block_on(async {
            let history = database::history(&loaded.config, &loaded.secrets).await?;
            let id = &self.id;
            let read = async {
                let Some(run) = history.run(id).await? else {
                    return Ok(None);
                };
                let events = history.timeline(&run.view).await?;
                let output = if self.output || self.json {
                    history.output(id, 0, MAX_PORTIONS).await?
                } else {
                    Vec::new()
                };
                Ok::<_, StoreError>(Some((events, output)))
            };
            let found = read
                .await
                .map_err(|error| Failure::failed(error.to_string()))?;
            found.ok_or_else(|| no_run(id))
        })?;
        if self.json {
            let value = json!({
                "events": events.iter().map(event).collect::<Vec<_>>(),
                "output": output.iter().map(portion).collect::<Vec<_>>(),
            });
            return print(&format!("{}\n", terminal::json(&format!("{value:#}"))));
        }
        let rows: Vec<[String; 4]> = events.iter().map(row).collect();
        let mut text = terminal::table(&rows);
        for portion in &output {
            text.push_str(&terminal::lines(&portion.text));
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        print(&text)
    }
}

fn event(event: &Event) -> serde_json::Value {
    json!({
        "at": event.at.iso(),
        "kind": event.kind.name(),
        "text": event.text,
        "millis": event.millis,
    })
}

fn portion(portion: &Output) -> serde_json::Value {
    json!({ "at": portion.at.iso(), "text": portion.text })
}

fn row(event: &Event) -> [String; 4] {
    let took = event.millis.map_or_else(String::new, |millis| {
        format!("{}.{:03} s", millis / 1000, millis % 1000)
    });
    [
        event.at.iso(),
        event.kind.name().to_owned(),
        took,
        event.text.clone(),
    ]
}
