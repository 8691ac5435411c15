//! The configuration of the erk version and of the next steps.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::engine::settings::{ErkSettings, NextSteps};
use planwright::formats::erk::Version;

use crate::config_errors::{error, loaded};

#[test]
fn plans_are_written_folded_for_the_latest_erk_unless_somebody_says_otherwise() {
    let engine = loaded("", &[], &[]).config.engine;
    assert_eq!(engine.erk, ErkSettings::default());
    assert_eq!(engine.erk.version, Version::Latest);
    assert!(!engine.erk.details_open);
    assert_eq!(engine.report.next_steps, NextSteps::Erk);
    for (version, name) in Version::NAMED {
        let set = loaded("", &[("PLANWRIGHT_ERK_VERSION", name)], &[]);
        assert_eq!(set.config.engine.erk.version, version);
    }
    let file = "[erk]\nversion = \"2026-04\"\ndetails_open = true\n[report]\nnext_steps = \"\"\"\nRun:\n\n    tool {number}\n\"\"\"\n";
    let engine = loaded(file, &[], &[]).config.engine;
    assert_eq!(
        engine.erk,
        ErkSettings {
            version: Version::Latest,
            details_open: true
        }
    );
    let template = "Run:\n\n    tool {number}\n".to_owned();
    assert_eq!(engine.report.next_steps, NextSteps::Template(template));
    let none = loaded("", &[], &["report.next_steps=none"]).config.engine;
    assert_eq!(none.report.next_steps, NextSteps::None);
}

#[test]
fn what_erk_and_the_next_steps_cannot_be_is_said() {
    for (flag, want) in [
        (
            "erk.version=2024-01",
            "--set: `erk.version` is \"2024-01\"; it must be latest, or the month of your erk as YYYY-MM, 2025-11 or later",
        ),
        (
            "report.next_steps= ",
            "--set: `report.next_steps` is \" \"; it must be erk, none, or your own Markdown",
        ),
        (
            "report.next_steps=run {nubmer}",
            "--set: `report.next_steps` is \"run {nubmer}\"; {nubmer} is not a placeholder; the placeholders are {number}, \
             {repo}, {url}",
        ),
    ] {
        assert_eq!(error("", &[], &[flag]), want);
    }
    let file = "[erk]\nversion = \"2026-01\"\ndetails_open = true\n";
    assert_eq!(
        error(file, &[], &[]),
        "planwright.toml:3: `erk.details_open` is true; it must be false with an `erk.version` before 2026-02, which \
         does not find an unfolded plan"
    );
    let long = format!("[report]\nnext_steps = \"{}\"\n", "x".repeat(4_001));
    assert!(error(&long, &[], &[]).ends_with("; it must be at most 4000 characters"));
    let open = "[report]\nnext_steps = \"```\\nrun\"\n";
    assert!(error(open, &[], &[]).ends_with("; its last code fence must be closed"));
    // Braces of the operator's own are text.
    loaded(
        "[report]\nnext_steps = \"${HOME} {A} {} {url}\"\n",
        &[],
        &[],
    );
}
