//! Planwright: a GitHub App that saves implementation plans from conversations, exactly once.
#![forbid(unsafe_code)]

pub mod adapters;
pub mod cli;
pub mod config;
pub mod engine;
pub mod formats;
