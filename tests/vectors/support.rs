//! Test support that is shared with the integration tests.

#[path = "../it/support/clock.rs"]
pub(crate) mod clock;
#[path = "../it/support/fake_agent.rs"]
pub(crate) mod fake_agent;
#[path = "../it/support/research.rs"]
pub(crate) mod research;
#[cfg(unix)]
#[path = "../it/support/shop.rs"]
pub(crate) mod shop;
