//! What the operator can set about runs.

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
    /// What is done where it is not clear which plan is meant.
    pub when_unclear: WhenUnclear,
    /// How action plans are checked.
    pub check: CheckSettings,
    /// What people without triage permission get.
    pub outsiders: OutsiderSettings,
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
    /// Most requests for files that one run may cost.
    pub most_requests: usize,
}

/// What people without triage permission get; the configuration file documents each under
/// `[outsiders]`.
#[derive(Debug, Clone)]
pub struct OutsiderSettings {
    /// How many of their commands and pushes are answered.
    pub answers: AnswerLimits,
    /// Most requests for files that a check of their commits may cost.
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
            most_looks: 50,
            most_requests: 1_000,
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

/// What is done where it is not clear which plan of a conversation is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenUnclear {
    /// People are asked; an agent, where there is one, decides first.
    #[default]
    Ask,
    /// The likeliest one is taken, and the report says so.
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
            adopt_delay: ADOPT_DELAY,
            title_prefix: String::new(),
            most_parts: 20,
            erk: ErkSettings::default(),
            next_steps: NextSteps::default(),
            web: "https://github.com".to_owned(),
            most_log: 50 * 1024 * 1024,
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
    /// Wait before try number `fault` + 1 (faults count from 1): doubles, capped.
    pub fn backoff_after(&self, fault: u32) -> Duration {
        let factor = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
        self.backoff.saturating_mul(factor).min(self.backoff_most)
    }

    /// The waits after the first `faults` faults, all together.
    pub fn waited_after(&self, faults: u32) -> Duration {
        // From the eighteenth on all waits are the same.
        let single = faults.min(17);
        let sum: Duration = (1..=single).map(|fault| self.backoff_after(fault)).sum();
        let longest = self.backoff_after(u32::MAX);
        sum.saturating_add(longest.saturating_mul(faults - single))
    }

    /// The end of a wait that `now` lies in. A wait cannot end later than `longest` from now: what does was set by a clock
    /// that has been put back since.
    pub fn still_waits(until: Millis, now: Millis, longest: Duration) -> Option<Millis> {
        (now < until && until <= now.plus(longest)).then_some(until)
    }
}

/// After an unknown outcome GitHub may still be at work, or its lists may lag: how long to wait before looking.
/// GitHub itself ends a request after 10 s (<https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api>).
pub const ADOPT_DELAY: Duration = Duration::from_secs(12);

/// How research is done; the configuration file documents each under `[research]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResearchSettings {
    /// Agents at once for one run.
    pub concurrency: usize,
    /// Most topics of one run.
    pub most_topics: usize,
    /// Tries of one topic, each in stricter words; at most [`WORDINGS`].
    pub tries: u32,
    /// Faults of one topic that may pass (overload, rate limit), before it is given up.
    pub faults: u32,
    /// First wait after such a fault; doubles, with up to half as much again by chance.
    pub backoff: Duration,
    /// Longest such wait.
    pub backoff_most: Duration,
}

impl Default for ResearchSettings {
    fn default() -> Self {
        Self {
            concurrency: 3,
            most_topics: 8,
            tries: WORDINGS,
            faults: 4,
            backoff: Duration::from_secs(5),
            backoff_most: Duration::from_mins(5),
        }
    }
}

impl ResearchSettings {
    /// The longest that [`ResearchSettings::wait`] gives.
    pub fn longest_wait(&self) -> std::time::Duration {
        self.backoff_most.saturating_mul(3) / 2
    }

    /// How long a topic waits after its `fault`th fault in a row, counted from 1.
    pub fn wait(&self, fault: u32, chance: f64) -> std::time::Duration {
        let doubled = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
        let wait = self
            .backoff
            .saturating_mul(doubled)
            .min(self.backoff_most)
            .as_secs_f64();
        // Several topics that met the same overload do not come back together.
        let chance = if chance.is_finite() {
            chance.clamp(0.0, 1.0)
        } else {
            0.0
        };
        std::time::Duration::from_secs_f64(wait * (1.0 + chance / 2.0))
    }
}

/// The instructions; compiled in, and the operator's own ones in their place where there are any.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// Every repository, then single ones by `owner/name` in lower case.
    pub own: Arc<Vec<(Option<String>, OwnPrompts)>>,
}

/// What an agent is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Extracts and enriches the plan of a conversation.
    PlanExtractor,
    /// Writes the plan for a specification.
    Planner,
    /// Writes a report on a topic.
    Researcher,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::PlanExtractor, Self::Planner, Self::Researcher];

    /// Name of the file with its instructions.
    pub fn file(self) -> &'static str {
        match self {
            Self::PlanExtractor => "plan-extractor.md",
            Self::Planner => "planner.md",
            Self::Researcher => "researcher.md",
        }
    }

    /// The compiled-in instructions.
    pub fn instructions(self) -> &'static str {
        match self {
            Self::PlanExtractor => PLAN_EXTRACTOR,
            Self::Planner => PLANNER,
            Self::Researcher => RESEARCHER,
        }
    }
}

/// Instructions of the operator's own; a role without an entry keeps the compiled-in text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPrompts(pub Vec<(Role, String)>);

const PLAN_EXTRACTOR: &str = include_str!("prompts/plan-extractor.md");

const PLANNER: &str = include_str!("prompts/planner.md");

const RESEARCHER: &str = include_str!("prompts/researcher.md");

impl Prompts {
    /// The fixed instructions of `role` for `repo`: the operator's own for it, else those for every repository, else the
    /// compiled-in ones. The conversation never has a say in which.
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

/// How the standard output of an agent's program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// One JSON object per line, as printed by `claude --output-format stream-json`.
    StreamJson,
    /// The answer itself, as Markdown.
    Markdown,
}

/// Whether agents run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Use a sandbox where the system offers one.
    #[default]
    Auto,
    /// Require a sandbox: without one, no agent runs.
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
            backoff_most: Duration::from_hours(24),
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
