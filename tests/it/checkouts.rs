//! Copies of repositories for agents: what is kept, shared, removed and never half there.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod real;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::poll;
use planwright::adapters::checkouts::RepositoryCopies;
use planwright::engine::checkout::{Checkout, CheckoutError, Checkouts, LeftOut, WhyLeftOut};
use planwright::engine::forge::{ForgeError, ReadError};
use planwright::engine::model::trigger::Repo;
use planwright::engine::settings::{Instructions, RepositorySettings};
use tempfile::TempDir;

use crate::support::clock::ManualClock;
use crate::support::fake_forge::FakeForge;

/// The folder of the copies below the agents' folder.
const FOLDER: &str = "repository-copies";

fn commit(digit: char) -> String {
    digit.to_string().repeat(40)
}

fn repo() -> Repo {
    Repo {
        installation: 5,
        id: 42,
        owner: "acme".into(),
        name: "widgets".into(),
    }
}

/// A gzip-compressed tar with these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o664);
        header.set_size(content.len() as u64);
        let path = format!("acme-widgets-1/{path}");
        tar.append_data(&mut header, path, *content).unwrap();
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&tar.into_inner().unwrap()).unwrap();
    gzip.finish().unwrap()
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..length).map(step).collect()
}

/// A folder of agents, and a GitHub with archives.
struct World {
    folder: TempDir,
    forge: FakeForge,
    settings: RepositorySettings,
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            forge: FakeForge::new(Arc::new(ManualClock::new())),
            settings: RepositorySettings::default(),
        }
    }

    fn open(&self) -> RepositoryCopies {
        RepositoryCopies::open(self.folder.path(), &self.settings).unwrap()
    }

    fn put(&self, digit: char, files: &[(&str, &[u8])]) {
        self.put_bytes(digit, archive(files));
    }

    fn put_bytes(&self, digit: char, archive: Vec<u8>) {
        let mut world = self.forge.world.lock().unwrap();
        world.archives.insert(commit(digit), Ok(archive));
    }

    fn fail(&self, digit: char, error: ReadError) {
        let mut world = self.forge.world.lock().unwrap();
        world.archives.insert(commit(digit), Err(error));
    }

    async fn get(&self, copies: &RepositoryCopies, digit: char) -> Result<Checkout, CheckoutError> {
        copies.checkout(&self.forge, &repo(), &commit(digit)).await
    }

    /// Number of downloads so far.
    fn downloads(&self) -> usize {
        self.forge.world.lock().unwrap().read.len()
    }

    fn copies(&self) -> PathBuf {
        self.folder.path().join(FOLDER)
    }

    /// The names in the folder of the copies, without those that are being removed.
    fn names(&self) -> Vec<String> {
        let all = fs::read_dir(self.copies()).unwrap();
        let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with(".old-")).collect();
        names.sort();
        names
    }

    /// Waits until nothing is being unpacked or removed.
    fn settle(&self) {
        let is_temporary = |entry: std::io::Result<fs::DirEntry>| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().starts_with('.')
        };
        while fs::read_dir(self.copies()).unwrap().any(is_temporary) {
            std::thread::yield_now();
        }
    }
}

fn name(digit: char) -> String {
    format!("42-{}", commit(digit))
}

#[tokio::test]
async fn a_commit_is_downloaded_once_and_read_by_all() {
    let world = World::new();
    world.put(
        'a',
        &[
            ("src/main.rs", b"fn main() {}"),
            ("README.md", b"hi"),
            ("CLAUDE.md", b"obey"),
        ],
    );
    let copies = world.open();
    let first = world.get(&copies, 'a').await.unwrap();
    let second = world.get(&copies, 'a').await.unwrap();
    assert_eq!(first.path, second.path);
    assert!(first.path.is_absolute() && first.path.starts_with(world.copies()));
    assert_eq!((first.files, first.bytes), (2, 14));
    assert_eq!(first.commit, commit('a'));
    let left_out = LeftOut {
        path: "CLAUDE.md".into(),
        why: WhyLeftOut::Instructions,
    };
    assert_eq!(second.left_out, [left_out]);
    assert_eq!(world.downloads(), 1);
    assert_eq!(
        copies.paths(&first).await.unwrap(),
        ["README.md", "src/main.rs"]
    );
    for (path, max, content) in [
        ("README.md", 2, Some(&b"hi"[..])),
        ("README.md", 1, None),
        ("src/main.rs", 100, Some(b"fn main() {}")),
        ("src", 100, None),
        ("missing", 100, None),
        ("README.md/x", 100, None),
        ("../manifest.json", 100_000, None),
        ("src/../README.md", 100, None),
        ("/etc/hostname", 100_000, None),
        ("", 100, None),
        ("a\0b", 100, None),
    ] {
        let read = copies.read(&first, path, max).await.unwrap();
        assert_eq!(read.as_deref(), content, "{path}");
    }
}

