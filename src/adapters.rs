//! Adapters to the outside world: the webhook receiver, GitHub, the database, coding agents and
//! working copies.

pub mod agent;
pub mod checkouts;
pub mod claude_home;
pub mod clock;
pub mod github;
pub mod http;
pub mod metrics;
pub mod own_process;
pub mod project_folder;
pub mod redact;
mod resolver;
pub mod signature;
pub mod store;
pub mod telemetry;
mod text;
pub mod web;
pub mod webhook;
pub mod working_copy;
