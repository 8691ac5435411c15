//! The error codes shown to users, and the failure that ends a run.

use serde::{Deserialize, Serialize};

/// The stable error code in error markers. Programs match on its name; people read the sentence
/// next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Nothing in the conversation looks like a plan.
    NoPlanFound,
    /// A session log named in the command cannot be read.
    SessionNotFound,
    /// The command, its options or the text that it refers to cannot be used.
    InvalidInput,
    /// The command gives guidance, but there is no plan to apply it to.
    GuidanceWithoutPlan,
    /// The plan fails the title or content check.
    ValidationFailed,
    /// The sender has no permission for the command.
    PermissionDenied,
    /// The plan is longer than the bot can post.
    PlanTooLarge,
    /// Issues are disabled in the repository in which the plan should be saved.
    IssuesDisabled,
    /// The issue was deleted, moved or locked, or the plan issue was while it was being written.
    LocationGone,
    /// The App's installation or settings are insufficient.
    ConfigInvalid,
    /// GitHub was unavailable until the run gave up.
    GithubUnavailable,
    /// The coding agent is missing or cannot be started.
    AgentUnavailable,
    /// The coding agent failed.
    AgentFailed,
    /// The coding agent exceeded its deadline or stopped producing output.
    AgentTimeout,
    /// A limit on turns, cost, runs or resources of the host was reached.
    AgentLimit,
    /// The questions were not answered in time.
    QuestionsUnanswered,
    /// A user stopped the run.
    Cancelled,
    /// A bug or an unexpected state.
    Internal,
}

impl Code {
    /// All codes, for documentation and tests.
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

    /// Returns who can remove the cause of the failure.
    pub fn remedied_by(self) -> Remedy {
        match self {
            Self::NoPlanFound
            | Self::SessionNotFound
            | Self::InvalidInput
            | Self::GuidanceWithoutPlan
            | Self::ValidationFailed
            | Self::PermissionDenied
            | Self::PlanTooLarge
            | Self::IssuesDisabled
            | Self::LocationGone
            | Self::QuestionsUnanswered
            | Self::Cancelled => Remedy::User,
            Self::ConfigInvalid
            | Self::GithubUnavailable
            | Self::AgentUnavailable
            | Self::AgentFailed
            | Self::AgentTimeout
            | Self::AgentLimit => Remedy::Operator,
            Self::Internal => Remedy::Developer,
        }
    }

    /// Returns the code with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// Returns the name used in markers, blocks and the database.
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

/// Who can remove the cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The person who gave the command, or somebody else in the conversation.
    User,
    /// The operator of the bot, or an owner of the repository.
    Operator,
    /// A developer: the failure is a bug.
    Developer,
}

/// The failure that ends a run. It is stored before it is reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Error code.
    pub code: Code,
    /// What happened, as one sentence for people.
    pub message: String,
    /// Further details, such as what was searched, GitHub's error message or what already exists.
    /// May be empty.
    pub details: Vec<String>,
    /// What to do about it, as one sentence.
    pub remedy: String,
}
