//! Listings of repository folders, as returned by [`Forge`](super::Forge).

/// The type of a [`TreeEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A submodule: a commit of another repository.
    Submodule,
}

/// A non-directory entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The path from the root of the repository as GitHub returns it, not validated.
    pub path: String,
    /// The size in bytes; zero for submodules.
    pub size: u64,
    /// The git object id of the content.
    pub id: String,
    /// The type of the entry.
    pub kind: EntryKind,
}

/// The contents of folders at one commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The full SHA of the commit.
    pub commit: String,
    /// All entries except directories, grouped by folder. Includes a link or file that has the path
    /// of a requested folder.
    pub entries: Vec<TreeEntry>,
    /// The folders that GitHub did not list completely.
    pub cut: Vec<String>,
}
