//! Tests of `adapters::checkouts::unpack`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::cell::Cell;
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};
use tempfile::TempDir;

use super::*;
use crate::engine::settings::{Instructions, RepositorySettings};

/// An archive that is made entry by entry, with any bytes in its headers.
struct Tarball(Builder<Vec<u8>>);

impl Tarball {
    /// An archive with the headers that GitHub's begin with.
    fn new() -> Self {
        let mut tarball = Self(Builder::new(Vec::new()));
        let comment = format!("52 comment={}\n", "a".repeat(40));
        tarball.add(
            EntryType::XGlobalHeader,
            b"pax_global_header",
            b"",
            comment.as_bytes(),
        );
        tarball.folder("o-r-1/");
        tarball
    }

    fn header(kind: EntryType, path: &[u8], target: &[u8], size: u64) -> Header {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(0o664);
        header.set_size(size);
        let old = header.as_old_mut();
        old.name[..path.len()].copy_from_slice(path);
        old.linkname[..target.len()].copy_from_slice(target);
        header.set_cksum();
        header
    }

    fn add(&mut self, kind: EntryType, path: &[u8], target: &[u8], content: &[u8]) {
        let header = Self::header(kind, path, target, content.len() as u64);
        self.0.append(&header, content).unwrap();
    }

    fn folder(&mut self, path: &str) -> &mut Self {
        self.add(EntryType::Directory, path.as_bytes(), b"", b"");
        self
    }

    fn file(&mut self, path: &str, content: &str) -> &mut Self {
        self.add(EntryType::Regular, path.as_bytes(), b"", content.as_bytes());
        self
    }

    fn link(&mut self, path: &str, target: &str) -> &mut Self {
        self.add(EntryType::Symlink, path.as_bytes(), target.as_bytes(), b"");
        self
    }

    fn hard_link(&mut self, path: &str, target: &str) -> &mut Self {
        self.add(EntryType::Link, path.as_bytes(), target.as_bytes(), b"");
        self
    }

    fn special(&mut self, kind: EntryType, path: &str) -> &mut Self {
        self.add(kind, path.as_bytes(), b"", b"");
        self
    }

    /// An extended header for the next entry.
    fn pax(&mut self, records: &[(&str, &str)]) -> &mut Self {
        let records = records.iter().map(|(key, value)| (*key, value.as_bytes()));
        self.0.append_pax_extensions(records).unwrap();
        self
    }

    /// A header without the content that it announces.
    fn announce(&mut self, kind: EntryType, path: &str, size: u64) -> &mut Self {
        let header = Self::header(kind, path.as_bytes(), b"", size);
        self.0.append(&header, io::empty()).unwrap();
        self
    }

    fn gzip(&mut self) -> Vec<u8> {
        let tar = std::mem::replace(&mut self.0, Builder::new(Vec::new()));
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&tar.into_inner().unwrap()).unwrap();
        gzip.finish().unwrap()
    }
}

fn settings() -> RepositorySettings {
    RepositorySettings {
        max_files: 1_000,
        max_bytes: 1_000_000,
        ..RepositorySettings::default()
    }
}

/// Adds entries to an archive.
type Make = dyn Fn(&mut Tarball);

/// A name, entries, and what is left out of them.
type LeftOutCase = (&'static str, Box<Make>, Vec<(String, WhyLeftOut)>);

/// Text of different numbers.
fn numbers(count: u32) -> String {
    let numbers: Vec<_> = (0..count).map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// What was unpacked, in a folder of its own.
struct Copied {
    outer: TempDir,
    result: Result<Unpacked, CheckoutError>,
}

impl Copied {
    fn root(&self) -> PathBuf {
        self.outer.path().join("copy")
    }

    fn left_out(&self) -> Vec<(&str, WhyLeftOut)> {
        let left_out = self.result.as_ref().unwrap().left_out.iter();
        left_out
            .map(|left_out| (&*left_out.path, left_out.why))
            .collect()
    }

    /// Relative paths with a `/` for folders, ` -> target` for links and `: content` for files.
    fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending = vec![self.root()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path
                    .strip_prefix(self.root())
                    .unwrap()
                    .display()
                    .to_string();
                let kind = fs::symlink_metadata(&path).unwrap();
                found.push(if kind.is_dir() {
                    pending.push(path);
                    format!("{name}/")
                } else if kind.is_symlink() {
                    format!("{name} -> {}", fs::read_link(path).unwrap().display())
                } else {
                    format!("{name}: {}", fs::read_to_string(path).unwrap())
                });
            }
        }
        found.sort();
        found
    }
}

