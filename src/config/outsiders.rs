//! `[outsiders]`: what people without triage permission get.

use std::time::Duration;

use serde::Deserialize;

use crate::engine::settings::OutsiderSettings;
use crate::engine::store::AnswerLimits;

/// `[outsiders]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outsiders {
    /// Answers to one person in the window.
    pub answers_per_person: u64,
    /// Answers on one issue or pull request.
    pub answers_per_issue: u64,
    /// Answers in one installation.
    pub answers_per_installation: u64,
    /// The window, in minutes.
    pub window_minutes: u64,
    /// Most requests for files that a check of their commits may cost.
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
