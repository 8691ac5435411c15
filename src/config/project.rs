//! The settings of a project: `.planwright/config.toml`, or the older `.spektacular/config.yaml`.
//!
//! Both files may come from an untrusted cloned repository. Settings that start programs, pass on
//! environment variables or raise the cost limit therefore need the user's consent
//! ([`ProjectConfig::needs_trust`]), and folders outside of the project are errors.
//! `project.default.toml` documents every key; it is compiled in and written by `planwright init`.

mod error;
mod load;
mod migrate;
mod read;
mod rules;
#[cfg(test)]
mod tests;
mod text;
mod write;

use std::time::Duration;

use serde::Deserialize;

use crate::engine::model::agent::Micros;
use crate::engine::settings::OutputFormat;
use crate::setting::{dollars, seconds};

pub use error::ProjectError;
pub use load::{CONFIG, Loaded, OLD_CONFIG, Source, load, old_settings};
pub use migrate::{Migrated, NotCarried, migrate};
pub use text::Text;
pub use write::render;

/// The documented default settings.
pub const DEFAULT: &str = include_str!("project.default.toml");

/// Tools that can only read the project and write where the agent's sandbox permits.
const HARMLESS_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "Write", "TodoWrite"];

/// Default cost limit of a plan, in millionths of a US dollar.
const DEFAULT_COST: Micros = 5_000_000;

/// The settings of a project. `project.default.toml` documents each key and its allowed values.
/// `Debug` prints `${NAME}` as written, not the value of the variable.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    /// The `[agent]` section.
    pub agent: Agent,
    /// The `[models]` section.
    pub models: Models,
    /// The `[limits]` section.
    pub limits: Limits,
    /// The `[output]` section.
    pub output: Folders,
}

/// The `[agent]` section: the agent's program and its permissions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Path or name of the program.
    pub command: Text,
    /// The kind of agent.
    pub kind: AgentKind,
    /// Arguments, for [`AgentKind::Command`].
    pub args: Vec<Text>,
    /// Tools that the agent may use, for [`AgentKind::Claude`]; never empty.
    pub tools: Vec<Text>,
    /// Names of the environment variables that are passed to the agent.
    pub environment: Vec<Text>,
    /// Output format of the program, for [`AgentKind::Command`].
    pub output: OutputFormat,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            command: "claude".into(),
            kind: AgentKind::Claude,
            args: Vec::new(),
            tools: ["Read", "Grep", "Glob", "Write"].map(Text::from).into(),
            environment: Vec::new(),
            output: OutputFormat::Markdown,
        }
    }
}

/// The kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Claude Code.
    Claude,
    /// Any program that takes a prompt and prints a plan.
    Command,
}

/// The `[models]` section. An empty name selects no model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// Model for tiers without a model of their own.
    pub default: Text,
    /// Model for simple specifications.
    pub simple: Text,
    /// Model for specifications of medium complexity.
    pub medium: Text,
    /// Model for complex specifications.
    pub complex: Text,
    /// The `[models.thresholds]` section.
    pub thresholds: Thresholds,
}

/// The `[models.thresholds]` section: complexity scores from 0 to 1, `simple` not above `medium`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Scores below this are simple.
    pub simple: f64,
    /// Scores below this and not simple are medium.
    pub medium: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            simple: 0.3,
            medium: 0.6,
        }
    }
}

/// The complexity of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Below the first threshold.
    Simple,
    /// Below the second threshold.
    Medium,
    /// At or above the second threshold.
    Complex,
}

impl Tier {
    /// Returns the name of the tier in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Medium => "medium",
            Self::Complex => "complex",
        }
    }
}

impl Models {
    /// Returns the tier of a complexity score between 0 and 1.
    pub fn tier(&self, score: f64) -> Tier {
        if score < self.thresholds.simple {
            Tier::Simple
        } else if score < self.thresholds.medium {
            Tier::Medium
        } else {
            Tier::Complex
        }
    }

    /// Returns the model for a tier, falling back to the default model. `None` means that the
    /// client chooses.
    pub fn model(&self, tier: Tier) -> Option<&str> {
        let own = match tier {
            Tier::Simple => &self.simple,
            Tier::Medium => &self.medium,
            Tier::Complex => &self.complex,
        };
        [own, &self.default]
            .into_iter()
            .map(Text::as_str)
            .find(|model| !model.is_empty())
    }
}

