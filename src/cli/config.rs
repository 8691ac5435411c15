//! `planwright config`: the effective configuration and where each value came from.

use clap::Args;

use super::failure::print;
use super::{Failure, Settings};
use crate::adapters::agent::sandbox::{Protection, active};
use crate::adapters::agent::{OpenError, Sandbox};
use crate::config::agent::{Agent, Kind};

const EXAMPLES: &str = "\
Examples:
  planwright config                        everything in effect; secrets are
                                           masked
  planwright config > planwright.toml      a file to start from
  planwright config --default              the documentation of every key
  planwright config --check --config /etc/planwright.toml
                                           exit 2 unless `serve` would start
                                           with it";

/// Print the effective configuration and where each value came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Config {
    /// Print nothing; fail unless everything that `serve` needs is set and right
    #[arg(long, conflicts_with = "default")]
    check: bool,
    /// Print the documented defaults instead
    #[arg(long)]
    default: bool,
}

impl Config {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        if self.default {
            return print(crate::config::DEFAULT);
        }
        let loaded = settings.load()?;
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        let here = active(loaded.config.agent.sandbox);
        let sandbox = unprotected(&loaded.config.agent, &here);
        if let Ok(Some(warning)) = &sandbox {
            eprintln!("warning: {warning}");
        }
        if self.check {
            loaded.ready_to_serve()?;
            sandbox?;
            return Ok(());
        }
        print(&format!(
            "{}\n# Sandbox for agents on this computer: {here}\n",
            loaded.show()
        ))
    }
}

/// What the operator should know of agents that run with `here` around them: a warning where nothing protects this
/// computer and nobody asked for that.
///
/// # Errors
/// A sandbox is required and there is none.
pub(super) fn unprotected(agent: &Agent, here: &Protection) -> Result<Option<String>, Failure> {
    match (agent.kind, agent.sandbox, here) {
        (Kind::None, ..) | (_, Sandbox::Off, _) | (.., Protection::Landlock { .. }) => Ok(None),
        (_, Sandbox::Required, Protection::None { why }) => {
            let error = OpenError::NoSandbox(why.clone());
            Err(Failure::Usage(error.to_string()))
        }
        (_, Sandbox::Auto, Protection::None { why }) => Ok(Some(format!(
            "agents run without a sandbox here and can read what this user can read: {why}; set agent.sandbox to \
             \"required\" to run none then, or to \"off\" if it is meant"
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::config::{Sources, load};

    fn said(kind: &str, sandbox: &str, here: &Protection) -> Result<Option<String>, String> {
        let set = [
            format!("agent.kind={kind}"),
            format!("agent.sandbox={sandbox}"),
        ];
        let sources = Sources {
            flags: set.into(),
            ..Sources::default()
        };
        let agent = load(&sources).unwrap().config.agent;
        unprotected(&agent, here).map_err(|failure| {
            assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
            failure.to_string()
        })
    }

    #[test]
    fn whoever_runs_agents_unprotected_without_having_said_so_is_told() {
        let none = Protection::None {
            why: "the kernel has no Landlock".to_owned(),
        };
        let landlock = Protection::Landlock { abi: 7 };
        for kind in ["none", "claude", "command"] {
            for sandbox in ["auto", "required", "off"] {
                assert_eq!(said(kind, sandbox, &landlock), Ok(None));
            }
            assert_eq!(said(kind, "off", &none), Ok(None));
        }
        for sandbox in ["auto", "required"] {
            assert_eq!(said("none", sandbox, &none), Ok(None));
        }
        assert_eq!(
            said("claude", "auto", &none).unwrap().unwrap(),
            "agents run without a sandbox here and can read what this user can read: the kernel has no Landlock; set \
             agent.sandbox to \"required\" to run none then, or to \"off\" if it is meant"
        );
        assert_eq!(
            said("command", "required", &none).unwrap_err(),
            "agent.sandbox is \"required\", but there is no sandbox here: the kernel has no Landlock: run on Linux 5.13 \
             or newer with Landlock enabled, or set agent.sandbox to \"auto\""
        );
    }
}
