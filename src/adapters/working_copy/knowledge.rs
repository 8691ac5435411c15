//! The knowledge in a working copy: the same documents as on GitHub, as they are on disk now.
//!
//! No link is followed, not even one that stays inside: git keeps the link, not what it leads to.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};

use super::{Follow, open};
use crate::engine::knowledge::{
    Document, Knowledge, LeftOut, Limits, Listed, Why, choose, is_markdown,
};

/// Most files and folders that are listed below one folder: as many as GitHub lists. What would be more is left out.
pub const MOST_LISTED: usize = 100_000;

/// Why no knowledge can be read.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// The root cannot be opened.
    #[error(
        "the folder {} cannot be opened: {source}; name the folder of a working copy that you may read", root.display()
    )]
    Root {
        /// The root.
        root: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Reads the documents below `folders` of the working copy `root`, within `limits`. Folders that are not there are empty;
/// what cannot be read is left out and named. `folders` are paths from the root, joined by `/`, without `..`.
///
/// # Errors
/// `root` is no folder, or may not be read.
pub fn knowledge<F: AsRef<str>>(
    root: &Path,
    folders: &[F],
    limits: Limits,
) -> Result<Knowledge, KnowledgeError> {
    let dir = Dir::open_ambient_dir(root, ambient_authority());
    let root = dir.map_err(|source| KnowledgeError::Root {
        root: root.to_owned(),
        source,
    })?;
    let mut walk = Walk {
        root: &root,
        most: limits.file_bytes,
        room: 0,
        listed: Vec::new(),
        left_out: Vec::new(),
    };
    for folder in folders {
        walk.start(folder.as_ref());
    }
    let Walk {
        listed,
        mut left_out,
        ..
    } = walk;
    let chosen = choose(folders, listed, limits);
    left_out.extend(chosen.left_out);
    let read = chosen.take.iter().map(|one| read(&root, one));
    Ok(Knowledge::new(None, read, left_out))
}

/// What is below the folders.
struct Walk<'r> {
    root: &'r Dir,
    most: u64,
    /// How many more may be listed in this folder.
    room: usize,
    listed: Vec<Listed>,
    left_out: Vec<LeftOut>,
}

impl Walk<'_> {
    /// Goes down to `folder` step by step, as long as there are folders.
    fn start(&mut self, folder: &str) {
        let ends = folder.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([folder.len()]) {
            let step = &folder[..end];
            match self.root.symlink_metadata(step) {
                Ok(about) if about.is_dir() => {}
                Ok(about) if about.is_symlink() => {
                    self.left_out.push(LeftOut::new(step, Why::Link));
                    return;
                }
                Ok(_) => return,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                Err(error) => return self.unreadable(step, &error),
            }
        }
        self.room = MOST_LISTED;
        let mut below = vec![folder.to_owned()];
        while let Some(next) = below.pop() {
            if let Err(error) = self.folder(folder, &next, &mut below) {
                self.unreadable(&next, &error);
            }
        }
    }

    fn folder(&mut self, top: &str, folder: &str, below: &mut Vec<String>) -> io::Result<()> {
        for entry in self.root.read_dir(folder)? {
            let entry = entry?;
            let Some(room) = self.room.checked_sub(1) else {
                let cut = LeftOut::new(top, Why::NotListed);
                if !self.left_out.contains(&cut) {
                    self.left_out.push(cut);
                }
                return Ok(());
            };
            self.room = room;
            let name = entry.file_name();
            let path = format!("{folder}/{}", name.to_string_lossy());
            let kind = entry.file_type()?;
            if name.to_str().is_none() {
                self.left_out.push(LeftOut::new(&path, Why::OddPath));
            } else if kind.is_dir() {
                below.push(path);
            } else if kind.is_symlink() {
                self.left_out.push(LeftOut::new(&path, Why::Link));
            } else if kind.is_file() {
                self.file(path);
            } else {
                let why = "it is neither a file nor a folder".to_owned();
                self.left_out
                    .push(LeftOut::new(&path, Why::Unreadable(why)));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: String) {
        let found = self.root.symlink_metadata(&path).and_then(|about| {
            if about.len() > self.most || !is_markdown(&path) {
                // It is not taken, hence compared with no other.
                return Ok((about.len(), path.clone()));
            }
            let content = contents(self.root, &path, self.most)?;
            Ok(content.map_or_else(
                || (self.most + 1, path.clone()),
                |content| (content.len() as u64, hash(&content)),
            ))
        });
        match found {
            Ok((size, id)) => self.listed.push(Listed { path, size, id }),
            Err(error) => self.unreadable(&path, &error),
        }
    }

    fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.left_out.push(LeftOut::new(path, reason(error)));
    }
}

fn reason(error: &io::Error) -> Why {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Why::Gone,
        _ => Why::Unreadable(error.to_string()),
    }
}

/// Reads what was listed, or says that it is no longer so. Nothing is kept from the first look: together the files may be
/// longer than what is taken of them.
fn read(root: &Dir, one: &Listed) -> Result<Document, LeftOut> {
    match contents(root, &one.path, one.size) {
        Ok(Some(content)) if hash(&content) == one.id => Document::read(&one.path, content),
        Ok(_) => Err(LeftOut::new(&one.path, Why::Gone)),
        Err(error) => Err(LeftOut::new(&one.path, reason(&error))),
    }
}

/// The file's content; `None` when it is longer than `most` bytes.
fn contents(root: &Dir, path: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    let file = open(root, path, Follow::Never)?;
    file.take(most + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(test)]
mod tests;
