//! Tests of reading the kernel's files. What needs a delegated cgroup is tested with the runner.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn the_own_cgroup_is_the_line_of_the_second_version() {
    for (text, path) in [
        ("0::/\n", Some("/")),
        (
            "0::/system.slice/planwright.service\n",
            Some("/system.slice/planwright.service"),
        ),
        (
            "9:name=systemd:/a\n4:memory:/b\n0::/with:colon\n",
            Some("/with:colon"),
        ),
        ("4:memory:/b\n", None),
        ("", None),
    ] {
        assert_eq!(own_path(text), path, "{text:?}");
    }
}

#[test]
fn a_cgroup_is_found_below_what_is_mounted() {
    let mount = |root: &str, point: &str| {
        format!(
            "22 1 0:21 / /proc rw - proc proc rw\n\
             30 25 0:26 {root} {point} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
    };
    let unified = mount("/", "/sys/fs/cgroup");
    for (mounts, path, found) in [
        (&unified, "/", Some("/sys/fs/cgroup")),
        (&unified, "/a.slice/b", Some("/sys/fs/cgroup/a.slice/b")),
        (&mount("/", "/my\\040own"), "/a", Some("/my own/a")),
        (&mount("/docker/1", "/c"), "/docker/1", Some("/c")),
        (&mount("/docker/1", "/c"), "/docker/1/a", Some("/c/a")),
        // Outside of the namespace, and not below what is mounted.
        (&unified, "/../other", None),
        (&mount("/docker/1", "/c"), "/docker/2", None),
        (&mount("/..", "/c"), "/", None),
        (
            &"30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n".to_owned(),
            "/",
            None,
        ),
        (&"nonsense\n1 2 3 - cgroup2\n".to_owned(), "/", None),
    ] {
        assert_eq!(
            locate(mounts, path).as_deref(),
            found.map(Path::new),
            "{mounts} {path}"
        );
    }
}

#[test]
fn events_are_counted_by_name() {
    let events = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n";
    for (text, name, count) in [
        (events, "oom_kill", 2),
        (events, "max", 12),
        (events, "none", 0),
        ("max 1\n", "max", 1),
        ("max\nmax many\n", "max", 0),
        ("", "max", 0),
    ] {
        assert_eq!(counter(text, name), count, "{text:?} {name}");
    }
}

/// Fails nowhere, whatever the computer offers: a clause for people, or a directory.
#[test]
fn what_this_computer_offers_is_found_out_without_a_change() {
    let before = fs::read_to_string("/proc/self/cgroup").ok();
    match Cgroups::find() {
        Ok(found) => assert!(found.base.join("cgroup.procs").exists()),
        Err(why) => assert!(!why.is_empty() && !why.ends_with('.'), "{why}"),
    }
    assert_eq!(fs::read_to_string("/proc/self/cgroup").ok(), before);
}

#[test]
fn a_cgroup_that_is_gone_has_exceeded_nothing_and_needs_no_removal() {
    let place = tempfile::tempdir().unwrap();
    let turn = TurnCgroup {
        dir: place.path().join("gone"),
        limits: ResourceLimits::default(),
    };
    assert_eq!(turn.exceeded(), None);
    turn.kill();
}

#[test]
fn what_a_killed_process_left_is_ended_and_removed_and_that_of_others_stays() {
    let (own, other) = ("test-of-left-over", "test-of-others");
    let cgroups = match Cgroups::open(own) {
        Ok(cgroups) => cgroups,
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    let limits = ResourceLimits::default();
    let left = cgroups.turn(&format!("{own}:1"), &limits).unwrap();
    let other = cgroups.turn(&format!("{other}:1"), &limits).unwrap();
    let mut sleeper = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    fs::write(left.path().join("cgroup.procs"), sleeper.id().to_string()).unwrap();
    let dir = left.path().to_owned();
    std::mem::forget(left);
    assert_eq!(Cgroups::open(own), Ok(cgroups));
    assert!(!dir.exists());
    assert!(!sleeper.wait().unwrap().success());
    assert!(other.path().exists());
    let dir = other.path().to_owned();
    drop(other);
    assert!(!dir.exists());
}
