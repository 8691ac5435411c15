//! Integration tests, in one binary so that it links once.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod simulator_api;
mod simulator_auth;
mod simulator_faults;
mod simulator_pages;
mod simulator_support;
mod simulator_webhooks;
