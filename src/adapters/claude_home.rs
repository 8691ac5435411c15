//! The folder where Claude Code keeps its sessions (`~/.claude`), and the plan of a session in it.
//!
//! ```text
//! ~/.claude/
//!   projects/<working directory, encoded>/      formats::session::paths says how
//!     <session>.jsonl                           the log of a session
//!     agent-<id>.jsonl                          of an agent it started; its entries name the session
//!     <session>/subagents/agent-<id>.jsonl      the same, in newer versions
//!   plans/<slug>.md                             plan files; entries of the session name the slug
//! ```
//!
//! **Which plan.** The plan of a session is, in this order: the plan file its log named last, where that file exists and
//! is not blank; the latest plan in its log ([`crate::formats::session::plan`]); the same two of its agents' logs.
//!
//! **Which session.** The one asked for. Without one, the only one of the project that has a plan (several with one and
//! the same text are as good as one); several are an error that lists them. Never the newest of all sessions by time:
//! sessions run side by side, and one would get another's plan. Only [`Choice::Newest`] asks for that: the newest plan
//! of the project, by the time of its entry or file; of a project without any, the newest file in `plans/`.
//!
//! The project is the folder named, or the nearest one above it that has sessions. A session asked for by its id is
//! also found when its log lies with another project.

mod current;
mod error;
mod find;
mod logs;
mod plan_files;
mod sessions;

use std::path::{Path, PathBuf};

pub use current::{Current, Origin};
pub use error::{FindError, Listed};
pub use find::{Choice, Found, Source};
pub use sessions::Session;

use crate::formats::session::paths::{MAX_PROJECT_NAME, project_names};

/// A Claude home.
#[derive(Debug, Clone)]
pub struct ClaudeHome {
    root: PathBuf,
}

impl ClaudeHome {
    /// The home in the folder `root`, which need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    fn plans(&self) -> PathBuf {
        self.root.join("plans")
    }

    /// The session folders of the working directory `directory`, or of the nearest one above it that has any. Mostly
    /// one; several where versions with different rules for its name were used.
    pub fn project(&self, directory: &Path) -> Result<Vec<PathBuf>, FindError> {
        let given = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let resolved = given.canonicalize().ok();
        for directory in resolved.iter().chain([&given]) {
            for directory in directory.ancestors() {
                let found = self.named(&directory.to_string_lossy())?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Err(FindError::NoProject {
            directory: given,
            projects: self.projects(),
        })
    }

    fn named(&self, directory: &str) -> Result<Vec<PathBuf>, FindError> {
        let mut found = Vec::new();
        for name in project_names(directory) {
            if name.len() > MAX_PROJECT_NAME && name.is_ascii() {
                let begin = format!("{}-", &name[..MAX_PROJECT_NAME]);
                let entries = logs::entries(&self.projects())?;
                found.extend(
                    entries
                        .into_iter()
                        .filter(|path| path.is_dir() && logs::name(path).starts_with(&begin)),
                );
            } else {
                found.extend(Some(self.projects().join(name)).filter(|path| path.is_dir()));
            }
        }
        found.dedup();
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
