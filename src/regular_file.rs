//! Reads regular files up to a size limit, at paths that others control: in a cloned repository, or
//! in an agent's directory.
//!
//! Such a path can lead to a pipe, which blocks forever, or to a device, which never ends. Neither
//! is opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file, following symbolic links.
///
/// # Errors
/// Returns an error if the file cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // Checked before opening, because opening some devices has side effects.
    check(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // Does not block if the file has been replaced by a pipe since the check.
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Opens a regular file, or a file descriptor that the shell has passed on (standard input, process
/// substitution), which can be a pipe. Use it for paths given on the command line.
///
/// # Errors
/// Same as [`open()`].
pub fn open_named(path: &Path) -> io::Result<File> {
    let descriptors = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];
    if descriptors.iter().any(|name| path.starts_with(name)) {
        return File::open(path);
    }
    open(path)
}

/// Reads a regular file.
///
/// # Errors
/// Same as [`open()`], and if the file is longer than `max_bytes` or cannot be read.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, max_bytes)
}

/// Reads an open file.
///
/// # Errors
/// Returns an error if the file is longer than `max_bytes` or cannot be read.
pub fn read_all(file: impl io::Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!(
            "it is longer than {}",
            size(max_bytes)
        )));
    }
    Ok(bytes)
}

fn check(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else if metadata.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Formats a size in the largest unit that it is a multiple of.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    if bytes >= MIB && bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else if bytes >= KIB && bytes.is_multiple_of(KIB) {
        format!("{} KiB", bytes / KIB)
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn pipes_devices_and_folders_are_refused_without_waiting() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        symlink("/dev/zero", path("device")).unwrap();
        symlink("pipe", path("link")).unwrap();
        for name in ["pipe", "device", "link"] {
            for opened in [open(&path(name)), open_named(&path(name))] {
                let why = opened.unwrap_err().to_string();
                assert_eq!(why, "it is not a regular file", "{name}");
            }
        }
        let why = open(folder.path()).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "x".repeat(1025)).unwrap();
        assert_eq!(read(&path, 1025).unwrap().len(), 1025);
        for (most, why) in [
            (1024, "it is longer than 1 KiB"),
            (1000, "it is longer than 1000 bytes"),
        ] {
            assert_eq!(read(&path, most).unwrap_err().to_string(), why);
        }
        assert_eq!(size(64 * 1024 * 1024), "64 MiB");
    }
}
