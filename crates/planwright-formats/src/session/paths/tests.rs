//! Tests of `formats::session::paths`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

#[test]
fn a_directory_has_a_name_by_each_rule() {
    assert_eq!(
        project_names("/home/ada/my_app.v2"),
        [
            "-home-ada-my-app-v2",
            "-home-ada-my_app-v2",
            "-home-ada-my_app.v2"
        ]
    );
    assert_eq!(project_names("/srv/app"), ["-srv-app"]);
    assert_eq!(project_names("/é😀")[0], "----");
}

#[test]
fn relative_directories_get_one_dash() {
    assert_eq!(project_name("./src/app"), "-src-app");
    assert_eq!(project_name("/"), "-");
}

#[test]
fn names_cannot_leave_their_folder() {
    for good in ["joyful-munching-hammock", "4f0c-11", "a.b", "agent-1_2"] {
        assert!(is_safe_name(good), "{good}");
    }
    for bad in [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "../x",
        "a b",
        "a\0",
        "é",
        &"x".repeat(129),
    ] {
        assert!(!is_safe_name(bad), "{bad}");
    }
}

#[test]
fn plan_files_are_known_by_where_they_lie() {
    assert_eq!(
        plan_slug("/home/ada/.claude/plans/calm-otter.md"),
        Some("calm-otter")
    );
    assert_eq!(
        plan_slug(r"C:\Users\ada\.claude\plans\calm-otter.md"),
        Some("calm-otter")
    );
    for none in [
        "/repo/plans/a.md",
        "/h/.claude/plans/a.txt",
        "/h/.claude/plans/sub/a.md",
        "/h/.claude/plans/.md",
        "a.md",
    ] {
        assert_eq!(plan_slug(none), None, "{none}");
    }
}
