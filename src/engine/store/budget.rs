//! What agents have used, and limits on it.

use crate::engine::model::agent::{Micros, Tokens};
use crate::engine::model::time::Millis;

/// Number of days for which [`Store::usage`](super::Store::usage) is kept at least.
pub const USAGE_DAYS: u32 = 400;

/// What agents have used for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandUsage {
    /// The name of the command.
    pub command: String,
    /// Number of runs with an agent.
    pub runs: u64,
    /// Number of model turns.
    pub turns: u64,
    /// Cost.
    pub cost: Micros,
    /// Tokens.
    pub tokens: Tokens,
}

/// The repository and the person whose budgets an agent turn counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetScope {
    /// The repository id.
    pub repo: u64,
    /// The account id of the person who started the run.
    pub actor: u64,
}

/// Limits on agent usage; `None` means no limit.
///
/// A run counts once, from the moment its first turn is allowed, however many turns it takes. Costs
/// count from the moment they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of runs of one actor per hour.
    pub actor_hour_runs: Option<u64>,
    /// Maximum number of runs of one repository in 24 hours.
    pub repo_day_runs: Option<u64>,
    /// Maximum cost of one repository in 24 hours.
    pub repo_day_cost: Option<Micros>,
    /// Maximum number of runs of all repositories in 24 hours.
    pub day_runs: Option<u64>,
    /// Maximum cost of all repositories in 24 hours.
    pub day_cost: Option<Micros>,
}

/// The limit of a [`Budget`] that is reached, and the time at which its oldest entry expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the same in every variant")]
pub enum Exceeded {
    /// [`Budget::actor_hour_runs`] is reached.
    ActorHourRuns { limit: u64, until: Millis },
    /// [`Budget::repo_day_runs`] is reached.
    RepoDayRuns { limit: u64, until: Millis },
    /// [`Budget::repo_day_cost`] is reached.
    RepoDayCost { limit: Micros, until: Millis },
    /// [`Budget::day_runs`] is reached.
    DayRuns { limit: u64, until: Millis },
    /// [`Budget::day_cost`] is reached.
    DayCost { limit: Micros, until: Millis },
}
