//! Computes what agents may read, and checks that no secret is among it.

use std::path::{Path, PathBuf};

use super::{Client, Exposed, OpenError, sandbox};

/// Returns the first of `secrets` that agents can read although they run in a sandbox, because it
/// lies in a system directory that every program may read.
pub fn exposed(secrets: &[PathBuf]) -> Option<Exposed> {
    sandbox::system_paths().find_map(|folder| {
        let real = folder.canonicalize().ok()?;
        let secret = secrets.iter().find(|secret| lies_in(secret, &real))?;
        Some(Exposed {
            folder: folder.to_owned(),
            secret: secret.clone(),
        })
    })
}

/// Returns the paths that agents may read: the installation of the program and what its client
/// names.
///
/// # Errors
/// A path that the client names contains the agents' `folder` or one of `secrets`.
pub(super) fn allowed(
    client: &dyn Client,
    folder: &Path,
    secrets: &[PathBuf],
) -> Result<Vec<PathBuf>, OpenError> {
    let mut reads = client.reads();
    let secret_in = |dir: &Path| secrets.iter().find(|secret| lies_in(secret, dir));
    for read in &reads {
        let Ok(real) = read.canonicalize() else {
            continue;
        };
        if folder.starts_with(&real) {
            return Err(OpenError::TooWide {
                read: read.clone(),
                folder: folder.to_owned(),
            });
        }
        if let Some(secret) = secret_in(&real) {
            return Err(OpenError::Secret {
                read: read.clone(),
                secret: secret.clone(),
            });
        }
    }
    let program = client.executable();
    let real = program
        .canonicalize()
        .unwrap_or_else(|_| program.to_owned());
    // A program next to the runs or the bot's secrets may be read, but not the files beside it.
    let installation = real
        .parent()
        .filter(|dir| !folder.starts_with(dir) && secret_in(dir).is_none());
    reads.push(installation.unwrap_or(&real).to_owned());
    Ok(reads)
}

/// Whether `file`, or the target of a link there, is below `folder`.
fn lies_in(file: &Path, folder: &Path) -> bool {
    // A file that does not exist yet, such as a new database, will be in its parent directory.
    let planned = || {
        let file = std::path::absolute(file).ok()?;
        Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?))
    };
    [file.canonicalize().ok(), planned()]
        .into_iter()
        .flatten()
        .any(|file| file.starts_with(folder))
}
