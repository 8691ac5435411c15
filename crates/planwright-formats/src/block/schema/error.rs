//! What can be wrong with the fields of a block, in erk's words where erk has some.

use thiserror::Error;

use crate::block::EditError;

/// Fields that are not written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// Fields that have to be there, in alphabetical order.
    #[error("Missing required fields: {}", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// Fields that erk refuses, in alphabetical order.
    #[error("Unknown fields: {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// A field holds something else than it may.
    #[error("{message}")]
    Field {
        /// Which one.
        field: &'static str,
        /// The whole sentence.
        message: String,
    },
    /// Nothing is known about blocks of this key in that era.
    #[error("there is no schema for `{0}` blocks: use a key of erk's, such as `workflow-started`")]
    NoSchema(String),
    /// A field that is set when a plan is saved and never changes.
    #[error("`{0}` is set when the plan is saved and cannot be changed")]
    Immutable(String),
    /// Not a `key=value` pair.
    #[error("Invalid field format: '{0}'. Expected key=value.")]
    Pair(String),
    /// The text has no header to update.
    #[error("plan-header block not found in issue body")]
    NoHeader,
    /// The text has a header that cannot be read; it is left as it is.
    #[error(transparent)]
    Unreadable(EditError),
}
