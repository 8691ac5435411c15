//! Data types shared by several engine modules, and all stored data. Depends on no other engine
//! module.

pub mod agent;
pub mod candidate;
pub mod conversation;
pub mod failure;
pub mod intake;
pub mod plan_entry;
pub mod progress;
pub mod repository;
pub mod research;
pub mod run;
pub mod time;
pub mod trigger;
