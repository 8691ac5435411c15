//! Tests of what is said about the limits, when is looked, and what is inherited.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use async_trait::async_trait;

use super::*;
use crate::engine::model::time::Millis;

/// A clock on which every pause is over at once.
#[derive(Default)]
struct Hurried(Mutex<Vec<Duration>>);

#[async_trait]
impl Clock for Hurried {
    fn now(&self) -> Millis {
        Millis(0)
    }

    async fn sleep(&self, duration: Duration) {
        self.0.lock().unwrap().push(duration);
    }
}

#[tokio::test]
async fn polling_ends_with_a_finding_and_is_rarer_the_longer_it_takes() {
    const COST: Duration = Duration::from_millis(30);
    let clock = Hurried::default();
    let polls = AtomicUsize::new(0);
    let limit = watch(&clock, PROCESS_INTERVAL, move || {
        match polls.fetch_add(1, Ordering::Relaxed) {
            0 => None,
            1 => {
                let end = processor_time() + COST;
                while processor_time() < end {}
                None
            }
            _ => Some(Limit::Memory(7)),
        }
    });
    assert_eq!(limit.await, Limit::Memory(7));
    let pauses = clock.0.into_inner().unwrap();
    assert_eq!(pauses.len(), 3);
    assert_eq!(pauses[0], PROCESS_INTERVAL);
    assert!(pauses[2] >= COST * MIN_REST, "{pauses:?}");
}

#[test]
fn the_description_says_how_limits_are_enforced_and_which_are_not() {
    let said = |found| described(&found).to_string();
    let refused = said(Err("cgroup v2 is not mounted".to_owned()));
    if cfg!(target_os = "linux") {
        assert_eq!(
            refused,
            "memory and processes are checked 5 times a second, and more can be used in between \
             (cgroup v2 is not mounted)"
        );
    }
    assert_eq!(
        Enforcement::Cgroup.to_string(),
        "memory and processes are limited by the kernel (cgroup)"
    );
    assert_eq!(
        Enforcement::None.to_string(),
        "memory and processes are not limited (this system has no /proc)"
    );
}

#[test]
fn the_limit_of_the_user_has_room_for_all_agents() {
    let dir = PathBuf::from("/nowhere");
    let dirs = RunDirs {
        home: dir.clone(),
        work: dir.clone(),
        scratch: dir,
    };
    let limits = TurnLimits::new(&ResourceLimits::default(), None, "folder:turn", &dirs);
    let expected = InheritedLimits {
        open_files: Some(4096),
        file_size: Some(1 << 30),
        processes: Some(3 * 512 + 4096),
        cgroup: None,
    };
    assert_eq!(limits.inherited(3), expected);
}

#[test]
fn a_cgroup_that_cannot_be_entered_is_named() {
    let missing = InheritedLimits {
        cgroup: Some("/nowhere/at/all".into()),
        ..InheritedLimits::default()
    };
    let why = missing.enter().unwrap_err();
    let start = "the cgroup /nowhere/at/all cannot be entered: ";
    assert!(why.starts_with(start), "{why}");
}

/// A signal is what is left of a file that has no name any more.
#[tokio::test]
async fn the_end_by_the_signal_for_large_files_is_named_and_success_is_not_questioned() {
    let dirs = RunDirs {
        home: "/nowhere/a".into(),
        work: "/nowhere/b".into(),
        scratch: "/nowhere/c".into(),
    };
    let limits = TurnLimits::new(&ResourceLimits::default(), None, "folder:turn", &dirs);
    let signal = Signal::XFSZ.as_raw();
    let by_file = Some(Limit::FileSize(1 << 30));
    for (status, limit) in [
        (Some(signal), by_file),
        (Some((128 + signal) << 8), by_file),
        (Some(0), None),
        (Some(1 << 8), None),
        (Some(9), None),
        (None, None),
    ] {
        let ended = status.map(ExitStatus::from_raw);
        assert_eq!(limits.exceeded_at_end(ended).await, limit, "{status:?}");
    }
}
