//! Errors of the store.

use crate::engine::model::run::RunId;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too many deliveries are waiting to be written; try again later.
    #[error("the store has too many deliveries waiting to be written")]
    Busy,
    /// Another worker holds the lease. The caller must stop and write nothing.
    #[error("run {0} is no longer leased by this worker")]
    Fenced(RunId),
    /// The database refused the operation or failed.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The database is missing changes that were recorded as written, so acknowledged work would be
    /// lost.
    #[error("the database has lost changes: {0}")]
    Lost(String),
    /// A row holds a value that this version cannot read.
    #[error("the store contains an unreadable {what}: {why}")]
    Corrupt {
        /// The row and column.
        what: String,
        /// The reason why it cannot be read.
        why: String,
    },
}

impl StoreError {
    /// The values of [`StoreError::kind`].
    pub const KINDS: [&'static str; 4] = ["busy", "failed", "lost", "corrupt"];

    /// Returns the kind of a failure; `None` for a lost lease, which is no fault of the store.
    pub fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Busy => Some("busy"),
            Self::Fenced(_) => None,
            Self::Failed(_) => Some("failed"),
            Self::Lost(_) => Some("lost"),
            Self::Corrupt { .. } => Some("corrupt"),
        }
    }
}
