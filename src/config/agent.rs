//! The part of the `[agent]` section that the program uses: which agent is run, and how.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use toml::Value;
use url::Url;

use super::error::ConfigError;
use super::layers::{Merged, PREFIX, Sources};
use super::token::COMMON;
use crate::engine::settings::hosts::AllowedHost;
use crate::engine::settings::{NetworkMode, OutputFormat, ResourceLimits, SandboxMode};
use crate::setting::Rule::{
    AbsolutePaths, AllowedHosts, Arguments, Boolean, Integer, Line, ModelUrl, OneOf, OptionValue,
    OptionalPath, Path as FilePath, Variables,
};
use crate::setting::{limit, optional, optional_url, settings};

/// Name of Claude Code's program in `PATH`.
const CLAUDE: &str = "claude";

/// The model's API of kind `claude`, unless another one is configured.
const CLAUDE_API: &str = "https://api.anthropic.com";

/// Variable with another base URL of the model's API, for kind `claude`.
const CLAUDE_API_VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// Start of the variables that make Claude Code use the API of a cloud provider.
const CLOUD_VARIABLES: &str = "CLAUDE_CODE_USE_";

/// Other variables in which programs look for a GitHub token.
const TOKENS: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// Variables that the runner sets itself. With the operator's own `HOME`, an agent could read the
/// operator's files.
const PRIVATE: [&str; 2] = ["HOME", "TMPDIR"];

/// Description of a list of variable names, for documentation and error messages.
pub(super) const VARIABLES: &str =
    "a list of names of environment variables, e.g. [\"HTTPS_PROXY\"]";

settings! {
    /// The coding agent that completes plans: which one is run, how, and how much it may cost.
    pub struct Agent in "agent" {
        /// The agent: `none`; `claude` for Claude Code; `command` for any program that takes a
        /// prompt on standard input and prints a plan.
        kind: AgentKind = "none", OneOf(&["none", "claude", "command"]);
        /// The agent's program: a path, or a name that is looked up in `PATH`. If it is empty, kind
        /// `claude` runs `claude`.
        path: Option<PathBuf> as "optional" = "", Line(4_096);
        /// Arguments of the program, for kind `command`. Other users of the computer can see them.
        /// The environment variable is TOML or comma-separated.
        args: Vec<String> = [], Arguments;
        /// Output format of the program, for kind `command`: Markdown, or one JSON object per line
        /// as printed by Claude Code.
        output: OutputFormat = "markdown", OneOf(&["markdown", "stream-json"]);
        /// Names of the environment variables that are passed to the agent, besides `PATH`, `HOME`,
        /// `LANG`, `TMPDIR` and those that its kind requires. Planwright's own secrets cannot be
        /// passed. The environment variable is TOML or comma-separated.
        environment: Vec<String> = [], Variables;
        /// Files and folders that the sandbox lets the agent read, besides its own folder and the
        /// system's libraries. The environment variable is TOML or comma-separated.
        reads: Vec<PathBuf> = [], AbsolutePaths;
        /// File with the key for the model's API, for kind `claude`; empty for none.
        api_key_file: Option<PathBuf> as "optional" = "", OptionalPath;
        /// Model, for kind `claude`; empty for the program's own default.
        model: Option<String> as "optional" = "", OptionValue(100);
        /// Base URL of the model's API, for kind `claude`; empty for Anthropic's.
        api_url: Option<Url> as "optional_url" = "", ModelUrl;
        /// Whether questions are requested as structured output, for kind `claude`.
        structured: bool = false, Boolean;
        /// Folder for the private folders of agents. It is created if it does not exist, and cannot
        /// be shared by several processes.
        folder: PathBuf = "planwright-agent", FilePath;
        /// Sandbox for agents (Landlock on Linux): `auto` uses it if the system supports it;
        /// `required` makes `serve` refuse to start without it; `off` does not use it. The last
        /// line of `planwright config` says what the system supports.
        sandbox: SandboxMode = "auto", OneOf(&["auto", "required", "off"]);
        /// Network access of agents: `model` allows connections to `hosts` only, through
        /// Planwright's own proxy; `open` does not restrict it; `auto` is `model` for kind `claude`
        /// and wherever `hosts` is set, otherwise `open`. The line "Network
        /// of agents" of `planwright config` says what the system cannot enforce.
        network: NetworkMode = "auto", OneOf(&["auto", "model", "open"]);
        /// Hosts that agents may reach if their network is restricted: names, IP addresses, or `*.`
        /// and a domain, with a port if it is not 443. If it is empty, kind `claude` reaches the
        /// host of its model's API. A name that leads to a private address needs that address in
        /// this list, too. The environment variable is TOML or comma-separated.
        hosts: Vec<String> = [], AllowedHosts;
        /// Maximum number of agents of one process that run at the same time.
        concurrency: usize = 2, Integer(1, 64, "agents");
        /// Maximum number of agents of all processes that share a PostgreSQL database; 0 for no
        /// limit besides that of each process.
        shared_concurrency: Option<u64> as "limit" = 0, Integer(0, 1_000, "agents");
        also {
            /// Absolute path of the program: [`Agent::path`], or what was found in `PATH`. `None`
            /// for [`AgentKind::None`], and if nothing was found. [`super::Loaded::ready_to_serve`]
            /// checks that it can be run.
            program: Option<PathBuf>;
            /// Limits on what one agent may use of this computer. They are keys of `[agent]`, too.
            resources: ResourceLimits;
        }
    }
}

