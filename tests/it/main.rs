//! The integration tests: one binary, one module for each area.

mod github_client;
