//! Errors in the fields of a block, in erk's wording where it has one.

use thiserror::Error;

use crate::block::EditError;

/// Why the fields of a block are rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// Required fields are missing; in alphabetical order.
    #[error("Missing required fields: {}", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// There are fields that erk rejects; in alphabetical order.
    #[error("Unknown fields: {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// The value of a field is not allowed.
    #[error("{message}")]
    Field {
        /// The field.
        field: &'static str,
        /// The whole message.
        message: String,
    },
    /// There is no schema for blocks with this key in that era.
    #[error(
        "there is no schema for `{0}` blocks: use one of erk's keys, such as `workflow-started`"
    )]
    NoSchema(String),
    /// The field is set when a plan is saved and never changes.
    #[error("`{0}` is set when the plan is saved and cannot be changed")]
    Immutable(String),
    /// Not a `key=value` pair.
    #[error("Invalid field format: '{0}'. Expected key=value.")]
    Pair(String),
    /// The text has no header to update.
    #[error("plan-header block not found in issue body")]
    NoHeader,
    /// The text has a header that cannot be parsed; it is left as it is.
    #[error(transparent)]
    Unreadable(EditError),
}
