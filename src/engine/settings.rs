//! Settings of the engine, which the operator can configure. The sections of the configuration that
//! only the program uses are declared in `config`.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::engine::model::time::Millis;
use crate::engine::store::AnswerLimits;
use crate::formats::block::PlanForm;
use crate::formats::command::Command;
use crate::formats::erk::Version;
use crate::setting::Rule::{
    Boolean, ErkVersion, FileNames, HostNames, Integer, Line, NextSteps as Steps, OneOf,
};
use crate::setting::{list, megabytes, minutes, seconds, settings};

mod agent;
pub mod hosts;
mod intake;
pub mod labels;
mod prompts;
mod repository;
mod resources;
mod worker;

pub use self::agent::{AgentSettings, NetworkMode, OutputFormat, SandboxMode};
pub use self::intake::{LateSettings, ScanSettings, SweepSettings};
pub use self::prompts::{OwnPrompts, Prompts, Role};
pub use self::repository::{Instructions, RepositorySettings};
pub use self::resources::ResourceLimits;
pub use self::worker::{Backoff, WorkerSettings};

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
    #[serde(deserialize_with = "labels::deserialize")]
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
            labels: labels::defaults()
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

impl Settings {
    /// Returns `until` if a wait that ends then is still in progress at `now`. A wait that ends
    /// later than `longest` from now was set before the clock was moved back, and is treated as
    /// over.
    pub fn still_waits(until: Millis, now: Millis, longest: Duration) -> Option<Millis> {
        (now < until && until <= now.plus(longest)).then_some(until)
    }
}

settings! {
    /// How action plans are checked.
    pub struct CheckSettings in "check" {
        /// Comma-separated names of the files of a pull request that are checked as plans: exact
        /// names, or `*` followed by the end of the name.
        files: Vec<String> as "list" = "*.plan.md", FileNames;
        /// Whether plans are checked against the files of the repository.
        repository: bool = true, Boolean;
        /// Maximum number of repository files that one plan is checked against. A plan that names
        /// more files and folders does not pass the check.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::*;
    use crate::engine::model::research::WORDINGS;

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
