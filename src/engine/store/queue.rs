//! Limits and size of the queue, and the place of a run in it.

use crate::engine::model::run::State;
use crate::engine::model::time::Millis;

/// Maximum numbers of runs at the same time, in all processes; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClaimLimits {
    /// Per installation.
    pub installation: Option<u64>,
    /// Per repository.
    pub repository: Option<u64>,
}

/// The number of runs in each state, and the acceptance time of the oldest ready one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// The number of runs in each state that has any.
    pub by_state: Vec<(State, u64)>,
    /// The time of acceptance of the oldest ready run.
    pub oldest_ready: Option<Millis>,
}

/// What precedes a run in the queue, and what runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueuePosition {
    /// Unfinished runs with the same `serial` key that precede it.
    pub at_place: u64,
    /// Ready runs of its repository that precede it, if it is ready.
    pub in_repository: u64,
    /// Running runs of its repository.
    pub running_in_repository: u64,
    /// Running runs of its installation.
    pub running_in_installation: u64,
}

impl QueuePosition {
    /// Says what a ready run waits for, as the end of a sentence about it.
    pub fn explain(&self, limits: &ClaimLimits) -> String {
        let repository = self.running_in_repository;
        let installation = self.running_in_installation;
        let is_reached = |limit: Option<u64>, runs| limit.is_some_and(|limit| runs >= limit);
        if is_reached(limits.installation, installation) {
            format!(
                "waits until one of the {installation} running commands of this installation ends \
                 (worker.per_installation)"
            )
        } else if is_reached(limits.repository, repository) {
            format!(
                "waits until one of the {repository} running commands of this repository ends \
                 (worker.per_repository)"
            )
        } else if self.in_repository > 0 {
            let count = self.in_repository;
            let (are, s) = if count == 1 { ("is", "") } else { ("are", "s") };
            format!(
                "waits for a free worker; {count} earlier command{s} of this repository {are} ahead of it"
            )
        } else if installation > 0 {
            let s = if installation == 1 { "" } else { "s" };
            format!(
                "waits for a free worker; this installation has {installation} running command{s}, and \
                 installations with fewer go first"
            )
        } else {
            "starts as soon as a worker is free".to_owned()
        }
    }
}
