//! `planwright runs`: lists, shows and exports the bot's runs, and asks the bot to cancel or retry one.

mod act;
mod export;
mod list;
mod log;
mod show;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Failure, Settings};
use crate::engine::model::failure::Code;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef};
use crate::engine::operate::Action;
use crate::engine::overview::RunSummary;

pub(super) use act::local;

const EXAMPLES: &str = "\
Examples:
  planwright runs list --state unfinished
  planwright runs show 01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D
  planwright runs log 01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D
  planwright runs retry 01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D
  planwright runs export --repository acme/search > runs.jsonl

Run it with the bot's configuration, as its user. `list`, `show`, `log` and
`export` read the bot's database, which may be in use. `retry`, `cancel` and
`run-again` ask the running bot, with the operator's token (web.token_file).";

/// List, show, export, cancel and retry the bot's runs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Runs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Log(log::Log),
    Export(export::Export),
    #[command(about = "Stop a run that has not ended")]
    Cancel(act::Act),
    #[command(about = "Continue a failed or cancelled run at the step that failed")]
    Retry(act::Act),
    #[command(about = "Give the command of an ended run again, as a new run")]
    RunAgain(act::Act),
}

impl Runs {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.command {
            Command::List(list) => list.run(settings),
            Command::Show(show) => show.run(settings),
            Command::Log(log) => log.run(settings),
            Command::Export(export) => export.run(settings),
            Command::Cancel(act) => act.run(Action::Cancel, settings),
            Command::Retry(act) => act.run(Action::Retry, settings),
            Command::RunAgain(act) => act.run(Action::RunAgain, settings),
        }
    }
}

/// Parses the id of a run.
pub(super) fn run_id(text: &str) -> Result<RunId, String> {
    match ulid::Ulid::from_string(text) {
        Ok(_) => Ok(RunId(text.to_ascii_uppercase())),
        Err(_) => Err(
            "a run's id has 26 letters and digits; it is in the last line of the bot's status comments".to_owned(),
        ),
    }
}

/// The error for an id that is not in the database.
fn no_run(id: &RunId) -> Failure {
    Failure::failed(format!(
        "there is no run {id}; it may have been deleted after store.retention_days, or store.path or store.url is not \
         that of the bot"
    ))
}

/// Returns the fields of a run in a list as JSON.
fn summary(run: &RunSummary) -> Value {
    let (place, actor) = run.origin.as_ref().map_or((None, None), |(place, actor)| {
        (Some(place), Some(&*actor.login))
    });
    json!({
        "id": run.id,
        "command": run.command,
        "state": run.state.name(),
        "repository": place.map(|place| place.repo.full_name()),
        "number": place.map(|place| place.number),
        "actor": actor,
        "attempts": run.attempt,
        "code": run.code.map(Code::name),
        "note": run.note,
        "accepted_at": run.created.iso(),
        "finished_at": run.finished.map(Millis::iso),
    })
}

/// Returns `owner/name#number` and the login of a run; question marks if they cannot be read.
fn origin(origin: Option<&(IssueRef, Actor)>) -> (String, String) {
    origin.map_or_else(
        || ("?".to_owned(), "?".to_owned()),
        |(place, actor)| {
            let issue = format!("{}#{}", place.repo.full_name(), place.number);
            (issue, actor.login.clone())
        },
    )
}
