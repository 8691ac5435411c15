//! `planwright plan`: plans as they are saved on GitHub.

mod get;
mod list;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::failure::print;
use super::{Failure, Settings};
use crate::formats::plan::stored::{Finding, Place};

/// What both subcommands say of tokens and exit codes.
const TOKENS: &str = "\
Token:
  PLANWRIGHT_TOKEN, else GITHUB_TOKEN, else GH_TOKEN, with read access to issues and pull
  requests. The last two are sent to github.com only, or to the server that GITHUB_API_URL names;
  none to a server that a planwright.toml names which was only found in the working directory.
  Public repositories can be read without one.
  On GitHub Enterprise Server: --set github.api_url=https://HOST/api/v3";

/// Read saved plans back from GitHub
#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Get),
    List(list::List),
}

impl Plan {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        match self.command {
            Command::Get(get) => get.run(settings),
            Command::List(list) => list.run(settings),
        }
    }
}

/// Prints what was found. A failure that is no wrong argument is printed too where a program reads the output.
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

fn as_json(findings: &[Finding]) -> Vec<Value> {
    findings
        .iter()
        .map(|finding| {
            let comment = match finding.place {
                Place::Body => None,
                Place::Comment(id) => Some(id),
            };
            json!({"comment": comment, "line": finding.line, "message": finding.message})
        })
        .collect()
}
