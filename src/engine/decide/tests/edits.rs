//! Commands that come into a comment by an edit.

use serde_json::{Value, json};

use super::*;

#[test]
fn an_edit_that_adds_a_command_soon_by_its_author_is_a_run() {
    let run = one(decided("issue_comment", EDITED));
    assert_eq!(run.command, Command::SavePlan);
    assert_eq!(run.at, millis("2026-11-20T12:01:30Z"));
    let Decision::Runs { action, .. } = decided("issue_comment", EDITED) else {
        panic!("runs");
    };
    assert_eq!(action, "edited");
}

#[test]
fn edits_that_do_not_count() {
    let cases = [
        (
            "/changes/body",
            Value::Null,
            "the edit left the comment's text as it was",
        ),
        (
            "/comment/user",
            json!({"id": 1}),
            "commands in a comment that somebody else edited do not count",
        ),
        (
            "/comment/user",
            Value::Null,
            "commands in a comment that somebody else edited do not count",
        ),
        (
            "/comment/updated_at",
            json!("2026-11-20T12:10:00Z"),
            "the comment was edited ten minutes or more after it was written; commands in such edits do not count",
        ),
        (
            "/changes/body/from",
            json!("/save-plan with other words"),
            "the edit adds no command",
        ),
    ];
    for (pointer, value, expected) in cases {
        let body = with(EDITED, &[(pointer, value)]);
        assert_eq!(why(decided("issue_comment", &body)), expected, "{pointer}");
    }
    let just_in_time = with(
        EDITED,
        &[("/comment/updated_at", json!("2026-11-20T12:09:59Z"))],
    );
    one(decided("issue_comment", &just_in_time));
}

#[test]
fn only_the_added_commands_of_an_edit_run() {
    let body = with(
        EDITED,
        &[
            ("/changes/body/from", json!("/plan-status")),
            ("/comment/body", json!("/plan-status\n/cancel")),
        ],
    );
    assert_eq!(
        one(decided("issue_comment", &body)).command,
        Command::Cancel
    );
}

/// Both versions are parsed only where they are short together.
#[test]
fn in_a_long_edit_a_command_that_began_a_line_before_counts_as_asked_for() {
    let edit = |before: &str, words: usize| {
        let text = |head: &str| format!("{head}\n\n{}", "word ".repeat(words));
        let body = with(
            EDITED,
            &[
                ("/changes/body/from", json!(text(before))),
                ("/comment/body", json!(text("/cancel"))),
            ],
        );
        decided("issue_comment", &body)
    };
    let quoted = "```\n/cancel\n```";
    assert_eq!(one(edit(quoted, 10)).command, Command::Cancel);
    assert_eq!(why(edit(quoted, 10_000)), "the edit adds no command");
    assert_eq!(one(edit("/plan-status", 10_000)).command, Command::Cancel);
}