#[tokio::test]
async fn links_are_listed_and_not_followed() {
    let world = World::new();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    tar.append_data(&mut header, "top/docs/a", &b"x"[..])
        .unwrap();
    for (path, target) in [("top/file", "docs/a"), ("top/folder", "docs")] {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, path, target).unwrap();
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&tar.into_inner().unwrap()).unwrap();
    world.put_bytes('a', gzip.finish().unwrap());
    let copies = world.open();
    let checkout = world.get(&copies, 'a').await.unwrap();
    let paths = copies.paths(&checkout).await.unwrap();
    assert_eq!(paths, ["docs/a", "file", "folder"]);
    assert_eq!(fs::read(checkout.path.join("file")).unwrap(), b"x");
    for (path, content) in [
        ("docs/a", Some(b"x".to_vec())),
        ("file", None),
        ("folder", None),
        ("folder/a", None),
    ] {
        assert_eq!(
            copies.read(&checkout, path, 10).await.unwrap(),
            content,
            "{path}"
        );
    }
}

#[tokio::test]
async fn two_runs_that_want_a_commit_at_once_share_one_download() {
    let world = World::new();
    world.put('a', &[("a", &noise(50_000))]);
    world.put('b', &[("a", b"other")]);
    let copies = world.open();
    let (first, second, other) = tokio::join!(
        world.get(&copies, 'a'),
        world.get(&copies, 'a'),
        world.get(&copies, 'b'),
    );
    assert_eq!(first.unwrap().path, second.unwrap().path);
    assert_eq!(other.unwrap().files, 1);
    assert_eq!(world.downloads(), 2);
}

#[tokio::test]
async fn a_download_that_is_cancelled_or_fails_is_done_by_the_one_who_waits() {
    let world = World::new();
    world.put('a', &[("a", &noise(50_000))]);
    let copies = world.open();
    {
        let mut waiting = Box::pin(world.get(&copies, 'a'));
        {
            let mut first = Box::pin(world.get(&copies, 'a'));
            for _ in 0..10 {
                assert!(poll!(&mut first).is_pending());
            }
            assert!(poll!(&mut waiting).is_pending());
            assert_eq!(world.downloads(), 1);
        }
        assert_eq!(waiting.await.unwrap().files, 1);
    }
    assert_eq!(world.downloads(), 2);
    let what = "the files".to_owned();
    world.fail('b', ForgeError::NotFound { what }.into());
    let (first, second) = tokio::join!(world.get(&copies, 'b'), world.get(&copies, 'b'));
    assert!(first.is_err() && second.is_err());
    assert_eq!(world.downloads(), 4);
}

#[tokio::test]
async fn a_copy_that_is_interrupted_anywhere_is_never_used() {
    let content = noise(60_000);
    for polls in (1..200).step_by(6) {
        let world = World::new();
        world.put('a', &[("a", &content), ("b", &content)]);
        let copies = world.open();
        {
            let mut making = pin!(world.get(&copies, 'a'));
            for _ in 0..polls {
                if poll!(&mut making).is_ready() {
                    break;
                }
            }
        }
        world.settle();
        // Either there is nothing, or it is complete. The task that unpacks may begin only now, and
        // its folder has a temporary name.
        let names = world.names();
        let mut copies_made = names.iter().filter(|found| !found.starts_with('.'));
        assert!(copies_made.all(|found| *found == name('a')), "{polls}");
        let checkout = world.get(&copies, 'a').await.unwrap();
        assert_eq!(fs::read(checkout.path.join("a")).unwrap(), content);
        assert_eq!(fs::read(checkout.path.join("b")).unwrap(), content);
        drop(checkout);
        let again = world.open();
        assert_eq!(world.get(&again, 'a').await.unwrap().files, 2);
    }
}