fn unpack_with(archive: &[u8], settings: &RepositorySettings, create: &Create) -> Copied {
    let outer = tempfile::tempdir().unwrap();
    let rules = Rules::new(settings).unwrap();
    let result = unpack(archive, &outer.path().join("copy"), &rules, create);
    // Nothing is written beside the folder, whatever the archive contains.
    let beside = fs::read_dir(outer.path()).unwrap();
    let names: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["copy"]);
    Copied { outer, result }
}

fn unpacked(archive: &[u8]) -> Copied {
    unpack_with(archive, &settings(), &create_file)
}

fn error(archive: &[u8]) -> String {
    unpacked(archive).result.unwrap_err().to_string()
}

#[test]
fn files_folders_and_links_are_stored_read_only() {
    let mut tarball = Tarball::new();
    tarball
        .folder("o-r-1/src/")
        .file("o-r-1/src/main.rs", "fn main() {}");
    tarball
        .file("o-r-1/no/folder/entry.txt", "x")
        .file("o-r-1/empty", "");
    tarball
        .link("o-r-1/src/up", "../empty")
        .link("o-r-1/a/b/link", "../../src");
    let mut program = Tarball::header(EntryType::Regular, b"o-r-1/run", b"", 2);
    program.set_mode(0o6755);
    program.set_cksum();
    tarball.0.append(&program, &b"#!"[..]).unwrap();
    let copied = unpacked(&tarball.gzip());
    assert_eq!(
        copied.tree(),
        [
            "a/",
            "a/b/",
            "a/b/link -> ../../src",
            "empty: ",
            "no/",
            "no/folder/",
            "no/folder/entry.txt: x",
            "run: #!",
            "src/",
            "src/main.rs: fn main() {}",
            "src/up -> ../empty",
        ]
    );
    let mode = |path: &str| {
        let found = fs::symlink_metadata(copied.root().join(path)).unwrap();
        // Other bits depend on the umask.
        found.permissions().mode() & 0o7700
    };
    assert_eq!(["", "src", "no/folder", "a"].map(mode), [0o500; 4]);
    assert_eq!(["empty", "src/main.rs"].map(mode), [0o400; 2]);
    assert_eq!(mode("run"), 0o500);
    let result = copied.result.as_ref().unwrap();
    assert_eq!((result.files, result.bytes), (6, 15));
    assert_eq!(result.disk, 9 * BLOCK + 2 * BLOCK);
    assert_eq!(result.left_out, []);
}

