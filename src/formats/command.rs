//! Slash commands: one registry, and the parser that finds commands in a comment.

use serde::{Deserialize, Serialize};

/// What a user can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Extract, enrich, save.
    SavePlan,
    /// Extract and save exactly as found.
    SaveRawPlan,
    /// Stop the runs here.
    Cancel,
    /// Run again from the step that failed.
    Retry,
    /// What is running here.
    Status,
    /// What can be said.
    Help,
}

/// GitHub repository roles in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// May read.
    Read,
    /// May manage issues.
    Triage,
    /// May push.
    Write,
    /// May manage the repository.
    Maintain,
    /// May do everything.
    Admin,
}
