//! The coding agent that the configuration names, as a process of this computer.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::Failure;
use crate::adapters::agent::claude::{Claude, ClaudeSettings};
use crate::adapters::agent::command::{Command, CommandSettings};
use crate::adapters::agent::{AgentSettings, Client, LocalAgent, MOST_OUTPUT};
use crate::adapters::redact::Redactor;
use crate::config::agent::{Agent, Kind};
use crate::config::{Config, Secrets};
use crate::engine::agent::Agent as EngineAgent;
use crate::engine::clock::Clock;
use crate::formats::agent_stream::LINE_MAX;

/// How long an agent that is told to end has before it is killed. Claude Code takes up to 1.3 s to end its own children.
const GRACE: Duration = Duration::from_secs(3);

/// How often Claude Code itself tries a request again; a turn that fails for good is tried again as a whole.
const RETRIES: u32 = 2;

/// Parts of names of variables whose values are secrets: no text that holds such a value is given on.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Makes the agent; `None` where none is configured.
///
/// # Errors
/// The program, its folder or the sandbox is not as it must be.
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
    let settings = AgentSettings {
        folder: agent.folder.clone(),
        sandbox: agent.sandbox,
        helper: std::env::current_exe().map_err(|error| {
            Failure::failed(format!("this program's own path cannot be told: {error}"))
        })?,
        concurrency: agent.concurrency,
        grace: GRACE,
        most_line: LINE_MAX,
        most_output: MOST_OUTPUT,
        redactor: Redactor::new(known(secrets)),
    };
    let local = LocalAgent::open(settings, client, Arc::clone(clock));
    let local = local.map_err(|error| failed(&error))?;
    Ok(Some(Arc::new(local)))
}

fn client(agent: &Agent, secrets: &Secrets) -> Option<Arc<dyn Client>> {
    let path = agent.program.clone()?;
    let environment = secrets.agent_environment.clone();
    let reads = agent.reads.clone();
    match agent.kind {
        Kind::None => None,
        Kind::Claude => Some(Arc::new(Claude(ClaudeSettings {
            path,
            key: secrets.agent_key.clone(),
            api_url: agent.api_url.as_ref().map(ToString::to_string),
            model: agent.model.clone(),
            tools: Vec::new(),
            structured: agent.structured,
            retries: RETRIES,
            environment,
            reads,
        }))),
        Kind::Command => Some(Arc::new(Command(CommandSettings {
            path,
            args: agent.args.iter().map(OsString::from).collect(),
            environment,
            reads,
            output: agent.output,
        }))),
    }
}

/// Every secret that an agent could have got hold of.
fn known(secrets: &Secrets) -> Vec<SecretString> {
    let named = secrets.agent_environment.iter().filter(|(name, _)| {
        let name = name.to_ascii_uppercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    });
    let mut known = secrets.webhook.clone();
    known.extend(secrets.private_key.clone());
    known.extend(secrets.agent_key.clone());
    known.extend(named.map(|(_, value)| value.clone()));
    known
}
