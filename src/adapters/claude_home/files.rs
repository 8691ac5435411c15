//! Log files and plan files: lists them and reads them.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{ClaudeHome, FindError};
use crate::formats::session::paths::is_safe_name;
use crate::formats::session::plan::MAX_PLAN_BYTES;
use crate::formats::session::{ScanResult, Scanner, format_timestamp};
use crate::regular_file;

/// Size of the read buffer, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// A log file.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    /// File name without `.jsonl`: the id of the session or the agent.
    pub(super) name: String,
    pub(super) owner: LogOwner,
}

/// Who has written a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LogOwner {
    /// A session.
    Session,
    /// An agent. The entries of the log name its session.
    Agent,
    /// An agent of this session, because the log is in the session's directory.
    AgentOf(String),
}

/// A log that has been read.
#[derive(Debug)]
pub(super) struct ScannedLog {
    pub(super) path: PathBuf,
    pub(super) scanned: ScanResult,
}

impl ScannedLog {
    /// Reads a log: all of it, or the entries of one session.
    pub(super) fn read(path: &Path, session: Option<&str>) -> Result<Self, FindError> {
        Self::read_until(path, session, |_| false)
    }

    fn read_until(
        path: &Path,
        session: Option<&str>,
        is_enough: impl Fn(&Scanner) -> bool,
    ) -> Result<Self, FindError> {
        let mut file = regular_file::open(path).map_err(unreadable(path))?;
        let mut feed = Scanner::new(session);
        let mut chunk = vec![0; CHUNK_BYTES];
        while !is_enough(&feed) {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(size) => feed.push(&chunk[..size]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(path)(error)),
            }
        }
        Ok(Self {
            path: path.to_owned(),
            scanned: feed.finish(),
        })
    }

    /// The directory in which the session was started.
    pub(super) fn cwd(&self) -> Option<&Path> {
        self.scanned.cwd.as_deref().map(Path::new)
    }

    /// Number of lines that could not be read.
    pub(super) fn skipped(&self) -> u64 {
        self.scanned.malformed_count + self.scanned.too_long
    }
}

/// Returns the directory in which the session of a log was started, from the beginning of the log.
/// Errors are ignored here: they are reported when the whole log is read.
pub(super) fn first_cwd(path: &Path) -> Option<PathBuf> {
    let log = ScannedLog::read_until(path, None, |feed| feed.cwd().is_some()).ok()?;
    log.cwd().map(Path::to_owned)
}

/// Lists the logs in a session folder, sorted by path.
pub(super) fn logs(folder: &Path) -> Result<Vec<LogFile>, FindError> {
    let mut logs = Vec::new();
    for path in entries(folder)? {
        if let Some(name) = log_name(&path) {
            let owner = if name.starts_with("agent-") {
                LogOwner::Agent
            } else {
                LogOwner::Session
            };
            logs.push(LogFile { path, name, owner });
        } else if path.is_dir() {
            let owner = LogOwner::AgentOf(file_name(&path));
            for path in entries(&path.join("subagents"))? {
                if let Some(name) = log_name(&path) {
                    let owner = owner.clone();
                    logs.push(LogFile { path, name, owner });
                }
            }
        }
    }
    Ok(logs)
}

/// Lists the paths in a folder, sorted. A folder that does not exist is empty.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, FindError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(unreadable(folder))?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<_> = paths
        .collect::<io::Result<_>>()
        .map_err(unreadable(folder))?;
    paths.sort();
    Ok(paths)
}

/// Returns the last component of a path.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn log_name(path: &Path) -> Option<String> {
    let name = file_name(path).strip_suffix(".jsonl")?.to_owned();
    path.is_file().then_some(name)
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> FindError {
    move |error| FindError::Read {
        path: path.to_owned(),
        error,
    }
}

/// A plan file that has been read.
#[derive(Debug)]
pub(super) struct PlanFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Time of the last change, in the format of log timestamps.
    pub(super) changed: Option<String>,
}

impl ClaudeHome {
    /// Reads the plan file of a slug. `None` if there is none, it is blank, or the slug cannot be a
    /// file name.
    pub(super) fn plan_file(&self, slug: &str) -> Result<Option<PlanFile>, FindError> {
        let path = self.plans().join(format!("{slug}.md"));
        if !is_safe_name(slug) || !path.is_file() {
            return Ok(None);
        }
        Ok(read_plan(&path)?.filter(|file| !file.text.trim().is_empty()))
    }

    /// Reads the `*.md` file in the folder of plans that was changed last. Of several, the first by
    /// name.
    pub(super) fn newest_plan_file(&self) -> Result<Option<PlanFile>, FindError> {
        let mut newest: Option<(SystemTime, PathBuf)> = None;
        for path in entries(&self.plans())? {
            let is_plan = path.extension().is_some_and(|end| end == "md") && path.is_file();
            let changed = fs::metadata(&path).and_then(|metadata| metadata.modified());
            if let (true, Ok(changed)) = (is_plan, changed)
                && newest.as_ref().is_none_or(|(newest, _)| changed > *newest)
            {
                newest = Some((changed, path));
            }
        }
        newest.map_or(Ok(None), |(_, path)| read_plan(&path))
    }
}

/// Reads a plan file. `None` if it has been removed.
fn read_plan(path: &Path) -> Result<Option<PlanFile>, FindError> {
    let file = match regular_file::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(unreadable(path))?,
    };
    let metadata = file.metadata().map_err(unreadable(path))?;
    if metadata.len() > MAX_PLAN_BYTES as u64 {
        return Err(FindError::TooLarge {
            path: path.to_owned(),
            bytes: metadata.len(),
            limit: MAX_PLAN_BYTES,
        });
    }
    let mut bytes = Vec::new();
    file.take(MAX_PLAN_BYTES as u64)
        .read_to_end(&mut bytes)
        .map_err(unreadable(path))?;
    let text = String::from_utf8(bytes).map_err(|_| FindError::NotText {
        path: path.to_owned(),
    })?;
    let changed = metadata.modified().ok().and_then(|changed| {
        let since = changed.duration_since(UNIX_EPOCH).ok()?;
        format_timestamp(since.as_secs_f64())
    });
    Ok(Some(PlanFile {
        path: path.to_owned(),
        text,
        changed,
    }))
}
