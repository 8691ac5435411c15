//! `planwright session`: prints the plan of a local Claude Code session, or its log as a
//! transcript.

mod transcript;

use std::borrow::Cow;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::Failure;
use super::failure::print;
use super::terminal;
use crate::adapters::claude_home::{
    ClaudeHome, CurrentSession, FindError, FoundPlan, ListedSession, PlanChoice, Session as Log,
};
use crate::formats::plan::title::title_of;

const EXAMPLES: &str = "\
Examples:
  planwright session plan                         the plan of the session that
                                                  runs here, or of the only one
                                                  with a plan
  planwright session plan --session-id 3f2a… > plan.md
  planwright session plan --json                  with title, source, session,
                                                  file, line and time
  planwright session list                         the sessions of this folder,
                                                  and the titles of their
                                                  plans
  planwright session transcript 3f2a              the log of a session as a
                                                  short XML transcript for an
                                                  agent";

const PLAN_HELP: &str = "\
The session is --session-id; else the one that SESSION_CONTEXT (session_id=…),
CLAUDE_SESSION_ID or the file .erk/scratch/current-session-id names; else the
only session of the folder that has a plan. If several have one, the command
fails and lists them. --newest takes the newest plan of the folder, or the
newest plan file if no session has a plan.

The plan is the plan file that the session named last (plans/NAME.md), else the
latest plan in its log, else the same two from its agents. A rejected plan is
still the latest; --json reports the rejection.

Examples:
  planwright session plan > plan.md
  planwright session plan --session-id 3f2a… --json
  planwright session plan --project ~/code/app --newest

Exit codes:
  0  found; the plan is on standard output, byte for byte
  1  none found, or a file cannot be read
  2  the arguments are wrong, or several sessions have a plan";

const LIST_HELP: &str = "\
Examples:
  planwright session list
  planwright session list --project ~/code/app --json

Exit codes:
  0  listed, the latest first
  1  no sessions found, or a file cannot be read
  2  the arguments are wrong";

/// Find the plan of a Claude Code session, or compress its log
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Session {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(Plan),
    List(List),
    Transcript(transcript::Transcript),
}

/// Print the plan of a session exactly as it is
#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
struct Plan {
    #[command(flatten)]
    which: Which,
    /// Print plan, title, source, session_id, file, line, timestamp and more as JSON
    #[arg(long)]
    json: bool,
}

/// List the sessions of a folder with the titles of their plans
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
struct List {
    #[command(flatten)]
    place: SessionFolders,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// Whose plan.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Id of the session or a prefix of it; `agent-…` for an agent's log
    #[arg(long, value_name = "ID", conflicts_with = "newest")]
    session_id: Option<String>,
    /// Take the newest plan of all sessions; with concurrent sessions it may belong to another one
    #[arg(long)]
    newest: bool,
    #[command(flatten)]
    place: SessionFolders,
}

/// Where to look.
#[derive(Debug, Args)]
pub(super) struct SessionFolders {
    /// Claude Code's folder [default: ~/.claude]
    #[arg(long, value_name = "DIR", env = "CLAUDE_CONFIG_DIR")]
    claude_home: Option<PathBuf>,
    /// The folder the session ran in, or one below it
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
}

impl SessionFolders {
    /// Returns the path of the log of the session whose id begins with `id`.
    pub(super) fn log_of(&self, id: &str) -> Result<PathBuf, Failure> {
        self.home()?
            .log_path(&self.project, id)
            .map_err(|error| failure(error, ""))
    }

    fn home(&self) -> Result<ClaudeHome, Failure> {
        let default = || std::env::home_dir().map(|home| home.join(".claude"));
        let home = self.claude_home.clone().or_else(default).ok_or_else(|| {
            Failure::Usage(
                "there is no home directory; name the folder of the sessions with --claude-home"
                    .to_owned(),
            )
        })?;
        Ok(ClaudeHome::at(home))
    }
}

impl Session {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Plan(plan) => plan.run(),
            Command::List(list) => list.run(),
            Command::Transcript(transcript) => transcript.run(),
        }
    }
}

impl Plan {
    fn run(self) -> Result<(), Failure> {
        let found = self.which.find()?;
        if self.json {
            return print(&format!("{:#}\n", found_json(&found)));
        }
        print(&shown(&found.text, stdout().is_terminal()))
    }
}

