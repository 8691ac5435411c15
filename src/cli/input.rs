//! Texts that are named on the command line.

use std::io::{self, stdin};
use std::path::{Component, Path, PathBuf};

use super::Failure;
use crate::adapters::working_copy::WorkingCopy;
use crate::regular_file;

/// A text that is longer, in bytes, is not what anybody means: 64 MiB.
const MOST: u64 = 64 * 1024 * 1024;

/// The bytes of a file, or of standard input for `-`.
///
/// # Errors
/// [`Failure::Usage`]: it cannot be read, is no regular file, or is too long.
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file.as_os_str() == "-" {
        regular_file::read_all(stdin(), MOST)
    } else {
        regular_file::open_named(file).and_then(|open| regular_file::read_all(open, MOST))
    };
    read.map_err(|error| cannot_read(file, &error))
}

/// The text of a file, or of standard input for `-`.
///
/// # Errors
/// As [`bytes`]; it is not UTF-8.
pub(super) fn text(file: &Path) -> Result<String, Failure> {
    as_text(file, bytes(file)?)
}

/// The same where files below the folder `root` are read without leaving it.
///
/// # Errors
/// As [`text`]; a symbolic link leads out of `root`.
pub(super) fn text_below(root: &Root, file: &Path) -> Result<String, Failure> {
    let Some(path) = root.inside(file) else {
        return text(file);
    };
    let read = root.copy.bytes(&path, MOST);
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

/// A folder that is not to be left.
pub(super) struct Root {
    pub(super) copy: WorkingCopy,
    /// Its path as given, and where that really is; both absolute.
    paths: [PathBuf; 2],
}

impl Root {
    /// Opens the folder.
    ///
    /// # Errors
    /// There is no such folder, or it may not be read.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self {
            copy: WorkingCopy::open(root)?,
            paths: [plain(root)?, root.canonicalize()?],
        })
    }

    /// The path of a file from here; `None` when it is named by another path.
    fn inside(&self, file: &Path) -> Option<PathBuf> {
        let file = plain(file).ok()?;
        let inside = |root: &PathBuf| file.strip_prefix(root).ok().map(Path::to_owned);
        self.paths.iter().find_map(inside)
    }
}

/// An absolute path without `.` and `..`, nothing looked up.
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

/// The text of a plan: it holds no NUL, which GitHub refuses. A byte-order mark is no part of it.
///
/// # Errors
/// As [`text`].
pub(super) fn plan(file: &Path) -> Result<String, Failure> {
    plan_and_mark(file).map(|(text, _)| text)
}

/// [`plan`], and whether there was a byte-order mark before it.
///
/// # Errors
/// As [`text`].
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
