//! Unpacks the archive of a repository into an empty folder, while it is read.
//!
//! The archive is not trusted: whoever can write to a repository decides what it contains. Paths
//! are checked before they are used ([`super::select`]); the folder has no symbolic link until
//! every file is written, and then only links that stay inside ([`super::links`]); headers, the number of
//! entries and the size of everything are limited. `tar::Archive::unpack` is not used, because it
//! has no limits, and it is given one header at a time (`raw`), because otherwise it reads long
//! names of any length into memory.

use std::collections::HashMap;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::feed::Limited;
use super::links::stays_inside;
use super::select::{Place, Rules, shown};
use crate::engine::checkout::{CheckoutError, LeftOut, MAX_LEFT_OUT, WhyLeftOut};
use crate::regular_file;

/// Maximum length of an extended header, in bytes. Paths have at most 4,096.
const MAX_HEADER: u64 = 32 * 1024;

/// Maximum length of a path below the folder of the copy, in bytes, including that of the folder
/// (`PATH_MAX` of Linux, with its NUL).
const MAX_PATH: usize = 4095;

/// Maximum length of all paths that are kept until the end, of folders and links, in bytes.
const MAX_KEPT: usize = 16 * 1024 * 1024;

/// Maximum size of `.gitmodules`, in bytes.
const MAX_GITMODULES: u64 = 1024 * 1024;

/// Maximum length of a pointer of Git LFS, in bytes
/// (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const MAX_LFS_POINTER: u64 = 1024;

/// First line of a pointer of Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// Size of a block of the file system, for the size of files on disk, in bytes.
const BLOCK: u64 = 4096;

/// Length of the buffer for file contents, in bytes.
const BUFFER: usize = 64 * 1024;

/// What was unpacked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unpacked {
    /// Number of files and links.
    pub(super) files: u64,
    /// Total size of the files, in bytes.
    pub(super) bytes: u64,
    /// Approximate size on disk, in bytes.
    pub(super) disk: u64,
    /// What was left out, at most [`MAX_LEFT_OUT`] entries.
    pub(super) left_out: Vec<LeftOut>,
}

/// Creates a file with a mode.
pub(super) type Create = dyn Fn(&Path, u32) -> io::Result<Box<dyn Write>>;

/// Creates a file that does not exist yet.
pub(super) fn create_file(path: &Path, mode: u32) -> io::Result<Box<dyn Write>> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode).open(path)?;
    Ok(Box::new(file))
}

/// Returns the maximum number of bytes that are read for a copy, before and after decompression.
/// It leaves room for headers and for files that are left out.
pub(super) fn max_read(rules: &Rules) -> u64 {
    let content = rules.max_bytes.saturating_mul(10);
    content.saturating_add(rules.max_files.saturating_mul(4 * BLOCK))
}

/// Unpacks an archive (gzip-compressed tar) into `root`, which must not exist, and makes it
/// read-only.
///
/// # Errors
/// Returns an error if the copy would be incomplete. `root` then contains anything.
pub(super) fn unpack(
    archive: impl BufRead,
    root: &Path,
    rules: &Rules,
    create: &Create,
) -> Result<Unpacked, CheckoutError> {
    fs::create_dir(root).map_err(|error| disk(&error))?;
    let mut unpacking = Unpacking {
        root,
        rules,
        create,
        done: Unpacked::default(),
        top: None,
        folders: Vec::new(),
        links: Vec::new(),
        kept: 0,
        buffer: vec![0; BUFFER],
    };
    let stream = Limited::new(MultiGzDecoder::new(archive), max_read(rules));
    let mut archive = Archive::new(stream);
    let mut extended = Extended::default();
    let mut seen = 0;
    let max_seen = rules.max_files.saturating_mul(20).saturating_add(100);
    let entries = archive
        .entries()
        .map_err(|error| unpacking.damaged(&error))?;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|error| unpacking.damaged(&error))?;
        seen += 1;
        if seen > max_seen {
            return Err(unpacking.too_many());
        }
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => {}
            EntryType::XHeader | EntryType::GNULongName | EntryType::GNULongLink => {
                let read = extended.read(&mut entry);
                read.map_err(|error| unpacking.damaged(&error))?;
            }
            kind => unpacking.entry(kind, &mut entry, &std::mem::take(&mut extended))?,
        }
    }
    // Up to the checksum of the compression, and the end of the download.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(|error| unpacking.damaged(&error))?;
    if unpacking.top.is_none() {
        return Err(CheckoutError::Archive("it is empty".to_owned()));
    }
    unpacking.finish()
}