impl Which {
    /// Returns the plan. Notes about it are printed on standard error.
    pub(super) fn find(&self) -> Result<FoundPlan, Failure> {
        let home = self.place.home()?;
        let project = &self.place.project;
        let current = match (&self.session_id, self.newest) {
            (None, false) => CurrentSession::find(|name| std::env::var(name).ok(), project),
            _ => None,
        };
        let choice = match (&self.session_id, &current) {
            (Some(id), _) => PlanChoice::Session(id.clone()),
            (None, Some(current)) => PlanChoice::Session(current.id.clone()),
            (None, None) if self.newest => PlanChoice::Newest,
            (None, None) => PlanChoice::Only,
        };
        let found = home.find(project, &choice).map_err(|error| {
            let origin = current.map(|current| format!(" (the id is from {})", current.origin));
            failure(error, &origin.unwrap_or_default())
        })?;
        remarks(&found);
        Ok(found)
    }

    /// Returns the directory in which to look for sessions.
    pub(super) fn project(&self) -> &Path {
        &self.place.project
    }
}

impl List {
    fn run(self) -> Result<(), Failure> {
        let home = self.place.home()?;
        let found = home
            .project(&self.place.project)
            .and_then(|project| home.sessions(&project));
        let sessions = found.map_err(|error| failure(error, ""))?;
        let text = if self.json {
            let all: Vec<_> = sessions.iter().map(session_json).collect();
            format!("{:#}\n", json!(all))
        } else {
            sessions
                .iter()
                .map(|session| format!("{}\n", clean(ListedSession::from(session))))
                .collect::<Vec<_>>()
                .concat()
        };
        print(&text)
    }
}

/// Returns the plan byte for byte, or with control characters replaced if the output is a terminal.
fn shown(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal {
        terminal::lines(text).into()
    } else {
        text.into()
    }
}

/// Makes the texts of a session safe to print on one line.
fn clean(session: ListedSession) -> ListedSession {
    let one_line = |text: String| terminal::one_line(&text);
    ListedSession {
        id: one_line(session.id),
        last: session.last.map(one_line),
        title: session.title.map(|title| title.map(one_line)),
    }
}

fn failure(error: FindError, origin: &str) -> Failure {
    let error = match error {
        FindError::Several(sessions) => {
            FindError::Several(sessions.into_iter().map(clean).collect())
        }
        other => other,
    };
    let text = format!("{error}{origin}");
    if error.is_usage() {
        Failure::Usage(text)
    } else {
        Failure::Failed(text)
    }
}

/// Prints notes about the plan on standard error.
fn remarks(found: &FoundPlan) {
    if let Some(folder) = &found.other_project {
        let folder = terminal::one_line(&folder.display().to_string());
        eprintln!("note: this session belongs to another project: {folder}");
    }
    if found.skipped > 0 {
        eprintln!(
            "note: lines of the session's logs that cannot be read and were skipped: {}",
            found.skipped
        );
    }
    if found.stale_edits > 0 {
        eprintln!(
            "note: the file of the plan is gone, and its text may be older than it was: edits that could not be applied: {}",
            found.stale_edits
        );
    }
    if found.approved == Some(false) {
        eprintln!("note: this plan was not approved in the session");
    }
}

fn found_json(found: &FoundPlan) -> serde_json::Value {
    json!({
        "plan": found.text, "title": title_of(&found.text), "source": found.location.name(),
        "session_id": found.session, "cwd": found.cwd, "other_project": found.other_project.is_some(), "file": found.file, "line": found.line, "timestamp": found.timestamp,
        "approved": found.approved, "stale_edits": found.stale_edits, "skipped_lines": found.skipped,
    })
}

fn session_json(session: &Log) -> serde_json::Value {
    let plan = session.plan.as_ref().map(|plan| {
        json!({ "title": title_of(&plan.text), "source": plan.location.name(), "timestamp": plan.timestamp })
    });
    json!({
        "session_id": session.id, "last_timestamp": session.last, "plan": plan, "logs": session.logs,
        "skipped_lines": session.skipped,
    })
}

#[cfg(test)]
mod tests;
