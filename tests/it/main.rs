//! The integration tests: one binary, so that everything is linked once.

mod cli_program;
mod config_errors;
mod receiver_limits;
mod receiver_support;
mod receiver_table;
