//! Files that a program is given, written into the private folders of a run, and those that it leaves there.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use super::RunDirs;
use crate::engine::agent::Document;
use crate::regular_file;

/// Most files that a program leaves and that are looked at.
const MOST_LEFT: usize = 32;
/// Most bytes of one of them; longer ones are passed over: a part of a document is none.
const MOST_BYTES: u64 = 1024 * 1024;
/// Folders in folders that are looked into.
const DEPTH: usize = 4;
/// Most entries that are looked at: whoever makes more hides nothing but their own files.
const ENTRIES: usize = 10_000;

/// Writes `files`, mode 0600, into the rooms that are empty at the start of a turn. Anywhere else, or where something is
/// already, is an error: an agent of an earlier turn could have left a link there.
pub(super) fn place(rooms: &RunDirs, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    for (path, content) in files {
        if !inside(&rooms.work, path) && !inside(&rooms.scratch, path) {
            let text = format!("{} is in no empty folder of the run", path.display());
            return Err(io::Error::other(text));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(content)?;
    }
    Ok(())
}

/// Writes documents into a folder of ours.
pub(super) fn write(folder: &Path, documents: &[Document]) -> io::Result<()> {
    for document in documents {
        let path = folder.join(&document.path);
        if !inside(folder, &path) {
            let text = format!("{:?} is no path in the agent's folder", document.path);
            return Err(io::Error::other(text));
        }
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(document.text.as_bytes())?;
    }
    Ok(())
}

/// Puts the run's documents and the agent's own earlier ones into the working directory, which is empty.
pub(super) fn furnish(given: &Path, rooms: &RunDirs, own: &[Document]) -> io::Result<()> {
    let mut to_do = vec![(given.to_owned(), rooms.work.clone())];
    while let Some((from, to)) = to_do.pop() {
        let listed = match fs::read_dir(&from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            let to = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                fs::create_dir_all(&to)?;
                to_do.push((entry.path(), to));
            } else {
                fs::copy(entry.path(), to)?;
            }
        }
    }
    write(&rooms.work, own)
}

/// The Markdown files in the working directory and, as `tmp/…`, in the scratch folder, those that were
/// `wanted` first, then in the order of their paths; those that the run was given are not among them. Links are not followed. To be called when no process of the turn is left.
pub(super) fn left(given: &Path, rooms: &RunDirs, wanted: &[String]) -> io::Result<Vec<Document>> {
    let mut paths = BTreeSet::new();
    let mut seen = 0;
    for (room, before) in [(&rooms.work, ""), (&rooms.scratch, "tmp/")] {
        let mut to_do = vec![(room.clone(), before.to_owned(), 0)];
        while let Some((folder, before, depth)) = to_do.pop() {
            // A folder that was closed is the program's own doing.
            let Ok(listed) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in listed {
                seen += 1;
                let entry = entry?;
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type())
                else {
                    continue;
                };
                if seen > ENTRIES {
                    break;
                }
                let shown = format!("{before}{name}");
                if kind.is_dir() && depth < DEPTH {
                    to_do.push((entry.path(), format!("{shown}/"), depth + 1));
                } else if kind.is_file()
                    && Path::new(&name).extension().is_some_and(|end| end == "md")
                {
                    // Whoever writes many others does not hide the one that is asked for.
                    paths.insert((!wanted.contains(&shown), shown, entry.path()));
                }
            }
        }
    }
    let was_given = |path: &Path| {
        let rest = path.strip_prefix(&rooms.work);
        rest.is_ok_and(|rest| given.join(rest).exists())
    };
    let system = rooms.scratch.join(super::claude::SYSTEM_FILE);
    let mut found = Vec::new();
    for (_, shown, path) in paths {
        if was_given(&path) || path == system || found.len() >= MOST_LEFT {
            continue;
        }
        let mut bytes = Vec::new();
        let Ok(file) = regular_file::open(&path) else {
            continue;
        };
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            tracing::warn!(
                file = shown,
                "a file that the agent wrote is too long to be read"
            );
            continue;
        }
        found.push(Document {
            path: shown,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    Ok(found)
}

fn inside(room: &Path, path: &Path) -> bool {
    let rest = path.strip_prefix(room);
    rest.is_ok_and(|rest| {
        rest.components()
            .all(|part| matches!(part, Component::Normal(_)))
    })
}

#[cfg(test)]
mod tests;
