//! `[extract]`: how the plan of a conversation is chosen.

use serde::Deserialize;

use crate::engine::settings::WhenUnclear;

/// `[extract]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// What is done where it is not clear which plan is meant: `ask`, `best` or `refuse`.
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