#[tokio::test]
async fn a_restart_uses_complete_copies_and_removes_the_rest() {
    let world = World::new();
    world.put('a', &[("a", b"x"), (".mcp.json", b"{}")]);
    world.put('b', &[("a", b"x")]);
    let copies = world.open();
    for digit in ['a', 'b'] {
        world.get(&copies, digit).await.unwrap();
    }
    drop(copies);
    // What a killed process leaves: a folder that is being unpacked, read-only folders in it, one
    // that is being removed, a copy without its manifest.
    let partial = world.copies().join(".new-1/files/deep/er");
    fs::create_dir_all(&partial).unwrap();
    read_only(&partial);
    fs::create_dir_all(world.copies().join(".old-1/files")).unwrap();
    fs::remove_file(world.copies().join(name('b')).join("manifest.json")).unwrap();
    fs::write(world.copies().join("stray"), "x").unwrap();
    fs::create_dir(world.copies().join("42-not-a-commit")).unwrap();
    // The folder of a run is nobody's business here.
    let run = world.folder.path().join("01JZ0000000000000000000000/home");
    fs::create_dir_all(&run).unwrap();
    let copies = world.open();
    assert_eq!(world.names(), [name('a')]);
    assert!(!world.copies().join(".old-1").exists());
    assert!(run.exists());
    let before = world.downloads();
    let checkout = world.get(&copies, 'a').await.unwrap();
    assert_eq!(world.downloads(), before);
    assert_eq!((checkout.files, checkout.left_out.len()), (1, 1));
    assert_eq!(fs::read(checkout.path.join("a")).unwrap(), b"x");
    world.get(&copies, 'b').await.unwrap();
    assert_eq!(world.downloads(), before + 1);
}

fn read_only(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
}

#[tokio::test]
async fn copies_of_other_settings_and_of_another_start_of_the_system_are_not_used() {
    let mut world = World::new();
    world.put('a', &[("CLAUDE.md", b"x"), ("b", b"y")]);
    let copies = world.open();
    assert_eq!(world.get(&copies, 'a').await.unwrap().files, 1);
    world.settings.instructions = Instructions::Data;
    let copies = world.open();
    assert_eq!(world.names(), Vec::<String>::new());
    assert_eq!(world.get(&copies, 'a').await.unwrap().files, 2);
    world.settings.cache_bytes -= 1;
    drop(world.open());
    assert_eq!(world.names(), [name('a')]);
    // After a crash of the system, files may be empty.
    let manifest = world.copies().join(name('a')).join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut values: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    values.insert("boot".to_owned(), "another".into());
    fs::write(&manifest, serde_json::to_vec(&values).unwrap()).unwrap();
    drop(world.open());
    assert_eq!(world.names(), Vec::<String>::new());
}

#[tokio::test]
async fn the_least_recently_used_copies_are_removed_and_none_in_use() {
    let mut world = World::new();
    world.settings.cache_bytes = 100_000;
    for digit in ['a', 'b', 'c', 'd'] {
        world.put(digit, &[("a", &noise(40_000))]);
    }
    let copies = world.open();
    let held = world.get(&copies, 'a').await.unwrap();
    drop(world.get(&copies, 'b').await.unwrap());
    drop(world.get(&copies, 'a').await.unwrap());
    drop(world.get(&copies, 'c').await.unwrap());
    assert_eq!(world.names(), [name('a'), name('c')]);
    let others = [
        world.get(&copies, 'b').await.unwrap(),
        world.get(&copies, 'c').await.unwrap(),
        world.get(&copies, 'd').await.unwrap(),
    ];
    // All are in use, although they are too large together.
    assert_eq!(world.names(), ['a', 'b', 'c', 'd'].map(name));
    for checkout in others.iter().chain([&held]) {
        assert_eq!(fs::read(checkout.path.join("a")).unwrap().len(), 40_000);
    }
    drop(held);
    assert_eq!(world.names(), ['b', 'c', 'd'].map(name));
    drop(others);
    assert_eq!(world.names().len(), 2);
    // At a start, the limit holds too.
    drop(copies);
    world.settle();
    world.settings.cache_bytes = 50_000;
    drop(world.open());
    assert_eq!(world.names().len(), 1);
}

