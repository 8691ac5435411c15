//! Tests against recorded test vectors, one trial for each recorded case.
//!
//! Without vectors every test is reported as ignored; with `CI=true` that is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::process::ExitCode;

use libtest_mimic::Arguments;

mod action_plan;
mod action_plan_check;
#[cfg(target_os = "linux")]
mod argv;
mod blocks;
#[path = "../it/frame_support.rs"]
#[allow(dead_code, reason = "also used by other tests")]
mod frame_support;
mod harness;
mod knowledge;
#[cfg(unix)]
mod plan_output;
mod plans;
mod prompts;
mod questions;
mod reports;
mod research;
mod schemas;
mod seeds;
mod sessions;
mod specifications;
mod streams;
#[allow(dead_code, reason = "also used by other tests")]
mod support;
mod transcripts;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let variable = harness::VARIABLE;
    let notice = harness::directory().is_none() && !arguments.list;
    let wanted = std::env::var_os(harness::WITHOUT).is_none();
    if notice && wanted && std::env::var("CI").is_ok_and(|value| value == "true") {
        eprintln!(
            "error: {variable} is not set: with CI=true the recorded test vectors are needed; set {} to go on without",
            harness::WITHOUT
        );
        return ExitCode::FAILURE;
    }
    let mut tests = harness::Tests::default();
    let modules = [
        action_plan::register,
        action_plan_check::register,
        #[cfg(target_os = "linux")]
        argv::register,
        blocks::register,
        knowledge::register,
        #[cfg(unix)]
        plan_output::register,
        plans::register,
        prompts::register,
        questions::register,
        reports::register,
        research::register,
        schemas::register,
        seeds::register,
        sessions::register,
        specifications::register,
        streams::register,
        transcripts::register,
    ];
    for register in modules {
        register(&mut tests);
    }
    let conclusion = libtest_mimic::run(&arguments, tests.trials);
    if notice {
        println!("To run these tests, set {variable} to the directory with the test vectors.\n");
    }
    conclusion.exit_code()
}
