//! Log files: which there are, and reading one as a stream.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::FindError;
use crate::formats::session::{Feed, Scanned};
use crate::regular_file;

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A log file.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) path: PathBuf,
    /// File name without `.jsonl`: the session's or the agent's id.
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Whose log it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A session's.
    Session,
    /// An agent's; its entries name the session.
    Agent,
    /// An agent's in the folder of that session.
    AgentOf(String),
}

/// A log that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) path: PathBuf,
    pub(super) scanned: Scanned,
}

impl Read {
    /// Reads a log whole, or the entries of one session.
    pub(super) fn new(path: &Path, session: Option<&str>) -> Result<Self, FindError> {
        Self::until(path, session, |_| false)
    }

    fn until(
        path: &Path,
        session: Option<&str>,
        is_enough: impl Fn(&Feed) -> bool,
    ) -> Result<Self, FindError> {
        let failed = |error| FindError::Read {
            path: path.to_owned(),
            error,
        };
        let mut file = regular_file::open(path).map_err(failed)?;
        let mut feed = Feed::new(session);
        let mut chunk = vec![0; CHUNK_BYTES];
        while !is_enough(&feed) {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(size) => feed.push(&chunk[..size]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(Self {
            path: path.to_owned(),
            scanned: feed.finish(),
        })
    }

    /// Where the session was begun.
    pub(super) fn cwd(&self) -> Option<&Path> {
        self.scanned.cwd.as_deref().map(Path::new)
    }

    /// Lines that could not be read.
    pub(super) fn skipped(&self) -> u64 {
        self.scanned.malformed_count + self.scanned.too_long
    }
}

/// Where the session of a log was begun, read from the beginning of the log. Says nothing of a log that cannot be read:
/// whoever reads it whole does.
pub(super) fn first_cwd(path: &Path) -> Option<PathBuf> {
    let read = Read::until(path, None, |feed| feed.cwd().is_some()).ok()?;
    read.cwd().map(Path::to_owned)
}

/// The logs in a project folder, by name.
pub(super) fn logs(project: &Path) -> Result<Vec<Log>, FindError> {
    let mut found = Vec::new();
    for path in entries(project)? {
        if let Some(name) = log_name(&path) {
            let kind = if name.starts_with("agent-") {
                Kind::Agent
            } else {
                Kind::Session
            };
            found.push(Log { path, name, kind });
        } else if path.is_dir() {
            let session = name(&path);
            for path in entries(&path.join("subagents"))? {
                if let Some(name) = log_name(&path) {
                    found.push(Log {
                        path,
                        name,
                        kind: Kind::AgentOf(session.clone()),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// The paths in a folder, by name; none where there is no folder.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, FindError> {
    let failed = |error| FindError::Read {
        path: folder.to_owned(),
        error,
    };
    let list = match fs::read_dir(folder) {
        Ok(list) => list,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let mut paths: Vec<_> = list
        .map(|entry| Ok(entry.map_err(failed)?.path()))
        .collect::<Result<_, FindError>>()?;
    paths.sort();
    Ok(paths)
}

/// The last part of a path.
pub(super) fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn log_name(path: &Path) -> Option<String> {
    let name = name(path).strip_suffix(".jsonl")?.to_owned();
    path.is_file().then_some(name)
}