#[tokio::test]
async fn a_copy_larger_than_the_cache_is_removed_when_it_is_released() {
    let mut world = World::new();
    world.settings.cache_bytes = 0;
    world.put('a', &[("a", b"x")]);
    let copies = world.open();
    let first = world.get(&copies, 'a').await.unwrap();
    let second = world.get(&copies, 'a').await.unwrap();
    assert_eq!(world.downloads(), 1);
    drop(first);
    assert!(second.path.join("a").exists());
    let path = second.path.clone();
    drop(second);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_copy_that_somebody_has_removed_is_made_again() {
    let world = World::new();
    world.put('a', &[("a", b"x")]);
    let copies = world.open();
    let held = world.get(&copies, 'a').await.unwrap();
    fs::rename(
        world.copies().join(name('a')),
        world.folder.path().join("gone"),
    )
    .unwrap();
    let checkout = world.get(&copies, 'a').await.unwrap();
    assert_eq!(world.downloads(), 2);
    drop(held);
    assert!(checkout.path.join("a").exists());
}

#[tokio::test]
async fn errors_say_why_there_is_no_copy_and_leave_nothing() {
    let mut world = World::new();
    world.settings.max_bytes = 1_000_000;
    world.settings.max_files = 2;
    let whole = archive(&[("a", &noise(5_000))]);
    let half = whole[..whole.len() / 2].to_vec();
    let copies = world.open();
    let gone = || ForgeError::NotFound {
        what: "the files of acme/widgets at x".to_owned(),
    };
    let elsewhere = ReadError::Elsewhere {
        to: "https://evil.example".to_owned(),
    };
    let withheld = ReadError::Withheld {
        why: "404 Not Found".to_owned(),
    };
    let files: Vec<_> = ["a", "b", "c"].map(|path| (path, &b"x"[..])).into();
    let missing = "GitHub answered 404 for the files of acme/widgets at x: it does not exist or \
                   the App cannot see it";
    for (found, why) in [
        (Ok(half), "its archive cannot be read: it is incomplete"),
        (
            Ok(archive(&files)),
            "it has more than 2 files (`agent.repository.max_files`)",
        ),
        (
            Ok(archive(&[("a", &vec![0; 1_000_001])])),
            "its files have more than 1 MB (`agent.repository.max_bytes`)",
        ),
        (Err(gone().into()), missing),
        (
            Err(elsewhere),
            "its download redirects to https://evil.example, which this bot is not allowed to read",
        ),
        (
            Err(withheld),
            &format!(
                "GitHub's answer to the files of acme/widgets at {} cannot be read: 404 Not Found",
                commit('a')
            ),
        ),
    ] {
        let archives = &world.forge.world;
        archives.lock().unwrap().archives.insert(commit('a'), found);
        let error = world.get(&copies, 'a').await.unwrap_err();
        assert_eq!(error.to_string(), why);
        assert_eq!(world.names(), Vec::<String>::new(), "{why}");
    }
    // A later try is not affected.
    world.put('a', &[("a", b"x")]);
    assert_eq!(world.get(&copies, 'a').await.unwrap().files, 1);
    let result = copies.checkout(&world.forge, &repo(), "../main").await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "GitHub answered 404 for the files of acme/widgets at \"../main\": it does not exist or \
         the App cannot see it"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = RepositoryCopies::open(&file, &RepositorySettings::default());
    let shown = error.err().unwrap().to_string();
    let path = file.join(FOLDER).display().to_string();
    assert_eq!(
        shown,
        format!(
            "the folder of repository copies {path} cannot be used: Not a directory (os error 20): \
             make it writable for this user, or name another agent.folder"
        )
    );
    let settings = RepositorySettings {
        exclude: vec!["a[".to_owned()],
        ..RepositorySettings::default()
    };
    let shown = RepositoryCopies::open(folder.path(), &settings)
        .err()
        .unwrap()
        .to_string();
    let start = "agent.repository.exclude cannot be used: ";
    assert!(shown.starts_with(start), "{shown}");
    assert!(
        shown.ends_with(": remove the pattern, or correct it"),
        "{shown}"
    );
}
