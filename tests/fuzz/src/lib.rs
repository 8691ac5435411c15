//! The ground floor alone (by symbolic link), so that a fuzz build compiles what it fuzzes and not a web server and a
//! database.
#![allow(dead_code, reason = "the targets use a part of it")]

pub mod formats;
