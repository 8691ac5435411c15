//! Planwright: a GitHub App that saves implementation plans from conversations as GitHub issues,
//! exactly once. `docs/architecture.md` describes the data flow, the states of a run and the
//! layers.
//!
//! Imports point down only: `cli → adapters → engine → formats`, and `cli → config → engine`.
//!
//! | looking for | see |
//! |---|---|
//! | subcommands, one file each | [`cli`] |
//! | settings, secrets, and where each value comes from | [`config`]; how a setting is declared: [`setting`] |
//! | a project's own settings | [`config::project`] |
//! | the webhook receiver | [`adapters::webhook`], [`adapters::web`], [`adapters::signature`] |
//! | the GitHub client: tokens, write lane, rate limits | [`adapters::github`] |
//! | the database | [`engine::store`] (the contract), [`adapters::store`] (SQLite) |
//! | coding agents as processes, the sandbox | [`adapters::agent`] |
//! | redaction of secrets | [`adapters::redact`] |
//! | metrics | [`engine::metrics`] (the table), [`adapters::metrics`] |
//! | sessions of Claude Code on this computer | [`adapters::claude_home`] |
//! | values that are stored or shared | [`engine::model`] |
//! | what a webhook payload asks for | [`engine::decide`] |
//! | leasing, retrying and ending runs | [`engine::worker`], [`engine::execute`] |
//! | the steps of a run | [`engine::steps`] |
//! | which text of a conversation is the plan | [`engine::extract`] |
//! | the conversation with a planning agent | [`engine::planner`] |
//! | prompts | [`engine::prompt`], `src/engine/prompts` |
//! | lists, timelines and actions for operators | [`engine::overview`], [`engine::timeline`], [`engine::operate`] |
//! | writes that happen exactly once | [`engine::effects`] |
//! | texts that the bot posts, error codes | [`engine::messages`], [`engine::model::failure`] |
//! | saving plans from a terminal | [`engine::local_save`] |
//! | slash commands, erk blocks, plans, reports, session logs | [`formats`] (`crates/planwright-formats`) |
//! | a stateful GitHub for `try` and tests | `crates/github-simulator` |
#![forbid(unsafe_code)]

pub mod adapters;
pub mod cli;
pub mod config;
pub mod engine;
pub mod regular_file;
pub mod setting;
pub use planwright_formats as formats;
