//! Errors of the configuration. Each message names the place, the key and how to fix it.

use std::fmt;

use super::origin::Origin;

/// The reason why the configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file {path} cannot be read: {why}")]
    File {
        /// Path as given.
        path: String,
        /// The cause.
        why: String,
    },
    /// The file is not TOML.
    #[error("{path}:{line}: not valid TOML: {why}")]
    Syntax {
        /// Path as given.
        path: String,
        /// Line, 1-based.
        line: usize,
        /// The parser's message.
        why: String,
    },
    /// A key is unknown.
    #[error("{origin}: unknown key `{key}`{}; `planwright config` prints every key", nearest.as_ref().map(|key| format!(" (did you mean `{key}`?)")).unwrap_or_default())]
    UnknownKey {
        /// Where the key was set.
        origin: Origin,
        /// The unknown key.
        key: String,
        /// The most similar known key.
        nearest: Option<String>,
    },
    /// A value has the wrong type.
    #[error("{origin}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// Where the value was set.
        origin: Origin,
        /// The key.
        key: String,
        /// The expected type.
        expected: String,
        /// Description of the value found.
        found: String,
    },
    /// A value is out of range or otherwise invalid.
    #[error("{origin}: `{key}` is {value}; {why}")]
    Impossible {
        /// Where the value was set.
        origin: Origin,
        /// The key.
        key: String,
        /// The value as TOML.
        value: String,
        /// What the value must be.
        why: String,
    },
    /// A secret is in the configuration file, where others could read it.
    #[error(
        "{origin}: `{key}` is a secret and must not be in the configuration; put it into {variable} or into a file named by `{file_key}`"
    )]
    SecretInFile {
        /// Where the key was set.
        origin: Origin,
        /// The key.
        key: String,
        /// Environment variable to use instead.
        variable: &'static str,
        /// Key that names a file with the secret, to use instead.
        file_key: &'static str,
    },
    /// A secret cannot be used. The message never contains it.
    #[error("{place}: {why}")]
    Secret {
        /// Environment variable or file.
        place: String,
        /// The cause.
        why: String,
    },
    /// A variable of the environment cannot be used.
    #[error("the environment variable {name}: {why}")]
    Environment {
        /// The variable.
        name: String,
        /// The cause.
        why: String,
    },
    /// The agent's instructions cannot be used.
    #[error("{path}: {why}")]
    Prompt {
        /// Folder or file.
        path: String,
        /// The cause, and how to fix it.
        why: String,
    },
    /// A `--set` flag is malformed.
    #[error("--set {given}: must have the form KEY=VALUE, e.g. --set worker.concurrency=4")]
    Flag {
        /// The argument, truncated.
        given: String,
    },
    /// The merged layers cannot be deserialised.
    #[error("the configuration cannot be put together: {why}")]
    Unreadable {
        /// The cause.
        why: String,
    },
}

/// Required settings that are not set, one description each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub Vec<String>);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`planwright serve` cannot start; it still needs:")?;
        self.0.iter().try_for_each(|what| write!(f, "\n  - {what}"))
    }
}

impl std::error::Error for Missing {}
