//! Settings of the engine, which the operator can configure.

use crate::engine::model::research::WORDINGS;
use crate::engine::model::trigger::Repo;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::store::{AnswerLimits, Budget};
use crate::engine::model::agent::{Limits, Micros};
use crate::engine::model::time::Millis;
use crate::formats::block::PlanForm;
use crate::formats::command::Command;
use crate::formats::erk::Version;

/// The settings of the engine. The configuration file documents each under `[worker]`, `[publish]`,
/// `[erk]` and `[report]`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Number of runs that are executed concurrently.
    pub concurrency: usize,
    /// Duration of a lease without a heartbeat. Heartbeats are sent at a third of it.
    pub lease: Duration,
    /// Maximum number of claims of one run in one round. After that, the run is assumed to crash
    /// the process and fails.
    pub max_attempts: u32,
    /// First delay after a temporary fault of GitHub or the agent; doubles with each fault, up to
    /// `max_backoff`.
    pub backoff: Duration,
    /// Maximum delay between tries.
    pub max_backoff: Duration,
    /// Duration of continuous faults after which the run fails with `github_unavailable`.
    pub give_up_after: Duration,
    /// Time to wait before looking for the result of a write of unknown outcome (see
    /// [`ADOPT_DELAY`]).
    pub adopt_delay: Duration,
    /// A prefix for the title of every plan issue, e.g. `[erk-plan] `; empty for none.
    pub title_prefix: String,
    /// Maximum number of comments that a plan may be split into.
    pub max_parts: usize,
    /// The version of erk that plans are written for.
    pub erk: ErkSettings,
    /// The next steps listed below a saved plan.
    pub next_steps: NextSteps,
    /// The root URL of GitHub's website, where attachments are stored: `https://github.com`.
    pub web: String,
    /// Maximum size of a session log, in bytes.
    pub max_log: u64,
    /// The labels that start a command.
    pub labels: Vec<(Command, String)>,
    /// The action when it is unclear which plan is meant.
    pub when_unclear: WhenUnclear,
    /// The settings for checking action plans.
    pub check: CheckSettings,
    /// The limits for people without triage permission.
    pub outsiders: OutsiderSettings,
    /// The settings for agents.
    pub agent: AgentSettings,
    /// The settings for research.
    pub research: ResearchSettings,
}

/// The version of erk that plans are written for. The configuration file documents each setting
/// under `[erk]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErkSettings {
    /// The version that the team uses.
    pub version: Version,
    /// Whether plans are shown unfolded, if the version of erk can read that.
    pub details_open: bool,
}

impl ErkSettings {
    /// Returns how a plan is framed in its comment.
    pub fn plan_form(self) -> PlanForm {
        self.version.plan_form(self.details_open)
    }
}

/// The next steps listed below a saved plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NextSteps {
    /// The commands of the configured version of erk.
    #[default]
    Erk,
    /// No next steps.
    None,
    /// Markdown written by the operator, in which [`NextSteps::PLACEHOLDERS`] are replaced.
    Template(String),
}

impl NextSteps {
    /// The placeholders of a template: number of the plan issue, `OWNER/NAME` of its repository,
    /// and its URL.
    pub const PLACEHOLDERS: [&str; 3] = ["{number}", "{repo}", "{url}"];

    /// Parses the setting `report.next_steps`.
    pub fn of(text: &str) -> Self {
        match text {
            "erk" => Self::Erk,
            "none" => Self::None,
            _ => Self::Template(text.to_owned()),
        }
    }
}

/// The settings for checking action plans. The configuration file documents each under `[check]`.
#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// The names of plan files: exact names, or `*` followed by the end of the name.
    pub files: Vec<String>,
    /// Whether plans are checked against the files of the repository.
    pub repository: bool,
    /// Maximum number of repository files that one plan is checked against.
    pub max_compared_files: usize,
    /// Maximum number of file requests in one run.
    pub max_requests: usize,
}

/// The limits for people without triage permission. The configuration file documents each under
/// `[outsiders]`.
#[derive(Debug, Clone)]
pub struct OutsiderSettings {
    /// The number of their commands and pushes that are answered.
    pub answers: AnswerLimits,
    /// Maximum number of file requests for a check of their commits.
    pub check_requests: usize,
}

impl Default for OutsiderSettings {
    fn default() -> Self {
        Self {
            answers: AnswerLimits::default(),
            check_requests: 100,
        }
    }
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self {
            files: vec!["*.plan.md".to_owned()],
            repository: true,
            max_compared_files: 50,
            max_requests: 1_000,
        }
    }
}

/// The settings for agents. The configuration file documents each under `[agent]`.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// The limits of one turn. The cost limit is set for each turn, to what remains of `run_cost`
    /// or a share of it.
    pub limits: Limits,
    /// Maximum cost of all turns of one run; `None` for no limit.
    pub run_cost: Option<Micros>,
    /// The budgets for each actor, each repository and all repositories.
    pub budget: Budget,
    /// Whether agents may ask questions.
    pub ask: bool,
    /// Maximum number of rounds of questions in one run.
    pub rounds: u32,
    /// Time without an answer after which one reminder is posted; zero for no reminder.
    pub remind_after: Duration,
    /// Time without an answer after which the plan is saved with its questions open.
    pub answer_within: Duration,
    /// Number of tries of one turn when the agent fails for a temporary reason (overload, network).
    pub tries: u32,
    /// Maximum length of a prompt, in characters.
    pub max_prompt: usize,
    /// The agents' instructions.
    pub prompts: Prompts,
}

