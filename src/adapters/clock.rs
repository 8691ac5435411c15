//! The real clock: a steady clock that starts at the system's time, and Tokio timers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;

use crate::engine::clock::Clock;
use crate::engine::model::time::Millis;

/// Minimum step of the system's clock that is logged, in milliseconds. Reading both clocks takes
/// less on a busy machine, and every lease and wait is longer.
const MIN_LOGGED_STEP_MS: i64 = 5_000;

/// A clock that advances steadily: the system's time at the first call plus the time elapsed since
/// then. Setting the system's clock does not affect waits in this process; the next start uses the
/// new time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// The readings of both clocks at the first call, and the difference between the system's clock and
/// this one that was logged last, in milliseconds.
struct Start {
    system: Millis,
    steady: Millis,
    logged: AtomicI64,
}

static START: OnceLock<Start> = OnceLock::new();

impl Start {
    fn new(system: Millis, steady: Millis) -> Self {
        Self {
            system,
            steady,
            logged: AtomicI64::new(0),
        }
    }

    /// Returns the present, and the step by which the system's clock has been set since the last
    /// step returned, in milliseconds.
    fn present(&self, system: Millis, steady: Millis) -> (Millis, Option<i64>) {
        let present = Millis(self.system.0 + (steady.0 - self.steady.0));
        let difference = system.0 - present.0;
        let step = difference - self.logged.load(Ordering::Relaxed);
        if step.abs() < MIN_LOGGED_STEP_MS {
            return (present, None);
        }
        self.logged.store(difference, Ordering::Relaxed);
        (present, Some(step))
    }
}

/// Returns the time since boot, including suspend. It cannot be set.
#[cfg(target_os = "linux")]
fn steady() -> Millis {
    let since = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Millis(since.tv_sec * 1_000 + since.tv_nsec / 1_000_000)
}

/// Returns the time since the first call. It cannot be set.
#[cfg(not(target_os = "linux"))]
fn steady() -> Millis {
    static FIRST: OnceLock<std::time::Instant> = OnceLock::new();
    Millis::default().plus(FIRST.get_or_init(std::time::Instant::now).elapsed())
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let (system, steady) = (Millis::from(Utc::now()), steady());
        let start = START.get_or_init(|| Start::new(system, steady));
        let (present, step) = start.present(system, steady);
        if let Some(step_ms) = step {
            tracing::warn!(
                step_ms,
                "the system clock was changed; this process keeps counting from its start time; \
                 restart it to use the new time"
            );
        }
        present
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleeps_by_tokio_timers() {
        let start = tokio::time::Instant::now();
        SystemClock.sleep(Duration::from_hours(1)).await;
        assert_eq!(start.elapsed(), Duration::from_hours(1));
    }

    #[test]
    fn returns_the_present() {
        // 2026-01-01T00:00:00Z: any machine that runs this has a later date.
        assert!(SystemClock.now() > Millis(1_767_225_600_000));
    }

    #[test]
    fn setting_the_system_clock_does_not_affect_the_present_and_is_logged_once() {
        const DAY: i64 = 86_400_000;
        let start = Start::new(Millis(10 * DAY), Millis(500));
        for (system, steady, present, step) in [
            (10 * DAY, 500, 10 * DAY, None),
            (10 * DAY + 1_000, 1_500, 10 * DAY + 1_000, None),
            // Set back by a day, and later forward by two days.
            (9 * DAY + 2_000, 2_500, 10 * DAY + 2_000, Some(-DAY)),
            (9 * DAY + 3_000, 3_500, 10 * DAY + 3_000, None),
            (11 * DAY + 4_000, 4_500, 10 * DAY + 4_000, Some(2 * DAY)),
            (11 * DAY + 5_000, 5_500, 10 * DAY + 5_000, None),
            // The clocks are not read at exactly the same moment.
            (11 * DAY + 6_900, 6_500, 10 * DAY + 6_000, None),
        ] {
            let result = start.present(Millis(system), Millis(steady));
            assert_eq!(result, (Millis(present), step), "{system} {steady}");
        }
    }
}
