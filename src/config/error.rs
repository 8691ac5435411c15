//! What can be wrong with a configuration. Each message names the place, the key and the remedy.

use std::fmt;

use super::origin::Origin;

/// Why the configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file {path} cannot be read: {why}")]
    File {
        /// Path as given.
        path: String,
        /// Why.
        why: String,
    },
    /// The file is not TOML.
    #[error("{path}:{line}: not valid TOML: {why}")]
    Syntax {
        /// Path as given.
        path: String,
        /// 1-based.
        line: usize,
        /// The parser's message.
        why: String,
    },
    /// A key nobody knows.
    #[error("{origin}: unknown key `{key}`{}; `planwright config` prints every key", nearest.as_ref().map(|key| format!(", did you mean `{key}`?")).unwrap_or_default())]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value of another type.
    #[error("{origin}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// Type and example.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A value that cannot be.
    #[error("{origin}: `{key}` is {value}; {why}")]
    Impossible {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// The value as TOML.
        value: String,
        /// What it must be.
        why: String,
    },
    /// A secret where everybody can read it.
    #[error(
        "{origin}: `{key}` is a secret and must not stand in the configuration; put it into {variable} or into a file named by `{file_key}`"
    )]
    SecretInFile {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// Environment variable for it.
        variable: &'static str,
        /// Key for a file with it.
        file_key: &'static str,
    },
    /// A secret that cannot be used. The message never holds it.
    #[error("{place}: {why}")]
    Secret {
        /// Environment variable or file.
        place: String,
        /// Why.
        why: String,
    },
    /// The agent's instructions cannot be used.
    #[error("{path}: {why}")]
    Prompt {
        /// Folder or file.
        path: String,
        /// Why, and what to do.
        why: String,
    },
    /// A flag of the wrong form.
    #[error("--set {given}: must have the form KEY=VALUE, e.g. --set worker.concurrency=4")]
    Flag {
        /// What was given.
        given: String,
    },
    /// The layers do not make a configuration.
    #[error("the configuration cannot be put together: {why}")]
    Unreadable {
        /// Why.
        why: String,
    },
}

/// What has no default and is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub Vec<String>);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not everything is set that serving needs:")?;
        self.0.iter().try_for_each(|what| write!(f, "\n  - {what}"))
    }
}

impl std::error::Error for Missing {}
