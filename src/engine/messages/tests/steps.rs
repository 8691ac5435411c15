//! The next steps below a saved plan.

use super::*;
use crate::engine::settings::{ErkSettings, NextSteps, ReportSettings};
use crate::formats::erk::Version;

fn shown(settings: &Settings, comments: u64) -> String {
    let mut place = trigger(Command::SavePlan).place;
    place.repo.name = "{url}".into();
    let saved = Saved {
        comments: (1..=comments).collect(),
        ..saved_issue()
    };
    next_steps(settings, &place, &saved)
}

fn of(version: Version) -> Settings {
    Settings {
        erk: ErkSettings {
            version,
            details_open: false,
        },
        ..Settings::default()
    }
}

#[test]
fn the_next_steps_are_the_commands_that_the_version_of_erk_has() {
    let commands = |version| -> Vec<String> {
        let text = shown(&of(version), 1);
        let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
        lines.map(str::to_owned).collect()
    };
    let view = "gh issue view 14 --repo acme/{url} --comments";
    let implement = [
        "erk implement 14",
        "erk implement 14 --yolo",
        "erk implement 14 --dangerous",
    ];
    for (version, last) in [
        (Version::November2025, "erk submit 14"),
        (Version::December2025, "erk submit 14"),
        (Version::January2026, "erk plan submit 14"),
    ] {
        let want = [&[view], &implement[..], &[last]].concat();
        assert_eq!(commands(version), want);
    }
    assert_eq!(
        commands(Version::February2026),
        [
            view,
            "erk br co --for-plan 14",
            "erk plan submit 14",
            "source \"$(erk br co --for-plan 14 --script)\" && erk implement --dangerous",
        ]
    );
    assert_eq!(
        commands(Version::Latest),
        [view, "planwright plan get acme/{url}#14 | erk pr create"]
    );
}

#[test]
fn a_plan_in_several_comments_is_not_handed_to_erk() {
    for (version, _) in Version::NAMED {
        assert_eq!(
            shown(&of(version), 3),
            "View the plan:\n\n    gh issue view 14 --repo acme/{url} --comments\n\n\
             Get the whole plan (erk reads only its first comment):\n\n    \
             planwright plan get acme/{url}#14 > plan.md"
        );
    }
}

#[test]
fn the_operator_lists_no_next_steps_or_own_ones() {
    let own = |text: &str| {
        let settings = Settings {
            report: ReportSettings {
                next_steps: NextSteps::from(text.to_owned()),
            },
            ..Settings::default()
        };
        shown(&settings, 1)
    };
    assert_eq!(own("none"), "");
    assert!(own("erk").contains("gh issue view 14"));
    // A name that looks like a placeholder is not filled in.
    assert_eq!(
        own("Run `tool {number}` in {repo}, {other} {: {url}\n"),
        "Run `tool 14` in acme/{url}, {other} {: https://github.test/acme/search/issues/14"
    );
}

#[test]
fn next_steps_are_folded() {
    assert_eq!(
        super::super::steps::folded("Run it"),
        "<details>\n<summary>Next steps</summary>\n\nRun it\n\n</details>\n\n"
    );
    assert_eq!(super::super::steps::folded(""), "");
}
