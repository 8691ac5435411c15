//! Claude Code: how it is called so that nothing in a conversation or in a repository has power over it.
//!
//! What each flag does was measured on client 2.1.329; `tests/it/peer_claude.rs` shows it again on the real client.
//!
//! | threat | answer |
//! |---|---|
//! | hooks, MCP servers, key helpers, other API addresses in the work folder's settings | `--restricted`, `--setting-sources user`, `--strict-mcp-config` |
//! | tools that write, run or fetch | `--tools` names the only ones; none by default |
//! | tools that write elsewhere: the client's home, another part's or run's folders | `--restricted` keeps them to the work folder, and the sandbox, where there is one, to this part's folders |
//! | settings that a model writes for the next turn (`.claude`, `.mcp.json`, `CLAUDE.md`) | the client refuses or does not read them; the work folder is emptied |
//! | questions on the terminal that nobody answers | `--permission-prompts none` |
//! | a prompt that is a command (`/`, `!`) or an option (`-`) | standard input, and a line of ours before it; `--disable-slash-commands` |
//! | a prompt that attaches files (`@path`): needs no tool and no permission | `--restricted` keeps to the work folder, which is empty, and to the project where one may be read; the prompt breaks `@` |
//! | a project that may be read ([`ClaudeSettings::project`]): its settings, hooks, MCP servers, `CLAUDE.md`, skills | the flags above hold for `--add-dir` too, and the client reads no `CLAUDE.md` there |
//! | writing into that project | allowed are only writes into the work folder (`Edit(./**)`), whatever the sandbox does |
//! | a long answer taken for silence: it is printed when it is whole, minutes later | `--include-partial-messages`: its pieces are printed, too, and not read |
//! | a session that goes on with instructions of its first turn | `--system-prompt-snapshot off`; every flag is repeated |
//! | instructions longer than an argument may be (131,071 bytes on Linux), or read by others in the list of processes | a private file, `--system-prompt-file` |
//!
//! The instructions take the place of the client's own ones: those teach it to change files, which it must not do here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde_json::json;

use super::{Client, OutputFormat, Program, RunDirs};
use crate::engine::agent::{About, Micros, Session, Task};

/// Put before every prompt: a line that begins with anything else than `/`, `!`, `#`, `@` or `-` is no command.
const FIRST_LINE: &str = "What follows is what you are asked for.\n\n";
/// File with the instructions, in the scratch folder.
pub(super) const SYSTEM_FILE: &str = "system.md";

/// Tools of a turn that files are asked for in. They reach the run's own folders: the client keeps to its working
/// directory, and the sandbox sees to it.
const FILES: [&str; 5] = ["Read", "Grep", "Glob", "Write", "Edit"];

/// Tools that change files.
const WRITE: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// How Claude Code is called.
#[derive(Debug, Clone)]
pub struct ClaudeSettings {
    /// The program, an absolute path.
    pub path: PathBuf,
    /// Key of the model's API. Without one the client has to find its way through `environment`.
    pub key: Option<SecretString>,
    /// Root of the model's API in place of Anthropic's: a gateway.
    pub api_url: Option<String>,
    /// Model; `None` for the client's own choice.
    pub model: Option<String>,
    /// The client's built-in tools that may be used without asking: `Read`, `Grep`, `Glob`. No others exist for it. None
    /// are needed as long as the work folder is empty.
    pub tools: Vec<String>,
    /// Asks for the answer as structured output, see [`schema`].
    pub structured: bool,
    /// How often the client tries a request again that failed for a passing reason, before the turn fails.
    pub retries: u32,
    /// Variables of this process's environment that it may see, with their values: proxies, other ways to a model.
    pub environment: Vec<(String, SecretString)>,
    /// Files and folders it reads besides its own folder and the system's libraries.
    pub reads: Vec<PathBuf>,
    /// Folder of a project that its tools read and do not write to, an absolute path.
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

/// The client for it.
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

    fn program(&self, task: &Task, rooms: &RunDirs) -> Program {
        let system = rooms.scratch.join(SYSTEM_FILE);
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

/// The same for a new session and for one that goes on: the client remembers no flag.
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
    if let Some(project) = &settings.project {
        args.extend(["--add-dir".into(), project.into()]);
    }
    let mut option = |name: &str, value: String| args.extend([name.into(), value.into()]);
    let tools = tools(settings, task);
    // `--tools` says which ones exist and `--allowedTools` which ones need no permission. An empty list of the latter
    // would take the next argument for a tool.
    option("--tools", tools.join(","));
    if !tools.is_empty() {
        option("--allowedTools", allowed(settings, tools).join(","));
    }
    option("--max-turns", task.limits.turns.to_string());
    if let Some(cost) = task.limits.cost {
        option("--max-budget-usd", dollars(cost));
    }
    if let Some(model) = task.model.as_ref().or(settings.model.as_ref()) {
        option("--model", model.clone());
    }
    // Its form is that of the plan extractor; files have none.
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
    let fixed = [
        "DISABLE_TELEMETRY",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ];
    let mut all: Vec<_> = fixed
        .map(|name| (name.to_owned(), SecretString::from("1")))
        .into();
    all.push((
        "CLAUDE_CODE_MAX_RETRIES".to_owned(),
        settings.retries.to_string().into(),
    ));
    if let Some(url) = &settings.api_url {
        all.push(("ANTHROPIC_BASE_URL".to_owned(), url.clone().into()));
    }
    if let Some(key) = &settings.key {
        all.push(("ANTHROPIC_API_KEY".to_owned(), key.clone()));
    }
    all.extend(settings.environment.iter().cloned());
    all
}

/// The tools of a turn: the operator's, and where files are asked for those that read and write.
fn tools(settings: &ClaudeSettings, task: &Task) -> Vec<String> {
    let mut tools = settings.tools.clone();
    if !task.wanted.is_empty() {
        for tool in FILES {
            if !tools.iter().any(|own| own == tool) {
                tools.push(tool.to_owned());
            }
        }
    }
    tools
}

/// Tools that need no permission. Beside a project, those that write are held to the work folder: what the client does not
/// allow it would ask for, and nobody answers.
fn allowed(settings: &ClaudeSettings, mut tools: Vec<String>) -> Vec<String> {
    if settings.project.is_some() {
        let before = tools.len();
        tools.retain(|tool| !WRITE.contains(&tool.as_str()));
        if tools.len() < before {
            // The rule is for every tool that changes files.
            tools.push("Edit(./**)".to_owned());
        }
    }
    tools
}

/// US dollars with six decimal places.
fn dollars(cost: Micros) -> String {
    format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000)
}

/// JSON Schema of structured output: one of `plan`, `questions` and `error`. The client gives it to the model as a tool,
/// so nothing is there when the model does not use it.
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
