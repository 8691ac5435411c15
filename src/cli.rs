//! The command line: one file for each subcommand.

mod access;
mod agent_exec;
mod agents;
mod blocks;
mod bot;
mod check;
mod check_content;
mod completions;
mod config;
mod extract;
mod failure;
mod init;
mod input;
mod local;
mod metadata;
mod new;
mod plan;
mod replay;
mod research;
mod save;
mod serve;
mod session;
mod session_transcript;
mod terminal;
mod trouble;
mod try_it;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::adapters::own_process;
use crate::config::{Loaded, Sources, load};

pub use failure::Failure;

const EXIT_CODES: &str = "\
Exit codes:
  0  it worked
  1  it was tried and failed
  2  the arguments or the configuration are wrong; nothing was tried
Some commands have more; their --help says which.";

/// Saves implementation plans from GitHub conversations as issues, exactly once.
#[derive(Debug, Parser)]
#[command(name = "planwright", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

/// Where the configuration comes from.
#[derive(Debug, Args)]
struct Settings {
    /// Configuration file [default: planwright.toml in the working directory, where there is one]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Set one key, over file and environment, e.g. --set worker.concurrency=4
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    set: Vec<String>,
}

impl Settings {
    /// For a command that reads no configuration: what is set for it would be ignored.
    fn refuse(&self) -> Result<(), Failure> {
        let given = match (&self.config, self.set.first()) {
            (Some(_), _) => "--config",
            (None, Some(_)) => "--set",
            (None, None) => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "this command reads no configuration; leave out {given}"
        )))
    }

    fn load(&self) -> Result<Loaded, Failure> {
        let sources = Sources::gather(self.config.as_deref(), self.set.clone())?;
        Ok(load(&sources)?)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Try(try_it::Try),
    Serve(serve::Serve),
    Replay(replay::Replay),
    Extract(extract::Extract),
    Init(init::Init),
    New(new::New),
    Plan(plan::Plan),
    Research(research::ResearchTopics),
    Blocks(blocks::Blocks),
    Session(session::Session),
    Save(save::Save),
    Check(check::Check),
    CheckContent(check_content::CheckContent),
    Metadata(metadata::Metadata),
    Config(config::Config),
    Completions(completions::Completions),
    #[command(hide = true)]
    AgentExec(agent_exec::AgentExec),
}

/// Runs what was asked for. Errors go to standard error, one sentence each.
pub fn run(cli: Cli) -> ExitCode {
    let Cli { settings, command } = cli;
    // The helper's memory holds no secret, and the bot looks into it to find what it has left running.
    if !matches!(command, Command::AgentExec(_)) {
        own_process::keep_memory_private();
    }
    let done = match command {
        Command::Try(arguments) => arguments.run(&settings),
        Command::Serve(serve) => serve.run(settings),
        Command::Replay(replay) => replay.run(&settings),
        Command::Extract(extract) => settings.refuse().and_then(|()| extract.run()),
        Command::Init(init) => settings.refuse().and_then(|()| init.run()),
        Command::New(new) => settings.refuse().and_then(|()| new.run()),
        Command::Plan(plan) => plan.run(&settings),
        Command::Research(research) => settings.refuse().and_then(|()| research.run()),
        Command::Blocks(blocks) => settings.refuse().and_then(|()| blocks.run()),
        Command::Session(session) => settings.refuse().and_then(|()| session.run()),
        Command::Save(save) => save.run(&settings),
        Command::Check(check) => settings.refuse().and_then(|()| check.run()),
        Command::CheckContent(check) => settings.refuse().and_then(|()| check.run()),
        Command::Metadata(metadata) => settings.refuse().and_then(|()| metadata.run()),
        Command::Config(config) => config.run(&settings),
        // It ends as the agent ended.
        Command::AgentExec(agent) => return agent.run(),
        Command::Completions(completions) => settings.refuse().and_then(|()| completions.run()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::tell(&format!(
                "error: {}\n",
                terminal::lines(&failure.to_string())
            ));
            failure.exit_code()
        }
    }
}

/// Runs `work` on a runtime of its own.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?
        .block_on(work)
}