#[test]
fn entries_that_cannot_be_stored_safely_are_left_out_and_named() {
    use WhyLeftOut::{Instructions, Link, Path, Special};
    let long = format!("o-r-1/{}", "n".repeat(256));
    let fits = "n".repeat(255);
    let table: Vec<LeftOutCase> = vec![
        (
            "an absolute path",
            Box::new(|t| {
                t.file("/etc/passwd", "x");
            }),
            vec![("/etc/passwd".into(), Path)],
        ),
        (
            "a path that leads up",
            Box::new(|t| {
                t.file("o-r-1/../../x", "x").file("../x", "x");
            }),
            vec![("../../x".into(), Path), ("x".into(), Path)],
        ),
        (
            "control characters",
            Box::new(|t| {
                t.file("o-r-1/a\u{1b}[2J", "x");
            }),
            vec![("a\\u{1b}[2J".into(), Path)],
        ),
        (
            "bytes that are not UTF-8",
            Box::new(|t| t.add(EntryType::Regular, b"o-r-1/caf\xe9", b"", b"x")),
            vec![("caf\u{fffd}".into(), Path)],
        ),
        (
            "a name that is too long",
            Box::new(move |t| {
                t.pax(&[("path", &long)]).file("o-r-1/short", "x");
            }),
            vec![("n".repeat(256), Path)],
        ),
        (
            "a path that is too long",
            Box::new(|t| {
                let deep = format!("o-r-1/{}x", "d/".repeat(2_100));
                t.pax(&[("path", &deep)]).file("o-r-1/short", "x");
            }),
            vec![(format!("{}…", "d/".repeat(150)[..299].to_owned()), Path)],
        ),
        (
            "a line break in an extended header",
            Box::new(|t| {
                t.pax(&[("path", "o-r-1/a\nb")]).file("o-r-1/short", "x");
            }),
            vec![("short".into(), Path)],
        ),
        (
            "a folder of git",
            Box::new(|t| {
                t.file("o-r-1/.git/hooks/x", "x").file("o-r-1/a/.GIT", "x");
            }),
            vec![(".git/hooks/x".into(), Path), ("a/.GIT".into(), Path)],
        ),
        (
            "a file in the place of the top folder",
            Box::new(|t| {
                t.file("pax_global_header", "x");
            }),
            vec![("pax_global_header".into(), Path)],
        ),
        (
            "links that lead out",
            Box::new(|t| {
                t.link("o-r-1/absolute", "/etc/passwd")
                    .link("o-r-1/up", "../x");
                t.link("o-r-1/a", "b/../..").link("o-r-1/empty", "");
                t.link("o-r-1/c", "made-later/x")
                    .link("o-r-1/made-later", "..");
            }),
            ["empty", "absolute", "up", "a", "c", "made-later"]
                .map(|path| (path.to_owned(), Link))
                .into(),
        ),
        (
            "hard links to what is not stored",
            Box::new(|t| {
                t.hard_link("o-r-1/a", "/etc/passwd")
                    .hard_link("o-r-1/b", "o-r-1/../../x");
                t.hard_link("o-r-1/c", "other/x")
                    .hard_link("o-r-1/d", "o-r-1/later");
                t.file("o-r-1/CLAUDE.md", "x")
                    .hard_link("o-r-1/e", "o-r-1/CLAUDE.md");
                t.folder("o-r-1/f/").hard_link("o-r-1/g", "o-r-1/f");
            }),
            vec![
                ("a".into(), Link),
                ("b".into(), Link),
                ("c".into(), Link),
                ("d".into(), Link),
                ("CLAUDE.md".into(), Instructions),
                ("e".into(), Link),
                ("g".into(), Link),
            ],
        ),
        (
            "devices, pipes and sparse files",
            Box::new(|t| {
                t.special(EntryType::Char, "o-r-1/a")
                    .special(EntryType::Block, "o-r-1/b");
                t.special(EntryType::Fifo, "o-r-1/c")
                    .special(EntryType::new(b'M'), "o-r-1/d");
                t.special(EntryType::GNUSparse, "o-r-1/e");
                t.pax(&[("GNU.sparse.major", "1")]).file("o-r-1/f", "x");
            }),
            ["a", "b", "c", "d", "e", "f"]
                .map(|path| (path.to_owned(), Special))
                .into(),
        ),
        (
            "instructions for agents",
            Box::new(|t| {
                t.folder("o-r-1/.claude/")
                    .file("o-r-1/.claude/settings.json", "x");
                t.file("o-r-1/.claude/skills/a.md", "x")
                    .link("o-r-1/AGENTS.md", "x");
            }),
            vec![
                (".claude".into(), Instructions),
                ("AGENTS.md".into(), Instructions),
            ],
        ),
    ];
    for (name, make, expected) in table {
        let mut tarball = Tarball::new();
        make(&mut tarball);
        tarball
            .pax(&[("path", &format!("o-r-1/{fits}"))])
            .file("o-r-1/short", "kept");
        let copied = unpacked(&tarball.gzip());
        let expected: Vec<_> = expected.iter().map(|(path, why)| (&**path, *why)).collect();
        assert_eq!(copied.left_out(), expected, "{name}");
        let files: Vec<_> = copied.tree();
        let files: Vec<_> = files.iter().filter(|path| !path.ends_with('/')).collect();
        assert_eq!(files, [&format!("{fits}: kept")], "{name}");
        assert_eq!(copied.result.as_ref().unwrap().files, 1, "{name}");
    }
}