/// Extended headers, which describe the entry that follows.
#[derive(Debug, Default)]
struct Extended {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
    /// Whether a header is too long or malformed, so that the path of the entry is unknown.
    unusable: bool,
}

impl Extended {
    fn read(&mut self, entry: &mut Entry<'_, impl Read>) -> io::Result<()> {
        let length = entry.header().entry_size()?;
        if length > MAX_HEADER {
            self.unusable = true;
            return Ok(());
        }
        let mut bytes = Vec::new();
        entry.take(MAX_HEADER).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(until_nul(bytes)),
            EntryType::GNULongLink => self.link = Some(until_nul(bytes)),
            _ => self.read_pax(&bytes),
        }
        Ok(())
    }

    fn read_pax(&mut self, bytes: &[u8]) {
        for record in PaxExtensions::new(bytes) {
            // A value with a line break is an error here; no path that is stored has one.
            let Ok(record) = record else {
                self.unusable = true;
                return;
            };
            let value = record.value_bytes();
            match record.key_bytes() {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => {
                    let size = std::str::from_utf8(value).ok();
                    self.size = size.and_then(|size| size.parse().ok());
                    self.unusable |= self.size.is_none();
                }
                key => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
    }
}

fn until_nul(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    bytes
}

/// A symbolic link that is created at the end.
struct Link {
    path: String,
    target: String,
}

struct Unpacking<'a> {
    root: &'a Path,
    rules: &'a Rules,
    create: &'a Create,
    done: Unpacked,
    /// The top folder, in which GitHub puts the files of the repository.
    top: Option<String>,
    /// The folders that exist, each after the one that contains it.
    folders: Vec<String>,
    links: Vec<Link>,
    /// Length of all paths in `folders` and `links`.
    kept: usize,
    buffer: Vec<u8>,
}

