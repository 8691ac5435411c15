//! Texts that are named on the command line.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use super::Failure;

/// A text that is longer, in bytes, is not what anybody means: 64 MiB.
const MOST: u64 = 64 * 1024 * 1024;

/// The text of a file, or of standard input for `-`.
///
/// # Errors
/// [`Failure::Usage`]: it cannot be read, is too long, or is not UTF-8.
pub(super) fn text(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let cannot = |error: std::io::Error| {
        Failure::Usage(format!(
            "cannot read {name}: {error}; give a file, or `-` for standard input"
        ))
    };
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        stdin().take(MOST + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|open| open.take(MOST + 1).read_to_end(&mut bytes))
    }
    .map_err(cannot)?;
    if bytes.len() as u64 > MOST {
        return Err(Failure::Usage(format!(
            "{name} is longer than 64 MiB: is it the right file?"
        )));
    }
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

/// The text of a plan: it holds no NUL, which GitHub refuses. A byte-order mark is no part of it.
///
/// # Errors
/// As [`text`].
pub(super) fn plan(file: &Path) -> Result<String, Failure> {
    let text = text(file)?;
    if let Some(at) = text.find('\0') {
        return Err(Failure::Usage(format!(
            "{} cannot be a plan: byte {} is NUL; delete it",
            file.display(),
            at + 1
        )));
    }
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}
