//! Who asks, and how often people without permissions are answered.

use std::time::Duration;

/// One command, and whom and what it counts against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Installation id.
    pub installation: u64,
    /// Key of the place (`Place::key`).
    pub place: String,
    /// Account id of who asks.
    pub actor: u64,
    /// The comment that asks; `None` for labels and pushes.
    pub comment: Option<u64>,
}

/// What the actor's permission means for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The actor has no triage permission.
    pub outsider: bool,
    /// The actor lacks the permission that the command needs.
    pub refused: bool,
}

/// How many commands of people without triage permission are answered within a window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Of one person in one installation.
    pub person: u64,
    /// On one issue or pull request.
    pub place: u64,
    /// In one installation.
    pub installation: u64,
    /// The window. A refusal is posted to a person once in it, whatever role that person has.
    pub window: Duration,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self {
            person: 3,
            place: 5,
            installation: 20,
            window: Duration::from_hours(1),
        }
    }
}

/// What is to become of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing is decided: ask GitHub for the actor's permission.
    Undecided,
    /// It is worked on or refused.
    Answer,
    /// It is not answered at all; why, one sentence for the audit.
    Ignore(String),
}
