//! What stands below a folder of a repository, as [`Forge`](super::Forge) lists it.

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

/// Something below a folder that is no folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Path from the root of the repository, as GitHub names it: nobody has looked at it.
    pub path: String,
    /// Bytes; zero of a submodule.
    pub size: u64,
    /// Git's name of the content.
    pub id: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What stands below folders at one commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The commit, in full.
    pub commit: String,
    /// All that is no folder, folder by folder. A link or a file in the place of a folder is there, too.
    pub entries: Vec<TreeEntry>,
    /// The folders of which GitHub did not list everything.
    pub cut: Vec<String>,
}
