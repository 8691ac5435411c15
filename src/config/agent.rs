//! `[agent]`: which agent, how it is run, what it may spend.

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

/// What Claude Code is called in `PATH`.
const CLAUDE: &str = "claude";

/// More tokens for GitHub that programs look for.
const TOKENS: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// Variables that the runner sets itself: an agent with the operator's own home could read what is there.
const PRIVATE: [&str; 2] = ["HOME", "TMPDIR"];

/// `[agent]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Which kind of agent.
    pub kind: Kind,
    /// Path or name of its program; `None` for [`Kind::Claude`]'s usual name.
    #[serde(deserialize_with = "optional")]
    pub path: Option<PathBuf>,
    /// Arguments, for [`Kind::Command`].
    pub args: Vec<String>,
    /// What it prints, for [`Kind::Command`].
    pub output: OutputFormat,
    /// Names of variables that it gets; their values are [`super::Secrets::agent_environment`].
    pub environment: Vec<String>,
    /// Files and folders that it reads besides its own folder and the system's libraries.
    pub reads: Vec<PathBuf>,
    /// File with the key for the model's API.
    #[serde(deserialize_with = "optional")]
    pub api_key_file: Option<PathBuf>,
    /// Model, for [`Kind::Claude`].
    #[serde(deserialize_with = "optional")]
    pub model: Option<String>,
    /// Base of the model's API, for [`Kind::Claude`].
    #[serde(deserialize_with = "maybe_url")]
    pub api_url: Option<Url>,
    /// Ask the program for questions in a form of their own, for [`Kind::Claude`].
    pub structured: bool,
    /// Where runs have their private folders.
    pub folder: PathBuf,
    /// Whether agents run in a sandbox.
    pub sandbox: SandboxMode,
    /// Agents at once.
    pub concurrency: usize,
    /// Longest time of one turn.
    #[serde(rename = "deadline_seconds", deserialize_with = "seconds")]
    pub deadline: Duration,
    /// Longest time without output.
    #[serde(rename = "silence_seconds", deserialize_with = "seconds")]
    pub silence: Duration,
    /// Most model turns in one go.
    pub max_turns: u32,
    /// Most that one run may cost; `None` for no limit.
    #[serde(rename = "max_cost_usd", deserialize_with = "dollars")]
    pub max_cost: Option<Micros>,
    /// Tries of one turn.
    pub tries: u32,
    /// Most characters of a prompt.
    #[serde(rename = "most_prompt_chars")]
    pub most_prompt: usize,
    /// It may ask people.
    pub ask: bool,
    /// Most rounds of questions in one run.
    pub question_rounds: u32,
    /// When people are reminded; zero for never.
    #[serde(rename = "remind_hours", deserialize_with = "hours")]
    pub remind_after: Duration,
    /// When nobody's answer is waited for any longer.
    #[serde(rename = "answer_hours", deserialize_with = "hours")]
    pub answer_within: Duration,
    /// Runs of one person in an hour; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_actor_hour: Option<u64>,
    /// Runs of one repository in 24 hours; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_repository_day: Option<u64>,
    /// Cost of one repository in 24 hours; `None` for no limit.
    #[serde(rename = "cost_per_repository_day_usd", deserialize_with = "dollars")]
    pub cost_per_repository_day: Option<Micros>,
    /// Runs in 24 hours; `None` for no limit.
    #[serde(deserialize_with = "limit")]
    pub runs_per_day: Option<u64>,
    /// Cost in 24 hours; `None` for no limit.
    #[serde(rename = "cost_per_day_usd", deserialize_with = "dollars")]
    pub cost_per_day: Option<Micros>,
    /// Folder with the operator's own instructions.
    #[serde(deserialize_with = "optional")]
    pub prompts: Option<PathBuf>,
    /// The instructions in [`Agent::prompts`], read when the configuration was loaded.
    #[serde(skip)]
    pub own: Prompts,
    /// The program, an absolute path: what [`Agent::path`] names, or what was found in `PATH`. `None` for
    /// [`Kind::None`], and when nothing was found. [`super::Loaded::ready_to_serve`] says whether it can be run.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

/// Which kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// No agent.
    None,
    /// Claude Code.
    Claude,
    /// Any program that takes a prompt and prints a plan.
    Command,
}

impl Agent {
    /// What the engine has to know of it.
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
            most_prompt: self.most_prompt,
            prompts: self.own.clone(),
        }
    }

    /// Where the program is, as an absolute path; nothing is said of whether it can be run.
    pub(super) fn locate(&self, sources: &Sources) -> Option<PathBuf> {
        let name = match (self.kind, &self.path) {
            (Kind::None, _) | (Kind::Command, None) => return None,
            (Kind::Claude, None) => Path::new(CLAUDE),
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

    /// Why the program cannot be run, and the remedy.
    pub(super) fn not_runnable(&self) -> Option<String> {
        if self.kind == Kind::None {
            return None;
        }
        let name = self.path.as_deref().unwrap_or(Path::new(CLAUDE)).display();
        match (&self.program, self.kind, &self.path) {
            (None, Kind::Command, None) => {
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

    /// Things that are allowed and probably not meant. `key`: there is a key for the model's API.
    pub(super) fn odd(&self, key: bool, sources: &Sources) -> Vec<String> {
        if self.kind == Kind::None {
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
        if self.kind == Kind::Claude && !key && !self.environment.iter().any(lets_in) {
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

/// A file that may be run.
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

/// What the keys of `[agent]` must be to one another.
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

/// What the arguments must be, when they are not.
pub(super) fn wrong_argument(value: &Value) -> Option<String> {
    let good = |arg: &Value| arg.as_str().is_some_and(|arg| !arg.contains('\0'));
    let all = value.as_array().is_some_and(|args| args.iter().all(good));
    (!all).then(|| "it must be a list of texts, e.g. [\"run\", \"--quiet\"]".to_owned())
}

/// What the paths must be, when they are not.
pub(super) fn wrong_path(value: &Value) -> Option<String> {
    let good = |path: &Value| {
        path.as_str()
            .is_some_and(|path| Path::new(path).is_absolute() && !path.contains('\0'))
    };
    let all = value.as_array().is_some_and(|paths| paths.iter().all(good));
    (!all).then(|| "it must be a list of absolute paths, e.g. [\"/opt/python\"]".to_owned())
}

/// What the names of variables must be, when they are not.
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

/// The list as an error shows it: whoever wrote `NAME=VALUE` may have written a secret.
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

/// Zero stands for no limit.
fn limit<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    Ok(Some(u64::deserialize(value)?).filter(|limit| *limit > 0))
}

/// US dollars as millionths; zero, also after rounding, stands for no limit.
pub(super) fn dollars<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Micros>, D::Error> {
    let digits = format!("{:.6}", f64::deserialize(value)?).replace('.', "");
    let micros: Micros = digits.parse().map_err(serde::de::Error::custom)?;
    Ok(Some(micros).filter(|micros| *micros > 0))
}

/// The empty text stands for "not set".
fn maybe_url<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Url>, D::Error> {
    let text: Option<String> = optional(value)?;
    text.map(|text| Url::parse(&text).map_err(serde::de::Error::custom))
        .transpose()
}
