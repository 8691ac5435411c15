//! Measures what the files in an agent's private directories take on disk.
//!
//! The agent may be running meanwhile and nothing found is trusted: links are not followed, a
//! directory nested deeper than the longest path is still read, and one without permissions is made
//! readable again. Files that are open but have no name any more are not seen.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::engine::model::agent::Limit;

/// Least number of bytes that a file or directory counts as. The limit of disk space is therefore
/// also one of the number of files, and bounds the work of measuring.
const MIN_FILE_BYTES: u64 = 4096;

/// Number of bytes that a further name of a file that has been counted counts as.
const LINK_BYTES: u64 = 256;

/// Length of a relative path from which on the path of what is below starts anew, in bytes. Much
/// less than the longest path that the kernel accepts.
const MAX_PATH_BYTES: usize = 2_000;

/// The limits on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLimits {
    /// Maximum space that all files take together, in bytes.
    pub(super) disk: Option<u64>,
    /// Size that no file may reach, in bytes.
    pub(super) file_size: Option<u64>,
}

/// A directory that is still to be read.
struct Pending {
    /// An open directory above it.
    above: Rc<OwnedFd>,
    /// Its path below that directory.
    path: Vec<u8>,
}

/// Measures the directories and everything below them. Returns the limit that is exceeded, if any.
/// Stops as soon as one is, and when `stop` becomes true.
///
/// # Errors
/// One of the directories cannot be opened.
pub(super) fn exceeded(
    dirs: &[impl AsRef<Path>],
    limits: FileLimits,
    stop: &AtomicBool,
) -> io::Result<Option<Limit>> {
    let mut pending = Vec::new();
    for dir in dirs {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(dir.as_ref(), flags, Mode::empty()) {
            Ok(above) => pending.push(Pending {
                above: Rc::new(above),
                path: b".".to_vec(),
            }),
            // Agents without a sandbox can remove their own directories.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(Errno::ACCESS) => {
                if let Some(above) = open_closed(rustix::fs::CWD, dir.as_ref()) {
                    pending.push(Pending {
                        above: Rc::new(above),
                        path: b".".to_vec(),
                    });
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut count = Count {
        limits,
        bytes: 0,
        linked: HashSet::new(),
    };
    while let Some(dir) = pending.pop() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(open) = open_below(&dir) else {
            continue;
        };
        if let Some(limit) = count.read(&dir, &open, &mut pending, stop) {
            return Ok(Some(limit));
        }
    }
    Ok(None)
}

/// Opens a directory, or returns `None` if it has gone or is none any more.
fn open_below(dir: &Pending) -> Option<Rc<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = dir.path.as_slice();
    match openat(&dir.above, path, flags, Mode::empty()) {
        Ok(open) => Some(Rc::new(open)),
        Err(Errno::ACCESS) => open_closed(&dir.above, path).map(Rc::new),
        Err(_) => None,
    }
}

/// Opens a directory that the agent has made unreadable, after giving its owner access again.
#[cfg(target_os = "linux")]
fn open_closed(above: impl AsFd, path: impl rustix::path::Arg) -> Option<OwnedFd> {
    use std::fs::{Permissions, set_permissions};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::PermissionsExt as _;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(above, path, flags, Mode::empty()).ok()?;
    // By its descriptor: under its name the agent could put a link to another directory meanwhile.
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    set_permissions(itself, Permissions::from_mode(0o700)).ok()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(&found, c".", flags, Mode::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_closed(_above: impl AsFd, _path: impl rustix::path::Arg) -> Option<OwnedFd> {
    None
}

/// What has been found so far.
struct Count {
    limits: FileLimits,
    bytes: u64,
    /// Device and number of the files that have several names.
    linked: HashSet<(u64, u64)>,
}

impl Count {
    /// Counts the entries of a directory, and adds its subdirectories to `pending`.
    fn read(
        &mut self,
        dir: &Pending,
        open: &Rc<OwnedFd>,
        pending: &mut Vec<Pending>,
        stop: &AtomicBool,
    ) -> Option<Limit> {
        for entry in Dir::read_from(open).ok()?.flatten() {
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let Ok(found) = statat(open, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if let Some(limit) = self.add(&found) {
                return Some(limit);
            }
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                pending.push(below(dir, open, name));
            }
        }
        None
    }

    /// Counts a file or directory.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types of the fields differ between systems; none of them is negative"
    )]
    fn add(&mut self, found: &rustix::fs::Stat) -> Option<Limit> {
        let kind = FileType::from_raw_mode(found.st_mode);
        let is_counted = kind != FileType::Directory
            && found.st_nlink > 1
            && !self
                .linked
                .insert((found.st_dev as u64, found.st_ino as u64));
        let blocks = (found.st_blocks as u64).saturating_mul(512);
        self.bytes = self.bytes.saturating_add(if is_counted {
            LINK_BYTES
        } else {
            blocks.max(MIN_FILE_BYTES)
        });
        let size = found.st_size as u64;
        if let Some(most) = self.limits.file_size
            && kind == FileType::RegularFile
            && size >= most
        {
            return Some(Limit::FileSize(most));
        }
        let most = self.limits.disk?;
        (self.bytes > most).then_some(Limit::Disk(most))
    }
}

/// Returns the subdirectory `name` of the open directory `dir`.
fn below(dir: &Pending, open: &Rc<OwnedFd>, name: &CStr) -> Pending {
    if dir.path.len() > MAX_PATH_BYTES {
        return Pending {
            above: Rc::clone(open),
            path: name.to_bytes().to_vec(),
        };
    }
    Pending {
        above: Rc::clone(&dir.above),
        path: [&dir.path, b"/".as_slice(), name.to_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests;
