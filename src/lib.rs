//! Planwright: a GitHub App that saves implementation plans from conversations as GitHub issues, exactly once.
//!
//! # The house
//!
//! Dependencies point down only: `cli → adapters → engine → formats`.
//!
//! ```text
//! GitHub ──webhook──▶ verify ─▶ decide ─▶ store delivery ─▶ 202                       adapters::webhook, engine::trigger
//!                                            │
//!    run:  authorise ─▶ gather ─▶ extract ─▶ enrich ─▶ verify ─▶ publish ─▶ report    engine::worker, engine::steps
//!                         │          │        │  ▲       │         │         │
//!                 logs, thread   candidate    ▼  │    prepared  effects   status comment, reaction, error marker
//!                                           agent, ask ◀── boxes, /answer             engine::steps::enrich, adapters::agent
//! ```
//!
//! | looking for | it is in |
//! |---|---|
//! | the command line, one file for each subcommand | [`cli`] |
//! | settings, secrets, where each value came from | [`config`], `src/config/default.toml` |
//! | a project's own settings, trust, settings of Spektacular | [`config::project`], `src/config/project.default.toml` |
//! | the webhook receiver and its table of answers | [`adapters::webhook`] |
//! | health pages, connection limits, orderly shutdown | [`adapters::web`] |
//! | signatures | [`adapters::signature`] |
//! | the GitHub client: App JWT, tokens, write lane, limits, pages | [`adapters::github`] |
//! | core dumps: none of this process | [`adapters::own_process`] |
//! | keeping secrets out of texts | [`adapters::redact`] |
//! | coding agents as processes: runner, sandbox, clients | [`adapters::agent`] |
//! | Claude Code sessions on this computer, and whose plan is taken | [`adapters::claude_home`] |
//! | the database: queue, leases, effects, audit | [`engine::store`] (the contract), [`adapters::store`] (SQLite) |
//! | our own GitHub, for `try` and tests | [`adapters::simulator`] |
//! | what a webhook payload asks for | [`engine::trigger`] |
//! | how a run is worked on, leased, parked, given back | [`engine::worker`], [`engine::execute`] |
//! | the steps of a run | [`engine::steps`] |
//! | plans from session logs: what is named, what is read | [`engine::steps::source`] |
//! | how the plan of a conversation is chosen, or that it is not clear, and whose posts count | [`engine::steps::extract`] |
//! | words and phrases of conversations about plans, by language | [`formats::vocabulary`], `src/formats/vocabulary` |
//! | the same plan again; which issue a changed plan replaces | [`engine::steps::known`] |
//! | permissions; answers to people without any, within budgets | [`engine::steps::authorise`] |
//! | the agent's part: turns, questions, corrections, fallback; nothing of it without an agent | [`engine::steps::enrich`] |
//! | the decisions of turns that bot and terminal share; a planner without GitHub | [`engine::turns`], [`engine::planner`] |
//! | what an agent is told: instructions, the conversation as data, the bait | [`engine::prompt`], `src/engine/prompts` |
//! | `/answer` and ticked boxes: who may, which run they are for | [`engine::steps::answer`] |
//! | what an agent is to the engine: a task in, a report out | [`engine::agent`] |
//! | starting, watching and ending agents; Claude Code, any program | [`adapters::agent`] |
//! | what an agent can reach on this computer | [`adapters::agent::sandbox`] |
//! | writes that happen exactly once | [`engine::effects`] |
//! | saving from a terminal | [`engine::local_save`] |
//! | every sentence the bot can say | [`engine::say`] |
//! | error codes | [`engine::code`] |
//! | slash commands and labels: the registry and the parser | [`formats::command`] |
//! | erk metadata blocks and the frame that user text cannot break | [`formats::block`] |
//! | which forms and commands each version of erk has | [`formats::erk`] |
//! | the files of a working copy, read without leaving it | [`adapters::working_copy`] |
//! | a repository's knowledge: which documents, from where | [`engine::knowledge`], [`engine::steps::knowledge`], [`adapters::working_copy`] |
//! | reads of untrusted paths: regular files only, up to a size limit | [`regular_file`] |
//! | a project's folder, written to without leaving it | [`adapters::project_folder`] |
//! | `/check-plan`: which plans are meant, check run and comment | [`engine::steps::check`], [`engine::effects`] |
//! | `check`: action plans from a terminal and in CI | `src/cli/check.rs` |
//! | action plans: the format, the strict parser, its structure diff | [`formats::action_plan`] |
//! | plan documents, titles, gates, summaries, splitting | [`formats::plan`] |
//! | specifications: the template, what of one is real, their names | [`formats::specification`] |
//! | an agent's answer, checked against what happened | [`formats::plan::enriched`] |
//! | text that people do not see, taken out | [`formats::hidden`] |
//! | reading saved plans back, of every era | [`formats::plan::stored`] |
//! | Claude Code session logs, read as a stream | [`formats::session`] |
//! | what a coding agent prints (`stream-json`), outcomes, error classes | [`formats::agent_stream`] |
//! | research reports: what a planner is told of them, their numbers and names, what is wrong with them | [`formats::report`] |
//! | `plan SPEC`, `research`: the agent, questions, what is remembered until it is done | `src/cli/plan/write.rs`, `src/cli/research.rs`, `src/cli/work.rs` |
//! | `metadata`: what a report or plan says of itself | `src/cli/metadata.rs` |
//! | what an agent asks, the comment with boxes, `/answer` | [`formats::question`] |
//! | Markdown as GitHub reads it | [`formats::markdown`] |
//! | conversations in a file | [`formats::thread_file`] |
#![forbid(unsafe_code)]

pub mod adapters;
pub mod cli;
pub mod config;
pub mod engine;
pub mod regular_file;
pub use planwright_formats as formats;
