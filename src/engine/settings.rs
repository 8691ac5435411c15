//! What the operator can set about runs.

use std::time::Duration;

use super::agent::{Limits, Micros};
use super::prompt::Prompts;
use super::research::ResearchSettings;
use super::store::Budget;
use crate::formats::block::PlanForm;
use crate::formats::command::Command;
use crate::formats::erk::Version;

/// Settings of the engine; the configuration file documents each under `[worker]`, `[publish]`,
/// `[erk]` and `[report]`.
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
    /// The erk that plans are written for.
    pub erk: ErkSettings,
    /// What is listed as next steps below a saved plan.
    pub next_steps: NextSteps,
    /// Root of GitHub's pages, where attachments are: `https://github.com`.
    pub web: String,
    /// Longest session log that is read, in bytes.
    pub most_log: u64,
    /// Label names that mean commands.
    pub labels: Vec<(Command, String)>,
    /// How action plans are checked.
    pub check: CheckSettings,
    /// How agents are used.
    pub agent: AgentSettings,
    /// How research is done.
    pub research: ResearchSettings,
}

/// The erk that plans are written for; the configuration file documents each under `[erk]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErkSettings {
    /// Which version the team uses.
    pub version: Version,
    /// Plans are shown unfolded, where the version reads that.
    pub details_open: bool,
}

impl ErkSettings {
    /// How a plan is framed in its comment.
    pub fn plan_form(self) -> PlanForm {
        self.version.plan_form(self.details_open)
    }
}

/// What is listed as next steps below a saved plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NextSteps {
    /// The commands of the team's version of erk.
    #[default]
    Erk,
    /// Nothing.
    None,
    /// The operator's Markdown; [`NextSteps::PLACEHOLDERS`] are filled in.
    Template(String),
}

impl NextSteps {
    /// What a template may hold: number of the plan issue, `OWNER/NAME` of its repository, its
    /// address.
    pub const PLACEHOLDERS: [&str; 3] = ["{number}", "{repo}", "{url}"];

    /// The setting `report.next_steps`.
    pub fn of(text: &str) -> Self {
        match text {
            "erk" => Self::Erk,
            "none" => Self::None,
            _ => Self::Template(text.to_owned()),
        }
    }
}

/// How action plans are checked; the configuration file documents each under `[check]`.
#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// Names of plan files: names, or `*` and the end of names.
    pub files: Vec<String>,
    /// Look whether a plan would work on the files of the repository.
    pub repository: bool,
    /// Most files of the repository that one plan is compared with.
    pub most_looks: usize,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self {
            files: vec!["*.plan.md".to_owned()],
            repository: true,
            most_looks: 50,
        }
    }
}

/// How agents are used; the configuration file documents each under `[agent]`.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// Limits of one turn; its cost limit is what the run has left of `run_cost`.
    pub limits: Limits,
    /// Most that one run may cost, all turns together; `None` for no limit.
    pub run_cost: Option<Micros>,
    /// What may be spent by actor, repository and day.
    pub budget: Budget,
    /// Agents may ask people.
    pub ask: bool,
    /// Most rounds of questions in one run.
    pub rounds: u32,
    /// After this long without an answer people are reminded once; zero for never.
    pub remind_after: Duration,
    /// After this long without an answer the plan is saved with its questions open.
    pub answer_within: Duration,
    /// Tries of one turn when the agent fails for a passing reason (overload, network).
    pub tries: u32,
    /// Most characters of a prompt.
    pub most_prompt: usize,
    /// The agent's instructions; the operator's own ones where there are any.
    pub prompts: Prompts,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            limits: Limits {
                deadline: Duration::from_mins(20),
                silence: Duration::from_mins(5),
                turns: 40,
                cost: None,
            },
            run_cost: Some(5_000_000),
            budget: Budget::default(),
            ask: true,
            rounds: 3,
            remind_after: Duration::from_hours(24),
            answer_within: Duration::from_hours(24 * 7),
            tries: 3,
            most_prompt: 600_000,
            prompts: Prompts::default(),
        }
    }
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
            erk: ErkSettings::default(),
            next_steps: NextSteps::default(),
            web: "https://github.com".to_owned(),
            most_log: 50 * 1024 * 1024,
            labels: Vec::new(),
            check: CheckSettings::default(),
            agent: AgentSettings::default(),
            research: ResearchSettings::default(),
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