/// The `[limits]` section: time, cost and number of agent turns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum duration of one agent turn.
    #[serde(rename = "deadline_seconds", deserialize_with = "seconds")]
    pub deadline: Duration,
    /// Maximum time without output.
    #[serde(rename = "silence_seconds", deserialize_with = "seconds")]
    pub silence: Duration,
    /// Maximum number of model responses in one agent turn.
    pub max_turns: u32,
    /// Maximum cost of one plan or report; `None` for no limit.
    #[serde(rename = "max_cost_usd", deserialize_with = "dollars")]
    pub max_cost: Option<Micros>,
    /// Maximum number of rounds of questions.
    pub question_rounds: u32,
    /// Maximum number of concurrent research agents.
    pub concurrency: usize,
    /// Maximum number of tries of one agent turn.
    pub tries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_mins(20),
            silence: Duration::from_mins(5),
            max_turns: 40,
            max_cost: Some(DEFAULT_COST),
            question_rounds: 3,
            concurrency: 3,
            tries: 3,
        }
    }
}

/// The `[output]` section: folders below the project's root. Symbolic links are not resolved when
/// these paths are checked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Folders {
    /// Folder for plans; each plan has its own subfolder.
    pub plans: Text,
    /// Folder for specifications.
    pub specs: Text,
    /// Folders with knowledge about the project, for agents.
    pub knowledge: Vec<Text>,
}

impl Default for Folders {
    fn default() -> Self {
        Self {
            plans: ".planwright/plans".into(),
            specs: ".planwright/specs".into(),
            knowledge: [".planwright/knowledge", ".spektacular/knowledge"]
                .map(Text::from)
                .into(),
        }
    }
}

impl ProjectConfig {
    /// Returns the keys whose values need the user's consent, in the order of the file: those that
    /// start another program, pass on environment variables, allow more tools, or raise the cost
    /// limit above its default. If the list is empty, the settings can be used without asking.
    pub fn needs_trust(&self) -> Vec<String> {
        let agent = &self.agent;
        let asks = |key: &str| match key {
            "agent.command" => agent.command.as_str() != "claude",
            "agent.kind" => agent.kind != AgentKind::Claude,
            "agent.args" => !agent.args.is_empty(),
            "agent.environment" => !agent.environment.is_empty(),
            "agent.tools" => agent
                .tools
                .iter()
                .any(|tool| !HARMLESS_TOOLS.contains(&tool.as_str())),
            "limits.max_cost_usd" => self.limits.max_cost.is_none_or(|most| most > DEFAULT_COST),
            _ => false,
        };
        let texts = self.texts();
        let expands = |key: &str| {
            let mut texts = texts.iter().filter(|(name, _)| *name == key);
            texts.any(|(_, texts)| texts.iter().any(Text::expands))
        };
        let keys = self.values().into_iter().map(|(key, _)| key);
        keys.filter(|key| asks(key) || expands(key))
            .map(ToOwned::to_owned)
            .collect()
    }

    /// Returns every key that holds text, with its texts.
    fn texts(&self) -> [(&'static str, &[Text]); 11] {
        let (agent, models, output) = (&self.agent, &self.models, &self.output);
        let one = std::slice::from_ref::<Text>;
        [
            ("agent.command", one(&agent.command)),
            ("agent.args", &agent.args),
            ("agent.tools", &agent.tools),
            ("agent.environment", &agent.environment),
            ("models.default", one(&models.default)),
            ("models.simple", one(&models.simple)),
            ("models.medium", one(&models.medium)),
            ("models.complex", one(&models.complex)),
            ("output.plans", one(&output.plans)),
            ("output.specs", one(&output.specs)),
            ("output.knowledge", &output.knowledge),
        ]
    }

    fn texts_mut(&mut self) -> [(&'static str, &mut [Text]); 11] {
        let (agent, models, output) = (&mut self.agent, &mut self.models, &mut self.output);
        let one = std::slice::from_mut::<Text>;
        [
            ("agent.command", one(&mut agent.command)),
            ("agent.args", &mut agent.args),
            ("agent.tools", &mut agent.tools),
            ("agent.environment", &mut agent.environment),
            ("models.default", one(&mut models.default)),
            ("models.simple", one(&mut models.simple)),
            ("models.medium", one(&mut models.medium)),
            ("models.complex", one(&mut models.complex)),
            ("output.plans", one(&mut output.plans)),
            ("output.specs", one(&mut output.specs)),
            ("output.knowledge", &mut output.knowledge),
        ]
    }
}
