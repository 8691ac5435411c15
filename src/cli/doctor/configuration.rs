//! Checks of the configuration, and of the secrets and the files that it names.

use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;

use super::report::{Report, split};
use crate::adapters::store::volume;
use crate::config::{ConfigError, Loaded};

/// Least number of different characters of a webhook secret.
const MIN_DIFFERENT: usize = 8;

/// Where a private key comes from.
const NEW_KEY: &str =
    "on the App's settings page, under Private keys, generate a new one and use the file unchanged";

/// Adds why the configuration cannot be loaded.
pub(super) fn unusable(report: &mut Report, error: &ConfigError) {
    let remedy = match error {
        ConfigError::File { .. } => "check the path and the permissions of the file",
        ConfigError::Secret { .. } => {
            "correct the file or the variable; `openssl rand -hex 32` makes a webhook secret, and the App's settings page a private key"
        }
        ConfigError::SecretInFile { .. } => "move it; whoever could read the file knows it",
        ConfigError::Prompt { .. } => "correct the file, or leave agent.prompts empty",
        _ => "correct it; `planwright config --default` prints every key with its allowed values",
    };
    report.error("configuration", error.to_string(), remedy);
}

/// Checks the configuration and the secrets.
pub(super) fn examine(report: &mut Report, loaded: &Loaded) {
    let before = report.len();
    let program = loaded.config.agent.not_runnable();
    if let Err(missing) = loaded.ready_to_serve() {
        for one in missing.0 {
            if Some(&one) != program.as_ref() {
                let (what, remedy) = split(&one, ": ", "set it");
                report.error("configuration", format!("{what} is not set"), remedy);
            }
        }
    }
    let files = secret_files(loaded);
    for warning in &loaded.warnings {
        // The check of the files says more.
        let known = files.iter().any(|(_, file)| {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            warning.starts_with(&format!("{}: every user", real.display()))
        });
        if !known {
            let (seen, remedy) = split(warning, "; ", "remove it, or correct its name");
            report.warning("configuration", seen, remedy);
        }
    }
    if report.len() == before {
        let file = loaded.file.as_ref();
        report.ok(
            "configuration",
            file.map_or("valid; there is no file".to_owned(), |file| {
                format!("valid, with the file {}", file.display())
            }),
        );
    }
    secrets(report, loaded);
    modes(report, loaded, &files);
}

/// Returns the files with secrets and what they hold.
fn secret_files(loaded: &Loaded) -> Vec<(&'static str, PathBuf)> {
    let config = &loaded.config;
    [
        ("the private key", &config.github.private_key_file),
        ("the webhook secrets", &config.webhook.secrets_file),
        ("the key for the model's API", &config.agent.api_key_file),
    ]
    .into_iter()
    .filter_map(|(what, file)| Some((what, file.clone()?)))
    .collect()
}

fn secrets(report: &mut Report, loaded: &Loaded) {
    let secrets = &loaded.secrets.webhook;
    let repetitive = secrets.iter().any(|secret| {
        let secret = secret.expose_secret();
        let different: std::collections::BTreeSet<char> = secret.chars().collect();
        different.len() < MIN_DIFFERENT
    });
    if repetitive {
        report.warning(
            "secrets.webhook",
            format!("a webhook secret has fewer than {MIN_DIFFERENT} different characters and can be guessed"),
            "make a new one with `openssl rand -hex 32`, and set it in the App's settings and in the configuration",
        );
    } else if !secrets.is_empty() {
        let count = secrets.len();
        let end = if count == 1 { "" } else { "s" };
        report.ok("secrets.webhook", format!("{count} webhook secret{end}"));
    } else if !loaded.config.server.transport.listens() {
        report.ok(
            "secrets.webhook",
            "none, and none is needed, because server.transport is \"pull\"",
        );
    }
}

