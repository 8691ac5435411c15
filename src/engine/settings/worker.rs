//! How runs are executed and retried.

use std::time::Duration;

use crate::engine::store::ClaimLimits;
use crate::setting::Rule::Integer;
use crate::setting::{hours, limit, seconds, settings};

settings! {
    /// How runs are executed and retried.
    pub struct WorkerSettings in "worker" {
        /// Maximum number of runs that are executed at the same time.
        concurrency: usize = 8, Integer(1, 256, "runs");
        /// Maximum number of runs of one installation that are executed at the same time, by all
        /// processes that share the database; 0 for no limit.
        per_installation: Option<u64> as "limit" = 0, Integer(0, 10_000, "runs");
        /// Maximum number of runs of one repository that are executed at the same time; 0 for no
        /// limit.
        per_repository: Option<u64> as "limit" = 0, Integer(0, 10_000, "runs");
        /// Duration of the lease on a run, in seconds. It is renewed when a third of it has passed; a run whose
        /// lease has expired is executed again.
        lease("lease_seconds"): Duration as "seconds" = 30, Integer(5, 3_600, "seconds");
        /// Maximum number of attempts of a run that end without a result. After that, the run is
        /// assumed to crash the process and fails.
        max_attempts: u32 = 5, Integer(1, 100, "attempts");
        /// Delay after the first temporary fault of GitHub or the agent, in seconds. It doubles
        /// with each fault.
        backoff("backoff_seconds"): Duration as "seconds" = 5, Integer(1, 3_600, "seconds");
        /// Maximum delay between two attempts, in seconds.
        max_backoff("max_backoff_seconds"): Duration as "seconds" = 300, Integer(1, 86_400, "seconds");
        /// Duration of continuous temporary faults after which a run fails, in hours.
        give_up_after("give_up_after_hours"): Duration as "hours" = 6, Integer(1, 168, "hours");
        /// Delay before looking for the result of a write whose outcome is unknown, in seconds,
        /// because GitHub may still be processing it; GitHub terminates requests after 10 seconds.
        /// A result that is not found is looked for once more after six times this delay, because
        /// GitHub's lists lag behind its writes, and only then is the write sent again. A 404 or
        /// 422 for something created less than ten times this delay ago is retried.
        adopt_delay("settle_seconds"): Duration as "seconds" = 12, Integer(0, 600, "seconds");
    }
}

impl WorkerSettings {
    /// Returns how many runs are executed at the same time.
    pub fn limits(&self) -> ClaimLimits {
        ClaimLimits {
            installation: self.per_installation,
            repository: self.per_repository,
        }
    }

    /// Returns the delays after temporary faults.
    pub fn delays(&self) -> Backoff {
        Backoff {
            first: self.backoff,
            max: self.max_backoff,
        }
    }

    /// Returns the sum of the delays after the first `faults` faults.
    pub fn waited_after(&self, faults: u32) -> Duration {
        let delays = self.delays();
        // The factor is capped, so all delays from the eighteenth on are equal.
        let single = faults.min(17);
        let sum: Duration = (1..=single).map(|fault| delays.after(fault)).sum();
        let longest = delays.after(u32::MAX);
        sum.saturating_add(longest.saturating_mul(faults - single))
    }
}

/// Delays that double with each fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// First delay.
    pub first: Duration,
    /// Maximum delay.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        WorkerSettings::default().delays()
    }
}

impl Backoff {
    /// Returns the delay after the `fault`th consecutive fault, counted from 1.
    pub fn after(self, fault: u32) -> Duration {
        let factor = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
        self.first.saturating_mul(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_is_the_sum_of_the_single_waits() {
        let settings = WorkerSettings::default();
        let mut sum = Duration::ZERO;
        for faults in 0..200 {
            assert_eq!(settings.waited_after(faults), sum, "{faults}");
            sum += settings.delays().after(faults + 1);
        }
        let longest = WorkerSettings {
            backoff: Duration::from_hours(1),
            max_backoff: Duration::from_hours(24),
            ..settings
        };
        assert!(longest.waited_after(u32::MAX) > Duration::from_hours(24));
    }
}
