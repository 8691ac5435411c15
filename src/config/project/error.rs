//! Errors of a project's settings. Values are shown as written, never with variables expanded.

/// The reason why a project's settings cannot be used. Each message names the file, the key and how
/// to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {why}")]
    File {
        /// Path in the project.
        path: String,
        /// The cause, and how to fix it.
        why: String,
    },
    /// The file is longer than the limit.
    #[error(
        "{path} is longer than 64 KB; remove what is not a setting, or start over with `planwright init --force`"
    )]
    TooLong {
        /// Path in the project.
        path: String,
    },
    /// The file is not valid TOML or YAML.
    #[error("{place}: not valid {format}: {why}; correct it there")]
    Syntax {
        /// File, and line if it is known.
        place: String,
        /// `TOML` or `YAML`.
        format: &'static str,
        /// The parser's message.
        why: String,
    },
    /// A key is unknown.
    #[error("{place}: unknown key `{key}`{}; correct or remove it; `planwright init --print` prints every key", nearest.as_ref().map(|key| format!(" (did you mean `{key}`?)")).unwrap_or_default())]
    UnknownKey {
        /// File and line.
        place: String,
        /// The unknown key.
        key: String,
        /// The most similar known key.
        nearest: Option<String>,
    },
    /// A value has the wrong type.
    #[error("{place}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// File, and line if it is known.
        place: String,
        /// The key.
        key: String,
        /// The expected type.
        expected: String,
        /// Description of the value found.
        found: String,
    },
    /// The file is not a mapping.
    #[error(
        "{place}: not a mapping of keys to values but {found}; write e.g. `agent:` and below it `  command: claude`"
    )]
    NoMapping {
        /// The file.
        place: String,
        /// Description of the value found.
        found: String,
    },
    /// A value is out of range or otherwise invalid.
    #[error("{place}: `{key}` is {value}; {why}")]
    Impossible {
        /// File, and line if it is known.
        place: String,
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// What the value must be.
        why: String,
    },
    /// An environment variable is not set.
    #[error(
        "{place}: `{key}` needs the environment variable {variable}, which is not set; set it, or write the value instead of ${{{variable}}}"
    )]
    Unset {
        /// File, and line if it is known.
        place: String,
        /// The key.
        key: String,
        /// Name of the variable.
        variable: String,
    },
    /// Another error in the old settings.
    #[error("{place}: {why}")]
    Old {
        /// The file.
        place: String,
        /// The key, what is wrong, and how to fix it.
        why: String,
    },
}
