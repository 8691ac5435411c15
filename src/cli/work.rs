//! Code shared by `plan SPEC` and `research`: the project and its settings, the agent, saved state,
//! questions, progress output and cancellation.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::failure::print;
use super::signals::stop_requested;
use super::{Failure, terminal};
use crate::adapters::project_folder::ProjectFolder;
use crate::adapters::working_copy::knowledge;
use crate::config::project::{CONFIG, OLD_CONFIG, ProjectConfig, Source, Text, load};
use crate::engine::effects::StepError;
use crate::engine::knowledge::{Knowledge, Limits};
use crate::engine::model::agent::Micros;
use crate::engine::model::failure::Failure as Decided;
use crate::engine::stop::StopFlag;

pub(super) mod agent;
pub(super) mod answers;
pub(super) mod asking;
pub(super) mod progress;
pub(super) mod run_state;
pub(super) mod topics;

/// Help text about the agent, used by both commands.
pub(super) const AGENT: &str = "\
Agent:
  The one that .planwright/config.toml names, else Claude Code. Its API key is
  PLANWRIGHT_AGENT_API_KEY, else ANTHROPIC_API_KEY, else
  CLAUDE_CODE_OAUTH_TOKEN; ANTHROPIC_BASE_URL is passed on. The agent can read
  the whole project, including .env files and keys, and can write only to a
  private folder below $XDG_STATE_HOME/planwright (default ~/.local/state).
  Claude Code ignores the project's hooks, MCP servers and CLAUDE.md. Settings
  that start other programs or pass on variables require --trust.

Interruption:
  Ctrl-C stops the agents. Progress is kept in .planwright/runs; run the same
  command again to continue.";

/// Help text about exit codes, used by both commands.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    the command failed
  2    the arguments, the settings or the specification are wrong; nothing was
       done
  3    questions are waiting for answers (planwright plan)
  130  interrupted; run the same command again to continue";

/// Which project, and how far its settings are trusted.
#[derive(Debug, Args)]
pub(super) struct Where {
    /// The project's folder; the agent can read all of it [default: the working directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Apply project settings that start programs or pass on variables
    #[arg(long)]
    trust: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A project that agents may work on.
pub(super) struct Project {
    /// The path of the project with symbolic links resolved.
    pub(super) root: PathBuf,
    /// `root` as text, for prompts.
    pub(super) shown: String,
    /// The project's directory.
    pub(super) folder: ProjectFolder,
    /// The project's settings.
    pub(super) config: ProjectConfig,
}

impl Where {
    /// Opens the project and reads its settings. Notes about the settings go to standard error.
    ///
    /// # Errors
    /// Returns an error if the directory or the settings cannot be used, or if the settings need
    /// `--trust` and it was not given.
    pub(super) fn project(&self) -> Result<Project, Failure> {
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        let folder = ProjectFolder::open(root)?;
        let root = root.canonicalize().map_err(|error| {
            Failure::Usage(format!(
                "the folder {} cannot be opened: {error}; name another with --root",
                root.display()
            ))
        })?;
        let shown = root
            .to_str()
            .filter(|path| !path.chars().any(char::is_control));
        let Some(shown) = shown.map(ToOwned::to_owned) else {
            return Err(Failure::Usage(format!(
                "the path of the project {:?} is not UTF-8; rename the folder",
                root.display()
            )));
        };
        let loaded = load(&root, &|variable| std::env::var(variable).ok())?;
        let asks = loaded.config.needs_trust();
        if !asks.is_empty() && !self.trust {
            let file = match loaded.source {
                Source::Spektacular => OLD_CONFIG,
                Source::Planwright | Source::Default => CONFIG,
            };
            return Err(Failure::Usage(format!(
                "{file} contains settings that could start programs, pass on your environment \
                 variables or raise costs: {}; check these keys, then add --trust",
                asks.join(", ")
            )));
        }
        for note in &loaded.notes {
            note_on_stderr(note);
        }
        Ok(Project {
            root,
            shown,
            folder,
            config: loaded.config,
        })
    }

