//! Settings of the engine, which the operator can configure. The sections of the configuration that
//! only the program uses are declared in `config`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::engine::model::agent::{Limits, Micros};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::store::{AnswerLimits, Budget, ClaimLimits};
use crate::formats::block::PlanForm;
use crate::formats::command::{Command, REGISTRY};
use crate::formats::erk::Version;
use crate::setting::Rule::{
    Boolean, Dollars, ErkVersion, FileNames, HostNames, Integer, Line, NextSteps as Steps, OneOf,
    OptionalPath,
};
use crate::setting::{
    Section, Setting, dollars, hours, limit, list, megabytes, minutes, optional, seconds, settings,
};

pub mod hosts;
mod intake;
mod repository;
mod resources;

pub use self::intake::{LateSettings, ScanSettings, SweepSettings};
pub use self::repository::{Instructions, RepositorySettings};
pub use self::resources::ResourceLimits;

/// The settings of the engine. Each field is a section of the configuration file unless it says
/// otherwise.
#[derive(Debug, Clone, Deserialize)]
pub struct Settings {
    /// Execution and retries of runs.
    pub worker: WorkerSettings,
    /// Reading of GitHub's delivery log.
    pub sweep: SweepSettings,
    /// Search for commands without a delivery.
    pub scan: ScanSettings,
    /// Commands that are found late.
    pub late: LateSettings,
    /// The labels that start a command.
    #[serde(deserialize_with = "labels")]
    pub labels: Vec<(Command, String)>,
    /// Checks of action plans.
    pub check: CheckSettings,
    /// The choice of the plan of a conversation.
    pub extract: ExtractSettings,
    /// The limits for people without triage permission.
    pub outsiders: OutsiderSettings,
    /// Research.
    pub research: ResearchSettings,
    /// Session logs.
    pub source: SourceSettings,
    /// The form of saved plans.
    pub publish: PublishSettings,
    /// The version of erk that plans are written for.
    pub erk: ErkSettings,
    /// The report on a saved plan.
    pub report: ReportSettings,
    /// Agents.
    pub agent: AgentSettings,
    /// The root URL of GitHub's website, where attachments are stored: `https://github.com`. It is
    /// derived from the URL of the API.
    #[serde(skip)]
    pub web: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            worker: WorkerSettings::default(),
            sweep: SweepSettings::default(),
            scan: ScanSettings::default(),
            late: LateSettings::default(),
            labels: default_labels()
                .map(|(command, label)| (command, label.to_owned()))
                .collect(),
            check: CheckSettings::default(),
            extract: ExtractSettings::default(),
            outsiders: OutsiderSettings::default(),
            research: ResearchSettings::default(),
            source: SourceSettings::default(),
            publish: PublishSettings::default(),
            erk: ErkSettings::default(),
            report: ReportSettings::default(),
            agent: AgentSettings::default(),
            web: "https://github.com".to_owned(),
        }
    }
}

settings! {
    /// How runs are executed and retried.
    pub struct WorkerSettings in "worker" {
        /// Maximum number of runs that are executed at the same time.
        concurrency: usize = 8, Integer(1, 256, "runs");
        /// Maximum number of runs of one installation that are executed at the same time, by all
        /// processes that share the database; 0 for no limit.
        per_installation: Option<u64> as "limit" = 0, Integer(0, 10_000, "runs");
        /// Maximum number of runs of one repository that are executed at the same time; 0 for no
        /// limit.
        per_repository: Option<u64> as "limit" = 0, Integer(0, 10_000, "runs");
        /// Duration of the lease on a run, in seconds. It is renewed at a third of it; a run whose
        /// lease has expired is executed again.
        lease("lease_seconds"): Duration as "seconds" = 30, Integer(5, 3_600, "seconds");
        /// Maximum number of attempts of a run that end without a result. After that, the run is
        /// assumed to crash the process and fails.
        max_attempts: u32 = 5, Integer(1, 100, "attempts");
        /// Delay after the first temporary fault of GitHub or the agent, in seconds. It doubles
        /// with each fault.
        backoff("backoff_seconds"): Duration as "seconds" = 5, Integer(1, 3_600, "seconds");
        /// Maximum delay between two attempts, in seconds.
        max_backoff("max_backoff_seconds"): Duration as "seconds" = 300, Integer(1, 86_400, "seconds");
        /// Duration of continuous temporary faults after which a run fails, in hours.
        give_up_after("give_up_after_hours"): Duration as "hours" = 6, Integer(1, 168, "hours");
        /// Delay before looking for the result of a write whose outcome is unknown, in seconds,
        /// because GitHub may still be processing it; GitHub terminates requests after 10 seconds.
        /// A result that is not found is looked for once more after six times this delay, because
        /// GitHub's lists lag behind its writes, and only then is the write sent again. A 404 or
        /// 422 for something created less than ten times this delay ago is retried.
        adopt_delay("settle_seconds"): Duration as "seconds" = 12, Integer(0, 600, "seconds");
    }
}

