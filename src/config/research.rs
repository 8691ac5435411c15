//! `[research]`: how topics are researched.

use std::time::Duration;

use serde::Deserialize;

use crate::engine::settings::ResearchSettings;

/// `[research]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Research {
    /// Agents at once for one command.
    pub concurrency: usize,
    /// Most topics of one command.
    pub most_topics: usize,
    /// Tries of one topic.
    pub tries: u32,
    /// Faults of one topic that may pass.
    pub faults: u32,
}

impl Research {
    /// With the waits of the worker.
    pub(super) fn engine(&self, backoff: Duration, backoff_most: Duration) -> ResearchSettings {
        ResearchSettings {
            concurrency: self.concurrency,
            most_topics: self.most_topics,
            tries: self.tries,
            faults: self.faults,
            backoff,
            backoff_most,
        }
    }
}
