//! The `[outsiders]` section: limits for people without triage permission.

use std::time::Duration;

use serde::Deserialize;

use crate::engine::settings::OutsiderSettings;
use crate::engine::store::AnswerLimits;

/// The `[outsiders]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outsiders {
    /// Maximum number of answers to one person in the window.
    pub answers_per_person: u64,
    /// Maximum number of answers on one issue or pull request in the window.
    pub answers_per_issue: u64,
    /// Maximum number of answers in one installation in the window.
    pub answers_per_installation: u64,
    /// Length of the window, in minutes.
    pub window_minutes: u64,
    /// Maximum number of file requests when checking the commits of such a person.
    pub check_requests: usize,
}

impl Outsiders {
    pub(super) fn engine(&self) -> OutsiderSettings {
        OutsiderSettings {
            answers: AnswerLimits {
                person: self.answers_per_person,
                place: self.answers_per_issue,
                installation: self.answers_per_installation,
                window: Duration::from_secs(self.window_minutes.saturating_mul(60)),
            },
            check_requests: self.check_requests,
        }
    }
}
