//! The top floor towards the outside world: HTTP in, GitHub out, the database, coding agents, working copies, the
//! simulator.

pub mod agent;
pub mod claude_home;
pub mod clock;
pub mod github;
pub mod http;
pub mod own_process;
pub mod project_folder;
pub mod redact;
pub mod signature;
pub mod store;
pub mod telemetry;
pub mod web;
pub mod webhook;
pub mod working_copy;
