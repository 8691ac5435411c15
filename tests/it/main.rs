//! The integration tests: one binary, so that everything is linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod cli_program;
mod config_errors;
mod deploy_files;
mod e2e_crash;
mod e2e_save;
mod e2e_seeds;
mod e2e_source;
mod e2e_storm;
mod engine_control;
mod engine_save;
mod engine_source;
mod engine_status;
mod formats_block;
mod formats_roundtrip;
mod github_client;
mod peer_octokit;
mod peer_openapi;
mod peer_probot;
mod peer_webhook_examples;
mod receiver_limits;
mod receiver_support;
mod receiver_table;
mod simulator_api;
mod simulator_auth;
mod simulator_faults;
mod simulator_pages;
mod simulator_support;
mod simulator_webhooks;
mod store_contract;
mod store_kill;
mod store_migrations;
mod store_sqlite;
mod store_storm;
mod support;
mod vectors;
