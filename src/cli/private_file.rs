//! Files that only their owner can read.

use std::fs::OpenOptions;
use std::io::{Error, Result, Write as _};
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

/// Creates a file with `text`, which gets a final line end. Errors name the file.
///
/// # Errors
/// The file exists, or cannot be written.
pub(super) fn create(path: &Path, text: &SecretString) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let written = options.open(path).and_then(|mut file| {
        let text = text.expose_secret();
        file.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        file.sync_all()
    });
    written.map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))
}