#[test]
fn links_that_stay_inside_and_hard_links_to_files_are_stored() {
    let mut tarball = Tarball::new();
    tarball
        .link("o-r-1/first", "later")
        .link("o-r-1/missing", "no/such/file");
    tarball
        .file("o-r-1/later", "x")
        .hard_link("o-r-1/copy", "o-r-1/later");
    tarball
        .link("o-r-1/folder", "docs")
        .file("o-r-1/docs/a", "y");
    let copied = unpacked(&tarball.gzip());
    assert_eq!(
        copied.tree(),
        [
            "copy: x",
            "docs/",
            "docs/a: y",
            "first -> later",
            "folder -> docs",
            "later: x",
            "missing -> no/such/file",
        ]
    );
    // The content of a hard link counts.
    assert_eq!(copied.result.as_ref().unwrap().bytes, 3);
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut tarball = Tarball::new();
    tarball.link("o-r-1/out", "/tmp").file("o-r-1/out/x", "x");
    let copied = unpacked(&tarball.gzip());
    // The link leads out and is left out; the file has a folder of its own.
    assert_eq!(copied.tree(), ["out/", "out/x: x"]);
    tarball = Tarball::new();
    tarball
        .folder("o-r-1/docs/")
        .link("o-r-1/in", "docs")
        .file("o-r-1/in/x", "x");
    assert_eq!(
        error(&tarball.gzip()),
        "its archive cannot be read: it contains `in` twice"
    );
}

#[test]
fn archives_that_git_does_not_make_are_refused() {
    let table: Vec<(Box<Make>, &str)> = vec![
        (
            Box::new(|t| {
                t.file("o-r-1/a", "1").file("o-r-1/a", "2");
            }),
            "it contains `a` twice",
        ),
        (
            Box::new(|t| {
                t.file("o-r-1/a", "1").folder("o-r-1/a/");
            }),
            "it contains `a` twice",
        ),
        (
            Box::new(|t| {
                t.file("o-r-1/a", "1").file("o-r-1/a/b/c", "2");
            }),
            "it contains `a/b/c` twice",
        ),
        (
            Box::new(|t| {
                t.folder("o-r-1/a/").file("o-r-1/a", "1");
            }),
            "it contains `a` twice",
        ),
        (
            Box::new(|t| {
                t.file("o-r-1/a", "1").link("o-r-1/a", "x");
            }),
            "it contains `a` twice",
        ),
        (
            Box::new(|t| {
                t.file("other/a", "1");
            }),
            "it has more than one top folder",
        ),
        (
            Box::new(|t| {
                t.pax(&[("size", "2048")]).file("o-r-1/a", "1");
            }),
            "the size of an entry is ambiguous",
        ),
    ];
    for (make, why) in table {
        let mut tarball = Tarball::new();
        make(&mut tarball);
        let shown = error(&tarball.gzip());
        assert_eq!(shown, format!("its archive cannot be read: {why}"));
    }
    let mut empty = Tarball(Builder::new(Vec::new()));
    assert_eq!(
        error(&empty.gzip()),
        "its archive cannot be read: it is empty"
    );
}

#[test]
fn limits_stop_an_archive_while_it_is_read() {
    let many = |count: usize| {
        let mut tarball = Tarball::new();
        for number in 0..count {
            tarball.file(&format!("o-r-1/{number}"), "");
        }
        tarball.gzip()
    };
    assert_eq!(unpacked(&many(1_000)).result.unwrap().files, 1_000);
    let too_many = "it has more than 1000 files (`agent.repository.max_files`)";
    assert_eq!(error(&many(1_001)), too_many);
    let mut folders = Tarball::new();
    for number in 0..=1_000 {
        folders.folder(&format!("o-r-1/{number}/"));
    }
    assert_eq!(error(&folders.gzip()), too_many);
    let too_large = "its files have more than 1 MB (`agent.repository.max_bytes`)";
    let mut large = Tarball::new();
    large
        .file("o-r-1/a", &"x".repeat(600_000))
        .file("o-r-1/b", &"x".repeat(400_000));
    assert_eq!(unpacked(&large.gzip()).result.unwrap().bytes, 1_000_000);
    large = Tarball::new();
    large
        .file("o-r-1/a", &"x".repeat(600_000))
        .file("o-r-1/b", &"x".repeat(400_001));
    assert_eq!(error(&large.gzip()), too_large);
    // The header is enough; the content never comes.
    let mut announced = Tarball::new();
    announced.announce(EntryType::Regular, "o-r-1/a", 8_000_000_000);
    let copied = unpacked(&announced.gzip());
    assert!(copied.tree().is_empty());
    assert_eq!(copied.result.unwrap_err().to_string(), too_large);
    let mut hidden = Tarball::new();
    hidden
        .pax(&[("size", "10000000000")])
        .announce(EntryType::Regular, "o-r-1/a", 0);
    assert_eq!(error(&hidden.gzip()), too_large);
    // What is left out counts, too, if it is far more.
    let mut left_out = Tarball::new();
    let zeros = "\0".repeat(1_000_000);
    for number in 0..30 {
        left_out.file(&format!("o-r-1/.claude/{number}"), &zeros);
    }
    let archive = left_out.gzip();
    assert!(archive.len() < 200_000);
    assert_eq!(error(&archive), too_large);
}

