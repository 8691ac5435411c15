//! Where the value of a setting comes from.

use std::fmt;

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The default of the schema.
    Default,
    /// A file and its 1-based line.
    File {
        /// Path as given.
        path: String,
        /// Line.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// `--set`.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Variable(name) => f.write_str(name),
            Self::Flag => f.write_str("--set"),
        }
    }
}
