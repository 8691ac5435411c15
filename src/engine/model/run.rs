//! Runs: ids, states and what is remembered between steps.

use serde::{Deserialize, Serialize};

/// A run's id: a ULID, shown in every message and log line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// A new id; ids sort by the time they were made.
    pub fn new() -> Self {
        Self(ulid::Ulid::generate().to_string())
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a run stands. The names are what the database holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An earlier command on the same place is not finished.
    Blocked,
    /// May be claimed now.
    Ready,
    /// A worker has it under a lease.
    Running,
    /// Put back until a time (backoff, rate limit).
    Waiting,
    /// Ended well.
    Succeeded,
    /// Ended with an error code.
    Failed,
    /// Stopped by somebody.
    Cancelled,
}

impl State {
    /// The name in the database and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state with this database name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Blocked,
            Self::Ready,
            Self::Running,
            Self::Waiting,
            Self::Succeeded,
            Self::Failed,
            Self::Cancelled,
        ]
        .into_iter()
        .find(|state| state.name() == name)
    }

    /// Nothing more will happen by itself.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}
