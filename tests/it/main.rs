//! Integration tests, in one binary so that they link once.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod store_contract;
mod store_kill;
mod store_migrations;
mod store_sqlite;
mod store_storm;