impl WorkerSettings {
    /// Returns how many runs are executed at the same time.
    pub fn limits(&self) -> ClaimLimits {
        ClaimLimits {
            installation: self.per_installation,
            repository: self.per_repository,
        }
    }

    /// Returns the delays after temporary faults.
    pub fn delays(&self) -> Backoff {
        Backoff {
            first: self.backoff,
            max: self.max_backoff,
        }
    }

    /// Returns the sum of the delays after the first `faults` faults.
    pub fn waited_after(&self, faults: u32) -> Duration {
        let delays = self.delays();
        // The factor is capped, so all delays from the eighteenth on are equal.
        let single = faults.min(17);
        let sum: Duration = (1..=single).map(|fault| delays.after(fault)).sum();
        let longest = delays.after(u32::MAX);
        sum.saturating_add(longest.saturating_mul(faults - single))
    }
}

/// Delays that double with each fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// First delay.
    pub first: Duration,
    /// Maximum delay.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        WorkerSettings::default().delays()
    }
}

impl Backoff {
    /// Returns the delay after the `fault`th consecutive fault, counted from 1.
    pub fn after(self, fault: u32) -> Duration {
        let factor = 2_u32.saturating_pow(fault.saturating_sub(1).min(16));
        self.first.saturating_mul(factor).min(self.max)
    }
}

impl Settings {
    /// Returns `until` if a wait that ends then is still in progress at `now`. A wait that ends
    /// later than `longest` from now was set before the clock was moved back, and is treated as
    /// over.
    pub fn still_waits(until: Millis, now: Millis, longest: Duration) -> Option<Millis> {
        (now < until && until <= now.plus(longest)).then_some(until)
    }

    /// Returns the description of the `[labels]` section: one setting for each command with a
    /// label.
    pub fn labels_section() -> Section {
        let setting = |(command, label): (Command, &str)| Setting {
            key: label_key(command).into(),
            default: format!("{label:?}").into(),
            // 50 characters is GitHub's limit for label names.
            rule: Line(50),
            doc: format!("Label that acts as `/{}`; empty for none.", command.name()).into(),
        };
        Section {
            name: "labels",
            doc: "Labels that act as commands when they are added. The label for `/check-plan` stays on a \
                  pull request, and new commits are checked too."
                .into(),
            settings: default_labels().map(setting).collect(),
        }
    }
}

/// Returns the commands with a label and the label's default name.
fn default_labels() -> impl Iterator<Item = (Command, &'static str)> {
    REGISTRY
        .iter()
        .filter_map(|spec| Some((spec.command, spec.label?)))
}

/// Returns the key of a command's label in `[labels]`.
fn label_key(command: Command) -> String {
    command.name().replace('-', "_")
}

/// Parses the `[labels]` section, in the order of the registry. Commands whose label is the empty
/// string have none.
fn labels<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<(Command, String)>, D::Error> {
    let mut names = BTreeMap::<String, String>::deserialize(value)?;
    let commands = default_labels().map(|(command, _)| command);
    let labels = commands.filter_map(|command| Some((command, names.remove(&label_key(command))?)));
    Ok(labels.filter(|(_, name)| !name.is_empty()).collect())
}

