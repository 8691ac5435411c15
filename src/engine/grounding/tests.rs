//! Tests of the judgement of named files.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod labelled;
