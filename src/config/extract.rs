//! The `[extract]` section: how the plan of a conversation is chosen.

use serde::Deserialize;

use crate::engine::settings::WhenUnclear;

/// The `[extract]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// What to do when it is not clear which plan is meant: `ask`, `best` or `refuse`.
    pub when_unclear: String,
}

impl Extract {
    pub(super) fn engine(&self) -> WhenUnclear {
        match self.when_unclear.as_str() {
            "best" => WhenUnclear::Best,
            "refuse" => WhenUnclear::Refuse,
            _ => WhenUnclear::Ask,
        }
    }
}
