//! The directory where Claude Code keeps its sessions (`~/.claude`), and the plans in them.
//!
//! ```text
//! ~/.claude/
//!   projects/<working directory, encoded>/      see formats::session::paths
//!     <session>.jsonl                           the log of a session
//!     agent-<id>.jsonl                          the log of an agent it started; its entries name the session
//!     <session>/subagents/agent-<id>.jsonl      the same, in newer versions
//!   plans/<slug>.md                             plan files; entries of the session name the slug
//! ```
//!
//! **The plan of a session** is the first of: the plan file that its log named last, if it exists
//! and is not blank; the latest plan in its log ([`crate::formats::session::plan`]); the same two
//! of its agents' logs.
//!
//! **The session** is the one asked for, or else the only one of the project that has a plan. If
//! several sessions have different plans, the error lists them. The newest is never taken by
//! default: sessions run side by side, and one would get the plan of another.
//! [`PlanChoice::Newest`] asks for it explicitly: it is the newest plan of the project, by the time
//! of its entry or file, or, if the project has none, the newest file in `plans/`.
//!
//! **The project** is the directory given, or the nearest one above it that has sessions. The
//! encoded names of several directories can be equal (`my-app`, `my/app`); then the `cwd` of the
//! entries decides, see [`Project`]. A session given by its id is found in other projects, too.

mod current;
mod error;
mod files;
mod find;
mod project;
mod sessions;

use std::path::PathBuf;

pub use current::{CurrentSession, IdOrigin};
pub use error::{FindError, ListedSession};
pub use find::{FoundPlan, PlanChoice, PlanLocation};
pub use project::Project;
pub use sessions::Session;

/// A directory like `~/.claude`.
#[derive(Debug, Clone)]
pub struct ClaudeHome {
    root: PathBuf,
}

impl ClaudeHome {
    /// Refers to the directory `root`, which need not exist.
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
