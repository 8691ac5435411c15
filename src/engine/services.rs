//! What the engine works with.

use std::sync::Arc;

use super::agent::Agent;
use super::clock::Clock;
use super::forge::Forge;
use super::settings::Settings;
use super::store::Store;

/// Everything that runs share: the outside world and the settings.
#[derive(Clone)]
pub struct Services {
    /// Durable memory.
    pub store: Arc<dyn Store>,
    /// GitHub.
    pub forge: Arc<dyn Forge>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The operator's settings.
    pub settings: Arc<Settings>,
    /// The coding agent, where one is configured.
    pub agent: Option<Arc<dyn Agent>>,
}