settings! {
    /// How action plans are checked.
    pub struct CheckSettings in "check" {
        /// Comma-separated names of the files of a pull request that are checked as plans: exact
        /// names, or `*` followed by the end of the name.
        files: Vec<String> as "list" = "*.plan.md", FileNames;
        /// Whether plans are checked against the files of the repository.
        repository: bool = true, Boolean;
        /// Maximum number of repository files that one plan is checked against.
        max_compared_files: usize = 50, Integer(1, 1_000, "files");
        /// Maximum number of requests for files in one run. GitHub allows an installation 5,000
        /// requests per hour. Files beyond the limit are not checked, and the report says so.
        max_requests: usize = 1_000, Integer(10, 5_000, "requests");
    }
}

settings! {
    /// How the plan of a conversation is chosen.
    pub struct ExtractSettings in "extract" {
        /// What to do when it is unclear which plan is meant: `ask` people (if there is an agent,
        /// it decides first), save the `best` plan and say so in the report, or `refuse` to save
        /// one.
        when_unclear: WhenUnclear = "ask", OneOf(&["ask", "best", "refuse"]);
    }
}

/// The action when it is unclear which plan of a conversation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenUnclear {
    /// The agent decides, if there is one; otherwise people are asked.
    Ask,
    /// The most likely plan is saved, and the report says so.
    Best,
    /// Nothing is saved.
    Refuse,
}

settings! {
    /// Limits for people without triage permission. Up to these numbers, their commands and pushes
    /// are answered within the window, one at a time and after those of everybody else. A refusal
    /// is posted to a person once per window. Further commands are ignored and recorded.
    pub struct OutsiderSettings in "outsiders" {
        /// Maximum number of answers to one person in one installation.
        answers_per_person: u64 = 3, Integer(0, 1_000, "answers");
        /// Maximum number of answers on one issue or pull request.
        answers_per_issue: u64 = 5, Integer(0, 1_000, "answers");
        /// Maximum number of answers in one installation.
        answers_per_installation: u64 = 20, Integer(0, 10_000, "answers");
        /// Length of the window, in minutes.
        window("window_minutes"): Duration as "minutes" = 60, Integer(1, 1_440, "minutes");
        /// Maximum number of requests for files in a check of their commits.
        check_requests: usize = 100, Integer(10, 5_000, "requests");
    }
}

impl OutsiderSettings {
    /// Returns the limits on answers.
    pub fn answers(&self) -> AnswerLimits {
        AnswerLimits {
            person: self.answers_per_person,
            place: self.answers_per_issue,
            installation: self.answers_per_installation,
            window: self.window,
        }
    }
}

settings! {
    /// How topics are researched.
    pub struct ResearchSettings in "research" {
        /// Maximum number of agents that work for one command at the same time;
        /// `agent.concurrency` limits the number of all agents.
        concurrency: usize = 3, Integer(1, 16, "agents");
        /// Maximum number of topics of one command. Each topic gets a comment.
        max_topics: usize = 8, Integer(1, 20, "topics");
        /// Maximum number of tries of one topic, each with stricter instructions.
        tries: u32 = 3, Integer(1, 3, "tries");
        /// Number of temporary faults (overload, rate limit, silence) after which a topic is given
        /// up.
        faults: u32 = 4, Integer(1, 10, "faults");
        also {
            /// Delays after temporary faults, before jitter of up to 50 %. They are those of the
            /// worker.
            backoff: Backoff;
        }
    }
}

impl ResearchSettings {
    /// Returns the maximum that [`ResearchSettings::wait`] can return.
    pub fn longest_wait(&self) -> Duration {
        self.backoff.max.saturating_mul(3) / 2
    }

    /// Returns the delay of a topic after its `fault`th consecutive fault, counted from 1. `chance`
    /// is the random number between 0 and 1 that determines the jitter.
    pub fn wait(&self, fault: u32, chance: f64) -> Duration {
        // The jitter keeps topics that met the same overload from retrying at the same time.
        let chance = if chance.is_finite() {
            chance.clamp(0.0, 1.0)
        } else {
            0.0
        };
        Duration::from_secs_f64(self.backoff.after(fault).as_secs_f64() * (1.0 + chance / 2.0))
    }
}

