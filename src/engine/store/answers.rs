//! Which commands are answered: limits for people without triage permission.

use std::time::Duration;

/// A command, with the person and the place whose answer limits apply to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// The installation id.
    pub installation: u64,
    /// The key of the issue or pull request (`IssueRef::key`).
    pub place: String,
    /// The account id of the requester.
    pub actor: u64,
    /// The id of the comment that contains the command; `None` for labels and pushes.
    pub comment: Option<u64>,
}

/// The permission of the requester in relation to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActorStanding {
    /// Whether the requester lacks triage permission.
    pub outsider: bool,
    /// Whether the requester lacks the permission that the command needs.
    pub refused: bool,
}

/// Maximum numbers of commands from people without triage permission that are answered within a
/// window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Per person and installation.
    pub person: u64,
    /// Per issue or pull request.
    pub place: u64,
    /// Per installation.
    pub installation: u64,
    /// The length of the window. A refusal is posted to a person once per window, regardless of
    /// their permission.
    pub window: Duration,
}

/// The decision whether a command is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerDecision {
    /// Not decided yet: the actor's permission must be requested from GitHub.
    Undecided,
    /// The command is executed, or its refusal is posted.
    Answer,
    /// The command is ignored, for this reason (one sentence for the audit log).
    Ignore(String),
}
