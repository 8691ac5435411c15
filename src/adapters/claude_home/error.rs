//! Why no plan was found in a Claude home.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::Session;
use crate::formats::plan::title::title_of;
use crate::formats::text::truncate_chars;

/// Characters of a title in a list.
const LISTED_TITLE: usize = 60;

/// Why no plan was found. Every text says where was looked and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The id cannot be that of a session.
    #[error(
        "`{id}` is not a session id: ids are made of letters, digits, `.`, `_` and `-`; `planwright session list` shows \
         those there are"
    )]
    InvalidId {
        /// What was asked for.
        id: String,
    },
    /// Several sessions have ids that begin so.
    #[error("{} sessions have ids that begin with {start}; write more of the one that is meant: {}", ids.len(), some(ids))]
    Ambiguous {
        /// What was asked for.
        start: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// Claude Code has not been used there.
    #[error(
        "no Claude Code sessions of {} or a folder above it in {}; name the folder the session ran in with --project, \
         or the Claude home with --claude-home",
        directory.display(), projects.display()
    )]
    NoProject {
        /// Where the sessions should have run.
        directory: PathBuf,
        /// Where was looked.
        projects: PathBuf,
    },
    /// No log has entries of the session.
    #[error(
        "no log of session {id} in {}; `planwright session list` shows the sessions there are, and --project names \
         another folder",
        places(project)
    )]
    NoSession {
        /// What was asked for.
        id: String,
        /// Where was looked.
        project: Vec<PathBuf>,
    },
    /// The session has not made a plan.
    #[error(
        "session {id} has no plan in {} ({lines} lines, {skipped} of them not readable), and no plan file; make one in \
         plan mode, or ask for another session with --session-id",
        places(logs)
    )]
    NoPlanInSession {
        /// The session.
        id: String,
        /// The logs that were read.
        logs: Vec<PathBuf>,
        /// Their lines.
        lines: u64,
        /// Lines that were skipped.
        skipped: u64,
    },
    /// No session of the project has made a plan.
    #[error(
        "none of the {sessions} sessions in {} has a plan; make one in plan mode, or name another folder with --project",
        places(project)
    )]
    NoPlanInProject {
        /// How many sessions there are.
        sessions: usize,
        /// Where was looked.
        project: Vec<PathBuf>,
    },
    /// There is no plan file either.
    #[error("no plan in the sessions of {}, and no plan file in {}", directory.display(), plans.display())]
    NoPlanAtAll {
        /// Where the sessions should have run.
        directory: PathBuf,
        /// The folder of plan files.
        plans: PathBuf,
    },
    /// Several sessions have plans, and none was asked for.
    #[error("{} sessions have a plan; say which with --session-id, or take the newest with --newest:\n{}", .0.len(), lines(.0))]
    Several(Vec<Listed>),
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A plan file is not text.
    #[error("the plan file {} is not UTF-8 text; save it as UTF-8", path.display())]
    NotText {
        /// Which.
        path: PathBuf,
    },
    /// A plan file is no plan.
    #[error("the plan file {} has {bytes} bytes; a plan has at most {limit}", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// [`crate::formats::session::plan::MAX_PLAN_BYTES`].
        limit: usize,
    },
}

impl FindError {
    /// Whether the question has to be put differently, rather than that there is no answer.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::InvalidId { .. } | Self::Ambiguous { .. } | Self::Several(_)
        )
    }
}

/// A session in a list: its id, when it was last active, what its plan is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Session id.
    pub id: String,
    /// Timestamp of the last entry.
    pub last: Option<String>,
    /// Title of the plan; `None` when it has none. Outer `None`: no plan.
    pub title: Option<Option<String>>,
}

impl From<&Session> for Listed {
    fn from(session: &Session) -> Self {
        let title = session.plan.as_ref().map(|plan| title_of(&plan.text));
        Self {
            id: session.id.clone(),
            last: session.last.clone(),
            title,
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.last.as_deref().unwrap_or("(no time)");
        let title = match &self.title {
            None => "(no plan)".to_owned(),
            Some(None) => "(plan without a title)".to_owned(),
            Some(Some(title)) => truncate_chars(title, LISTED_TITLE),
        };
        write!(out, "{:<36}  {last:<24}  {title}", self.id)
    }
}

fn lines(sessions: &[Listed]) -> String {
    let lines: Vec<_> = sessions
        .iter()
        .map(|session| format!("  {session}"))
        .collect();
    lines.join("\n")
}

/// The first few ids.
fn some(ids: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = ids
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match ids.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn places(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(" and ")
}
