//! Projects: the session folders of a working directory, and which sessions in them belong to it.

use std::path::{Path, PathBuf};

use super::files::{entries, file_name, first_cwd, logs};
use super::{ClaudeHome, FindError};
use crate::formats::session::paths::{MAX_PROJECT_NAME_CHARS, project_names};

/// A working directory that has sessions.
///
/// The name of a session folder does not identify the working directory: `/srv/my-app`,
/// `/srv/my.app` and `/srv/my/app` share one, and so do long names with the same beginning. So a
/// session belongs to the nearest directory, from the one in which it was started upwards, **whose
/// encoded name is that of the session folder**. A log without `cwd`, or with one that does not
/// lead to the session folder at all (the project was moved, or the logs were copied), belongs to
/// the project whose folder it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    directory: PathBuf,
    folders: Vec<PathBuf>,
}

impl Project {
    /// Returns the session folders. There are several if versions with different rules for their
    /// names were used.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a session in one of the folders that was started in `cwd` belongs to this project.
    pub(super) fn contains_session(&self, cwd: Option<&Path>) -> bool {
        let has_folder = |directory: &&Path| {
            let names = project_names(&directory.to_string_lossy());
            let mut folders = self.folders.iter().map(|folder| file_name(folder));
            folders.any(|folder| names.iter().any(|encoded| is_folder_of(&folder, encoded)))
        };
        let owner = cwd.and_then(|cwd| cwd.ancestors().find(has_folder));
        owner.is_none_or(|owner| owner == self.directory || self.is_same_directory(owner))
    }

    /// Whether `other` is a different path to the directory, through links.
    fn is_same_directory(&self, other: &Path) -> bool {
        let real = other.canonicalize();
        real.is_ok_and(|real| self.directory.canonicalize().is_ok_and(|own| own == real))
    }

    /// Whether the folders contain a log of this project, or no log at all.
    fn owns_folders(&self) -> Result<bool, FindError> {
        let mut has_others = false;
        for folder in &self.folders {
            for log in logs(folder)? {
                if self.contains_session(first_cwd(&log.path).as_deref()) {
                    return Ok(true);
                }
                has_others = true;
            }
        }
        Ok(!has_others)
    }
}

impl ClaudeHome {
    /// Returns the project of the working directory `directory`, or of the nearest one above it
    /// that has sessions.
    pub fn project(&self, directory: &Path) -> Result<Project, FindError> {
        let given = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let resolved = given.canonicalize().ok();
        for directory in resolved.iter().chain([&given]) {
            for directory in directory.ancestors() {
                let project = Project {
                    directory: directory.to_owned(),
                    folders: self.folders_of(&directory.to_string_lossy())?,
                };
                if !project.folders.is_empty() && project.owns_folders()? {
                    return Ok(project);
                }
            }
        }
        Err(FindError::NoProject {
            directory: given,
            projects: self.projects(),
        })
    }

    fn folders_of(&self, directory: &str) -> Result<Vec<PathBuf>, FindError> {
        let mut found = Vec::new();
        for encoded in project_names(directory) {
            let candidates = if is_truncated(&encoded) {
                let mut folders = entries(&self.projects())?;
                folders.retain(|path| is_folder_of(&file_name(path), &encoded));
                folders
            } else {
                vec![self.projects().join(encoded)]
            };
            found.extend(candidates.into_iter().filter(|path| path.is_dir()));
        }
        found.dedup();
        Ok(found)
    }
}

/// Whether a session folder can be the one of an encoded name. Long names are truncated and
/// followed by a hash.
fn is_folder_of(folder: &str, encoded: &str) -> bool {
    if !is_truncated(encoded) {
        return folder == encoded;
    }
    let hash = folder.strip_prefix(&encoded[..MAX_PROJECT_NAME_CHARS]);
    hash.is_some_and(|hash| hash.starts_with('-'))
}

fn is_truncated(encoded: &str) -> bool {
    encoded.len() > MAX_PROJECT_NAME_CHARS && encoded.is_ascii()
}
