//! The `planwright` program: parse the arguments, run, exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use planwright::cli::Cli;

fn main() -> ExitCode {
    planwright::cli::run(Cli::of_process())
}
