//! The middle floor: decides and runs. Owns the traits through which the outside is reached:
//! [`store::Store`], [`forge::Forge`], [`agent::Agent`], [`checkout::Checkouts`] and
//! [`clock::Clock`].

pub mod agent;
pub mod agent_output;
pub mod app_manifest;
pub mod app_needs;
pub mod checkout;
pub mod clock;
pub mod commands;
pub mod decide;
pub mod effects;
pub mod execute;
pub mod extract;
pub mod forge;
pub mod grounding;
pub mod intake;
pub mod knowledge;
pub mod local_save;
pub mod messages;
pub mod metrics;
pub mod model;
pub mod operate;
pub mod overview;
pub mod planner;
pub mod prompt;
pub mod replicas;
pub mod research;
pub mod scan;
pub mod services;
pub mod settings;
pub mod steps;
pub mod stop;
pub mod store;
pub mod sweep;
pub mod timeline;
pub mod trace;
pub mod why;
pub mod worker;
