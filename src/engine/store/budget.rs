//! What may be spent on agents, and which limit is reached.

use crate::engine::model::agent::Micros;
use crate::engine::model::time::Millis;

/// What one agent turn may be charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payer {
    /// Repository id.
    pub repo: u64,
    /// Account id of who asked for the run.
    pub actor: u64,
}

/// What may be spent on agents. `None` is no limit. Runs count once, however many turns they take, and count from the
/// moment their first turn is allowed; costs count when they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Runs of one actor in an hour.
    pub actor_hour_runs: Option<u64>,
    /// Runs of one repository in 24 hours.
    pub repo_day_runs: Option<u64>,
    /// Cost of one repository in 24 hours.
    pub repo_day_cost: Option<Micros>,
    /// Runs of all repositories in 24 hours.
    pub day_runs: Option<u64>,
    /// Cost of all repositories in 24 hours.
    pub day_cost: Option<Micros>,
}

/// Which limit of a [`Budget`] is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// [`Budget::actor_hour_runs`]
    ActorHourRuns {
        /// The limit.
        limit: u64,
        /// When the oldest that counts no longer does.
        until: Millis,
    },
    /// [`Budget::repo_day_runs`]
    RepoDayRuns {
        /// The limit.
        limit: u64,
        /// When the oldest that counts no longer does.
        until: Millis,
    },
    /// [`Budget::repo_day_cost`]
    RepoDayCost {
        /// The limit.
        limit: Micros,
        /// When the oldest that counts no longer does.
        until: Millis,
    },
    /// [`Budget::day_runs`]
    DayRuns {
        /// The limit.
        limit: u64,
        /// When the oldest that counts no longer does.
        until: Millis,
    },
    /// [`Budget::day_cost`]
    DayCost {
        /// The limit.
        limit: Micros,
        /// When the oldest that counts no longer does.
        until: Millis,
    },
}
