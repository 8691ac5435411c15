//! The slug of the App, which may become known only after the first deliveries.

use std::sync::{Arc, OnceLock};

/// The slug of the App. Clones share it.
///
/// Decisions made before it is known are safe: comments of the App name its id, and its account is
/// a bot that is not in `allowed_bots`.
#[derive(Debug, Clone, Default)]
pub struct AppSlug {
    configured: Option<String>,
    confirmed: Arc<OnceLock<String>>,
}

impl AppSlug {
    /// Creates a slug that is `configured` until GitHub confirms the App.
    pub fn new(configured: Option<String>) -> Self {
        Self {
            configured,
            confirmed: Arc::default(),
        }
    }

    /// Sets the slug that GitHub returned. Later calls change nothing.
    pub fn confirm(&self, slug: &str) {
        self.confirmed.get_or_init(|| slug.to_owned());
    }

    /// Returns GitHub's slug or, until it is known, the configured one.
    pub fn get(&self) -> Option<&str> {
        let confirmed = self.confirmed.get().or(self.configured.as_ref());
        confirmed.map(String::as_str)
    }
}
