//! Reads the settings of a project without leaving the project's folder.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::error::ProjectError;
use super::{Migrated, ProjectConfig, migrate, read, rules};

/// Path of the settings file, relative to the project's folder.
pub const CONFIG: &str = ".planwright/config.toml";
/// Path of Spektacular's settings file, relative to the project's folder.
pub const OLD_CONFIG: &str = ".spektacular/config.yaml";

/// Maximum size of a settings file, in bytes (64 KiB). The documented defaults take 5 KB.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The origin of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The defaults, because there is no settings file.
    Default,
    /// The file [`CONFIG`].
    Planwright,
    /// The file [`OLD_CONFIG`], because [`CONFIG`] does not exist.
    Spektacular,
}

/// The loaded settings of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings, with variables expanded.
    pub config: ProjectConfig,
    /// The origin of the settings.
    pub source: Source,
    /// What was not carried over from [`OLD_CONFIG`], one sentence each.
    pub notes: Vec<String>,
}

/// Reads the settings of the project in `root`. `env` returns the value of an environment variable.
///
/// # Errors
/// Returns an error if a settings file exists but cannot be used.
pub fn load(root: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, ProjectError> {
    let folder = open(root)?;
    if let Some(text) = file(&folder, CONFIG)? {
        let (mut config, places) = read::read(CONFIG, &text)?;
        rules::finish(&mut config, env, &|key| (places.of(key), key.to_owned()))?;
        return Ok(Loaded {
            config,
            source: Source::Planwright,
            notes: Vec::new(),
        });
    }
    let Some(migrated) = migrated(&folder)? else {
        return Ok(Loaded {
            config: ProjectConfig::default(),
            source: Source::Default,
            notes: Vec::new(),
        });
    };
    let mut config = migrated.config.clone();
    rules::finish(&mut config, env, &migrate::place)?;
    let mut notes = vec![format!(
        "using the settings of {OLD_CONFIG}; `planwright init` migrates them to {CONFIG}"
    )];
    notes.extend(migrated.notes());
    Ok(Loaded {
        config,
        source: Source::Spektacular,
        notes,
    })
}

/// Migrates [`OLD_CONFIG`] of the project in `root`, without expanding variables. Returns `None` if
/// the file does not exist.
///
/// # Errors
/// Returns an error if the file exists but cannot be used.
pub fn old_settings(root: &Path) -> Result<Option<Migrated>, ProjectError> {
    migrated(&open(root)?)
}

fn open(root: &Path) -> Result<Dir, ProjectError> {
    Dir::open_ambient_dir(root, ambient_authority()).map_err(|error| ProjectError::File {
        path: root.display().to_string(),
        why: format!("{error}; give the project's folder"),
    })
}

fn migrated(folder: &Dir) -> Result<Option<Migrated>, ProjectError> {
    let text = file(folder, OLD_CONFIG)?;
    text.map(|text| migrate::migrate(&text)).transpose()
}

/// Reads a text file, or returns `None` if it does not exist.
fn file(folder: &Dir, path: &str) -> Result<Option<String>, ProjectError> {
    let failed = |why: String| ProjectError::File {
        path: path.to_owned(),
        why,
    };
    let bytes = match bytes(folder, path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Without an OS error number, the error comes from cap-std, not from the kernel: the path
        // leads out of the folder.
        Err(error)
            if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() =>
        {
            return Err(failed(
                "a symbolic link in its path leads out of the project's folder; put the file itself there"
                    .to_owned(),
            ));
        }
        Err(error) => {
            return Err(failed(format!(
                "{error}; it must be a file that you can read"
            )));
        }
    };
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ProjectError::TooLong {
            path: path.to_owned(),
        });
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        failed(format!("byte {at} is not UTF-8; save it as UTF-8"))
    })
}

/// Reads a file, but at most one byte more than [`MAX_FILE_BYTES`].
fn bytes(folder: &Dir, path: &str) -> io::Result<Vec<u8>> {
    if !folder.metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Does not block if the file has been replaced by a pipe since the check.
    #[cfg(unix)]
    {
        let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, nonblock.cast_signed());
    }
    let mut bytes = Vec::new();
    let open = folder.open_with(path, &options)?;
    open.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
