//! A project's own settings: `.planwright/config.toml`, or what an older `.spektacular/config.yaml` says.
//!
//! They come with a cloned repository. So nothing in them may start a program, pass on a secret, or write outside the
//! project unless somebody said so: [`ProjectConfig::needs_trust`] names what asks for that, and folders that lead out
//! are errors. `project.default.toml` documents every key; it is compiled in and written by `planwright init`.

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

use super::agent::dollars;
use super::seconds;
use crate::engine::model::agent::Micros;
use crate::engine::settings::OutputFormat;

pub use error::ProjectError;
pub use load::{CONFIG, Loaded, OLD_CONFIG, Source, load, old_settings};
pub use migrate::{Migrated, NotCarried, migrate};
pub use text::Text;
pub use write::render;

/// The default settings with their documentation.
pub const DEFAULT: &str = include_str!("project.default.toml");

/// Tools that can read the project, and write what the agent's sandbox lets it write.
const HARMLESS_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "Write", "TodoWrite"];

/// What a plan may cost when nothing is set, in millionths of a US dollar.
const DEFAULT_COST: Micros = 5_000_000;

/// A project's settings. `project.default.toml` says what each means and which values it takes. `Debug` shows texts as
/// they were written, `${NAME}` and not what it stands for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    /// `[agent]`
    pub agent: Agent,
    /// `[models]`
    pub models: Models,
    /// `[limits]`
    pub limits: Limits,
    /// `[output]`
    pub output: Folders,
}

/// `[agent]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Path or name of the program.
    pub command: Text,
    /// Which kind of agent it is.
    pub kind: Kind,
    /// Arguments, for [`Kind::Command`].
    pub args: Vec<Text>,
    /// Tools that it may use, for [`Kind::Claude`]; never empty.
    pub tools: Vec<Text>,
    /// Names of variables that it gets.
    pub environment: Vec<Text>,
    /// What it prints, for [`Kind::Command`].
    pub output: OutputFormat,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            command: "claude".into(),
            kind: Kind::Claude,
            args: Vec::new(),
            tools: ["Read", "Grep", "Glob", "Write"].map(Text::from).into(),
            environment: Vec::new(),
            output: OutputFormat::Markdown,
        }
    }
}

/// Which kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Claude Code.
    Claude,
    /// Any program that takes a prompt and prints a plan.
    Command,
}

/// `[models]`; an empty text for no choice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// For every specification.
    pub default: Text,
    /// For simple ones.
    pub simple: Text,
    /// For those between.
    pub medium: Text,
    /// For complex ones.
    pub complex: Text,
    /// `[models.thresholds]`
    pub thresholds: Thresholds,
}

/// `[models.thresholds]`, each 0 to 1, in order.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Below it: simple.
    pub simple: f64,
    /// Below it: medium.
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

/// How complex a specification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Below the first threshold.
    Simple,
    /// Below the second.
    Medium,
    /// All others.
    Complex,
}

impl Tier {
    /// As in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Medium => "medium",
            Self::Complex => "complex",
        }
    }
}

impl Models {
    /// The tier of a complexity between 0 and 1.
    pub fn tier(&self, score: f64) -> Tier {
        if score < self.thresholds.simple {
            Tier::Simple
        } else if score < self.thresholds.medium {
            Tier::Medium
        } else {
            Tier::Complex
        }
    }

    /// The model for a tier: its own, else the default; `None` for the client's own choice.
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

/// `[limits]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest time of one turn.
    #[serde(rename = "deadline_seconds", deserialize_with = "seconds")]
    pub deadline: Duration,
    /// Longest time without output.
    #[serde(rename = "silence_seconds", deserialize_with = "seconds")]
    pub silence: Duration,
    /// Most model turns in one go.
    pub max_turns: u32,
    /// Most that one plan or report may cost; `None` for no limit.
    #[serde(rename = "max_cost_usd", deserialize_with = "dollars")]
    pub max_cost: Option<Micros>,
    /// Most rounds of questions.
    pub question_rounds: u32,
    /// Agents that research side by side.
    pub concurrency: usize,
    /// Tries of one turn.
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

/// `[output]`: folders below the project's, which they never leave (symbolic links aside).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Folders {
    /// Plans, one folder each.
    pub plans: Text,
    /// Specifications.
    pub specs: Text,
    /// What agents should know of the project.
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
    /// Keys that would let the project start programs, pass on what is in the environment, or spend more than by default,
    /// in the order of the file. Empty: the settings can be used without asking.
    pub fn needs_trust(&self) -> Vec<String> {
        let agent = &self.agent;
        let asks = |key: &str| match key {
            "agent.command" => agent.command.as_str() != "claude",
            "agent.kind" => agent.kind != Kind::Claude,
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

    /// Every text with its key.
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
