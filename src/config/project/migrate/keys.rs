//! All keys that Spektacular ever had, with their types and what the migration does with them.

use serde_json::Value;

use super::wrong;
use crate::config::project::ProjectError;

/// Reasons that several keys share.
const NO_KEYS: &str = "keys do not belong in a project's files; the agent's program uses its own login, or \
                       a variable listed in agent.environment";
const NEVER_USED: &str = "it never had any effect";
const OWN_LOGS: &str = "planwright writes no logs to the project";
const NO_SUCH_PROJECT: &str = "it only concerns the other program";
pub(super) const NO_SKILL: &str = "planwright writes a plan only on request";
pub(super) const ONE_PROJECT: &str =
    "a plan is written for one repository, the one it is requested in";
const FILES: &str = "specifications, plans and knowledge are always files here";

/// A key of the old settings.
pub(super) struct Key {
    /// Full name with dots, such as `agent.args`.
    pub(super) name: &'static str,
    is: Type,
    pub(super) fate: Fate,
}

/// What the migration does with a key.
pub(super) enum Fate {
    /// It is carried over, or handled by its own code.
    Taken,
    /// It is not carried over, for this reason.
    Left(&'static str),
}

enum Type {
    Text,
    Texts,
    Number,
    Flag,
    Mapping,
    List,
}

use Fate::{Left, Taken};
use Type::{Flag, List, Mapping, Number, Text, Texts};

const fn key(name: &'static str, is: Type, fate: Fate) -> Key {
    Key { name, is, fate }
}

pub(super) const KEYS: &[Key] = &[
    key("api.anthropic_api_key", Text, Left(NO_KEYS)),
    key(
        "api.timeout",
        Number,
        Left("it never had any effect; see limits.deadline_seconds"),
    ),
    key("models.default", Text, Taken),
    key("models.tiers.simple", Text, Taken),
    key("models.tiers.medium", Text, Taken),
    key("models.tiers.complex", Text, Taken),
    key("complexity.thresholds.simple", Number, Taken),
    key("complexity.thresholds.medium", Number, Taken),
    key(
        "complexity.thresholds.complex",
        Number,
        Left("it never had any effect: everything above the medium threshold is complex"),
    ),
    key("output.format", Text, Left(NEVER_USED)),
    key("output.include_metadata", Flag, Left(NEVER_USED)),
    key("agent.command", Text, Taken),
    key("agent.args", Texts, Taken),
    key("agent.allowed_tools", Texts, Taken),
    key(
        "agent.disallowed_tools",
        Texts,
        Left("only the tools in agent.tools are allowed, and AskUserQuestion never is"),
    ),
    key(
        "agent.dangerously_skip_permissions",
        Flag,
        Left("agents never bypass permissions here"),
    ),
    key("debug.enabled", Flag, Left(OWN_LOGS)),
    key("debug.log_dir", Text, Left(OWN_LOGS)),
    key("name", Text, Left(NO_SUCH_PROJECT)),
    key("source", Text, Left(NO_SUCH_PROJECT)),
    key("command", Text, Left(NO_SUCH_PROJECT)),
    key("spec_trigger_threshold", Text, Taken),
    key("spec.provider", Text, Left(FILES)),
    key(
        "spec.id_method",
        Text,
        Left(
            "it is chosen for each specification: `planwright new --id timestamp`, `counter` or `none`",
        ),
    ),
    key("spec.config.directory", Text, Taken),
    key("plan.provider", Text, Left(FILES)),
    key("plan.config.directory", Text, Taken),
    key("changelog", Mapping, Left("planwright writes no changelog")),
    key("knowledge.sources", List, Taken),
    key("repos", List, Taken),
];

impl Key {
    /// Checks that the value has the type of the key.
    pub(super) fn check(&self, value: &Value) -> Result<(), ProjectError> {
        let (fits, expected) = match self.is {
            Text => (value.is_string(), "text"),
            Texts => {
                let texts = value
                    .as_array()
                    .is_some_and(|items| items.iter().all(Value::is_string));
                (texts, "a list of strings")
            }
            Number => (value.is_number(), "a number"),
            Flag => (value.is_boolean(), "true or false"),
            Mapping => (value.is_object(), "a mapping"),
            List => (value.is_array(), "a list"),
        };
        if fits {
            Ok(())
        } else {
            Err(wrong(self.name, expected, value))
        }
    }
}
