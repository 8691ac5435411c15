//! The command line, with one module for each subcommand.

mod access;
mod action;
mod agent_exec;
mod agents;
mod audit;
mod blocks;
mod bot;
mod check;
mod check_content;
mod completions;
mod config;
mod database;
mod doctor;
mod extract;
mod failure;
mod health;
mod init;
mod input;
mod local;
mod metadata;
mod new;
mod plan;
mod private_file;
mod replay;
mod research;
mod runs;
mod save;
mod serve;
mod session;
mod setup;
mod signals;
#[cfg(feature = "simulator")]
mod simulator;
mod store;
mod terminal;
mod trouble;
#[cfg(feature = "simulator")]
mod try_it;
mod why;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::adapters::own_process;
use crate::config::{Loaded, Sources, load};

pub use failure::Failure;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the command failed
  2  the arguments or the configuration are wrong; nothing was done
Some commands use further exit codes; see their --help.";

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
    /// Configuration file [default: planwright.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Set one key, overriding file and environment, e.g. --set worker.concurrency=4
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    set: Vec<String>,
}

impl Settings {
    /// Returns an error if `--config` or `--set` was given. For commands that read no configuration
    /// and would silently ignore these options.
    fn refuse(&self) -> Result<(), Failure> {
        let given = match (&self.config, self.set.first()) {
            (Some(_), _) => "--config",
            (None, Some(_)) => "--set",
            (None, None) => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "this command reads no configuration; omit {given}"
        )))
    }

    fn load(&self) -> Result<Loaded, Failure> {
        let sources = Sources::gather(self.config.as_deref(), self.set.clone())?;
        Ok(load(&sources)?)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "simulator")]
    Try(try_it::Try),
    #[cfg(feature = "simulator")]
    Simulator(simulator::SimulatorProgram),
    Setup(setup::Setup),
    Serve(serve::Serve),
    Doctor(doctor::Doctor),
    Health(health::Health),
    Action(action::Action),
    Why(why::Why),
    Runs(runs::Runs),
    Audit(audit::Audit),
    Store(store::Store),
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

/// Commands that read no configuration. [`Settings::refuse`] rejects the configuration options for
/// them, and their help hides these options.
const WITHOUT_CONFIGURATION: [&str; 14] = [
    "action",
    "simulator",
    "extract",
    "init",
    "new",
    "plan",
    "research",
    "blocks",
    "session",
    "check",
    "check-content",
    "metadata",
    "completions",
    "agent-exec",
];

