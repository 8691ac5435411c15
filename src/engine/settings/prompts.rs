//! The agents' instructions.

use std::sync::Arc;

use crate::engine::model::trigger::Repo;

/// The agents' instructions: the compiled-in ones, or those of the operator that replace them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    /// The operator's instructions: `None` for all repositories, otherwise for one repository as
    /// `owner/name` in lower case.
    pub own: Arc<Vec<(Option<String>, OwnPrompts)>>,
}

/// The task of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Extracts the plan of a conversation and completes it.
    PlanExtractor,
    /// Writes a plan for a specification.
    Planner,
    /// Writes a report on a topic.
    Researcher,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::PlanExtractor, Self::Planner, Self::Researcher];

    /// Returns the name of the file with the role's instructions.
    pub fn file(self) -> &'static str {
        match self {
            Self::PlanExtractor => "plan-extractor.md",
            Self::Planner => "planner.md",
            Self::Researcher => "researcher.md",
        }
    }

    /// Returns the compiled-in instructions.
    pub fn instructions(self) -> &'static str {
        match self {
            Self::PlanExtractor => PLAN_EXTRACTOR,
            Self::Planner => PLANNER,
            Self::Researcher => RESEARCHER,
        }
    }
}

/// The operator's instructions by role. A role without an entry uses the compiled-in text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPrompts(pub Vec<(Role, String)>);

const PLAN_EXTRACTOR: &str = include_str!("../prompts/plan-extractor.md");

const PLANNER: &str = include_str!("../prompts/planner.md");

const RESEARCHER: &str = include_str!("../prompts/researcher.md");

impl Prompts {
    /// Returns the instructions of `role` for `repo`: the operator's for this repository, else the
    /// operator's for all repositories, else the compiled-in ones. The conversation cannot
    /// influence the choice.
    pub fn system(&self, role: Role, repo: &Repo) -> String {
        let name = repo.full_name().to_lowercase();
        let own = |wanted: Option<&str>| {
            self.own
                .iter()
                .filter(|(repo, _)| repo.as_deref() == wanted)
                .flat_map(|(_, own)| &own.0)
                .find(|(own, _)| *own == role)
                .map(|(_, text)| text.clone())
        };
        own(Some(&name))
            .or_else(|| own(None))
            .unwrap_or_else(|| role.instructions().to_owned())
    }
}
