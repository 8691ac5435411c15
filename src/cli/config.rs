//! `planwright config`: prints the effective configuration and the source of each value.

use clap::Args;

use super::failure::print;
use super::{Failure, Settings, agents};
use crate::adapters::agent::limits::enforcement;
use crate::adapters::agent::network;
use crate::adapters::agent::sandbox::{Protection, active, network_gap};
use crate::adapters::agent::{OpenError, SandboxMode, exposed};
use crate::adapters::store::check_sqlite;
use crate::config::Loaded;
use crate::config::agent::{Agent, AgentKind};
use crate::engine::settings::NetworkMode;

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
        let sandbox = sandbox_warning(&loaded.config.agent, &here);
        let secrets = read_access_warning(&loaded.config, &here);
        let network = network_warning(&loaded, &here);
        for warning in [&sandbox, &secrets, &network]
            .into_iter()
            .flatten()
            .flatten()
        {
            eprintln!("warning: {warning}");
        }
        if self.check {
            loaded.ready_to_serve()?;
            sandbox?;
            secrets?;
            network?;
            if loaded.config.store.url.is_some() {
                return Ok(());
            }
            return check_sqlite(&loaded.config.store.path)
                .map_err(|error| Failure::Usage(error.to_string()));
        }
        let agent = &loaded.config.agent;
        let reach = match agents::network(agent, &loaded.secrets) {
            Ok(network) => network::describe(network.as_ref(), agent.sandbox),
            Err(error) => error.to_string(),
        };
        let reach = if agent.kind == AgentKind::None {
            String::new()
        } else {
            format!("# Network of agents: {reach}\n")
        };
        print(&format!(
            "{}\n{reach}# Limits for agents on this computer: {}\n# Sandbox for agents on this computer: {here}\n",
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
pub(super) fn sandbox_warning(agent: &Agent, here: &Protection) -> Result<Option<String>, Failure> {
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
pub(super) fn read_access_warning(
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

/// Returns a warning if agents that may reach only their model can reach more on this computer,
/// unless the operator turned the sandbox off and left the network to the default. `here` is the
/// protection available.
///
/// # Errors
/// Returns [`Failure::Usage`] in this case if a sandbox is required, and if the proxy that the
/// operator passes to agents cannot be used.
pub(super) fn network_warning(
    loaded: &Loaded,
    here: &Protection,
) -> Result<Option<String>, Failure> {
    let agent = &loaded.config.agent;
    let network = agents::network(agent, &loaded.secrets)?;
    let Some(why) = network.and_then(|_| network_gap(agent.sandbox, here)) else {
        return Ok(None);
    };
    match (agent.sandbox, agent.network) {
        (SandboxMode::Required, _) => Err(Failure::Usage(OpenError::OpenNetwork(why).to_string())),
        (SandboxMode::Off, NetworkMode::Auto) => Ok(None),
        _ => Ok(Some(format!(
            "agents could reach the network past planwright's proxy: {why}; set agent.sandbox to \
             \"required\" to refuse to start agents, or agent.network to \"open\" if this is \
             intended"
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::config::{Sources, load};

    #[test]
    fn whoever_lets_agents_past_the_proxy_without_having_said_so_is_told() {
        let old = Protection::Landlock { abi: 3 };
        let said = |set: &[&str]| {
            let sources = Sources {
                flags: set.iter().map(|flag| (*flag).to_owned()).collect(),
                ..Sources::default()
            };
            network_warning(&load(&sources).unwrap(), &old).map_err(|failure| {
                assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
                failure.to_string()
            })
        };
        let claude = "agent.kind=claude";
        let why = "Landlock ABI 3 has no rules for TCP, which came with ABI 4 (Linux 6.7)";
        let warning = said(&[claude]).unwrap().unwrap();
        let start = format!("agents could reach the network past planwright's proxy: {why}");
        assert!(warning.starts_with(&start), "{warning}");
        assert!(
            warning.ends_with(
                "; set agent.sandbox to \"required\" to refuse to start agents, or agent.network to \
                 \"open\" if this is intended"
            ),
            "{warning}"
        );
        let refusal = said(&[claude, "agent.sandbox=required"]).unwrap_err();
        let start = format!(
            "agent.sandbox is \"required\", but agents could reach the network past planwright's \
             proxy: {why}"
        );
        assert!(refusal.starts_with(&start), "{refusal}");
        assert!(
            refusal.ends_with(
                ": run on Linux 6.7 or newer with Landlock and seccomp enabled, or set \
                 agent.network to \"open\""
            ),
            "{refusal}"
        );
        assert_eq!(
            said(&[claude, "agent.sandbox=off", "agent.network=model"]),
            Ok(Some(
                "agents could reach the network past planwright's proxy: agent.sandbox is \
                 \"off\"; set agent.sandbox to \"required\" to refuse to start agents, or \
                 agent.network to \"open\" if this is intended"
                    .to_owned()
            ))
        );
        for intended in [
            [claude, "agent.sandbox=off"],
            [claude, "agent.network=open"],
            ["agent.kind=command", "agent.sandbox=required"],
            ["agent.kind=none", "agent.sandbox=required"],
        ] {
            assert_eq!(said(&intended), Ok(None), "{intended:?}");
        }
    }

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
        sandbox_warning(&agent, here).map_err(|failure| {
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
            read_access_warning(&config, here).map_err(|failure| {
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