impl Cli {
    /// Parses the arguments of this process. Exits if they are invalid or ask for help.
    pub fn of_process() -> Self {
        let matches = command_line().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Returns the command line. Only commands that read the configuration show its options in their
/// help.
fn command_line() -> clap::Command {
    let cli = Cli::command();
    let global = |arg: &&Arg| arg.is_global_set();
    let options: Vec<Arg> = cli.get_arguments().filter(global).cloned().collect();
    // An argument of a subcommand replaces the global one with the same name, also for nested
    // subcommands.
    let with = |command: clap::Command, change: &dyn Fn(Arg) -> Arg| {
        options.iter().fold(command, |command, option| {
            command.arg(change(option.clone()))
        })
    };
    let hidden = |option: Arg| option.hide(true);
    let of_try = |option: Arg| match option.get_id().as_str() {
        "set" => option.help("Set one key of [agent], e.g. --set agent.kind=claude"),
        _ => option.hide(true),
    };
    // Some commands exist only with the feature `simulator`.
    cli.mut_subcommands(|command| match command.get_name() {
        // `plan get` and `plan list` read the API address from the configuration.
        "plan" => with(command, &hidden).mut_subcommands(|command| match command.get_name() {
            "get" | "list" => with(command, &|option| option),
            _ => command,
        }),
        "try" => with(command, &of_try),
        name if WITHOUT_CONFIGURATION.contains(&name) => with(command, &hidden),
        _ => command,
    })
}

/// Runs the command and returns its exit code. Errors are printed on standard error.
pub fn run(cli: Cli) -> ExitCode {
    let Cli { settings, command } = cli;
    // The helper holds no secrets, and the bot inspects it to find processes left running.
    if !matches!(command, Command::AgentExec(_)) {
        own_process::keep_memory_private();
    }
    let done = match command {
        #[cfg(feature = "simulator")]
        Command::Try(arguments) => arguments.run(&settings),
        #[cfg(feature = "simulator")]
        Command::Simulator(simulator) => settings.refuse().and_then(|()| simulator.run()),
        Command::Setup(setup) => setup.run(settings),
        Command::Serve(serve) => serve.run(settings),
        Command::Doctor(doctor) => doctor.run(&settings),
        Command::Health(_) => health::run(&settings),
        Command::Action(_) => settings.refuse().and_then(|()| action::run()),
        Command::Why(why) => why.run(&settings),
        Command::Runs(runs) => runs.run(&settings),
        Command::Audit(audit) => audit.run(&settings),
        Command::Store(store) => store.run(&settings),
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
        // Exits with the exit code of the agent.
        Command::AgentExec(agent) => return agent.run(),
        Command::Completions(completions) => settings.refuse().and_then(|()| completions.run()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::print_stderr(&format!(
                "error: {}\n",
                terminal::lines(&failure.to_string())
            ));
            failure.exit_code()
        }
    }
}

/// Runs a future on a new runtime.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?
        .block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every command and subcommand with its full path, such as `planwright plan get`.
    fn commands() -> Vec<(String, clap::Command)> {
        fn add(command: &clap::Command, path: &str, all: &mut Vec<(String, clap::Command)>) {
            for inner in command.get_subcommands() {
                let path = format!("{path} {}", inner.get_name());
                add(inner, &path, all);
                all.push((path, inner.clone()));
            }
        }
        let mut cli = command_line();
        cli.build();
        let mut all = vec![("planwright".to_owned(), cli.clone())];
        add(&cli, "planwright", &mut all);
        all
    }

    fn help(command: &clap::Command, width: usize) -> String {
        let mut command = command.clone().term_width(width);
        command.render_long_help().to_string()
    }

    #[test]
    fn help_is_not_ragged_on_a_terminal_of_80_columns() {
        for (path, command) in commands() {
            for part in [command.get_after_help(), command.get_after_long_help()] {
                let text = part.map(ToString::to_string).unwrap_or_default();
                for line in text.lines() {
                    assert!(line.chars().count() <= 80, "{path} --help: {line}");
                }
            }
        }
    }

    #[test]
    fn help_offers_configuration_only_to_commands_that_read_it() {
        let reads = [
            "planwright",
            "planwright setup",
            "planwright serve",
            "planwright doctor",
            "planwright health",
            "planwright why",
            "planwright runs",
            "planwright runs list",
            "planwright runs show",
            "planwright runs log",
            "planwright runs export",
            "planwright runs cancel",
            "planwright runs retry",
            "planwright runs run-again",
            "planwright audit",
            "planwright store",
            "planwright store backup",
            "planwright store restore",
            "planwright store check",
            "planwright store prune",
            "planwright store copy",
            "planwright replay",
            "planwright plan get",
            "planwright plan list",
            "planwright save",
            "planwright config",
        ];
        for (path, command) in commands() {
            if path.contains(" help") {
                continue;
            }
            let help = help(&command, 100);
            let (config, set) = (
                help.contains("--config <FILE>"),
                help.contains("--set <KEY"),
            );
            let want = if path == "planwright try" {
                (false, true)
            } else {
                let reads = reads.contains(&path.as_str());
                (reads, reads)
            };
            assert_eq!((config, set), want, "{path}: {help}");
        }
        let cli = command_line();
        let run = cli.find_subcommand("try").map(|command| help(command, 100));
        let run = run.unwrap_or_default();
        assert!(!run.contains("worker.concurrency"), "{run}");
        assert!(run.contains("--set agent.kind=claude"), "{run}");
    }

    #[test]
    fn options_are_taken_before_and_behind_the_command() {
        for arguments in [
            ["planwright", "--set", "log.level=debug", "config"],
            ["planwright", "config", "--set", "log.level=debug"],
        ] {
            let matches = command_line().get_matches_from(arguments);
            let cli = Cli::from_arg_matches(&matches).map(|cli| cli.settings.set);
            assert_eq!(cli.unwrap_or_default(), ["log.level=debug"]);
        }
    }
}