/// The kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// No agent.
    None,
    /// Claude Code.
    Claude,
    /// Any program that takes a prompt and prints a plan.
    Command,
}

impl Agent {
    /// Returns the absolute path of the program, without checking that it can be run.
    pub(super) fn locate(&self, sources: &Sources) -> Option<PathBuf> {
        let name = match (self.kind, &self.path) {
            (AgentKind::None, _) | (AgentKind::Command, None) => return None,
            (AgentKind::Claude, None) => Path::new(CLAUDE),
            (_, Some(path)) => path,
        };
        if name.components().count() > 1 || name.is_absolute() {
            return std::path::absolute(name).ok();
        }
        let folders = sources.environment.get("PATH")?;
        std::env::split_paths(folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|file| is_program(file))
    }

    /// Returns why the program cannot be run and how to fix it, or `None` if it can be run.
    pub(crate) fn not_runnable(&self) -> Option<String> {
        if self.kind == AgentKind::None {
            return None;
        }
        let name = self.path.as_deref().unwrap_or(Path::new(CLAUDE)).display();
        match (&self.program, self.kind, &self.path) {
            (None, AgentKind::Command, None) => {
                Some("the agent's program: set agent.path or PLANWRIGHT_AGENT_PATH".to_owned())
            }
            (None, ..) => Some(format!(
                "the agent's program: `{name}` is not in PATH; install it, or set agent.path to its path"
            )),
            (Some(program), ..) if !program.exists() => Some(format!(
                "the agent's program: {} does not exist; install it, or set agent.path to its path",
                program.display()
            )),
            (Some(program), ..) if !is_program(program) => Some(format!(
                "the agent's program: {} cannot be run; make it executable (chmod +x), or set agent.path to a program",
                program.display()
            )),
            _ => None,
        }
    }

    /// Returns the hosts that agents may reach, or `None` if their network is not restricted.
    /// `environment` is what is passed to them.
    pub fn reachable(&self, environment: &[(String, SecretString)]) -> Option<Vec<AllowedHost>> {
        let restricted = match self.network {
            NetworkMode::Auto => self.kind == AgentKind::Claude || !self.hosts.is_empty(),
            NetworkMode::Model => true,
            NetworkMode::Open => false,
        };
        if !restricted {
            return None;
        }
        if !self.hosts.is_empty() || self.kind != AgentKind::Claude {
            let hosts = self.hosts.iter();
            return Some(hosts.filter_map(|host| AllowedHost::parse(host)).collect());
        }
        // The variable replaces the setting, because it is passed on unchanged.
        let variable = environment
            .iter()
            .find(|(name, _)| name == CLAUDE_API_VARIABLE)
            .and_then(|(_, value)| Url::parse(value.expose_secret().trim()).ok());
        let default = || Url::parse(CLAUDE_API).ok();
        let api = variable.or_else(|| self.api_url.clone()).or_else(default);
        Some(
            api.as_ref()
                .and_then(AllowedHost::of_url)
                .into_iter()
                .collect(),
        )
    }

