//! The ground floor: text ⇄ values. Pure: no I/O, no async, no clock.

pub mod block;
pub mod command;
pub mod markdown;
pub mod yaml;
