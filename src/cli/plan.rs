//! `planwright plan`: writes a plan for a specification, and reads plans that are saved on GitHub.

mod get;
mod list;
mod output;
mod spec_file;
mod turns;
mod write;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::failure::print;
use super::{Failure, Settings};
use crate::formats::plan::stored::{Location, StoredFinding};

/// Help text about tokens, used by `plan get` and `plan list`.
const TOKENS: &str = "\
Token:
  PLANWRIGHT_TOKEN, else GITHUB_TOKEN, else GH_TOKEN, with read access to issues
  and pull requests. The last two are sent only to github.com or the server in
  GITHUB_API_URL. No token is sent to a server that is named by a
  planwright.toml which was only found in the working directory.
  Public repositories can be read without a token.
  On GitHub Enterprise Server: --set github.api_url=https://HOST/api/v3";

/// Write a plan for a specification with an agent, or read saved plans from GitHub
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = write::help()
)]
pub(super) struct Plan {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    write: write::Write,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Get),
    List(list::List),
}

impl Plan {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.command {
            Some(Command::Get(get)) => get.run(settings),
            Some(Command::List(list)) => list.run(settings),
            None => settings.refuse().and_then(|()| self.write.run()),
        }
    }
}

/// Prints the result. With `--json`, a failure other than wrong arguments is printed as JSON, too.
fn finish(json: bool, found: Result<String, Failure>) -> Result<(), Failure> {
    match found {
        Ok(text) => print(&text),
        Err(failure) => {
            if json && matches!(failure, Failure::Failed(_)) {
                print(&format!("{:#}\n", json!({"error": failure.to_string()})))?;
            }
            Err(failure)
        }
    }
}

fn as_json(findings: &[StoredFinding]) -> Vec<Value> {
    findings
        .iter()
        .map(|finding| {
            let comment = match finding.location {
                Location::Body => None,
                Location::Comment(id) => Some(id),
            };
            json!({"comment": comment, "line": finding.line, "message": finding.message})
        })
        .collect()
}