    /// Prints the result of the command. With `--json`, a failure is printed as JSON, too. `kept`
    /// is whether the state was saved, so that running the same command again resumes it.
    pub(super) fn finish(&self, done: Result<Done, Failure>, kept: bool) -> Result<(), Failure> {
        match done {
            Ok(done) if self.json => print(&terminal::json(&format!("{:#}\n", done.json))),
            Ok(done) => print(&terminal::lines(&done.text)),
            Err(failure) => {
                if self.json && !matches!(failure, Failure::Waiting(_)) {
                    let shown = serde_json::json!({
                        "success": false,
                        "error": failure.to_string(),
                        "resumable": kept,
                    });
                    print(&terminal::json(&format!("{shown:#}\n")))?;
                }
                Err(failure)
            }
        }
    }
}

/// The output of a successful command.
pub(super) struct Done {
    /// Paths of the written files, one per line.
    pub(super) text: String,
    /// The result as JSON.
    pub(super) json: serde_json::Value,
}

impl Project {
    /// Returns the path of `file` relative to the project, or `None` if it is not in the project.
    /// Symbolic links in the last component are not resolved.
    pub(super) fn within(&self, file: &Path) -> Option<String> {
        let folder = file.parent()?.canonicalize().ok();
        let placed = folder.and_then(|folder| Some(folder.join(file.file_name()?)));
        // Compares the path as given, without resolving symbolic links.
        let named = file.strip_prefix(&self.root).ok();
        let real = placed
            .as_deref()
            .and_then(|file| file.strip_prefix(&self.root).ok());
        let path = named.or(real)?;
        let plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        plain
            .then(|| path.to_str().map(ToOwned::to_owned))
            .flatten()
    }

    /// Returns the path to show to the user: relative if the project is the working directory,
    /// otherwise absolute.
    pub(super) fn seen_from_here(&self, path: &str) -> PathBuf {
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        if here.is_ok_and(|here| here == self.root) {
            PathBuf::from(path)
        } else {
            self.root.join(path)
        }
    }

    /// Reads the documents that the project keeps for agents. Prints a note if some were left out.
    ///
    /// # Errors
    /// Returns an error if the project's directory cannot be read.
    pub(super) fn knowledge(&self) -> Result<Knowledge, Failure> {
        let folders = self.config.output.knowledge.iter().map(Text::as_str);
        let folders: Vec<&str> = folders
            .map(|folder| folder.trim_start_matches("./").trim_end_matches('/'))
            .collect();
        let found = knowledge(&self.root, &folders, Limits::default());
        let found = found.map_err(|error| Failure::failed(error.to_string()))?;
        if let Some(note) = crate::engine::messages::knowledge::left_out(&found.left_out) {
            note_on_stderr(&note);
        }
        Ok(found)
    }

    /// Returns the limits of one turn, without a cost limit.
    pub(super) fn limits(&self) -> crate::engine::model::agent::Limits {
        let limits = &self.config.limits;
        crate::engine::model::agent::Limits {
            deadline: limits.deadline,
            silence: limits.silence,
            turns: limits.max_turns,
            cost: None,
        }
    }
}

/// Prints a note on standard error. Control characters are replaced, because parts of the note may
/// come from other people.
pub(super) fn note_on_stderr(note: &str) {
    terminal::print_stderr(&format!("note: {}\n", terminal::lines(note)));
}

/// Returns a flag that is set on SIGINT or SIGTERM. Must be called inside a runtime.
pub(super) fn stop_on_signal() -> Arc<StopFlag> {
    let stop = Arc::new(StopFlag::default());
    let flag = Arc::clone(&stop);
    let stopped = stop_requested();
    tokio::spawn(async move {
        stopped.await;
        flag.set("a signal");
    });
    stop
}

/// Opens a directory named on the command line, and creates it if it is missing.
///
/// # Errors
/// Returns an error if the directory cannot be created or opened.
pub(super) fn open_or_create(folder: &Path) -> Result<ProjectFolder, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!(
            "cannot create {}: {error}; choose another folder with --output",
            folder.display()
        ))
    })?;
    Ok(ProjectFolder::open(folder)?)
}

/// Converts millionths of a dollar to dollars, as a JSON number.
pub(super) fn dollars(micros: Micros) -> serde_json::Value {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let number = text.parse::<f64>();
    number.map_or(serde_json::Value::Null, Into::into)
}

/// Returns the failure for a cancelled command.
pub(super) fn stopped() -> Failure {
    Failure::Stopped("interrupted; run the same command again to continue".to_owned())
}

/// Converts a [`StepError`] of the engine to a failure. `remedy` replaces the engine's remedy,
/// which is written for comments on GitHub.
pub(super) fn failed(stop: StepError, remedy: &str) -> Failure {
    match stop {
        StepError::Cancelled(_) => stopped(),
        StepError::Failed(Decided {
            message, details, ..
        }) => {
            let mut text = message.trim_end_matches('.').to_owned();
            for detail in details {
                text.push_str(&format!("; {}", detail.trim_end_matches('.')));
            }
            Failure::Failed(format!("{text}; {remedy}"))
        }
        other => Failure::Failed(format!("{other}; {remedy}")),
    }
}
