//! The `[agent]` section: which agent runs, how it is run, and how much it may cost.

use crate::engine::settings::Prompts;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use toml::Value;
use url::Url;

use super::error::ConfigError;
use super::layers::{Merged, PREFIX, Sources};
use super::token::COMMON;
use super::{hours, optional, seconds};
use crate::engine::model::agent::{Limits, Micros};
use crate::engine::settings::{OutputFormat, SandboxMode};

use crate::engine::settings::AgentSettings;
use crate::engine::store::Budget;

/// Name of Claude Code's program in `PATH`.
const CLAUDE: &str = "claude";

/// Other variables in which programs look for a GitHub token.
const TOKENS: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// Variables that the runner sets itself. With the operator's own `HOME`, an agent could read the
/// operator's files.
const PRIVATE: [&str; 2] = ["HOME", "TMPDIR"];

/// The `[agent]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The kind of agent.
    pub kind: AgentKind,
    /// Path or name of the program; `None` for `claude` in `PATH` ([`AgentKind::Claude`]).
    #[serde(deserialize_with = "optional")]
    pub path: Option<PathBuf>,
    /// Arguments, for [`AgentKind::Command`].
    pub args: Vec<String>,
    /// Output format of the program, for [`AgentKind::Command`].
    pub output: OutputFormat,
    /// Names of the environment variables that are passed to the agent;
    /// [`super::Secrets::agent_environment`] holds their values.
    pub environment: Vec<String>,
    /// Absolute paths that the agent may read besides its own folder and the system's libraries.
    pub reads: Vec<PathBuf>,
    /// File with the key for the model's API.
    #[serde(deserialize_with = "optional")]
    pub api_key_file: Option<PathBuf>,
    /// Model name, for [`AgentKind::Claude`].
    #[serde(deserialize_with = "optional")]
    pub model: Option<String>,
    /// Base URL of the model's API, for [`AgentKind::Claude`].
    #[serde(deserialize_with = "maybe_url")]
    pub api_url: Option<Url>,
    /// Whether structured output is requested for questions, for [`AgentKind::Claude`].
    pub structured: bool,
    /// Folder that holds the private folders of the runs.
    pub folder: PathBuf,
    /// Whether agents run in a sandbox.
    pub sandbox: SandboxMode,
    /// Maximum number of concurrent agents.
    pub concurrency: usize,
    /// Maximum duration of one agent turn.
    #[serde(rename = "deadline_seconds", deserialize_with = "seconds")]
    pub deadline: Duration,
    /// Maximum time without output.
    #[serde(rename = "silence_seconds", deserialize_with = "seconds")]
    pub silence: Duration,
    /// Maximum number of model responses in one agent turn.
    pub max_turns: u32,
    /// Maximum cost of one run; `None` for no limit.
    #[serde(rename = "max_cost_usd", deserialize_with = "dollars")]
    pub max_cost: Option<Micros>,
    /// Maximum number of tries of one agent turn.
    pub tries: u32,
    /// Maximum length of a prompt, in characters.
    #[serde(rename = "max_prompt_chars")]
    pub max_prompt: usize,
    /// Whether the agent may ask people questions.
    pub ask: bool,
    /// Maximum number of rounds of questions in one run.
    pub question_rounds: u32,
    /// Time without an answer after which people are reminded; zero for never.
    #[serde(rename = "remind_hours", deserialize_with = "hours")]
    pub remind_after: Duration,
    /// Time without an answer after which the plan is saved with its questions open.
    #[serde(rename = "answer_hours", deserialize_with = "hours")]
    pub answer_within: Duration,
    /// Maximum number of runs that one person may start per hour; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_actor_hour: Option<u64>,
    /// Maximum number of runs in one repository per 24 hours; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_repository_day: Option<u64>,
    /// Maximum cost of one repository per 24 hours; `None` for no limit.
    #[serde(rename = "cost_per_repository_day_usd", deserialize_with = "dollars")]
    pub cost_per_repository_day: Option<Micros>,
    /// Maximum number of runs per 24 hours; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_day: Option<u64>,
    /// Maximum total cost per 24 hours; `None` for no limit.
    #[serde(rename = "cost_per_day_usd", deserialize_with = "dollars")]
    pub cost_per_day: Option<Micros>,
    /// Folder with the operator's own instructions.
    #[serde(deserialize_with = "optional")]
    pub prompts: Option<PathBuf>,
    /// The instructions in [`Agent::prompts`], read when the configuration is loaded.
    #[serde(skip)]
    pub own: Prompts,
    /// Absolute path of the program: [`Agent::path`], or what was found in `PATH`. `None` for
    /// [`AgentKind::None`], and if nothing was found. [`super::Loaded::ready_to_serve`] checks that it
    /// can be run.
    #[serde(skip)]
    pub program: Option<PathBuf>,
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
    /// Returns the agent settings that the engine uses.
    pub fn engine(&self) -> AgentSettings {
        AgentSettings {
            limits: Limits {
                deadline: self.deadline,
                silence: self.silence,
                turns: self.max_turns,
                cost: None,
            },
            run_cost: self.max_cost,
            budget: Budget {
                actor_hour_runs: self.runs_per_actor_hour,
                repo_day_runs: self.runs_per_repository_day,
                repo_day_cost: self.cost_per_repository_day,
                day_runs: self.runs_per_day,
                day_cost: self.cost_per_day,
            },
            ask: self.ask,
            rounds: self.question_rounds,
            remind_after: self.remind_after,
            answer_within: self.answer_within,
            tries: self.tries,
            max_prompt: self.max_prompt,
            prompts: self.own.clone(),
        }
    }

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
    pub(super) fn not_runnable(&self) -> Option<String> {
        if self.kind == AgentKind::None {
            return None;
        }
        let name = self.path.as_deref().unwrap_or(Path::new(CLAUDE)).display();
        match (&self.program, self.kind, &self.path) {
            (None, AgentKind::Command, None) => {
                Some("the agent's program: set agent.path or PLANWRIGHT_AGENT_PATH".to_owned())
            }
            (None, ..) => Some(format!(
                "the agent's program: there is no `{name}` in PATH; install it, or set agent.path to where it is"
            )),
            (Some(program), ..) if !program.exists() => Some(format!(
                "the agent's program: {} does not exist; install it, or set agent.path to where it is",
                program.display()
            )),
            (Some(program), ..) if !is_program(program) => Some(format!(
                "the agent's program: {} cannot be run; make it executable (chmod +x), or set agent.path to a program",
                program.display()
            )),
            _ => None,
        }
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
                format!("agent.environment names {name}, which is not set; set it, or take it out")
            })
            .collect();
        let lets_in =
            |name: &String| name.starts_with("ANTHROPIC_") || name == "CLAUDE_CODE_OAUTH_TOKEN";
        if self.kind == AgentKind::Claude && !key && !self.environment.iter().any(lets_in) {
            odd.push(
                "agent.kind is \"claude\" and nothing lets it in at the model's API: set PLANWRIGHT_AGENT_API_KEY or \
                 PLANWRIGHT_AGENT_API_KEY_FILE, or name ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN in \
                 agent.environment; agents have a HOME of their own, so a login there does not count"
                    .to_owned(),
            );
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
    Ok(())
}