/// Returns what to do about a private key that cannot be parsed. Only its first line is looked at.
pub(super) fn key_remedy(loaded: &Loaded) -> String {
    let pem = loaded.secrets.private_key.as_ref();
    let first = pem.and_then(|pem| pem.expose_secret().lines().next());
    let label = first.unwrap_or_default();
    let what = if label.contains("ENCRYPTED") {
        "it is encrypted: decrypt it, or"
    } else if label.contains("OPENSSH") {
        "it is a key for SSH:"
    } else if label.contains("PUBLIC") || label.contains("CERTIFICATE") {
        "it is not a private key:"
    } else {
        "it is damaged, incomplete or of another kind than RSA:"
    };
    format!("{what} {NEW_KEY}")
}

/// Checks who else can read or replace the files.
fn modes(report: &mut Report, loaded: &Loaded, secrets: &[(&'static str, PathBuf)]) {
    let before = report.len();
    let mut database: Vec<PathBuf> = Vec::new();
    for end in ["", "-wal", "-shm"] {
        let mut path = loaded.config.store.path.clone().into_os_string();
        path.push(end);
        database.push(PathBuf::from(path));
    }
    let private = secrets
        .iter()
        .map(|(what, file)| (*what, file.as_path()))
        .chain(database.iter().map(|file| ("the database", file.as_path())));
    for (what, file) in private {
        if let Some((who, mode)) = exposed(file, 0o077) {
            report.error(
                "files",
                format!(
                    "{} ({what}) can be used by {who} (mode {mode:04o})",
                    file.display()
                ),
                format!("chmod 600 {}", file.display()),
            );
        }
    }
    if let Some(file) = &loaded.file
        && let Some((who, mode)) = exposed(file, 0o022)
    {
        report.error(
            "files",
            format!(
                "{} can be changed by {who} (mode {mode:04o})",
                file.display()
            ),
            format!("chmod go-w {}", file.display()),
        );
    }
    let files = secrets.iter().map(|(_, file)| file);
    let mut open: Vec<(PathBuf, u32)> = files
        .chain(&loaded.file)
        .chain(database.first())
        .filter_map(|file| open_folder(file))
        .collect();
    open.sort();
    open.dedup();
    for (folder, mode) in open {
        report.error(
            "files",
            format!(
                "every user can replace the files in {} (mode {mode:04o})",
                folder.display()
            ),
            format!("chmod o-w {}", folder.display()),
        );
    }
    if report.len() == before {
        report.ok(
            "files",
            "secrets, database and configuration are protected from other users",
        );
    }
}

/// Returns who besides the owner has one of the `rights` (permission bits) to the file, and its
/// mode. The mode of a file on a read-only file system is that of a container's or service's
/// secret, which cannot be changed.
#[cfg(unix)]
fn exposed(file: &Path, rights: u32) -> Option<(&'static str, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().ok()?.permissions().mode() & 0o7777;
    let granted = mode & rights;
    if granted == 0 || volume::is_read_only(file) {
        return None;
    }
    let others = granted & 0o007;
    let who = if others == 0 {
        "its group"
    } else {
        "every user"
    };
    Some((who, mode))
}

/// Returns the first folder above the file in which every user can replace files, and its mode.
#[cfg(unix)]
fn open_folder(file: &Path) -> Option<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt;
    /// Everybody can write, and remove the files of others.
    const STICKY: u32 = 0o1000;
    let folder = std::path::absolute(file)
        .ok()?
        .parent()?
        .canonicalize()
        .ok()?;
    folder.ancestors().find_map(|folder| {
        let mode = folder.metadata().ok()?.permissions().mode() & 0o7777;
        let open = mode & 0o002 != 0 && mode & STICKY == 0;
        open.then(|| (folder.to_owned(), mode))
    })
}

/// Permissions of other users are not checked on this platform.
#[cfg(not(unix))]
fn exposed(_file: &Path, _rights: u32) -> Option<(&'static str, u32)> {
    None
}

/// Permissions of other users are not checked on this platform.
#[cfg(not(unix))]
fn open_folder(_file: &Path) -> Option<(PathBuf, u32)> {
    None
}
