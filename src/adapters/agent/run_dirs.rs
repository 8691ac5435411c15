//! Private directories of runs, and the files in them: what an agent is given and what it leaves.
//!
//! Directory names are derived from run ids only. Agents can write there, so nothing found inside
//! is trusted: links are not followed, and all reads are bounded.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use uuid::Uuid;

use super::RunDirs;
use super::claude::SYSTEM_FILE;
use crate::engine::model::agent::Document;
use crate::engine::model::run::RunId;
use crate::regular_file;

/// Maximum number of attempts to remove a directory that somebody else is removing as well.
const MAX_ATTEMPTS: usize = 100;

/// Maximum number of files collected after a turn.
const MAX_FILES: usize = 32;
/// Maximum size of a collected file, in bytes. Longer files are skipped: a truncated document would
/// be taken for a whole one.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Maximum depth of subdirectories searched for files.
const MAX_DEPTH: usize = 4;
/// Maximum number of directory entries examined. An agent that creates more can only hide its own
/// files.
const MAX_ENTRIES: usize = 10_000;

/// Returns the directory of a run, or `None` if the id is not made of ASCII letters and digits.
pub(super) fn run_dir(folder: &Path, run: &RunId) -> Option<PathBuf> {
    let name = run.0.as_str();
    let is_plain =
        (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain.then(|| folder.join(name))
}

/// Returns the directory that holds the documents of a run.
pub(super) fn documents_dir(run: &Path) -> PathBuf {
    run.join("given")
}

/// Lists the runs that have a directory. Entries whose names are not run ids are ignored.
pub(super) fn list_runs(folder: &Path) -> io::Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() && ulid::Ulid::from_string(&name).is_ok() {
            runs.push(RunId(name));
        }
    }
    runs.sort();
    Ok(runs)
}

/// Creates the directories for one part of a run. The home is kept from turn to turn; the others
/// are emptied.
pub(super) fn prepare(run: &Path, part: u32) -> io::Result<RunDirs> {
    let own = match part {
        0 => run.to_owned(),
        part => run.join(format!("part-{part}")),
    };
    let dirs = RunDirs {
        home: own.join("home"),
        work: own.join("work"),
        scratch: own.join("tmp"),
    };
    remove(&dirs.work)?;
    remove(&dirs.scratch)?;
    // An agent without a sandbox may have replaced it by a link to somewhere else.
    if !fs::symlink_metadata(&dirs.home).is_ok_and(|found| found.is_dir()) {
        remove(&dirs.home)?;
    }
    for dir in [run, &own, &dirs.home, &dirs.work, &dirs.scratch] {
        make_private(dir)?;
    }
    Ok(dirs)
}

/// Stores the documents of a run in place of any earlier ones. On an error the earlier ones remain.
pub(super) fn store_documents(run: &Path, documents: &[Document]) -> io::Result<()> {
    let new = run.join("giving");
    remove(&new)?;
    make_private(run)?;
    make_private(&new)?;
    write_documents(&new, documents)?;
    let current = documents_dir(run);
    remove(&current)?;
    fs::rename(new, current)
}

/// Creates a directory with mode 0700, or sets that mode on an existing one.
pub(in crate::adapters) fn make_private(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    restore_access(dir)
}

/// Gives the user access to a directory again, in case an agent has taken it away.
fn restore_access(dir: &Path) -> io::Result<()> {
    fs::set_permissions(dir, Permissions::from_mode(0o700))
}

/// Removes a directory and its contents. A missing one is not an error. Links are not followed.
///
/// Uses constant stack and file descriptors at any nesting depth, by moving nested directories to
/// the top before descending into them. `std::fs::remove_dir_all` recurses, and overflows the stack
/// when an agent has nested some ten thousand directories.
pub(in crate::adapters) fn remove(dir: &Path) -> io::Result<()> {
    // Another thread or process that removes the same directory moves and removes entries meanwhile.
    let is_race = |error: &io::Error| {
        matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
        )
    };
    for _ in 0..MAX_ATTEMPTS {
        match remove_once(dir) {
            Err(error) if is_race(&error) => {}
            result => return result,
        }
    }
    remove_once(dir)
}

fn remove_once(dir: &Path) -> io::Result<()> {
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return ignore_missing(fs::remove_file(dir)),
        Ok(_) => {}
    }
    restore_access(dir)?;
    loop {
        let mut is_empty = true;
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                remove_flat(&entry.path(), dir)?;
            } else {
                ignore_missing(fs::remove_file(entry.path()))?;
            }
        }
        if is_empty {
            return ignore_missing(fs::remove_dir(dir));
        }
    }
}

