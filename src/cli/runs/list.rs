//! `planwright runs list`: lists runs, newest first.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::{origin, summary};
use crate::cli::failure::print;
use crate::cli::{Failure, Settings, block_on, database, terminal};
use crate::engine::overview::{RunFilter, RunSummary, StateFilter, command_named};
use crate::formats::command::Command;

const HELP: &str = "\
The table shows id, state, command, issue, person, time of acceptance (UTC), and
the code or the reason why it waits.

JSON fields:
  runs  newest first: id, command, state, repository, number, actor, attempts,
        code, note, accepted_at, finished_at

Exit codes:
  0  listed; there may be none
  1  the database cannot be read, or there is no such repository in it
  2  the arguments or the configuration are wrong; nothing was done";

/// List runs, newest first
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct List {
    #[command(flatten)]
    which: Which,
    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Selects runs.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Only runs in this state
    #[arg(long, value_parser = PossibleValuesParser::new(StateFilter::NAMES))]
    state: Option<String>,
    /// Only runs of this repository
    #[arg(long, value_name = "OWNER/REPO")]
    repository: Option<String>,
    /// Only runs of this command, such as `save-plan`
    #[arg(long, value_name = "COMMAND", value_parser = command_named)]
    command: Option<Command>,
}

impl Which {
    /// Returns the filter.
    ///
    /// # Errors
    /// The database fails, or does not know the repository.
    pub(super) async fn filter(
        &self,
        history: &crate::adapters::store::History,
    ) -> Result<RunFilter, Failure> {
        let repo = match &self.repository {
            None => None,
            Some(name) => {
                let found = history.repository(name).await;
                let found = found.map_err(|error| Failure::failed(error.to_string()))?;
                Some(found.ok_or_else(|| {
                    Failure::failed(format!("the database has no runs of the repository {name}"))
                })?)
            }
        };
        Ok(RunFilter {
            state: self.state.as_deref().and_then(StateFilter::from_name),
            repo,
            command: self.command,
            before: None,
        })
    }
}

impl List {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let runs = block_on(async {
            let history = database::history(&loaded.config, &loaded.secrets).await?;
            let filter = self.which.filter(&history).await?;
            let runs = history.runs(&filter, self.limit).await;
            runs.map_err(|error| Failure::failed(error.to_string()))
        })?;
        if self.json {
            let runs: Vec<Value> = runs.iter().map(summary).collect();
            let text = format!("{:#}", json!({ "runs": runs }));
            return print(&format!("{}\n", terminal::json(&text)));
        }
        if runs.is_empty() {
            terminal::print_stderr("there are no such runs\n");
        }
        let rows: Vec<[String; 7]> = runs.iter().map(row).collect();
        print(&terminal::table(&rows))
    }
}

fn row(run: &RunSummary) -> [String; 7] {
    let (issue, actor) = origin(run.origin.as_ref());
    [
        run.id.to_string(),
        run.state.name().to_owned(),
        format!("/{}", run.command),
        issue,
        actor,
        run.created.iso(),
        run.reason(),
    ]
}