#[test]
fn long_headers_are_not_read_into_memory() {
    for kind in [
        EntryType::XHeader,
        EntryType::GNULongName,
        EntryType::GNULongLink,
    ] {
        let mut tarball = Tarball::new();
        let long = vec![b'x'; usize::try_from(MAX_HEADER).unwrap() + 1];
        tarball.add(kind, b"long", b"", &long);
        tarball.file("o-r-1/a", "x").file("o-r-1/b", "x");
        let copied = unpacked(&tarball.gzip());
        assert_eq!(copied.left_out(), [("a", WhyLeftOut::Path)]);
        assert_eq!(copied.tree(), ["b: x"]);
    }
    let mut tarball = Tarball::new();
    tarball.announce(EntryType::GNULongName, "long", 8_000_000_000);
    let why = error(&tarball.gzip());
    assert!(why.starts_with("its archive cannot be read: "), "{why}");
}

#[test]
fn long_names_of_both_kinds_are_used() {
    let long = format!("{}/{}", "d".repeat(120), "n".repeat(200));
    let mut tarball = Tarball::new();
    let name = format!("o-r-1/gnu/{long}\0");
    tarball.add(
        EntryType::GNULongName,
        b"././@LongLink",
        b"",
        name.as_bytes(),
    );
    tarball.file("o-r-1/cut", "1");
    tarball
        .pax(&[("path", &format!("o-r-1/pax/{long}"))])
        .file("o-r-1/cut", "2");
    let target = format!("pax/{long}\0");
    tarball.add(
        EntryType::GNULongLink,
        b"././@LongLink",
        b"",
        target.as_bytes(),
    );
    tarball.link("o-r-1/link", "cut");
    // An extended header belongs to the next entry alone.
    tarball.file("o-r-1/last", "3");
    let tree = unpacked(&tarball.gzip()).tree();
    let files: Vec<_> = tree.iter().filter(|path| !path.ends_with('/')).collect();
    assert_eq!(
        files,
        [
            &format!("gnu/{long}: 1"),
            "last: 3",
            &format!("link -> pax/{long}"),
            &format!("pax/{long}: 2"),
        ]
    );
}

#[test]
fn an_archive_that_is_cut_off_anywhere_is_refused() {
    let mut tarball = Tarball::new();
    let text = numbers(2_000);
    tarball
        .file("o-r-1/a", &text)
        .pax(&[("path", "o-r-1/b")])
        .file("o-r-1/c", "x");
    let archive = tarball.gzip();
    assert_eq!(unpacked(&archive).result.unwrap().files, 2);
    for length in (0..archive.len()).step_by(7).chain([archive.len() - 1]) {
        let result = unpacked(&archive[..length]).result;
        let why = result.unwrap_err().to_string();
        assert!(
            why.starts_with("its archive cannot be read: "),
            "{length}: {why}"
        );
    }
}

#[test]
fn an_archive_with_a_changed_byte_is_refused() {
    let mut tarball = Tarball::new();
    let text = numbers(500);
    let archive = tarball.file("o-r-1/a", &text).gzip();
    // The first ten bytes are the header of gzip, which has a time and flags.
    for at in (10..archive.len()).step_by(11) {
        let mut damaged = archive.clone();
        damaged[at] ^= 0x55;
        let result = unpacked(&damaged).result;
        let why = result.unwrap_err().to_string();
        assert!(
            why.starts_with("its archive cannot be read: "),
            "{at}: {why}"
        );
    }
    let mut followed = archive.clone();
    followed.extend_from_slice(b"more");
    assert!(unpacked(&followed).result.is_err());
    assert!(unpacked(b"<html>not an archive</html>").result.is_err());
}

