//! Claude Code, called in such a way that nothing in a conversation or a repository has power over
//! it.
//!
//! The effects of the flags were observed with client 2.1.329; `tests/it/peer_claude.rs` repeats
//! the observation with the real client.
//!
//! | threat | countermeasure |
//! |---|---|
//! | hooks, MCP servers, key helpers, other API addresses in settings in the working directory | `--restricted`, `--setting-sources user`, `--strict-mcp-config` |
//! | tools that write, execute or fetch | `--tools` lists the only tools; none by default |
//! | tools that write elsewhere: the client's home, directories of other parts or runs | `--restricted` confines them to the working directory, and the sandbox, if there is one, to the directories of this part |
//! | settings that a model writes for the next turn (`.claude`, `.mcp.json`, `CLAUDE.md`) | the client refuses to write or does not read them; the working directory is emptied |
//! | prompts on the terminal that nobody answers | `--permission-prompts none` |
//! | a prompt that is a command (`/`, `!`) or an option (`-`) | standard input, with a fixed first line; `--disable-slash-commands` |
//! | a prompt that attaches files (`@path`), which needs no tool and no permission | `--restricted` confines it to the working directory, which is empty, and to the project if one may be read; the prompt breaks up `@` |
//! | a readable project ([`ClaudeSettings::project`], [`Task::repository`]) with settings, hooks, MCP servers, `CLAUDE.md`, skills | the flags above apply to `--add-dir` too, and the client reads no `CLAUDE.md` there |
//! | writing into that project | only writes into the working directory (`Edit(./**)`) are allowed, with or without a sandbox |
//! | a long answer mistaken for silence, because it is printed only when complete, minutes later | `--include-partial-messages` prints its pieces, which are ignored |
//! | a resumed session that keeps the instructions of its first turn | `--system-prompt-snapshot off`; every flag is repeated |
//! | instructions longer than an argument may be (131,071 bytes on Linux), or read by others in the process list | a private file, `--system-prompt-file` |
//!
//! The instructions replace the client's own, which teach it to change files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde_json::json;

use super::{Client, OutputFormat, Program, RunDirs};
use crate::engine::agent::{About, Task};
use crate::engine::model::agent::{Micros, Session};

/// First line of every input. It starts with none of `/`, `!`, `#`, `@` and `-`, so the input is
/// not taken for a command.
const FIRST_LINE: &str = "What follows is what you are asked for.\n\n";
/// Name of the file with the instructions, in the scratch directory.
pub(super) const SYSTEM_FILE: &str = "system.md";

/// Tools of a turn that produces files. They access the run's own directories only: the client
/// confines them to its working directory, and the sandbox enforces it.
const FILE_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "Write", "Edit"];

/// Tools of a turn that reads a project.
const READ_TOOLS: [&str; 3] = ["Read", "Grep", "Glob"];

/// Tools that change files.
const WRITE_TOOLS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// How Claude Code is called.
#[derive(Debug, Clone)]
pub struct ClaudeSettings {
    /// The program, an absolute path.
    pub path: PathBuf,
    /// Key for the model's API. Without one, `environment` has to provide access.
    pub key: Option<SecretString>,
    /// Base URL of the model's API; `None` for Anthropic's.
    pub api_url: Option<String>,
    /// Model; `None` for the client's default.
    pub model: Option<String>,
    /// The client's built-in tools that may be used without permission, such as `Read`, `Grep` and
    /// `Glob`. All others are disabled. None are needed as long as the working directory is empty.
    pub tools: Vec<String>,
    /// Whether to request structured output according to [`schema`].
    pub structured: bool,
    /// How often the client retries a request after a transient error before the turn fails.
    pub retries: u32,
    /// Variables to pass on from this process's environment, such as proxies and other credentials.
    pub environment: Vec<(String, SecretString)>,
    /// Files and directories that it reads in addition to its installation and the system's
    /// libraries.
    pub reads: Vec<PathBuf>,
    /// Absolute path of a project that its tools may read but not write to.
    pub project: Option<PathBuf>,
}

impl Default for ClaudeSettings {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            key: None,
            api_url: None,
            model: None,
            tools: Vec::new(),
            structured: false,
            retries: 2,
            environment: Vec::new(),
            reads: Vec::new(),
            project: None,
        }
    }
}

/// The client for Claude Code.
#[derive(Debug, Clone)]
pub struct Claude(pub ClaudeSettings);

impl Client for Claude {
    fn about(&self) -> About {
        About {
            name: "Claude Code".to_owned(),
            resumes: true,
            writes: true,
        }
    }

    fn executable(&self) -> &Path {
        &self.0.path
    }

    fn program(&self, task: &Task, dirs: &RunDirs) -> Program {
        let system = dirs.scratch.join(SYSTEM_FILE);
        Program {
            path: self.0.path.clone(),
            args: arguments(&self.0, task, &system),
            environment: environment(&self.0),
            input: format!("{FIRST_LINE}{}", task.prompt).into_bytes(),
            files: vec![(system, task.system.clone().into_bytes())],
            output: OutputFormat::StreamJson,
        }
    }

