//! What the operator can set about runs.

use std::time::Duration;

use crate::formats::command::Command;

/// Settings of the engine; the configuration file documents each under `[worker]` and `[publish]`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many runs are worked on at once.
    pub concurrency: usize,
    /// How long a claim holds without a heartbeat; heartbeats come at a third of it.
    pub lease: Duration,
    /// Claims of one run in one round after which it is taken for the cause of crashes and failed.
    pub max_attempts: u32,
    /// First wait after a fault outside; doubles up to `backoff_most`.
    pub backoff: Duration,
    /// Longest wait between tries.
    pub backoff_most: Duration,
    /// Faults outside for longer than this end the run with `github_unavailable`.
    pub give_up_after: Duration,
    /// How long a write of unknown outcome may still be at work (`engine::effects::ADOPT_DELAY`).
    pub adopt_delay: Duration,
    /// Put before every plan issue's title, e.g. `[erk-plan] `; empty for none.
    pub title_prefix: String,
    /// Most comments a plan may take.
    pub most_parts: usize,
    /// Root of GitHub's pages, where attachments are: `https://github.com`.
    pub web: String,
    /// Longest session log that is read, in bytes.
    pub most_log: u64,
    /// Label names that mean commands.
    pub labels: Vec<(Command, String)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 8,
            lease: Duration::from_secs(30),
            max_attempts: 5,
            backoff: Duration::from_secs(5),
            backoff_most: Duration::from_mins(5),
            give_up_after: Duration::from_hours(6),
            adopt_delay: super::effects::ADOPT_DELAY,
            title_prefix: String::new(),
            most_parts: 20,
            web: "https://github.com".to_owned(),
            most_log: 50 * 1024 * 1024,
            labels: Vec::new(),
        }
    }
}

impl Settings {
    /// Wait before try number `fault` + 1 (faults count from 1): doubles, capped.
    pub fn backoff_after(&self, fault: u32) -> Duration {
        let factor = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
        self.backoff.saturating_mul(factor).min(self.backoff_most)
    }
}
