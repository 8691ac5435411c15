//! Reads the knowledge in a working copy: the same documents as on GitHub, as they are on disk now.
//!
//! No link is followed, not even one that stays inside: git stores the link and not its target.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::{open, read_up_to};
use crate::engine::knowledge::{
    Document, Knowledge, LeftOut, Limits, Listed, Why, choose, is_markdown,
};

/// Maximum number of files and folders listed below one folder, as on GitHub. Further ones are left
/// out.
const MAX_LISTED: usize = 100_000;

/// Why the knowledge cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// The root cannot be opened.
    #[error(
        "the folder {} cannot be opened: {source}; name the folder of a working copy that you may read", root.display()
    )]
    Root {
        /// The folder.
        root: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Reads the documents below `folders` of the working copy `root`, within `limits`. A missing
/// folder is empty; what cannot be read is listed as left out. `folders` are paths relative to the
/// root, with `/` and without `..`.
///
/// # Errors
/// `root` is not a folder, or cannot be read.
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
        max_file_bytes: limits.file_bytes,
        remaining: 0,
        listed: Vec::new(),
        left_out: Vec::new(),
    };
    for folder in folders {
        walk.visit(folder.as_ref());
    }
    let Walk {
        listed,
        mut left_out,
        ..
    } = walk;
    let chosen = choose(folders, listed, limits);
    left_out.extend(chosen.left_out);
    let documents = chosen.take.iter().map(|listed| read(&root, listed));
    Ok(Knowledge::new(None, documents, left_out))
}

/// Lists the files below the folders.
struct Walk<'r> {
    root: &'r Dir,
    max_file_bytes: u64,
    /// Number of entries that may still be listed below the current folder.
    remaining: usize,
    listed: Vec<Listed>,
    left_out: Vec<LeftOut>,
}

impl Walk<'_> {
    /// Descends to `folder` component by component without following links, and lists what is
    /// below.
    fn visit(&mut self, folder: &str) {
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
        self.remaining = MAX_LISTED;
        let mut pending = vec![folder.to_owned()];
        while let Some(next) = pending.pop() {
            if let Err(error) = self.list(folder, &next, &mut pending) {
                self.unreadable(&next, &error);
            }
        }
    }

    fn list(&mut self, top: &str, folder: &str, pending: &mut Vec<String>) -> io::Result<()> {
        for entry in self.root.read_dir(folder)? {
            let entry = entry?;
            let Some(remaining) = self.remaining.checked_sub(1) else {
                let rest = LeftOut::new(top, Why::NotListed);
                if !self.left_out.contains(&rest) {
                    self.left_out.push(rest);
                }
                return Ok(());
            };
            self.remaining = remaining;
            let name = entry.file_name();
            let path = format!("{folder}/{}", name.to_string_lossy());
            let kind = entry.file_type()?;
            let why = if name.to_str().is_none() {
                Why::OddPath
            } else if kind.is_dir() {
                pending.push(path);
                continue;
            } else if kind.is_file() {
                self.add_file(path);
                continue;
            } else if kind.is_symlink() {
                Why::Link
            } else {
                Why::Unreadable("it is neither a file nor a folder".to_owned())
            };
            self.left_out.push(LeftOut::new(&path, why));
        }
        Ok(())
    }

    fn add_file(&mut self, path: String) {
        let max_bytes = self.max_file_bytes;
        let found = self.root.symlink_metadata(&path).and_then(|metadata| {
            if metadata.len() > max_bytes || !is_markdown(&path) {
                // It will not be chosen, so any unique id does.
                return Ok((metadata.len(), path.clone()));
            }
            let content = contents(self.root, &path, max_bytes)?;
            Ok(content.map_or_else(
                || (max_bytes + 1, path.clone()),
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

/// Reads a listed document, if it has not changed since. Contents are not kept from the listing,
/// because all files together may be much longer than those chosen.
fn read(root: &Dir, listed: &Listed) -> Result<Document, LeftOut> {
    match contents(root, &listed.path, listed.size) {
        Ok(Some(content)) if hash(&content) == listed.id => Document::read(&listed.path, content),
        Ok(_) => Err(LeftOut::new(&listed.path, Why::Gone)),
        Err(error) => Err(LeftOut::new(&listed.path, reason(&error))),
    }
}

/// Reads a file without following a link. `None` if it is longer than `max_bytes`.
fn contents(root: &Dir, path: &str, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    read_up_to(open(root, path, OFlags::NOFOLLOW)?, max_bytes)
}

fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(test)]
mod tests;
