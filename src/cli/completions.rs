//! `planwright completions`: prints a completion script for a shell.

use clap::Args;
use clap_complete::Shell;

use super::Failure;
use super::failure::print;

const EXAMPLES: &str = "\
Examples:
  planwright completions bash \\
    > ~/.local/share/bash-completion/completions/planwright
  planwright completions zsh > ~/.zfunc/_planwright
  planwright completions fish > ~/.config/fish/completions/planwright.fish";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Completions {
    /// Shell to generate the script for
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        let mut command = super::command_line();
        clap_complete::generate(self.shell, &mut command, "planwright", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
