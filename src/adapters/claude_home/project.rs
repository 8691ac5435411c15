//! Projects: which session folders are of a working directory, and which sessions in them are.

use std::path::{Path, PathBuf};

use super::logs::{entries, first_cwd, logs, name};
use super::{ClaudeHome, FindError};
use crate::formats::session::paths::{MAX_PROJECT_NAME_CHARS, project_names};

/// A working directory that has sessions.
///
/// The name of a session folder is not the whole truth about whose it is: `/srv/my-app`, `/srv/my.app` and
/// `/srv/my/app` share one, and so do long names that begin alike. So of the folder a session was begun in and those above it, the
/// nearest one **whose name is encoded like that of the session folder** must be the working directory. A log without
/// `cwd`, or with one that does not lead to the session folder at all (the project was moved, the logs were copied), is
/// of the project whose folder it lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    directory: PathBuf,
    folders: Vec<PathBuf>,
}

impl Project {
    /// Its session folders. Mostly one; several where versions with different rules for the name were used.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a session in one of the folders, begun in `cwd`, is of this project.
    pub(super) fn has(&self, cwd: Option<&Path>) -> bool {
        let is_alike = |directory: &&Path| {
            let names = project_names(&directory.to_string_lossy());
            let mut folders = self.folders.iter();
            folders.any(|folder| names.iter().any(|of| is_named(&name(folder), of)))
        };
        let begun_in = cwd.and_then(|cwd| cwd.ancestors().find(is_alike));
        begun_in.is_none_or(|folder| folder == self.directory || self.is_linked(folder))
    }

    /// Whether `folder` is the directory by another name.
    fn is_linked(&self, folder: &Path) -> bool {
        match (folder.canonicalize(), self.directory.canonicalize()) {
            (Ok(folder), Ok(directory)) => folder == directory,
            _ => false,
        }
    }

    /// Whether its folders have no logs at all, or one that is of this project.
    fn is_used(&self) -> Result<bool, FindError> {
        let mut others = false;
        for folder in &self.folders {
            for log in logs(folder)? {
                if self.has(first_cwd(&log.path).as_deref()) {
                    return Ok(true);
                }
                others = true;
            }
        }
        Ok(!others)
    }
}

impl ClaudeHome {
    /// The project of the working directory `directory`, or of the nearest one above it that has sessions.
    pub fn project(&self, directory: &Path) -> Result<Project, FindError> {
        let given = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let resolved = given.canonicalize().ok();
        for directory in resolved.iter().chain([&given]) {
            for directory in directory.ancestors() {
                let project = Project {
                    directory: directory.to_owned(),
                    folders: self.named(&directory.to_string_lossy())?,
                };
                if !project.folders.is_empty() && project.is_used()? {
                    return Ok(project);
                }
            }
        }
        Err(FindError::NoProject {
            directory: given,
            projects: self.projects(),
        })
    }

    fn named(&self, directory: &str) -> Result<Vec<PathBuf>, FindError> {
        let mut found = Vec::new();
        for of in project_names(directory) {
            if is_cut(&of) {
                let folders = entries(&self.projects())?.into_iter();
                found.extend(folders.filter(|path| path.is_dir() && is_named(&name(path), &of)));
            } else {
                found.extend(Some(self.projects().join(of)).filter(|path| path.is_dir()));
            }
        }
        found.dedup();
        Ok(found)
    }
}

/// Whether the folder `folder` may be the one of an encoded name: the name itself, or its beginning and a hash.
fn is_named(folder: &str, encoded: &str) -> bool {
    if !is_cut(encoded) {
        return folder == encoded;
    }
    let begin = &encoded[..MAX_PROJECT_NAME_CHARS];
    let hash = folder.strip_prefix(begin);
    hash.is_some_and(|hash| hash.starts_with('-'))
}

fn is_cut(encoded: &str) -> bool {
    encoded.len() > MAX_PROJECT_NAME_CHARS && encoded.is_ascii()
}
