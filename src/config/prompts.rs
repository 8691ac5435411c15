//! Reads the operator's own instructions for agents from a folder.

use crate::engine::settings::{OwnPrompts, Prompts, Role};
use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ConfigError;

/// The file names that are looked for, for error messages.
const FILES: &str = "plan-extractor.md, planner.md or researcher.md";

/// Maximum size of one instructions file, in bytes. Every turn repeats the instructions.
const MAX_FILE_BYTES: u64 = 200 * 1024;

/// Reads the instructions in `folder` and in its `OWNER/NAME` subfolders.
pub(super) fn read(folder: &Path) -> Result<Prompts, ConfigError> {
    let mut own = Vec::new();
    own.extend(instructions(folder)?.map(|found| (None, found)));
    // Folders whose name starts with a dot (`.git`, `..data` of a mounted volume) are not owners.
    let owners = folders(folder)?.into_iter();
    for owner in owners.filter(|owner| !last(owner).starts_with('.')) {
        for repository in folders(&owner)? {
            let name = name(&owner, &repository);
            let Some(found) = instructions(&repository)? else {
                return Err(wrong(
                    &repository,
                    format!("holds no {FILES}; put one there, or remove the folder"),
                ));
            };
            if own.iter().any(|(other, _)| other.as_ref() == Some(&name)) {
                let why = format!("is a second folder for {name}; GitHub does not tell them apart");
                return Err(wrong(&repository, format!("{why}; remove one of them")));
            }
            own.push((Some(name), found));
        }
    }
    if own.is_empty() {
        return Err(wrong(
            folder,
            format!(
                "the folder named by `agent.prompts` holds no {FILES}, and no OWNER/NAME with one; put \
                 one there, or leave `agent.prompts` empty"
            ),
        ));
    }
    Ok(Prompts { own: Arc::new(own) })
}

/// Returns `owner/name` in lower case.
fn name(owner: &Path, repository: &Path) -> String {
    format!("{}/{}", last(owner), last(repository)).to_lowercase()
}

fn last(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Returns the subfolders of `folder`, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let cannot = |error: std::io::Error| {
        wrong(
            folder,
            format!(
                "the folder cannot be read: {error}; make it readable for this user, or name another one in \
                 `agent.prompts`"
            ),
        )
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the instructions in one folder, or returns `None` if there are none.
fn instructions(folder: &Path) -> Result<Option<OwnPrompts>, ConfigError> {
    let mut own = Vec::new();
    for role in Role::ALL {
        own.extend(text(&folder.join(role.file()))?.map(|text| (role, text)));
    }
    Ok((!own.is_empty()).then_some(OwnPrompts(own)))
}

/// Reads one instructions file, or returns `None` if it does not exist.
fn text(path: &Path) -> Result<Option<String>, ConfigError> {
    let text = match open(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(wrong(
                path,
                format!(
                    "the instructions cannot be read: {error}; make it a text file that this user may read, or \
                     remove it"
                ),
            ));
        }
    };
    if text.trim().is_empty() {
        let why =
            "the instructions are empty; write some, or remove the file to use the built-in ones";
        return Err(wrong(path, why.to_owned()));
    }
    if text.len() as u64 > MAX_FILE_BYTES {
        let why = "the instructions are longer than 200 KB; shorten them";
        return Err(wrong(path, why.to_owned()));
    }
    Ok(Some(text))
}

/// Reads a file, but at most one byte more than [`MAX_FILE_BYTES`].
fn open(path: &Path) -> std::io::Result<String> {
    // Opening a pipe would block until another process writes to it.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        // The limit may have cut a character in half. The caller refuses the text anyway.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}

fn wrong(path: &Path, why: String) -> ConfigError {
    ConfigError::Prompt {
        path: path.display().to_string(),
        why,
    }
}
