//! `planwright config`: prints the effective configuration and the source of each value.

use clap::Args;

use super::failure::print;
use super::{Failure, Settings, agents};
use crate::adapters::agent::limits::enforcement;
use crate::adapters::agent::sandbox::{Protection, active};
use crate::adapters::agent::{OpenError, SandboxMode, exposed};
use crate::adapters::store::SqliteStore;
use crate::config::agent::{Agent, AgentKind};

const EXAMPLES: &str = "\
Examples:
  planwright config                        the effective settings, with secrets
                                           masked
  planwright config > planwright.toml      a file to start from
  planwright config --default              every key with its documentation
  planwright config --check --config /etc/planwright.toml
                                           exit 2 unless `serve` would start
                                           with it";

/// Print the effective configuration and where each value came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Config {
    /// Print nothing; fail unless `serve` would start
    #[arg(long, conflicts_with = "default")]
    check: bool,
    /// Print the documented defaults instead
    #[arg(long)]
    default: bool,
}

impl Config {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        if self.default {
            return print(&crate::config::schema::default_file());
        }
        let loaded = settings.load()?;
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        let here = active(loaded.config.agent.sandbox);
        let sandbox = unprotected(&loaded.config.agent, &here);
        let secrets = readable(&loaded.config, &here);
        for warning in [&sandbox, &secrets].into_iter().flatten().flatten() {
            eprintln!("warning: {warning}");
        }
        if self.check {
            loaded.ready_to_serve()?;
            sandbox?;
            secrets?;
            return SqliteStore::check(&loaded.config.store.path)
                .map_err(|error| Failure::Usage(error.to_string()));
        }
        print(&format!(
            "{}\n# Limits for agents on this computer: {}\n# Sandbox for agents on this computer: {here}\n",
            loaded.show(),
            enforcement()
        ))
    }
}

/// Returns a warning if agents run without a sandbox although the operator did not turn it off.
/// `here` is the protection available on this computer.
///
/// # Errors
/// Returns [`Failure::Usage`] if a sandbox is required and not available.
pub(super) fn unprotected(agent: &Agent, here: &Protection) -> Result<Option<String>, Failure> {
    match (agent.kind, agent.sandbox, here) {
        (AgentKind::None, ..) | (_, SandboxMode::Off, _) | (.., Protection::Landlock { .. }) => {
            Ok(None)
        }
        (_, SandboxMode::Required, Protection::None { why }) => {
            let error = OpenError::NoSandbox(why.clone());
            Err(Failure::Usage(error.to_string()))
        }
        (_, SandboxMode::Auto, Protection::None { why }) => Ok(Some(format!(
            "agents run without a sandbox and can read everything that this user can read: {why}; \
             set agent.sandbox to \"required\" to refuse to start agents, or to \"off\" if this is \
             intended"
        ))),
    }
}

/// Returns a warning if the sandbox lets agents read the secrets or the database. `here` is the
/// protection available on this computer.
///
/// # Errors
/// Returns [`Failure::Usage`] in this case if a sandbox is required.
pub(super) fn readable(
    config: &crate::config::Config,
    here: &Protection,
) -> Result<Option<String>, Failure> {
    let agent = &config.agent;
    if agent.kind == AgentKind::None || !matches!(here, Protection::Landlock { .. }) {
        return Ok(None);
    }
    match (exposed(&agents::files(config)), agent.sandbox) {
        (Some(exposed), SandboxMode::Required) => {
            Err(Failure::Usage(OpenError::Exposed(exposed).to_string()))
        }
        (exposed, _) => Ok(exposed.map(|exposed| exposed.to_string())),
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
            "agents run without a sandbox and can read everything that this user can read: the \
             kernel has no Landlock; set agent.sandbox to \"required\" to refuse to start agents, \
             or to \"off\" if this is intended"
        );
        assert_eq!(
            said("command", "required", &none).unwrap_err(),
            "agent.sandbox is \"required\", but there is no sandbox here: the kernel has no Landlock: run on Linux 5.13 \
             or newer with Landlock enabled, or set agent.sandbox to \"auto\""
        );
    }

    /// The path below `/usr` does not have to exist, because the check includes a database that is
    /// created later.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_secret_or_database_in_a_folder_that_every_agent_reads_is_refused_or_warned_of() {
        let landlock = Protection::Landlock { abi: 7 };
        let none = Protection::None {
            why: "the kernel has no Landlock".to_owned(),
        };
        let said = |kind: &str, sandbox: &str, path: &str, here: &Protection| {
            let set = [
                format!("agent.kind={kind}"),
                format!("agent.sandbox={sandbox}"),
                format!("store.path={path}"),
            ];
            let sources = Sources {
                flags: set.into(),
                ..Sources::default()
            };
            let config = load(&sources).unwrap().config;
            readable(&config, here).map_err(|failure| {
                assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
                failure.to_string()
            })
        };
        let inside = "/usr/planwright-test.sqlite";
        let sentence = "agents could read /usr/planwright-test.sqlite, a file that only planwright \
                        may read, because the sandbox lets every program read /usr: move that \
                        file, e.g. below /etc/planwright or /var/lib/planwright";
        assert_eq!(
            said("claude", "required", inside, &landlock).unwrap_err(),
            format!("agent.sandbox is \"required\", but {sentence}")
        );
        assert_eq!(
            said("claude", "auto", inside, &landlock),
            Ok(Some(sentence.to_owned()))
        );
        // Symbolic links in the path are resolved: on most systems /lib is a link to /usr/lib.
        assert!(
            said(
                "command",
                "required",
                "/lib/planwright-test.sqlite",
                &landlock
            )
            .is_err()
        );
        for (kind, sandbox, path, here) in [
            ("none", "required", inside, &landlock),
            ("claude", "off", inside, &active(SandboxMode::Off)),
            ("claude", "auto", inside, &none),
            (
                "claude",
                "required",
                "/var/lib/planwright-test.sqlite",
                &landlock,
            ),
            (
                "claude",
                "required",
                "/usrs/planwright-test.sqlite",
                &landlock,
            ),
        ] {
            assert_eq!(
                said(kind, sandbox, path, here),
                Ok(None),
                "{kind} {sandbox} {path}"
            );
        }
    }
}
