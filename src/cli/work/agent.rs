//! Creates the agent that a project's settings name, with the user's API key and a private
//! directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::{Project, note_on_stderr};
use crate::adapters::agent::claude::{Claude, ClaudeSettings};
use crate::adapters::agent::command::{Command, CommandSettings};
use crate::adapters::agent::sandbox::{Protection, active};
use crate::adapters::agent::{
    Client, LocalAgent, MAX_OUTPUT_BYTES, ResourceLimits, RunnerSettings, SandboxMode,
};
use crate::adapters::redact::Redactor;
use crate::cli::agents::{GRACE, RETRIES, helper, known_in};
use crate::cli::{Failure, save};
use crate::config::agent::is_program;
use crate::config::project::{AgentKind, Text};
use crate::engine::clock::Clock;
use crate::formats::agent_stream::MAX_LINE_BYTES;

/// Environment variables for the API key of the model, in order of precedence.
const KEYS: [&str; 2] = ["PLANWRIGHT_AGENT_API_KEY", "ANTHROPIC_API_KEY"];
/// Environment variable for the token of a subscription, which is used if there is no key.
const TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";
/// Environment variable for another base URL of the model's API.
const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// An agent that was checked but not started yet.
pub(in crate::cli) struct Ready {
    client: Arc<dyn Client>,
    known: Vec<SecretString>,
    concurrency: usize,
}

/// Checks that the project's agent can be started. `model` is used if the agent supports models.
///
/// # Errors
/// Returns [`Failure::Usage`] if the program does not exist or there are no credentials for the
/// model.
pub(in crate::cli) fn ready(project: &Project, model: Option<&str>) -> Result<Ready, Failure> {
    let agent = &project.config.agent;
    let path = program(project, agent.command.as_str())?;
    let set = |name: &str| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then(|| SecretString::from(value))
    };
    let named = agent.environment.iter().map(Text::as_str);
    let mut environment: Vec<(String, SecretString)> = named
        .filter_map(|name| Some((name.to_owned(), set(name)?)))
        .collect();
    let mut known = known_in(&environment);
    let client: Arc<dyn Client> = match agent.kind {
        AgentKind::Command => Arc::new(Command(CommandSettings {
            path,
            args: agent
                .args
                .iter()
                .map(Text::as_str)
                .map(OsString::from)
                .collect(),
            environment,
            reads: vec![project.root.clone()],
            output: agent.output,
        })),
        AgentKind::Claude => {
            let key = KEYS.iter().find_map(|name| set(name));
            let token = set(TOKEN).filter(|_| key.is_none());
            let lets_in = |name: &str| name.starts_with("ANTHROPIC_") || name == TOKEN;
            if key.is_none()
                && token.is_none()
                && !environment.iter().any(|(name, _)| lets_in(name))
            {
                return Err(Failure::Usage(format!(
                    "the agent has no credentials for its model: set {}, {} or {TOKEN}; it runs \
                     with its own HOME, so your login is not used",
                    KEYS[0], KEYS[1]
                )));
            }
            known.extend(key.clone());
            known.extend(token.clone());
            environment.extend(token.map(|token| (TOKEN.to_owned(), token)));
            Arc::new(Claude(ClaudeSettings {
                path,
                key,
                api_url: std::env::var(BASE_URL).ok().filter(|url| !url.is_empty()),
                model: model.map(ToOwned::to_owned),
                tools: agent
                    .tools
                    .iter()
                    .map(|tool| tool.as_str().to_owned())
                    .collect(),
                structured: false,
                retries: RETRIES,
                environment,
                reads: Vec::new(),
                project: Some(project.root.clone()),
            }))
        }
    };
    Ok(Ready {
        client,
        known,
        concurrency: project.config.limits.concurrency,
    })
}

impl Ready {
    /// Opens the agent with `folder` as the directory for its files.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be used.
    pub(in crate::cli) fn open(
        self,
        folder: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<Arc<LocalAgent>, Failure> {
        let settings = RunnerSettings {
            folder: folder.to_owned(),
            sandbox: SandboxMode::Auto,
            network: None,
            helper: helper().map_err(|error| {
                Failure::failed(format!(
                    "cannot determine the path of this program: {error}"
                ))
            })?,
            resources: ResourceLimits::default(),
            secrets: Vec::new(),
            concurrency: self.concurrency,
            grace: GRACE,
            max_line_bytes: MAX_LINE_BYTES,
            max_output_bytes: MAX_OUTPUT_BYTES,
            redactor: Redactor::new(self.known),
        };
        if let Protection::None { why } = active(SandboxMode::Auto) {
            note_on_stderr(&format!(
                "no sandbox is available ({why}): agents can access everything that you can"
            ));
        }
        let local = LocalAgent::open(settings, self.client, Arc::clone(clock));
        let local = local.map_err(|error| Failure::failed(error.to_string()))?;
        Ok(Arc::new(local))
    }
}

/// Returns the path of the program. `command` is a path relative to the project, or a name to look
/// up in `PATH`.
fn program(project: &Project, command: &str) -> Result<PathBuf, Failure> {
    let name = Path::new(command);
    if name.components().count() > 1 || name.is_absolute() {
        // Removes the `.` of `./name`.
        let path: PathBuf = project.root.join(name).components().collect();
        return if is_program(&path) {
            Ok(path)
        } else {
            Err(Failure::Usage(format!(
                "the agent's program {} does not exist or cannot be executed; install it, or set agent.command to its path",
                path.display()
            )))
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "there is no `{command}` in PATH; install it, or set agent.command to its path"
            ))
        })
}

/// Returns the directory for the files of agents that work on `root`. It is outside the project and
/// accessible to this user only.
///
/// # Errors
/// Returns an error if there is no home directory, the directory cannot be created, or it would be
/// in the project, which agents may read.
pub(in crate::cli) fn folder(root: &Path) -> Result<PathBuf, Failure> {
    let state = save::state_folder().map_err(|_| {
        Failure::Usage(
            "there is no home directory for the agents' files; set XDG_STATE_HOME".to_owned(),
        )
    })?;
    let hash = hex::encode(Sha256::digest(root.as_os_str().as_encoded_bytes()));
    let folder = state.join("agents").join(hash.get(..16).unwrap_or(&hash));
    let failed = |error: std::io::Error| {
        Failure::failed(format!(
            "{}: {error}; set XDG_STATE_HOME to a writable folder",
            folder.display()
        ))
    };
    save::make_private(&folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    if folder.starts_with(root) {
        return Err(Failure::Usage(format!(
            "the agents' folder {} would be inside the project {}, which agents can read; choose a \
             narrower --root, or another XDG_STATE_HOME",
            folder.display(),
            root.display()
        )));
    }
    Ok(folder)
}
