//! The `planwright` program. Parses the arguments, runs the command and returns its exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use planwright::cli::Cli;

fn main() -> ExitCode {
    planwright::cli::run(Cli::of_process())
}
