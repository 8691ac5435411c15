//! Tests of measuring with real files.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

const KB: u64 = 1024;

fn measured(dir: &Path, disk: u64) -> Option<Limit> {
    let limits = FileLimits {
        disk: Some(disk),
        file_size: None,
    };
    exceeded(&[dir], limits, &AtomicBool::new(false)).unwrap()
}

/// The limit at which what is in the directory begins to fit, in steps of 1 KB.
fn space(dir: &Path) -> u64 {
    let mut fits = 0;
    while measured(dir, fits * KB).is_some() {
        fits += 1;
    }
    fits
}

fn write(path: &Path, bytes: usize) {
    let mut file = File::create(path).unwrap();
    file.write_all(&vec![1; bytes]).unwrap();
    // Some file systems allocate blocks late.
    file.sync_all().unwrap();
}

#[test]
fn blocks_are_counted_and_small_files_as_4_kb_each() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    assert_eq!(space(dir), 0);
    for at in 0..10 {
        fs::write(dir.join(format!("empty-{at}")), "").unwrap();
    }
    assert_eq!(space(dir), 40);
    assert_eq!(measured(dir, 39 * KB), Some(Limit::Disk(39 * KB)));
    write(&dir.join("big"), 300_000);
    assert!((40 + 290..400).contains(&space(dir)), "{}", space(dir));
}

#[test]
fn a_hole_in_a_file_takes_no_space_and_its_size_counts_for_the_limit_of_a_file() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    File::create(dir.join("sparse"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    assert!(space(dir) < 100, "{}", space(dir));
    for (most, limit) in [
        ((1 << 30) + 1, None),
        (1 << 30, Some(Limit::FileSize(1 << 30))),
    ] {
        let limits = FileLimits {
            disk: None,
            file_size: Some(most),
        };
        let found = exceeded(&[dir], limits, &AtomicBool::new(false));
        assert_eq!(found.unwrap(), limit);
    }
}

#[test]
fn a_file_with_many_names_is_counted_once_and_links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join("big"), 400_000);
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    write(&dir.join("file"), 100_000);
    let before = space(dir);
    for at in 0..8 {
        fs::hard_link(dir.join("file"), dir.join(format!("name-{at}"))).unwrap();
    }
    assert_eq!(space(dir), before + 8 * LINK_BYTES / KB);
    symlink(outside.path(), dir.join("link")).unwrap();
    assert_eq!(space(dir), before + 2 + 4);
    let to_it = outside.path().join("to it");
    symlink(dir, &to_it).unwrap();
    assert_eq!(measured(&to_it, 0), None, "nor is the directory itself");
}

#[test]
fn nothing_is_hidden_by_depth_or_by_missing_permissions() {
    let place = tempfile::tempdir().unwrap();
    // As path names these would be longer than the kernel accepts.
    let mut above: OwnedFd = File::open(place.path()).unwrap().into();
    for _ in 0..3_000 {
        let access = Mode::from_raw_mode(0o700);
        rustix::fs::mkdirat(&above, c"nested", access).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        above = openat(&above, c"nested", flags, Mode::empty()).unwrap();
    }
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let deep = openat(&above, c"big", flags, Mode::from_raw_mode(0o600)).unwrap();
    File::from(deep).write_all(&vec![1; 3_000_000]).unwrap();
    // Each directory counts as 4 KB.
    let dirs = 3_000 * 4 * KB;
    assert_eq!(measured(place.path(), dirs + 6_000_000), None);
    let least = dirs + 2_000_000;
    assert_eq!(measured(place.path(), least), Some(Limit::Disk(least)));
    crate::adapters::agent::run_dirs::remove(&place.path().join("nested")).unwrap();

    let closed = place.path().join("closed");
    fs::create_dir_all(closed.join("inner")).unwrap();
    write(&closed.join("inner/big"), 400_000);
    fs::set_permissions(closed.join("inner"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    assert_eq!(
        measured(place.path(), 300 * KB),
        Some(Limit::Disk(300 * KB))
    );
}

#[test]
fn measuring_stops_when_it_is_told_to_and_a_missing_directory_is_empty() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "text").unwrap();
    let none = FileLimits {
        disk: Some(0),
        file_size: None,
    };
    let stopped = exceeded(&[place.path()], none, &AtomicBool::new(true));
    assert_eq!(stopped.unwrap(), None);
    assert_eq!(measured(&place.path().join("missing"), 0), None);
    assert_eq!(measured(&place.path().join("file"), 0), None);
}