    fn reads(&self) -> Vec<PathBuf> {
        let project = self.0.project.iter();
        self.0.reads.iter().chain(project).cloned().collect()
    }
}

/// Returns all arguments, for resumed sessions too: the client does not remember them.
fn arguments(settings: &ClaudeSettings, task: &Task, system: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--restricted",
        "--strict-mcp-config",
        "--setting-sources",
        "user",
        "--permission-prompts",
        "none",
        "--disable-slash-commands",
        "--system-prompt-snapshot",
        "off",
        "--system-prompt-file",
    ]
    .map(OsString::from)
    .into();
    args.push(system.into());
    if let Some(project) = project(settings, task) {
        args.extend(["--add-dir".into(), project.into()]);
    }
    let mut option = |name: &str, value: String| args.extend([name.into(), value.into()]);
    let tools = tools(settings, task);
    // `--tools` enables tools, and `--allowedTools` permits their use. With an empty list, the
    // latter would take the next argument for a tool.
    option("--tools", tools.join(","));
    if !tools.is_empty() {
        let confined = project(settings, task).is_some();
        option("--allowedTools", allowed(tools, confined).join(","));
    }
    option("--max-turns", task.limits.turns.to_string());
    if let Some(cost) = task.limits.cost {
        option("--max-budget-usd", dollars(cost));
    }
    if let Some(model) = task.model.as_ref().or(settings.model.as_ref()) {
        option("--model", model.clone());
    }
    // The schema describes answers of the plan extractor, not files.
    if settings.structured && task.wanted.is_empty() {
        option("--json-schema", schema().to_string());
    }
    match &task.session {
        Session::New(id) => option("--session-id", id.clone()),
        Session::Resume(id) => option("--resume", id.clone()),
    }
    args
}

fn environment(settings: &ClaudeSettings) -> Vec<(String, SecretString)> {
    let retries = settings.retries.to_string();
    let mut variables = vec![
        ("DISABLE_TELEMETRY", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("DISABLE_ERROR_REPORTING", "1".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("CLAUDE_CODE_MAX_RETRIES", retries.into()),
    ];
    if let Some(url) = &settings.api_url {
        variables.push(("ANTHROPIC_BASE_URL", url.clone().into()));
    }
    if let Some(key) = &settings.key {
        variables.push(("ANTHROPIC_API_KEY", key.clone()));
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(settings.environment.iter().cloned())
        .collect()
}

/// Returns the directory that the tools may read but not write to: the task's copy of the
/// repository, or else the project of the settings.
fn project<'a>(settings: &'a ClaudeSettings, task: &'a Task) -> Option<&'a Path> {
    let project = task.repository.as_ref().or(settings.project.as_ref());
    project.map(PathBuf::as_path)
}

/// Returns the tools of a turn: the operator's, those for files if files are wanted, and those for
/// reading if there is a copy of the repository.
fn tools(settings: &ClaudeSettings, task: &Task) -> Vec<String> {
    let mut tools = settings.tools.clone();
    let needed = match (task.wanted.is_empty(), &task.repository) {
        (false, _) => &FILE_TOOLS[..],
        (true, Some(_)) => &READ_TOOLS[..],
        (true, None) => &[],
    };
    for tool in needed {
        if !tools.iter().any(|own| own == tool) {
            tools.push((*tool).to_owned());
        }
    }
    tools
}

/// Returns the rules for tools that need no permission. `confined`: tools that write are confined
/// to the working directory; anything else would need a permission that nobody gives.
fn allowed(mut tools: Vec<String>, confined: bool) -> Vec<String> {
    if confined {
        let before = tools.len();
        tools.retain(|tool| !WRITE_TOOLS.contains(&tool.as_str()));
        if tools.len() < before {
            // This rule applies to every tool that changes files.
            tools.push("Edit(./**)".to_owned());
        }
    }
    tools
}

/// Formats an amount in US dollars with six decimal places.
fn dollars(cost: Micros) -> String {
    format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000)
}

/// Returns the JSON Schema of structured output: one of `plan`, `questions` and `error`. The client
/// offers it to the model as a tool, so there is no structured output if the model does not use it.
pub fn schema() -> serde_json::Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "plan": { "type": "string", "description": "The whole plan document, Markdown, in the form of the instructions" },
            "questions": {
                "type": "array",
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["question"],
                    "properties": {
                        "question": text,
                        "header": text,
                        "type": { "enum": ["choice", "text"] },
                        "multiSelect": { "type": "boolean" },
                        "options": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "additionalProperties": false,
                                "required": ["label"],
                                "properties": { "label": text, "description": text },
                            },
                        },
                    },
                },
            },
            "error": { "type": "string", "description": "The whole error document, Markdown, in the form of the instructions" },
        },
    })
}

#[cfg(test)]
mod tests;