/// A file on a disk with little space.
struct Full(Rc<Cell<usize>>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.get();
        if left == 0 {
            return Err(io::Error::from_raw_os_error(28));
        }
        let length = bytes.len().min(left);
        self.0.set(left - length);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_with_a_remedy() {
    let mut tarball = Tarball::new();
    let archive = tarball
        .file("o-r-1/a", "12345")
        .file("o-r-1/b", "67890")
        .gzip();
    let full = "its files cannot be stored: No space left on device (os error 28): free space on \
                the disk of `agent.folder`, or lower `agent.repository.cache_bytes`";
    for space in 0..10 {
        let left = Rc::new(Cell::new(space));
        let create = move |_: &Path, _| Ok(Box::new(Full(Rc::clone(&left))) as Box<dyn Write>);
        let copied = unpack_with(&archive, &settings(), &create);
        assert_eq!(copied.result.unwrap_err().to_string(), full, "{space}");
    }
    let create = |_: &Path, _| Err(io::Error::from_raw_os_error(13));
    let copied = unpack_with(&archive, &settings(), &create);
    assert_eq!(
        copied.result.unwrap_err().to_string(),
        "its files cannot be stored: Permission denied (os error 13): check the disk of \
         `agent.folder` and that this user can write there"
    );
    // A file system with shorter names.
    let create = |_: &Path, _| Err(io::Error::from_raw_os_error(36));
    let copied = unpack_with(&archive, &settings(), &create);
    let expected = [("a", WhyLeftOut::Path), ("b", WhyLeftOut::Path)];
    assert_eq!(copied.left_out(), expected);
    assert_eq!(copied.result.unwrap().files, 0);
}

#[test]
fn submodules_and_pointers_of_lfs_are_named() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n";
    let modules = "[submodule \"a\"]\n\tpath = deps/a\n\turl = x\n[submodule \"b\"]\n  Path=b c\n\
                   [submodule \"c\"]\n\tpath = \"deps/quoted\"\n[submodule \"d\"]\n\tpath = ../out\n\
                   [submodule \"e\"]\n\tpath = src\n[submodule \"f\"]\n\tpath = missing\n\
                   [submodule \"g\"]\n\tpath = /etc\n[submodule \"h\"]\n\tpath = link\n";
    let mut tarball = Tarball::new();
    tarball
        .file("o-r-1/.gitmodules", modules)
        .file("o-r-1/big.bin", pointer);
    tarball.file("o-r-1/talk.md", &format!("A pointer begins with {pointer}"));
    tarball.file("o-r-1/long.md", &pointer.repeat(30));
    tarball
        .folder("o-r-1/deps/")
        .folder("o-r-1/deps/a/")
        .folder("o-r-1/deps/quoted/");
    tarball
        .folder("o-r-1/b c/")
        .file("o-r-1/src/x", "")
        .link("o-r-1/link", "deps/a");
    let copied = unpacked(&tarball.gzip());
    assert_eq!(
        copied.left_out(),
        [
            ("big.bin", WhyLeftOut::Lfs),
            ("deps/a", WhyLeftOut::Submodule),
            ("b c", WhyLeftOut::Submodule),
            ("deps/quoted", WhyLeftOut::Submodule),
        ]
    );
    let stored = fs::read_to_string(copied.root().join("big.bin")).unwrap();
    assert_eq!(stored, pointer);
}

#[test]
fn the_operator_decides_what_is_left_out() {
    let mut tarball = Tarball::new();
    tarball
        .file("o-r-1/CLAUDE.md", "x")
        .file("o-r-1/vendor/a.c", "x");
    tarball
        .file("o-r-1/vendor/b.c", "x")
        .file("o-r-1/src/a.pdf", "x");
    let settings = RepositorySettings {
        exclude: vec!["vendor".to_owned(), "*.pdf".to_owned()],
        instructions: Instructions::Data,
        ..settings()
    };
    let copied = unpack_with(&tarball.gzip(), &settings, &create_file);
    assert_eq!(copied.tree(), ["CLAUDE.md: x"]);
    let expected = ["vendor", "src/a.pdf"].map(|path| (path, WhyLeftOut::Excluded));
    assert_eq!(copied.left_out(), expected);
}

#[test]
fn the_list_of_what_is_left_out_is_limited() {
    let mut tarball = Tarball::new();
    for number in 0..300 {
        tarball.special(EntryType::Fifo, &format!("o-r-1/{number}"));
    }
    let copied = unpacked(&tarball.gzip());
    assert_eq!(copied.left_out().len(), MAX_LEFT_OUT);
}
