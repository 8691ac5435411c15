//! `planwright plan`: plans as they are saved on GitHub.

mod get;
mod list;
mod trouble;

use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Failure, Settings, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{Reader, ReaderConfig};
use crate::config::{Sources, load, user_token};
use crate::engine::forge::ForgeError;
use crate::formats::plan::reference::web_host;
use crate::formats::plan::stored::{Finding, Place};

/// What both subcommands say of tokens and exit codes.
const TOKENS: &str = "\
Token:
  PLANWRIGHT_TOKEN, else GITHUB_TOKEN, else GH_TOKEN, with read access to issues and pull
  requests. The last two are sent to github.com only, or to the server that GITHUB_API_URL names.
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

/// How GitHub is read.
struct Access {
    config: ReaderConfig,
    /// The variable that the token came from.
    variable: Option<&'static str>,
    /// Host of the pages that belong to the API.
    host: String,
}

impl Access {
    /// From configuration and environment; odd things are told.
    fn of(settings: &Settings) -> Result<Self, Failure> {
        let sources = Sources::gather(settings.config.as_deref(), settings.set.clone())?;
        let loaded = load(&sources)?;
        let github = loaded.config.github;
        let user = user_token(&sources, &github.api_url)?;
        if let Some(warning) = &user.warning {
            warn(warning);
        }
        let (token, variable) = user.token.unzip();
        Ok(Self {
            host: web_host(&github.api_url),
            config: ReaderConfig {
                api_url: github.api_url,
                token,
                request_timeout: github.request_timeout,
            },
            variable,
        })
    }

    /// The client. Must be called inside the runtime.
    fn reader(&self) -> Result<Reader, Failure> {
        Reader::new(self.config.clone(), Arc::new(SystemClock)).map_err(|error| {
            Failure::Usage(match self.variable {
                Some(variable) => format!("{variable}: {error}"),
                None => error.to_string(),
            })
        })
    }

    /// What GitHub did not do, and what to do about it.
    fn failed(&self, error: &ForgeError) -> Failure {
        Failure::failed(terminal::one_line(&trouble::sentence(error, self.variable)))
    }
}

fn warn(text: &str) {
    eprintln!("warning: {}", terminal::one_line(text));
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