impl Unpacking<'_> {
    fn entry(
        &mut self,
        kind: EntryType,
        entry: &mut Entry<'_, impl Read>,
        extended: &Extended,
    ) -> Result<(), CheckoutError> {
        let size = entry.header().entry_size();
        let size = size.map_err(|error| self.damaged(&error))?;
        if extended.size.is_some_and(|other| other != size) {
            // Only files of more than 8 GiB have their size there, and not in the header.
            return Err(if extended.size > Some(self.rules.max_bytes) {
                self.too_large()
            } else {
                CheckoutError::Archive("the size of an entry is ambiguous".to_owned())
            });
        }
        let own = entry.header().path_bytes();
        let raw = extended.path.as_deref().unwrap_or(&own);
        let most = MAX_PATH.saturating_sub(self.root.as_os_str().len() + 1);
        let place = Place::parse(raw, most).filter(|_| !extended.unusable);
        let is_folder = kind.is_dir() || (kind == EntryType::Regular && raw.ends_with(b"/"));
        let Some(Place { top, path }) = place else {
            self.leave_out(shown(raw), WhyLeftOut::Path);
            return Ok(());
        };
        if path.is_empty() && !is_folder {
            self.leave_out(shown(raw), WhyLeftOut::Path);
            return Ok(());
        }
        if *self.top.get_or_insert_with(|| top.clone()) != top {
            let why = "it has more than one top folder";
            return Err(CheckoutError::Archive(why.to_owned()));
        }
        if path.is_empty() {
            return Ok(());
        }
        if let Some((part, why)) = self.rules.left_out(&path) {
            self.leave_out(part.to_owned(), why);
            return Ok(());
        }
        if is_folder {
            return self.folder(path);
        }
        if extended.sparse {
            self.leave_out(path, WhyLeftOut::Special);
            return Ok(());
        }
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                let mode = entry.header().mode().unwrap_or_default();
                self.file(path, size, mode & 0o100 != 0, entry)
            }
            EntryType::Symlink | EntryType::Link => {
                let own = entry.header().link_name_bytes().unwrap_or_default();
                let target = extended.link.as_deref().unwrap_or(&own);
                if kind == EntryType::Link {
                    let target = Place::parse(target, most).filter(|target| target.top == top);
                    return self.hard_link(path, target);
                }
                self.link(path, target)
            }
            _ => {
                self.leave_out(path, WhyLeftOut::Special);
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: String) -> Result<(), CheckoutError> {
        match fs::create_dir(self.root.join(&path)) {
            Ok(()) => self.created_folder(path),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.parents(&path)?;
                self.folder(path)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let found = fs::symlink_metadata(self.root.join(&path));
                if found.is_ok_and(|found| found.is_dir()) {
                    return Ok(());
                }
                Err(twice(&path))
            }
            Err(error) => self.not_created(path, &error),
        }
    }

    /// Creates the folders that contain `path`.
    fn parents(&mut self, path: &str) -> Result<(), CheckoutError> {
        for (end, _) in path.match_indices('/') {
            let folder = &path[..end];
            match fs::create_dir(self.root.join(folder)) {
                Ok(()) => self.created_folder(folder.to_owned())?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotADirectory => {
                    return Err(twice(folder));
                }
                Err(error) => return Err(disk(&error)),
            }
        }
        Ok(())
    }

    fn created_folder(&mut self, path: String) -> Result<(), CheckoutError> {
        self.keep(path.len())?;
        self.done.disk += BLOCK;
        self.folders.push(path);
        if self.folders.len() as u64 > self.rules.max_files {
            return Err(self.too_many());
        }
        Ok(())
    }

    /// Counts the memory for a path that is kept until the end.
    fn keep(&mut self, length: usize) -> Result<(), CheckoutError> {
        self.kept += length;
        if self.kept > MAX_KEPT {
            let why = "the paths of its folders and symbolic links are too long";
            return Err(CheckoutError::Archive(why.to_owned()));
        }
        Ok(())
    }

    /// Counts a file before it is stored.
    fn count(&mut self, size: u64) -> Result<(), CheckoutError> {
        self.done.files += 1;
        if self.done.files > self.rules.max_files {
            return Err(self.too_many());
        }
        self.done.bytes = self.done.bytes.saturating_add(size);
        if self.done.bytes > self.rules.max_bytes {
            return Err(self.too_large());
        }
        self.done.disk += size.div_ceil(BLOCK).max(1) * BLOCK;
        Ok(())
    }

    fn file(
        &mut self,
        path: String,
        size: u64,
        executable: bool,
        content: &mut impl Read,
    ) -> Result<(), CheckoutError> {
        self.count(size)?;
        let mode = if executable { 0o555 } else { 0o444 };
        let full = self.root.join(&path);
        let mut created = (self.create)(&full, mode);
        if matches!(&created, Err(error) if error.kind() == ErrorKind::NotFound) {
            self.parents(&path)?;
            created = (self.create)(&full, mode);
        }
        let mut file = match created {
            Ok(file) => file,
            Err(error) => {
                self.done.files -= 1;
                self.done.bytes -= size;
                return self.not_created(path, &error);
            }
        };
        let mut left = size;
        let mut is_pointer = size <= MAX_LFS_POINTER;
        while left > 0 {
            let most = usize::try_from(left).map_or(BUFFER, |left| left.min(BUFFER));
            let length = match content.read(&mut self.buffer[..most]) {
                Ok(0) => return Err(self.damaged(&ErrorKind::UnexpectedEof.into())),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(&error)),
            };
            let piece = &self.buffer[..length];
            if left == size {
                is_pointer &= piece.starts_with(LFS_POINTER);
            }
            file.write_all(piece).map_err(|error| disk(&error))?;
            left -= length as u64;
        }
        if is_pointer && size > 0 {
            self.leave_out(path, WhyLeftOut::Lfs);
        }
        Ok(())
    }

    /// Stores a hard link as a copy of the file, which must be stored already.
    fn hard_link(&mut self, path: String, target: Option<Place>) -> Result<(), CheckoutError> {
        let target = target.map(|target| self.root.join(target.path));
        // No link exists yet, so this path leads nowhere else.
        let found = target.and_then(|target| {
            let found = fs::symlink_metadata(&target).ok()?;
            found.is_file().then_some((target, found))
        });
        let Some((target, found)) = found else {
            self.leave_out(path, WhyLeftOut::Link);
            return Ok(());
        };
        let executable = found.permissions().mode() & 0o100 != 0;
        let mut content = regular_file::open(&target).map_err(|error| disk(&error))?;
        self.file(path, found.len(), executable, &mut content)
    }

    fn link(&mut self, path: String, target: &[u8]) -> Result<(), CheckoutError> {
        let target = std::str::from_utf8(target).ok().filter(|target| {
            let fits = (1..=MAX_PATH).contains(&target.len());
            fits && !target.chars().any(char::is_control)
        });
        let Some(target) = target else {
            self.leave_out(path, WhyLeftOut::Link);
            return Ok(());
        };
        self.count(0)?;
        self.keep(path.len() + target.len())?;
        self.links.push(Link {
            path,
            target: target.to_owned(),
        });
        Ok(())
    }

    /// Handles a file or folder that cannot be created.
    fn not_created(&mut self, path: String, error: &io::Error) -> Result<(), CheckoutError> {
        match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Err(twice(&path)),
            // The file system takes less than others do.
            ErrorKind::InvalidFilename => {
                self.leave_out(path, WhyLeftOut::Path);
                Ok(())
            }
            _ => Err(disk(error)),
        }
    }

    /// Creates the links, names the submodules, and makes the folders read-only.
    fn finish(mut self) -> Result<Unpacked, CheckoutError> {
        let links = std::mem::take(&mut self.links);
        let pairs = links.iter().map(|link| (&*link.path, &*link.target));
        let targets: HashMap<&str, &str> = pairs.collect();
        for Link { path, target } in &links {
            if stays_inside(&targets, path) {
                self.create_link(path, target)?;
            } else {
                self.done.files -= 1;
                self.leave_out(path.clone(), WhyLeftOut::Link);
            }
        }
        self.name_submodules();
        let folders = self.folders.iter().map(|path| self.root.join(path));
        for folder in folders.chain([self.root.to_owned()]) {
            let read_only = Permissions::from_mode(0o555);
            fs::set_permissions(folder, read_only).map_err(|error| disk(&error))?;
        }
        Ok(self.done)
    }

    fn create_link(&mut self, path: &str, target: &str) -> Result<(), CheckoutError> {
        let full = self.root.join(path);
        let mut created = symlink(target, &full);
        if matches!(&created, Err(error) if error.kind() == ErrorKind::NotFound) {
            self.parents(path)?;
            created = symlink(target, &full);
        }
        match created {
            Ok(()) => Ok(()),
            Err(error) => {
                self.done.files -= 1;
                self.not_created(path.to_owned(), &error)
            }
        }
    }

    /// Names the submodules, which are empty folders in the archive.
    fn name_submodules(&mut self) {
        let file = self.root.join(".gitmodules");
        let is_file = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
        let Some(text) = is_file
            .then(|| regular_file::read(&file, MAX_GITMODULES).ok())
            .flatten()
        else {
            return;
        };
        for path in submodules(&String::from_utf8_lossy(&text)) {
            // The first name stands for the top folder.
            let place = Place::parse(format!("top/{path}").as_bytes(), MAX_PATH);
            let Some(Place { path, .. }) = place.filter(|place| !place.path.is_empty()) else {
                continue;
            };
            let mut names = Path::new(&path)
                .ancestors()
                .map(|part| self.root.join(part));
            let is_inside = names
                .all(|part: PathBuf| fs::symlink_metadata(part).is_ok_and(|found| found.is_dir()));
            let is_empty = |folder| fs::read_dir(folder).is_ok_and(|mut all| all.next().is_none());
            if is_inside && is_empty(self.root.join(&path)) {
                self.leave_out(path, WhyLeftOut::Submodule);
            }
        }
    }

    fn leave_out(&mut self, path: String, why: WhyLeftOut) {
        let left_out = &mut self.done.left_out;
        let entry = LeftOut { path, why };
        if left_out.len() < MAX_LEFT_OUT && !left_out.contains(&entry) {
            left_out.push(entry);
        }
    }

    fn too_many(&self) -> CheckoutError {
        CheckoutError::TooManyFiles {
            max: self.rules.max_files,
        }
    }

    fn too_large(&self) -> CheckoutError {
        CheckoutError::TooLarge {
            max: self.rules.max_bytes,
        }
    }

    /// The error of an archive that cannot be read on.
    fn damaged(&self, error: &io::Error) -> CheckoutError {
        match error.kind() {
            ErrorKind::FileTooLarge => self.too_large(),
            ErrorKind::UnexpectedEof => CheckoutError::Archive("it is incomplete".to_owned()),
            _ => CheckoutError::Archive(error.to_string()),
        }
    }
}

/// The error of an archive with two entries for one path, which git does not make.
fn twice(path: &str) -> CheckoutError {
    CheckoutError::Archive(format!("it contains `{path}` twice"))
}

/// The error of a copy that cannot be written or read, with its remedy.
pub(super) fn disk(error: &io::Error) -> CheckoutError {
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free space on the disk of `agent.folder`, or lower `agent.repository.cache_bytes`"
        }
        _ => "check the disk of `agent.folder` and that this user can write there",
    };
    CheckoutError::Disk(format!("{error}: {remedy}"))
}

/// Returns the paths in a `.gitmodules` file (<https://git-scm.com/docs/gitmodules>).
fn submodules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let is_path = key.trim().eq_ignore_ascii_case("path");
        is_path.then(|| value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests;
