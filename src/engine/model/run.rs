//! The ids and states of runs.

use serde::{Deserialize, Serialize};

/// The id of a run: a ULID, shown in every message and log line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// Returns a new id. Ids sort by creation time.
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

/// The state of a run. The names are stored in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An earlier command on the same issue or pull request has not finished.
    Blocked,
    /// The run can be claimed.
    Ready,
    /// A worker holds a lease on the run.
    Running,
    /// The run is postponed until a point in time (backoff, rate limit).
    Waiting,
    /// The run finished successfully.
    Succeeded,
    /// The run ended with an error code.
    Failed,
    /// A user stopped the run.
    Cancelled,
}

impl State {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Blocked,
        Self::Ready,
        Self::Running,
        Self::Waiting,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name used in the database and in JSON.
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

    /// Returns the state with this database name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether the run has ended and will not continue unless it is requeued.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}