    /// Returns warnings about settings that are allowed but probably unintended. `key` is whether a
    /// key for the model's API is set.
    pub(super) fn odd(&self, key: bool, sources: &Sources) -> Vec<String> {
        if self.kind == AgentKind::None {
            return Vec::new();
        }
        let set = |name: &&String| sources.environment.contains_key(name.as_str());
        let unset = self.environment.iter().filter(|name| !set(name));
        let mut odd: Vec<String> = unset
            .map(|name| {
                format!("agent.environment names {name}, which is not set; set it, or remove it")
            })
            .collect();
        let credential =
            |name: &String| name.starts_with("ANTHROPIC_") || name == "CLAUDE_CODE_OAUTH_TOKEN";
        if self.kind == AgentKind::Claude && !key && !self.environment.iter().any(credential) {
            odd.push(
                "agent.kind is \"claude\", but it has no credentials for the model's API; set PLANWRIGHT_AGENT_API_KEY or \
                 PLANWRIGHT_AGENT_API_KEY_FILE, or add ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN to \
                 agent.environment; agents have their own HOME, so your login is not used"
                    .to_owned(),
            );
        }
        let cloud = |name: &&String| name.starts_with(CLOUD_VARIABLES);
        let cloud = self.environment.iter().find(cloud);
        if let Some(name) = cloud.filter(|_| {
            self.kind == AgentKind::Claude
                && self.network != NetworkMode::Open
                && self.hosts.is_empty()
        }) {
            odd.push(format!(
                "agent.environment names {name}, but agents can reach Anthropic's API only: name the hosts of the \
                 provider in agent.hosts, or set agent.network to \"open\""
            ));
        }
        odd
    }
}

/// Returns whether `path` is an executable file.
pub(crate) fn is_program(path: &Path) -> bool {
    let Ok(found) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may = true;
    found.is_file() && may
}

/// Checks the rules that involve several keys of `[agent]`.
pub(super) fn check(merged: &Merged) -> Result<(), ConfigError> {
    let kind = merged
        .get("agent.kind")
        .and_then(|entry| entry.value.as_str());
    let args = merged
        .get("agent.args")
        .and_then(|entry| entry.value.as_array());
    if kind != Some("command") && args.is_some_and(|args| !args.is_empty()) {
        let why = "it must be empty unless `agent.kind` is \"command\"";
        return Err(merged.impossible("agent.args", why));
    }
    let network = merged
        .get("agent.network")
        .and_then(|entry| entry.value.as_str());
    let hosts = merged
        .get("agent.hosts")
        .and_then(|entry| entry.value.as_array());
    let named = hosts.is_some_and(|hosts| !hosts.is_empty());
    if network == Some("model") && kind == Some("command") && !named {
        let why = "`agent.hosts` must name the hosts that the agent may reach";
        return Err(merged.impossible("agent.network", why));
    }
    if network == Some("open") && named {
        let why = "it must be empty if `agent.network` is \"open\"";
        return Err(merged.impossible("agent.hosts", why));
    }
    Ok(())
}

/// Returns an error text unless `value` is a list of variable names that may be passed to agents.
/// It repeats only names that are known, because something else may be a secret.
pub(super) fn wrong_variable(value: &Value) -> Option<String> {
    let names = value.as_array().map_or(&[][..], Vec::as_slice);
    names.iter().find_map(|name| {
        let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let plain = |name: &&str| {
            name.bytes()
                .all(|byte| letter(byte) || byte.is_ascii_digit())
                && name.bytes().next().is_some_and(letter)
        };
        let Some(name) = name.as_str().filter(plain) else {
            return Some(format!("it must be {VARIABLES}"));
        };
        if name.starts_with(PREFIX) || COMMON.contains(&name) || TOKENS.contains(&name) {
            Some(format!(
                "{name} can hold a secret of Planwright and cannot be passed to agents; remove it"
            ))
        } else if PRIVATE.contains(&name) {
            Some(format!(
                "{name} is set by Planwright for each agent; remove it"
            ))
        } else {
            None
        }
    })
}

/// Formats the list of names for an error message. Values after `=` are masked, because someone who
/// wrote `NAME=VALUE` may have written a secret.
pub(super) fn names_only(value: &Value) -> String {
    let names = value.as_array().map_or(&[][..], Vec::as_slice);
    let shown = names.iter().map(|name| match name.as_str() {
        Some(text) => Value::String(name_of(text)),
        None => name.clone(),
    });
    Value::Array(shown.collect()).to_string()
}

fn name_of(text: &str) -> String {
    match text.split_once('=') {
        Some((name, _)) => format!("{name}=***"),
        None => text.to_owned(),
    }
}
