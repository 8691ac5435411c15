//! What can be wrong with a project's settings. Values are shown as they were written, never with variables put in.

/// Why a project's settings cannot be used. Each message names the file, the key and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {why}")]
    File {
        /// Path in the project.
        path: String,
        /// Why, and what to do.
        why: String,
    },
    /// The file is longer than settings are.
    #[error(
        "{path} is longer than 64 KB; take out what are no settings, or start anew with `planwright init --force`"
    )]
    TooLong {
        /// Path in the project.
        path: String,
    },
    /// The file is no TOML or no YAML.
    #[error("{place}: not valid {format}: {why}; correct it there")]
    Syntax {
        /// File, and line where it is known.
        place: String,
        /// `TOML` or `YAML`.
        format: &'static str,
        /// The parser's message.
        why: String,
    },
    /// A key nobody knows.
    #[error("{place}: unknown key `{key}`{}; take it out; `planwright init --print` prints every key", nearest.as_ref().map(|key| format!(", did you mean `{key}`?")).unwrap_or_default())]
    UnknownKey {
        /// File and line.
        place: String,
        /// The key.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value of another type.
    #[error("{place}: `{key}` must be {expected}, not {found}")]
    WrongType {
        /// File, and line where it is known.
        place: String,
        /// The key; empty for the whole file.
        key: String,
        /// Type.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file holds no settings at all.
    #[error(
        "{place}: not a mapping of keys to values but {found}; write e.g. `agent:` and below it `  command: claude`"
    )]
    NoMapping {
        /// File.
        place: String,
        /// What is there.
        found: String,
    },
    /// A value that cannot be.
    #[error("{place}: `{key}` is {value}; {why}")]
    Impossible {
        /// File, and line where it is known.
        place: String,
        /// The key.
        key: String,
        /// The value as it was written.
        value: String,
        /// What it must be.
        why: String,
    },
    /// An environment variable that is not set.
    #[error(
        "{place}: `{key}` needs the environment variable {variable}, which is not set; set it, or write the value instead of ${{{variable}}}"
    )]
    Unset {
        /// File, and line where it is known.
        place: String,
        /// The key.
        key: String,
        /// Name of the variable.
        variable: String,
    },
    /// Other settings of old that cannot be.
    #[error("{place}: {why}")]
    Old {
        /// File.
        place: String,
        /// Key, what is wrong, and the remedy.
        why: String,
    },
}