settings! {
    /// Session logs that plans are read from.
    pub struct SourceSettings in "source" {
        /// Maximum size of a session log, in megabytes. GitHub's own limit is 100.
        max_log("max_log_mb"): u64 as "megabytes" = 50, Integer(1, 100, "megabytes");
        /// Timeout for reading one session log, in seconds.
        timeout("timeout_seconds"): Duration as "seconds" = 120, Integer(1, 600, "seconds");
        /// Comma-separated host names, besides GitHub's own, that the download of an attached log
        /// may be redirected to: exact names, or `*.` followed by the end of the name. Hosts that
        /// match `*.` must have public addresses. GitHub Enterprise Server can store attachments
        /// and the archives of repositories on another host: name it here.
        redirect_hosts: Vec<String> as "list" =
            "*.githubusercontent.com, *.s3.amazonaws.com", HostNames;
    }
}

settings! {
    /// The form of saved plans.
    pub struct PublishSettings in "publish" {
        /// Text put before the title of every plan issue, e.g. `[erk-plan] `.
        title_prefix: String = "", Line(50);
        /// Maximum number of comments that one plan may be split into.
        max_parts: usize = 20, Integer(1, 100, "comments");
    }
}

settings! {
    /// The version of erk that plans are written for.
    pub struct ErkSettings in "erk" {
        /// The version of erk that your team uses; plans are written in a form that it can read.
        /// Before 2025-12, erk reads a plan between `erk:plan-content` markers only. Before
        /// 2026-01, it cannot update a header with `plan_comment_id`, so the header is written
        /// without it. The commands under "Next steps" depend on the version too. Every erk reads
        /// the forms of older versions.
        version: Version as "erk_version" = "latest", ErkVersion;
        /// Whether a plan is shown unfolded in its comment. This requires version 2026-02 or later,
        /// because erk before 15 January 2026 does not find such a plan.
        details_open: bool = false, Boolean;
    }
}

impl ErkSettings {
    /// Returns how a plan is framed in its comment.
    pub fn plan_form(&self) -> PlanForm {
        self.version.plan_form(self.details_open)
    }
}

/// Parses the name of an erk version.
fn erk_version<'de, D: Deserializer<'de>>(value: D) -> Result<Version, D::Error> {
    let name = String::deserialize(value)?;
    Version::from_name(&name).ok_or_else(|| serde::de::Error::custom("not a version of erk"))
}

settings! {
    /// The report on a saved plan.
    pub struct ReportSettings in "report" {
        /// The "Next steps" below a saved plan: `erk` for the commands of `erk.version`, `none`, or
        /// your own Markdown, which is posted unchanged except that `{number}`, `{repo}`
        /// (OWNER/NAME) and `{url}` are replaced by those of the plan issue, e.g.
        /// `our-tool run {repo}#{number}`.
        next_steps: NextSteps = "erk", Steps;
    }
}

/// The next steps listed below a saved plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum NextSteps {
    /// The commands of the configured version of erk.
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
}

impl From<String> for NextSteps {
    fn from(text: String) -> Self {
        match text.as_str() {
            "erk" => Self::Erk,
            "none" => Self::None,
            _ => Self::Template(text),
        }
    }
}

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
        /// Hours without an answer until the plan is saved with its questions open.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::*;
    use crate::engine::model::research::WORDINGS;

    #[test]
    fn what_was_waited_is_the_sum_of_the_single_waits() {
        let settings = WorkerSettings::default();
        let mut sum = Duration::ZERO;
        for faults in 0..200 {
            assert_eq!(settings.waited_after(faults), sum, "{faults}");
            sum += settings.delays().after(faults + 1);
        }
        let longest = WorkerSettings {
            backoff: Duration::from_hours(1),
            max_backoff: Duration::from_hours(24),
            ..settings
        };
        assert!(longest.waited_after(u32::MAX) > Duration::from_hours(24));
    }

    #[test]
    fn every_try_of_a_topic_has_instructions_of_its_own() {
        let tries = ResearchSettings::SECTION.settings.iter();
        let mut tries = tries.filter(|setting| setting.key == "tries");
        let Some(Integer(1, most, _)) = tries.next().map(|setting| setting.rule) else {
            panic!("the tries of a topic have a maximum");
        };
        assert_eq!(most, i64::from(WORDINGS));
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
