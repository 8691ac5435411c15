//! Counts wrong signatures and logs them at most once a minute, so that a flood does not flood the
//! log.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::engine::model::time::Millis;

/// Minimum time between two warnings.
const MIN_WARNING_INTERVAL: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
pub(super) struct Forged {
    count: AtomicU64,
    said: AtomicU64,
    quiet_until: AtomicI64,
}

impl Forged {
    /// Returns the number of wrong signatures.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts one. If a warning is due, logs and returns the number since the last one.
    pub(super) fn seen(&self, now: Millis) -> Option<u64> {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let quiet_until = self.quiet_until.load(Ordering::Relaxed);
        if now.0 < quiet_until {
            return None;
        }
        let next = now.plus(MIN_WARNING_INTERVAL).0;
        self.quiet_until
            .compare_exchange(quiet_until, next, Ordering::Relaxed, Ordering::Relaxed)
            .ok()?;
        let refused = count.saturating_sub(self.said.swap(count, Ordering::Relaxed));
        tracing::warn!(
            refused,
            "rejected deliveries with a wrong signature: somebody else sent them, or the App's webhook secret is not one of the configured ones"
        );
        Some(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_once_a_minute_with_the_number_since() {
        let forged = Forged::default();
        assert_eq!(forged.seen(Millis(1_000)), Some(1));
        assert_eq!(forged.seen(Millis(1_001)), None);
        assert_eq!(forged.seen(Millis(60_999)), None);
        assert_eq!(forged.seen(Millis(61_000)), Some(3));
        assert_eq!(forged.seen(Millis(61_000)), None);
        assert_eq!(forged.count(), 5);
    }
}
