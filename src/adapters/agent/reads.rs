//! What agents may read, and what must not be among it.

use std::path::{Path, PathBuf};

use super::{Client, Exposed, OpenError, sandbox};

/// The first of `secrets` that the sandbox itself lets every agent read, as it does with the system's programs.
pub(super) fn exposed(secrets: &[PathBuf]) -> Option<Exposed> {
    sandbox::system().find_map(|folder| {
        let real = folder.canonicalize().ok()?;
        let secret = secrets.iter().find(|secret| lies_in(secret, &real))?;
        Some(Exposed {
            folder: folder.to_owned(),
            secret: secret.clone(),
        })
    })
}

/// Where the program is installed, and what its client names.
///
/// # Errors
/// What the client names holds the agents' `folder` or one of `secrets`.
pub(super) fn allowed(
    client: &dyn Client,
    folder: &Path,
    secrets: &[PathBuf],
) -> Result<Vec<PathBuf>, OpenError> {
    let named = client.reads();
    for read in &named {
        let Ok(real) = read.canonicalize() else {
            continue;
        };
        if folder.starts_with(&real) {
            return Err(OpenError::TooWide {
                read: read.clone(),
                folder: folder.to_owned(),
            });
        }
        if let Some(secret) = secrets.iter().find(|secret| lies_in(secret, &real)) {
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
    let home = real.parent().map(Path::to_owned);
    // A program that lies beside the runs or the bot's secrets is readable itself, but not with its neighbours.
    let own = home
        .filter(|home| !folder.starts_with(home))
        .filter(|home| !secrets.iter().any(|secret| lies_in(secret, home)))
        .unwrap_or(real);
    Ok(named.into_iter().chain([own]).collect())
}

/// Whether a file is below a folder, or where a link leads to from there.
fn lies_in(file: &Path, folder: &Path) -> bool {
    let real = file.canonicalize();
    // What is not there yet (a new database) will be in its folder.
    let placed = std::path::absolute(file).ok().and_then(|file| {
        let parent = file.parent()?.canonicalize().ok()?;
        Some(parent.join(file.file_name()?))
    });
    real.ok()
        .into_iter()
        .chain(placed)
        .any(|file| file.starts_with(folder))
}
