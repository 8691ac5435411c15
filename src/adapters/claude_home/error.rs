//! Errors of finding a plan in a Claude home.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::Session;
use crate::formats::plan::title::title_of;
use crate::formats::text::truncate_chars;

/// Maximum length of a title in a list, in characters.
const MAX_TITLE_CHARS: usize = 60;

/// Why no plan was found. The messages name the places searched and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The text cannot be a session id.
    #[error(
        "`{id}` is not a session id: ids are made of letters, digits, `.`, `_` and `-`; \
         `planwright session list` lists them"
    )]
    InvalidId {
        /// The id given.
        id: String,
    },
    /// Several ids start with the text given.
    #[error("{} sessions have ids that begin with {start}; give more characters: {}", ids.len(), first_ids(ids))]
    Ambiguous {
        /// The text given.
        start: String,
        /// The ids.
        ids: Vec<String>,
    },
    /// The directory and those above it have no sessions.
    #[error(
        "no Claude Code sessions of {} or a folder above it in {}; name the folder the session ran in with --project, \
         or the Claude home with --claude-home",
        directory.display(), projects.display()
    )]
    NoProject {
        /// The working directory.
        directory: PathBuf,
        /// The folder searched.
        projects: PathBuf,
    },
    /// No log contains entries of the session.
    #[error(
        "no log of session {id} in {}; `planwright session list` lists the sessions, and --project \
         names another folder",
        join(project)
    )]
    NoSession {
        /// The id given.
        id: String,
        /// The folders searched.
        project: Vec<PathBuf>,
    },
    /// The session contains no plan.
    #[error(
        "session {id} has no plan in {} ({lines} lines, {skipped} of them unreadable), and no plan \
         file; make one in plan mode, or ask for another session with --session-id",
        join(logs)
    )]
    NoPlanInSession {
        /// The session.
        id: String,
        /// The logs that were read.
        logs: Vec<PathBuf>,
        /// Number of lines in them.
        lines: u64,
        /// Number of lines that could not be read.
        skipped: u64,
    },
    /// No session of the project contains a plan.
    #[error(
        "none of the {sessions} sessions in {} has a plan; make one in plan mode, or name another folder with --project",
        join(project)
    )]
    NoPlanInProject {
        /// Number of sessions.
        sessions: usize,
        /// The folders searched.
        project: Vec<PathBuf>,
    },
    /// There is no plan in the sessions and no plan file.
    #[error("no plan in the sessions of {}, and no plan file in {}", directory.display(), plans.display())]
    NoPlanAtAll {
        /// The working directory.
        directory: PathBuf,
        /// The folder of plan files.
        plans: PathBuf,
    },
    /// Several sessions have plans, and none was chosen.
    #[error("{} sessions have a plan; choose one with --session-id, or the newest with --newest:\n{}", .0.len(), lines(.0))]
    Several(Vec<ListedSession>),
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A plan file is not UTF-8.
    #[error("the plan file {} is not UTF-8 text; save it as UTF-8", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// A plan file is too large.
    #[error("the plan file {} has {bytes} bytes; a plan has at most {limit}", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size, in bytes.
        bytes: u64,
        /// The limit: [`crate::formats::session::plan::MAX_PLAN_BYTES`].
        limit: usize,
    },
}

impl FindError {
    /// Whether the command was used wrongly, as opposed to there being no plan.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::InvalidId { .. } | Self::Ambiguous { .. } | Self::Several(_)
        )
    }
}

/// A session as shown in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// Session id.
    pub id: String,
    /// Timestamp of the last entry.
    pub last: Option<String>,
    /// Title of the plan. The outer `None` means no plan, the inner one a plan without a title.
    pub title: Option<Option<String>>,
}

impl From<&Session> for ListedSession {
    fn from(session: &Session) -> Self {
        let title = session.plan.as_ref().map(|plan| title_of(&plan.text));
        Self {
            id: session.id.clone(),
            last: session.last.clone(),
            title,
        }
    }
}

impl fmt::Display for ListedSession {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.last.as_deref().unwrap_or("(no time)");
        let title = match &self.title {
            None => "(no plan)".to_owned(),
            Some(None) => "(plan without a title)".to_owned(),
            Some(Some(title)) => truncate_chars(title, MAX_TITLE_CHARS),
        };
        write!(out, "{:<36}  {last:<24}  {title}", self.id)
    }
}

fn lines(sessions: &[ListedSession]) -> String {
    let lines = sessions.iter().map(|session| format!("  {session}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn first_ids(ids: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    match ids.split_at_checked(MAX_SHOWN) {
        Some((shown, more)) if !more.is_empty() => {
            format!("{} and {} more", shown.join(", "), more.len())
        }
        _ => ids.join(", "),
    }
}

fn join(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(" and ")
}
