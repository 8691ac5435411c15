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
//! The project is the folder named, or the nearest one above it that has sessions. Names of several folders may be
//! encoded alike (`my-app`, `my/app`); then the `cwd` of the entries tells whose a session is: see [`Project`]. A session
//! asked for by its id is also found when its log lies with another project.

mod current;
mod error;
mod find;
mod logs;
mod plan_files;
mod project;
mod sessions;

use std::path::PathBuf;

pub use current::{Current, Origin};
pub use error::{FindError, Listed};
pub use find::{Choice, Found, Source};
pub use project::Project;
pub use sessions::Session;

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
}

#[cfg(test)]
mod tests;
