//! The error codes a user can see, and what a run ends with when it fails.

use serde::{Deserialize, Serialize};

/// Stable codes of error markers. Programs match on the name; people read the sentence beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Nothing in the conversation looks like a plan.
    NoPlanFound,
    /// A session log that was named cannot be read.
    SessionNotFound,
    /// What stands behind the command cannot be used.
    InvalidInput,
    /// There is guidance, but nothing to apply it to.
    GuidanceWithoutPlan,
    /// The plan does not pass the title or content gate.
    ValidationFailed,
    /// Who asked may not.
    PermissionDenied,
    /// More text than the bot posts.
    PlanTooLarge,
    /// The repository has no issues to save a plan in.
    IssuesDisabled,
    /// The issue, or the plan issue while it was written, was deleted, moved or locked.
    LocationGone,
    /// The App's installation or settings are not sufficient.
    ConfigInvalid,
    /// GitHub did not do it, for long enough to give up.
    GithubUnavailable,
    /// The coding agent is not there or cannot be started.
    AgentUnavailable,
    /// The coding agent failed.
    AgentFailed,
    /// The coding agent took too long, or fell silent.
    AgentTimeout,
    /// A limit of turns, cost or runs is reached.
    AgentLimit,
    /// Nobody answered the questions in time.
    QuestionsUnanswered,
    /// Somebody stopped it.
    Cancelled,
    /// A defect, or a state nobody foresaw.
    Internal,
}

impl Code {
    /// Every code, for documentation and tests.
    pub const ALL: [Self; 18] = [
        Self::NoPlanFound,
        Self::SessionNotFound,
        Self::InvalidInput,
        Self::GuidanceWithoutPlan,
        Self::ValidationFailed,
        Self::PermissionDenied,
        Self::PlanTooLarge,
        Self::IssuesDisabled,
        Self::LocationGone,
        Self::ConfigInvalid,
        Self::GithubUnavailable,
        Self::AgentUnavailable,
        Self::AgentFailed,
        Self::AgentTimeout,
        Self::AgentLimit,
        Self::QuestionsUnanswered,
        Self::Cancelled,
        Self::Internal,
    ];

    /// Returns the code with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// The name in markers, blocks and the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoPlanFound => "no_plan_found",
            Self::SessionNotFound => "session_not_found",
            Self::InvalidInput => "invalid_input",
            Self::GuidanceWithoutPlan => "guidance_without_plan",
            Self::ValidationFailed => "validation_failed",
            Self::PermissionDenied => "permission_denied",
            Self::PlanTooLarge => "plan_too_large",
            Self::IssuesDisabled => "issues_disabled",
            Self::LocationGone => "location_gone",
            Self::ConfigInvalid => "config_invalid",
            Self::GithubUnavailable => "github_unavailable",
            Self::AgentUnavailable => "agent_unavailable",
            Self::AgentFailed => "agent_failed",
            Self::AgentTimeout => "agent_timeout",
            Self::AgentLimit => "agent_limit",
            Self::QuestionsUnanswered => "questions_unanswered",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }
}

/// A decided failure: it is remembered, then reported, then the run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which kind.
    pub code: Code,
    /// What happened, one sentence for people.
    pub message: String,
    /// Particulars: what was looked at, what GitHub said, what exists already. May be empty.
    pub details: Vec<String>,
    /// What to do about it, one sentence.
    pub remedy: String,
}
