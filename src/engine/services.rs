//! The services that the engine depends on.

use std::sync::Arc;

use super::agent::Agent;
use super::checkout::Checkouts;
use super::clock::Clock;
use super::forge::Forge;
use super::settings::Settings;
use super::store::Store;

/// The external services and the settings that all runs share.
#[derive(Clone)]
pub struct Services {
    /// The durable store.
    pub store: Arc<dyn Store>,
    /// The GitHub client.
    pub forge: Arc<dyn Forge>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The operator's settings.
    pub settings: Arc<Settings>,
    /// The coding agent; `None` if none is configured.
    pub agent: Option<Arc<dyn Agent>>,
    /// The copies of repositories that agents read; `None` if they get none.
    pub checkouts: Option<Arc<dyn Checkouts>>,
    /// Whether the store begins empty in each process, so that GitHub is searched for what earlier
    /// ones wrote before anything is created.
    pub search_first: bool,
}