/// The action when it is unclear which plan of a conversation is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenUnclear {
    /// The agent decides, if there is one; otherwise people are asked.
    #[default]
    Ask,
    /// The most likely plan is saved, and the report says so.
    Best,
    /// Nothing is saved.
    Refuse,
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
            max_prompt: 600_000,
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
            max_backoff: Duration::from_mins(5),
            give_up_after: Duration::from_hours(6),
            adopt_delay: ADOPT_DELAY,
            title_prefix: String::new(),
            max_parts: 20,
            erk: ErkSettings::default(),
            next_steps: NextSteps::default(),
            web: "https://github.com".to_owned(),
            max_log: 50 * 1024 * 1024,
            labels: Vec::new(),
            check: CheckSettings::default(),
            when_unclear: WhenUnclear::default(),
            outsiders: OutsiderSettings::default(),
            agent: AgentSettings::default(),
            research: ResearchSettings::default(),
        }
    }
}

impl Settings {
    /// Returns the delay after the `fault`th fault, counted from 1. It doubles with each fault, up
    /// to `max_backoff`.
    pub fn backoff_after(&self, fault: u32) -> Duration {
        backoff_after(fault, self.backoff, self.max_backoff)
    }

    /// Returns the sum of the delays after the first `faults` faults.
    pub fn waited_after(&self, faults: u32) -> Duration {
        // The factor is capped, so all delays from the eighteenth on are equal.
        let single = faults.min(17);
        let sum: Duration = (1..=single).map(|fault| self.backoff_after(fault)).sum();
        let longest = self.backoff_after(u32::MAX);
        sum.saturating_add(longest.saturating_mul(faults - single))
    }

    /// Returns `until` if a wait that ends then is still in progress at `now`. A wait that ends
    /// later than `longest` from now was set before the clock was moved back, and is treated as
    /// over.
    pub fn still_waits(until: Millis, now: Millis, longest: Duration) -> Option<Millis> {
        (now < until && until <= now.plus(longest)).then_some(until)
    }
}

/// Returns the delay after the `fault`th fault, counted from 1: `first`, doubled with each fault up
/// to `longest`.
fn backoff_after(fault: u32, first: Duration, longest: Duration) -> Duration {
    let factor = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
    first.saturating_mul(factor).min(longest)
}

/// Time to wait before looking for the result of a write of unknown outcome: GitHub may still be
/// processing the request, or its lists may lag. GitHub terminates requests after 10 s
/// (<https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api>).
pub const ADOPT_DELAY: Duration = Duration::from_secs(12);

/// The settings for research. The configuration file documents each under `[research]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResearchSettings {
    /// Maximum number of concurrent agents in one run.
    pub concurrency: usize,
    /// Maximum number of topics in one run.
    pub max_topics: usize,
    /// Number of tries for one topic, each with stricter instructions; at most [`WORDINGS`].
    pub tries: u32,
    /// Number of temporary faults (overload, rate limit) of one topic after which it is given up.
    pub faults: u32,
    /// First delay after a temporary fault; exponential backoff with up to 50 % jitter.
    pub backoff: Duration,
    /// Maximum delay before jitter.
    pub max_backoff: Duration,
}

impl Default for ResearchSettings {
    fn default() -> Self {
        Self {
            concurrency: 3,
            max_topics: 8,
            tries: WORDINGS,
            faults: 4,
            backoff: Duration::from_secs(5),
            max_backoff: Duration::from_mins(5),
        }
    }
}

impl ResearchSettings {
    /// Returns the maximum that [`ResearchSettings::wait`] can return.
    pub fn longest_wait(&self) -> std::time::Duration {
        self.max_backoff.saturating_mul(3) / 2
    }

    /// Returns the delay of a topic after its `fault`th consecutive fault, counted from 1. `chance`
    /// is the random number between 0 and 1 that determines the jitter.
    pub fn wait(&self, fault: u32, chance: f64) -> std::time::Duration {
        let wait = backoff_after(fault, self.backoff, self.max_backoff);
        // The jitter keeps topics that met the same overload from retrying at the same time.
        let chance = if chance.is_finite() {
            chance.clamp(0.0, 1.0)
        } else {
            0.0
        };
        std::time::Duration::from_secs_f64(wait.as_secs_f64() * (1.0 + chance / 2.0))
    }
}

/// The agents' instructions: the compiled-in ones, or those of the operator that replace them.
#[derive(Debug, Clone, Default)]
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

const PLAN_EXTRACTOR: &str = include_str!("prompts/plan-extractor.md");

const PLANNER: &str = include_str!("prompts/planner.md");

const RESEARCHER: &str = include_str!("prompts/researcher.md");

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_is_the_sum_of_the_single_waits() {
        let settings = Settings::default();
        let mut sum = Duration::ZERO;
        for faults in 0..200 {
            assert_eq!(settings.waited_after(faults), sum, "{faults}");
            sum += settings.backoff_after(faults + 1);
        }
        let longest = Settings {
            backoff: Duration::from_hours(1),
            max_backoff: Duration::from_hours(24),
            ..settings
        };
        assert!(longest.waited_after(u32::MAX) > Duration::from_hours(24));
    }

    #[test]
    fn a_wait_that_a_clock_put_back_has_made_too_long_is_over() {
        let hour = Duration::from_hours(1);
        let now = Millis(1_780_000_000_000);
        for (until, waits) in [
            (now.plus(hour), true),
            (now.plus(Duration::from_millis(1)), true),
            (now, false),
            (now.minus(hour), false),
            (now.plus(hour).plus(Duration::from_millis(1)), false),
            (now.plus(Duration::from_hours(24)), false),
        ] {
            let end = waits.then_some(until);
            assert_eq!(Settings::still_waits(until, now, hour), end, "{until:?}");
        }
    }
}
