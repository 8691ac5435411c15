//! Properties of the file system that a database is on.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of writes that are timed.
const WRITES: usize = 9;

/// Size of each write, in bytes: a page of the database.
const WRITE_BYTES: usize = 4096;

/// Kind of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// On a disk of this computer, or of a kind that is not known.
    Local,
    /// In memory.
    Memory,
    /// On another computer, with the name of the protocol.
    Network(&'static str),
}

/// Returns the number of free bytes in `folder`; `None` where this is not known.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let about = rustix::fs::statvfs(folder).ok()?;
        Some(about.f_bavail.saturating_mul(about.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Returns whether the file system of `path` cannot be written to.
pub fn is_read_only(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{StatVfsMountFlags, statvfs};
        statvfs(path).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::RDONLY))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Returns the kind of file system of `folder`.
pub fn file_system(folder: &Path) -> FileSystem {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::statfs(folder).map_or(FileSystem::Local, |about| {
            // The low 32 bits are the number in statfs(2), whatever the width and sign of the field.
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the numbers have 32 bits"
            )]
            kind(about.f_type as u32)
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        FileSystem::Local
    }
}

/// Returns the kind of file system with this number in statfs(2).
#[cfg(target_os = "linux")]
fn kind(number: u32) -> FileSystem {
    match number {
        0x6969 => FileSystem::Network("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => FileSystem::Network("SMB"),
        0x00c3_6400 => FileSystem::Network("CephFS"),
        0x5346_414f => FileSystem::Network("AFS"),
        0x0102_1997 => FileSystem::Network("9P"),
        0x0102_1994 | 0x8584_58f6 => FileSystem::Memory,
        _ => FileSystem::Local,
    }
}

/// Returns the median time that a small write to `folder` takes until it is on disk. The file that
/// is written is removed.
///
/// # Errors
/// The folder cannot be written to.
pub fn sync_time(folder: &Path) -> io::Result<Duration> {
    let mut file = tempfile::tempfile_in(folder)?;
    let mut times = [Duration::ZERO; WRITES];
    for time in &mut times {
        let start = Instant::now();
        file.write_all(&[0; WRITE_BYTES])?;
        file.sync_data()?;
        *time = start.elapsed();
    }
    times.sort_unstable();
    Ok(times[WRITES / 2])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(kind(0x6969), FileSystem::Network("NFS"));
        assert_eq!(kind(0xff53_4d42), FileSystem::Network("SMB"));
        assert_eq!(kind(0xef53), FileSystem::Local);
        assert_eq!(file_system(Path::new("/dev/shm")), FileSystem::Memory);
        assert_eq!(file_system(Path::new("/nowhere")), FileSystem::Local);
    }

    #[test]
    fn a_folder_is_measured_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        assert!(sync_time(folder.path()).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(!is_read_only(folder.path()));
        assert!(sync_time(&folder.path().join("missing")).is_err());
    }
}
