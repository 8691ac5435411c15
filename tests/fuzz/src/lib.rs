//! The ground floor alone, so that a fuzz build compiles what it fuzzes and not a web server and a database.

#[path = "../../../src/formats.rs"]
pub mod formats;
