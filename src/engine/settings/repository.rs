//! Settings of the copies of repositories that agents read.

use serde::Deserialize;

use crate::setting::Rule::{Boolean, Globs, Integer, OneOf};
use crate::setting::settings;

settings! {
    /// The read-only copies of repositories, which agents read while they work. A copy is one
    /// commit as GitHub archives it, so without the files that have the attribute `export-ignore` in
    /// `.gitattributes`. It is kept below `agent.folder` and used again for the same commit.
    pub struct RepositorySettings in "agent.repository" {
        /// Whether agents get a copy of the repository. The App needs the permission to read its
        /// contents.
        enabled: bool = true, Boolean;
        /// Paths that are left out of copies, with everything below them. A pattern without `/`
        /// matches at any depth. The environment variable is TOML or comma-separated.
        exclude: Vec<String> = [], Globs;
        /// What happens with files of the repository that configure or instruct agents, such as
        /// `CLAUDE.md`, `AGENTS.md`, `.claude` and `.mcp.json`: `omit` leaves them out; with `data`
        /// agents can read them like any other file. Whoever can write to the repository can write
        /// these files.
        instructions: Instructions = "omit", OneOf(&["omit", "data"]);
        /// Maximum size of all copies that are kept, in bytes on disk. Copies in use are kept in
        /// any case; of the others, the most recently used ones.
        cache_bytes: u64 = 2_000_000_000, Integer(0, 1_000_000_000_000, "bytes");
        /// Maximum number of files of one copy.
        max_files: u64 = 100_000, Integer(1, 1_000_000, "files");
        /// Maximum size of the files of one copy, in bytes.
        max_bytes: u64 = 2_000_000_000, Integer(1_000_000, 100_000_000_000, "bytes");
    }
}

/// What happens with files of a repository that configure or instruct agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instructions {
    /// They are left out of the copy.
    Omit,
    /// They are in the copy like other files.
    Data,
}
