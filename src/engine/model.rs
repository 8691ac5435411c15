//! Values that several modules share, and everything that is stored. Imports nothing else of the engine.

pub mod agent;
pub mod candidate;
pub mod conversation;
pub mod failure;
pub mod progress;
pub mod research;
pub mod run;
pub mod time;
pub mod trigger;
