//! Limits of agents, and how they are run.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::prompts::Prompts;
use super::repository::RepositorySettings;
use crate::engine::model::agent::{Limits, Micros};
use crate::engine::store::Budget;
use crate::setting::Rule::{Boolean, Dollars, Integer, OptionalPath};
use crate::setting::{dollars, hours, limit, optional, seconds, settings};

settings! {
    /// Limits of agents.
    pub struct AgentSettings in "agent" {
        /// Maximum duration of one agent turn, in seconds.
        deadline("deadline_seconds"): Duration as "seconds" = 1200, Integer(1, 86_400, "seconds");
        /// Maximum time without output, in seconds. For a program that prints nothing before its
        /// answer is complete, it must be as long as an answer may take.
        silence("silence_seconds"): Duration as "seconds" = 300, Integer(1, 86_400, "seconds");
        /// Maximum number of model responses in one agent turn.
        max_turns: u32 = 40, Integer(1, 1_000, "turns");
        /// Maximum cost of one run, in US dollars; 0 for no limit. All costs are those that the
        /// agent reports with its result: one turn can exceed the limit, and for an agent that
        /// reports no costs, limits on cost have no effect.
        run_cost("max_cost_usd"): Option<Micros> as "dollars" = 5.0, Dollars(10_000.0);
        /// Maximum number of tries of one agent turn that fails for a temporary reason (overload,
        /// network).
        tries: u32 = 3, Integer(1, 10, "tries");
        /// Maximum length of a prompt, in characters. If a conversation is longer, posts in the
        /// middle are left out.
        max_prompt("max_prompt_chars"): usize = 600_000, Integer(10_000, 5_000_000, "characters");
        /// Whether agents may ask people questions.
        ask: bool = true, Boolean;
        /// Maximum number of rounds of questions in one run.
        rounds("question_rounds"): u32 = 3, Integer(0, 3, "rounds");
        /// Hours without an answer until people are reminded once; 0 for no reminder.
        remind_after("remind_hours"): Duration as "hours" = 24, Integer(0, 720, "hours");
        /// Hours without an answer until the plan is saved with its questions open. A paused run,
        /// and one that asks which plan is meant, fails instead.
        answer_within("answer_hours"): Duration as "hours" = 168, Integer(1, 720, "hours");
        /// Maximum number of runs with an agent that one person may start per hour; 0 for no limit.
        runs_per_actor_hour: Option<u64> as "limit" = 20, Integer(0, 1_000_000, "runs");
        /// Maximum number of runs with an agent in one repository per 24 hours; 0 for no limit.
        runs_per_repository_day: Option<u64> as "limit" = 100, Integer(0, 1_000_000, "runs");
        /// Maximum cost of agents in one repository per 24 hours, in US dollars; 0 for no limit.
        cost_per_repository_day("cost_per_repository_day_usd"): Option<Micros> as "dollars" = 50.0,
            Dollars(1_000_000.0);
        /// Maximum number of all runs with an agent per 24 hours; 0 for no limit.
        runs_per_day: Option<u64> as "limit" = 500, Integer(0, 1_000_000, "runs");
        /// Maximum cost of all agents per 24 hours, in US dollars; 0 for no limit.
        cost_per_day("cost_per_day_usd"): Option<Micros> as "dollars" = 200.0, Dollars(1_000_000.0);
        /// Folder with your own instructions for agents: `plan-extractor.md`, `planner.md` and
        /// `researcher.md` for all repositories, and the same names in a subfolder `OWNER/NAME` for
        /// one repository. Each file is at most 200 KB and is read at the start. Empty for the
        /// built-in instructions.
        prompts_folder("prompts"): Option<PathBuf> as "optional" = "", OptionalPath;
        tables {
            /// The copies of repositories that agents read.
            repository: RepositorySettings;
        }
        also {
            /// The agents' instructions, read from the folder.
            prompts: Prompts;
        }
    }
}

impl AgentSettings {
    /// Returns the limits of one turn. The limit on its cost, what remains of `run_cost` or a share
    /// of it, is set for each turn.
    pub fn limits(&self) -> Limits {
        Limits {
            deadline: self.deadline,
            silence: self.silence,
            turns: self.max_turns,
            cost: None,
        }
    }

    /// Returns the budgets of each actor, each repository and all repositories.
    pub fn budget(&self) -> Budget {
        Budget {
            actor_hour_runs: self.runs_per_actor_hour,
            repo_day_runs: self.runs_per_repository_day,
            repo_day_cost: self.cost_per_repository_day,
            day_runs: self.runs_per_day,
            day_cost: self.cost_per_day,
        }
    }
}

/// The format of an agent's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// One JSON object per line, as printed by `claude --output-format stream-json`.
    StreamJson,
    /// The answer as Markdown.
    Markdown,
}

/// Whether agents run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Use a sandbox if the system supports one.
    #[default]
    Auto,
    /// Require a sandbox: without one, agents are not started.
    Required,
    /// Never use a sandbox.
    Off,
}

/// Which network access agents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkMode {
    /// [`NetworkMode::Model`] for an agent whose model's address is known, otherwise
    /// [`NetworkMode::Open`].
    #[default]
    Auto,
    /// Only the hosts of the model.
    Model,
    /// Everything that this computer can reach.
    Open,
}