/// Removes a directory after moving its subdirectories to `top`.
fn remove_flat(dir: &Path, top: &Path) -> io::Result<()> {
    restore_access(dir)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            // Moving a directory requires write access to it.
            restore_access(&path)?;
            fs::rename(&path, top.join(Uuid::new_v4().simple().to_string()))?;
        } else {
            ignore_missing(fs::remove_file(path))?;
        }
    }
    match fs::remove_dir(dir) {
        // Some file systems skip entries when others are removed during the listing. The caller
        // lists `top` again.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        result => ignore_missing(result),
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Writes a program's own files, mode 0600, into the directories that are emptied for each turn.
///
/// # Errors
/// A path lies elsewhere, or exists already: an agent could have left a link there in an earlier
/// turn.
pub(super) fn write_files(dirs: &RunDirs, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    for (path, content) in files {
        if !is_below(&dirs.work, path) && !is_below(&dirs.scratch, path) {
            let text = format!("{} is in no empty folder of the run", path.display());
            return Err(io::Error::other(text));
        }
        write_private(path, content, OpenOptions::new().create_new(true))?;
    }
    Ok(())
}

/// Writes documents into a directory that no agent is using.
fn write_documents(dir: &Path, documents: &[Document]) -> io::Result<()> {
    for document in documents {
        let path = dir.join(&document.path);
        if !is_below(dir, &path) {
            let text = format!("{:?} is not a path in the agent's folder", document.path);
            return Err(io::Error::other(text));
        }
        let text = document.text.as_bytes();
        write_private(&path, text, OpenOptions::new().create(true).truncate(true))?;
    }
    Ok(())
}

fn write_private(path: &Path, content: &[u8], options: &mut OpenOptions) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = options.write(true).mode(0o600).open(path)?;
    file.write_all(content)
}

fn is_below(dir: &Path, path: &Path) -> bool {
    path.strip_prefix(dir).is_ok_and(|rest| {
        let mut parts = rest.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    })
}

/// Copies the run's documents and the agent's own earlier files into the empty working directory.
pub(super) fn fill_work(documents: &Path, dirs: &RunDirs, own: &[Document]) -> io::Result<()> {
    let mut pending = vec![(documents.to_owned(), dirs.work.clone())];
    while let Some((from, to)) = pending.pop() {
        let entries = match fs::read_dir(&from) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let to = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                fs::create_dir_all(&to)?;
                pending.push((entry.path(), to));
            } else {
                fs::copy(entry.path(), to)?;
            }
        }
    }
    write_documents(&dirs.work, own)
}

/// Collects the Markdown files of the working directory and, as `tmp/…`, of the scratch directory:
/// the `wanted` ones first, then by path. The run's own documents are left out.
///
/// Call it only when no process of the turn is left. Links are not followed.
pub(super) fn collect_files(
    documents: &Path,
    dirs: &RunDirs,
    wanted: &[String],
) -> io::Result<Vec<Document>> {
    let system_file = dirs.scratch.join(SYSTEM_FILE);
    let mut collected = Vec::new();
    for (_, name, path) in markdown_files(dirs, wanted)? {
        let was_given = path
            .strip_prefix(&dirs.work)
            .is_ok_and(|rest| documents.join(rest).exists());
        if was_given || path == system_file || collected.len() >= MAX_FILES {
            continue;
        }
        let Ok(file) = regular_file::open(&path) else {
            continue;
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            tracing::warn!(
                file = name,
                "a file that the agent wrote is too long to be read"
            );
            continue;
        }
        collected.push(Document {
            path: name,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    Ok(collected)
}

/// Lists Markdown files with their names for the engine. The first field sorts the wanted ones to
/// the front, so that other files cannot crowd them out.
fn markdown_files(
    dirs: &RunDirs,
    wanted: &[String],
) -> io::Result<BTreeSet<(bool, String, PathBuf)>> {
    let mut files = BTreeSet::new();
    let mut seen = 0;
    let mut pending = vec![
        (dirs.scratch.clone(), "tmp/".to_owned(), 0),
        (dirs.work.clone(), String::new(), 0),
    ];
    while let Some((dir, prefix, depth)) = pending.pop() {
        // The agent may have made it unreadable.
        let Ok(entries) = fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            seen += 1;
            if seen > MAX_ENTRIES {
                return Ok(files);
            }
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let is_markdown = Path::new(&name).extension().is_some_and(|end| end == "md");
            let name = format!("{prefix}{name}");
            if kind.is_dir() && depth < MAX_DEPTH {
                pending.push((entry.path(), format!("{name}/"), depth + 1));
            } else if kind.is_file() && is_markdown {
                files.insert((!wanted.contains(&name), name, entry.path()));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