/// Returns an error text unless `value` is a list of valid arguments.
pub(super) fn wrong_argument(value: &Value) -> Option<String> {
    let good = |arg: &Value| arg.as_str().is_some_and(|arg| !arg.contains('\0'));
    let all = value.as_array().is_some_and(|args| args.iter().all(good));
    (!all).then(|| "it must be a list of texts, e.g. [\"run\", \"--quiet\"]".to_owned())
}

/// Returns an error text unless `value` is a list of absolute paths.
pub(super) fn wrong_path(value: &Value) -> Option<String> {
    let good = |path: &Value| {
        path.as_str()
            .is_some_and(|path| Path::new(path).is_absolute() && !path.contains('\0'))
    };
    let all = value.as_array().is_some_and(|paths| paths.iter().all(good));
    (!all).then(|| "it must be a list of absolute paths, e.g. [\"/opt/python\"]".to_owned())
}

/// Returns an error text unless `value` is a list of variable names that may be passed to agents.
pub(super) fn wrong_variable(value: &Value) -> Option<String> {
    let names = value.as_array().map_or(&[][..], Vec::as_slice);
    names.iter().find_map(|name| {
        let Some(name) = name.as_str() else {
            return Some("it must be a list of names, e.g. [\"HTTPS_PROXY\"]".to_owned());
        };
        let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let plain = name
            .bytes()
            .all(|byte| letter(byte) || byte.is_ascii_digit())
            && name.bytes().next().is_some_and(letter);
        if !plain {
            Some(format!(
                "{:?} is no name of a variable; it must be a list of names, e.g. [\"HTTPS_PROXY\"]",
                name_of(name)
            ))
        } else if name.starts_with(PREFIX) || COMMON.contains(&name) || TOKENS.contains(&name) {
            Some(format!(
                "{name} is for this program alone, as it may hold a secret; take it out"
            ))
        } else if PRIVATE.contains(&name) {
            Some(format!("agents have a {name} of their own; take it out"))
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

/// Parses a limit; zero means no limit.
fn limit<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    Ok(Some(u64::deserialize(value)?).filter(|limit| *limit > 0))
}

/// Converts US dollars to millionths. Zero, also after rounding, means no limit.
pub(super) fn dollars<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Micros>, D::Error> {
    let digits = format!("{:.6}", f64::deserialize(value)?).replace('.', "");
    let micros: Micros = digits.parse().map_err(serde::de::Error::custom)?;
    Ok(Some(micros).filter(|micros| *micros > 0))
}

/// Parses an optional URL; the empty string means "not set".
fn maybe_url<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Url>, D::Error> {
    let text: Option<String> = optional(value)?;
    text.map(|text| Url::parse(&text).map_err(serde::de::Error::custom))
        .transpose()
}
