//! Creates the coding agent that the configuration names, which runs as a local process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::Failure;
use crate::adapters::agent::claude::{Claude, ClaudeSettings};
use crate::adapters::agent::command::{Command, CommandSettings};
use crate::adapters::agent::network::ModelNetwork;
use crate::adapters::agent::{Client, LocalAgent, MAX_OUTPUT_BYTES, RunnerSettings};
use crate::adapters::checkouts::RepositoryCopies;
use crate::adapters::redact::Redactor;
use crate::config::agent::{Agent, AgentKind};
use crate::config::{Config, Secrets};
use crate::engine::agent::Agent as EngineAgent;
use crate::engine::checkout::Checkouts;
use crate::engine::clock::Clock;
use crate::formats::agent_stream::MAX_LINE_BYTES;

/// Time an agent has to exit after it is told to, before it is killed. Claude Code takes up to 1.3
/// s to end its own children.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// Number of times Claude Code retries a request itself. A turn that still fails is retried as a
/// whole.
pub(super) const RETRIES: u32 = 2;

/// Substrings of the names of environment variables whose values are secrets. These values are
/// redacted.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Creates the configured agent, or returns `None` if none is configured.
///
/// # Errors
/// Returns an error if the program, its directory or the sandbox cannot be used.
pub(super) fn agent(
    config: &Config,
    secrets: &Secrets,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<dyn EngineAgent>>, Failure> {
    let agent = &config.agent;
    let Some(client) = client(agent, secrets) else {
        return Ok(None);
    };
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let settings = RunnerSettings {
        folder: agent.folder.clone(),
        sandbox: agent.sandbox,
        network: network(agent, secrets)?,
        helper: helper().map_err(|error| {
            Failure::failed(format!(
                "cannot determine the path of this program: {error}"
            ))
        })?,
        resources: agent.resources.clone(),
        secrets: files(config),
        concurrency: agent.concurrency,
        grace: GRACE,
        max_line_bytes: MAX_LINE_BYTES,
        max_output_bytes: MAX_OUTPUT_BYTES,
        redactor: Redactor::new(known(secrets)),
    };
    let local = LocalAgent::open(settings, client, Arc::clone(clock));
    let local = local.map_err(|error| failed(&error))?;
    Ok(Some(Arc::new(local)))
}

/// Opens the copies of repositories that agents read, or returns `None` if there is no agent or
/// agents get none. Called after [`agent`], which locks the agents' folder.
///
/// # Errors
/// Returns an error if the folder or a setting cannot be used.
pub(super) fn checkouts(
    config: &Config,
    has_agent: bool,
) -> Result<Option<Arc<dyn Checkouts>>, Failure> {
    let settings = &config.engine.agent.repository;
    if !has_agent || !settings.enabled {
        return Ok(None);
    }
    let copies = RepositoryCopies::open(&config.agent.folder, settings)
        .map_err(|error| Failure::failed(error.to_string()))?;
    Ok(Some(Arc::new(copies)))
}

/// Returns what agents may reach; `None` if their network is not restricted.
///
/// # Errors
/// Returns [`Failure::Usage`] if a proxy that is passed to agents cannot be used.
pub(super) fn network(agent: &Agent, secrets: &Secrets) -> Result<Option<ModelNetwork>, Failure> {
    let environment = &secrets.agent_environment;
    let hosts = agent
        .reachable(environment)
        .filter(|_| agent.kind != AgentKind::None);
    let network = hosts.map(|hosts| ModelNetwork::new(hosts, environment));
    network
        .transpose()
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the path of this program. On Linux this is `/proc/self/exe`, because the file at the
/// original path may be replaced by another version while the program runs.
pub(super) fn helper() -> std::io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe()
}

/// Returns the files of this program that agents must not read.
pub(super) fn files(config: &Config) -> Vec<PathBuf> {
    let keys = [
        &config.webhook.secrets_file,
        &config.github.private_key_file,
        &config.agent.api_key_file,
    ];
    let database = ["", "-wal", "-shm"].map(|end| {
        let mut path = config.store.path.clone().into_os_string();
        path.push(end);
        PathBuf::from(path)
    });
    keys.into_iter()
        .flatten()
        .cloned()
        .chain(database)
        .collect()
}

fn client(agent: &Agent, secrets: &Secrets) -> Option<Arc<dyn Client>> {
    let path = agent.program.clone()?;
    let environment = secrets.agent_environment.clone();
    let reads = agent.reads.clone();
    match agent.kind {
        AgentKind::None => None,
        AgentKind::Claude => Some(Arc::new(Claude(ClaudeSettings {
            path,
            key: secrets.agent_key.clone(),
            api_url: agent.api_url.as_ref().map(ToString::to_string),
            model: agent.model.clone(),
            tools: Vec::new(),
            structured: agent.structured,
            retries: RETRIES,
            environment,
            reads,
            project: None,
        }))),
        AgentKind::Command => Some(Arc::new(Command(CommandSettings {
            path,
            args: agent.args.iter().map(OsString::from).collect(),
            environment,
            reads,
            output: agent.output,
        }))),
    }
}

/// Returns every secret that an agent could have obtained.
fn known(secrets: &Secrets) -> Vec<SecretString> {
    let mut known = secrets.webhook.clone();
    known.extend(secrets.private_key.clone());
    known.extend(secrets.agent_key.clone());
    known.extend(known_in(&secrets.agent_environment));
    known
}

/// Returns the secrets among the environment variables that an agent gets.
pub(super) fn known_in(environment: &[(String, SecretString)]) -> Vec<SecretString> {
    let named = environment.iter().filter(|(name, _)| {
        let name = name.to_ascii_uppercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    });
    let mut known: Vec<_> = named.map(|(_, value)| value.clone()).collect();
    known.extend(environment.iter().filter_map(|(_, value)| password(value)));
    known
}

/// Returns the password in a URL, such as that of a proxy.
fn password(value: &SecretString) -> Option<SecretString> {
    let address = Url::parse(value.expose_secret().trim()).ok()?;
    Some(SecretString::from(address.password()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_is_replaced_while_it_runs_is_still_its_own_helper() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        // A shell that runs, is replaced on disk, and starts the path that `helper` returns.
        std::fs::copy("/bin/sh", &program).unwrap();
        let helper = helper().unwrap();
        let script = "mv \"$1\" \"$2\" && \"$3\" -c 'echo the same'";
        let other = folder.path().join("other");
        std::fs::write(&other, "").unwrap();
        let said = std::process::Command::new(&program)
            .args(["-c", script, "sh"])
            .arg(&other)
            .arg(&program)
            .arg(&helper)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout), "the same\n");
        let own = std::fs::metadata(std::env::current_exe().unwrap()).unwrap();
        let named = std::fs::metadata(&helper).unwrap();
        assert_eq!((own.dev(), own.ino()), (named.dev(), named.ino()));
    }

    #[test]
    fn the_password_of_a_proxy_is_a_secret_and_the_rest_of_its_address_is_not() {
        let mut secrets = Secrets::default();
        secrets.agent_environment = [
            (
                "HTTPS_PROXY",
                "http://agent:correct-horse@proxy.example:3128",
            ),
            ("LANG", "C.UTF-8-and-more"),
        ]
        .map(|(name, value)| (name.to_owned(), SecretString::from(value)))
        .into();
        let known: Vec<String> = known(&secrets)
            .iter()
            .map(|secret| secret.expose_secret().to_owned())
            .collect();
        assert_eq!(known, ["correct-horse"]);
    }
}
