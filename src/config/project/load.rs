//! The settings of the project in a folder, read without leaving it.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::error::ProjectError;
use super::{Migrated, ProjectConfig, migrate, read, rules};

/// The settings' file, from the project's folder.
pub const CONFIG: &str = ".planwright/config.toml";
/// The settings of the program that was used before.
pub const OLD_CONFIG: &str = ".spektacular/config.yaml";

/// Longest file, in bytes: 64 KB. The documented defaults take five.
const MOST: u64 = 64 * 1024;

/// Where settings came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// There is no file.
    Default,
    /// [`CONFIG`].
    Planwright,
    /// [`OLD_CONFIG`], as [`CONFIG`] is not there.
    Spektacular,
}

/// A project's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings, with variables put in.
    pub config: ProjectConfig,
    /// Where they came from.
    pub source: Source,
    /// What was not taken over from [`OLD_CONFIG`], one sentence each.
    pub notes: Vec<String>,
}

/// Reads the settings of the project in `root`. `env` knows the environment variables.
///
/// # Errors
/// A file is there and cannot be used: nothing is ever ignored in silence.
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
        "the settings are those of {OLD_CONFIG}; `planwright init` writes them to {CONFIG}"
    )];
    notes.extend(migrated.notes());
    Ok(Loaded {
        config,
        source: Source::Spektacular,
        notes,
    })
}

/// What is made of [`OLD_CONFIG`] of the project in `root`, variables not put in; `None` when it is not there.
///
/// # Errors
/// It is there and cannot be used.
pub fn old_settings(root: &Path) -> Result<Option<Migrated>, ProjectError> {
    migrated(&open(root)?)
}

fn open(root: &Path) -> Result<Dir, ProjectError> {
    Dir::open_ambient_dir(root, ambient_authority()).map_err(|error| ProjectError::File {
        path: root.display().to_string(),
        why: format!("{error}; name the project's folder"),
    })
}

fn migrated(folder: &Dir) -> Result<Option<Migrated>, ProjectError> {
    let text = file(folder, OLD_CONFIG)?;
    text.map(|text| migrate::migrate(&text)).transpose()
}

/// The text of a file; `None` when it is not there.
fn file(folder: &Dir, path: &str) -> Result<Option<String>, ProjectError> {
    let failed = |why: String| ProjectError::File {
        path: path.to_owned(),
        why,
    };
    let bytes = match bytes(folder, path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // The kernel has refused nothing here: only cap-std gives this without a number of the system's.
        Err(error)
            if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() =>
        {
            return Err(failed(
                "a symbolic link on the way leads out of the project's folder; put the file itself there"
                    .to_owned(),
            ));
        }
        Err(error) => {
            return Err(failed(format!(
                "{error}; it must be a file that you may read"
            )));
        }
    };
    if bytes.len() as u64 > MOST {
        return Err(ProjectError::TooLong {
            path: path.to_owned(),
        });
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        failed(format!("byte {at} is not UTF-8; save it as UTF-8"))
    })
}

/// At most one byte more than [`MOST`].
fn bytes(folder: &Dir, path: &str) -> io::Result<Vec<u8>> {
    if !folder.metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Without waiting, should it have become a pipe meanwhile.
    #[cfg(unix)]
    {
        let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, nonblock.cast_signed());
    }
    let mut bytes = Vec::new();
    let open = folder.open_with(path, &options)?;
    open.take(MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
