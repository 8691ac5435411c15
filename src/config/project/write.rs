//! Writes settings as a file: the documented defaults with the values replaced.

use std::time::Duration;

use toml::Value;

use super::{AgentKind, DEFAULT, ProjectConfig, Text};
use crate::engine::model::agent::Micros;
use crate::engine::settings::OutputFormat;

/// Returns the text of a `config.toml` with all keys and their documentation. Variables are written
/// as `${NAME}`.
pub fn render(config: &ProjectConfig) -> String {
    let values = config.values();
    let mut section = "";
    let mut text = String::new();
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        }
        let key = line.split_once(" = ").filter(|_| !line.starts_with('#'));
        let value = key.and_then(|(key, _)| {
            let full = format!("{section}.{key}");
            let (_, value) = values.iter().find(|(name, _)| *name == full)?;
            Some(format!("{key} = {value}"))
        });
        text.push_str(value.as_deref().unwrap_or(line));
        text.push('\n');
    }
    text
}

impl ProjectConfig {
    /// Returns every key with its value as written, in the order of the file.
    pub(super) fn values(&self) -> Vec<(&'static str, Value)> {
        let (agent, models, limits, output) =
            (&self.agent, &self.models, &self.limits, &self.output);
        let kind = match agent.kind {
            AgentKind::Claude => "claude",
            AgentKind::Command => "command",
        };
        let prints = match agent.output {
            OutputFormat::Markdown => "markdown",
            OutputFormat::StreamJson => "stream-json",
        };
        vec![
            ("agent.command", one(&agent.command)),
            ("agent.kind", kind.into()),
            ("agent.args", list(&agent.args)),
            ("agent.tools", list(&agent.tools)),
            ("agent.environment", list(&agent.environment)),
            ("agent.output", prints.into()),
            ("models.default", one(&models.default)),
            ("models.simple", one(&models.simple)),
            ("models.medium", one(&models.medium)),
            ("models.complex", one(&models.complex)),
            ("models.thresholds.simple", models.thresholds.simple.into()),
            ("models.thresholds.medium", models.thresholds.medium.into()),
            ("limits.deadline_seconds", seconds(limits.deadline)),
            ("limits.silence_seconds", seconds(limits.silence)),
            ("limits.max_turns", limits.max_turns.into()),
            ("limits.max_cost_usd", dollars(limits.max_cost)),
            ("limits.question_rounds", limits.question_rounds.into()),
            ("limits.concurrency", whole(limits.concurrency)),
            ("limits.tries", limits.tries.into()),
            ("output.plans", one(&output.plans)),
            ("output.specs", one(&output.specs)),
            ("output.knowledge", list(&output.knowledge)),
        ]
    }
}

fn one(text: &Text) -> Value {
    text.written().into()
}

fn list(texts: &[Text]) -> Value {
    Value::Array(texts.iter().map(one).collect())
}

fn seconds(time: Duration) -> Value {
    Value::Integer(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

fn whole(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Converts millionths to US dollars; `None` becomes 0.
fn dollars(most: Option<Micros>) -> Value {
    let micros = most.unwrap_or_default();
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    Value::Float(text.parse().unwrap_or_default())
}
