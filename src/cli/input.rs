//! Reads texts that are named on the command line.

use std::io::{self, stdin};
use std::path::{Component, Path, PathBuf};

use super::Failure;
use crate::adapters::working_copy::WorkingCopy;
use crate::regular_file;

/// Maximum size of an input, in bytes (64 MiB).
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file, or standard input if `file` is `-`.
///
/// # Errors
/// Returns [`Failure::Usage`] if the file cannot be read, is not a regular file, or is longer than
/// [`MAX_BYTES`].
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file.as_os_str() == "-" {
        regular_file::read_all(stdin(), MAX_BYTES)
    } else {
        regular_file::open_named(file).and_then(|open| regular_file::read_all(open, MAX_BYTES))
    };
    read.map_err(|error| cannot_read(file, &error))
}

/// Reads a UTF-8 file, or standard input if `file` is `-`.
///
/// # Errors
/// Returns the errors of [`bytes`], and [`Failure::Usage`] if the content is not UTF-8.
pub(super) fn text(file: &Path) -> Result<String, Failure> {
    as_text(file, bytes(file)?)
}

/// Reads a UTF-8 file like [`text`]. A file below `root` is not read through symbolic links that
/// lead out of it.
///
/// # Errors
/// Returns the errors of [`text`], and [`Failure::Usage`] if a symbolic link leads out of `root`.
pub(super) fn text_below(root: &Root, file: &Path) -> Result<String, Failure> {
    let Some(path) = root.inside(file) else {
        return text(file);
    };
    let read = root.copy.bytes(&path, MAX_BYTES);
    as_text(file, read.map_err(|error| cannot_read(file, &error))?)
}

fn as_text(file: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let utf_16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    String::from_utf8(bytes).map_err(|error| {
        let why = if utf_16 {
            "it is UTF-16".to_owned()
        } else {
            let at = error.utf8_error().valid_up_to();
            format!("byte {} is invalid", at + 1)
        };
        Failure::Usage(format!(
            "{} is not UTF-8 text: {why}; save it as UTF-8",
            file.display()
        ))
    })
}

fn cannot_read(file: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!(
        "cannot read {}: {error}; give a file, or `-` for standard input",
        file.display()
    ))
}

/// A directory whose files are read without following symbolic links out of it.
pub(super) struct Root {
    pub(super) copy: WorkingCopy,
    /// The path as given and the path with symbolic links resolved; both are absolute.
    paths: [PathBuf; 2],
}

impl Root {
    /// Opens the directory.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist or may not be read.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self {
            copy: WorkingCopy::open(root)?,
            paths: [plain(root)?, root.canonicalize()?],
        })
    }

    /// Returns the path of `file` relative to this directory, or `None` if `file` is not below it.
    fn inside(&self, file: &Path) -> Option<PathBuf> {
        let file = plain(file).ok()?;
        let inside = |root: &PathBuf| file.strip_prefix(root).ok().map(Path::to_owned);
        self.paths.iter().find_map(inside)
    }
}

/// Makes a path absolute and removes `.` and `..` lexically, without accessing the file system.
fn plain(path: &Path) -> io::Result<PathBuf> {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Ok(plain)
}

/// Reads a plan and removes a leading byte-order mark. NUL bytes are an error, because GitHub
/// refuses them.
///
/// # Errors
/// Returns the errors of [`text`], and [`Failure::Usage`] if the text contains NUL.
pub(super) fn plan(file: &Path) -> Result<String, Failure> {
    plan_and_mark(file).map(|(text, _)| text)
}

/// Reads a plan like [`plan`], and also returns whether a byte-order mark was removed.
///
/// # Errors
/// Returns the errors of [`plan`].
pub(super) fn plan_and_mark(file: &Path) -> Result<(String, bool), Failure> {
    let text = text(file)?;
    if let Some(at) = text.find('\0') {
        return Err(Failure::Usage(format!(
            "{} cannot be a plan: byte {} is NUL; delete it",
            file.display(),
            at + 1
        )));
    }
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest.to_owned(), true),
        None => (text, false),
    })
}
