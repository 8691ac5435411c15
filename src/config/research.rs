//! The `[research]` section: how topics are researched.

use std::time::Duration;

use serde::Deserialize;

use crate::engine::settings::ResearchSettings;

/// The `[research]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Research {
    /// Maximum number of concurrent agents for one command.
    pub concurrency: usize,
    /// Maximum number of topics of one command.
    pub max_topics: usize,
    /// Maximum number of tries of one topic.
    pub tries: u32,
    /// Maximum number of transient faults of one topic.
    pub faults: u32,
}

impl Research {
    /// Returns the settings that the engine uses. The backoff is that of the worker.
    pub(super) fn engine(&self, backoff: Duration, max_backoff: Duration) -> ResearchSettings {
        ResearchSettings {
            concurrency: self.concurrency,
            max_topics: self.max_topics,
            tries: self.tries,
            faults: self.faults,
            backoff,
            max_backoff,
        }
    }
}
