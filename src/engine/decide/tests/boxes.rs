//! Boxes ticked in the bot's own question comment.

use crate::engine::model::trigger::Origin;
use serde_json::{Value, json};

use super::*;
use crate::formats::question::boxes::{Round, render};
use crate::formats::question::{Choice, Question};

/// A comment that asks, as this App posts it.
fn asked() -> String {
    let choice = |label: &str| Choice {
        label: label.to_owned(),
        description: String::new(),
    };
    let questions = [Question {
        question: "Which store?".to_owned(),
        header: String::new(),
        choice: true,
        multi: false,
        options: vec![choice("SQLite"), choice("Redis")],
    }];
    let round = Round {
        own_words: true,
        run: "run_1",
        number: 1,
        questions: &questions,
    };
    format!("@mira-solano, one question.\n\n{}", render(&round))
}

/// `text` with its first or its last open box ticked.
fn tick(text: &str, last: bool) -> String {
    let at = if last {
        text.rfind("[ ]")
    } else {
        text.find("[ ]")
    };
    let mut ticked = text.to_owned();
    ticked.replace_range(at.unwrap()..at.unwrap() + 3, "[x]");
    ticked
}

/// The delivery for an edit of the App's comment by `mira-solano`, with further changes.
fn edited(before: &str, after: &str, changes: &[(&str, Value)]) -> String {
    let mut all = vec![
        (
            "/comment/user",
            json!({"id": 5, "login": "planwright[bot]"}),
        ),
        ("/comment/performed_via_github_app", json!({"id": 424_242})),
        ("/comment/body", json!(after)),
        ("/changes/body/from", json!(before)),
        ("/comment/created_at", json!("2026-11-10T12:00:00Z")),
        ("/comment/updated_at", json!("2026-11-20T12:01:30Z")),
    ];
    all.extend_from_slice(changes);
    with(EDITED, &all)
}

#[test]
fn the_box_that_sends_answers_the_questions() {
    let chosen = tick(&asked(), false);
    let sent = tick(&chosen, true);
    let editor = decided("issue_comment", EDITED);
    let Decision::Runs { action, triggers } =
        decided("issue_comment", &edited(&chosen, &sent, &[]))
    else {
        panic!("a run");
    };
    assert_eq!((action, triggers.len()), ("edited", 1));
    let run = &triggers[0];
    assert_eq!(run.command, Command::Answer);
    let editor = one(editor);
    assert_eq!((&run.actor, &run.place), (&editor.actor, &editor.place));
    assert_eq!(run.opening, editor.opening);
    assert_eq!(run.at, millis("2026-11-20T12:01:30Z"));
    assert_eq!((&run.guidance, &run.inline), (&None, &None));
    assert!(run.options.is_empty());
    let Origin::Boxes { id, text, url } = &run.origin else {
        panic!("boxes: {:?}", run.origin);
    };
    assert_eq!(*id, 3_310_000_004);
    assert_eq!(*text, sent);
    assert!(url.contains("#issuecomment-3310000004"), "{url}");
}

/// Either is enough: a renamed App keeps its id, and GitHub describes `performed_via_github_app` as
/// nullable.
#[test]
fn our_comment_is_known_by_the_app_or_by_the_login() {
    let (before, after) = (asked(), tick(&asked(), true));
    let run =
        |changes: &[(&str, Value)]| decided("issue_comment", &edited(&before, &after, changes));
    let no_app = ("/comment/performed_via_github_app", Value::Null);
    let renamed = ("/comment/user", json!({"id": 5, "login": "old-name[bot]"}));
    let upper = (
        "/comment/user",
        json!({"id": 5, "login": "PlanWright[bot]"}),
    );
    let person = ("/comment/user", json!({"id": 5, "login": "planwright"}));
    let other = ("/comment/performed_via_github_app", json!({"id": 7}));
    let gone = ("/comment/user", Value::Null);
    for changes in [
        vec![no_app.clone()],
        vec![renamed.clone()],
        vec![gone.clone()],
        vec![no_app.clone(), upper],
        vec![other.clone()],
    ] {
        assert_eq!(one(run(&changes)).command, Command::Answer, "{changes:?}");
    }
    let theirs = "commands in a comment that somebody else edited do not count";
    for changes in [
        vec![no_app.clone(), renamed.clone()],
        vec![no_app.clone(), person.clone()],
        vec![other, person],
        vec![no_app, gone],
    ] {
        assert_eq!(why(run(&changes)), theirs, "{changes:?}");
    }
}

#[test]
fn edits_of_our_comments_that_answer_nothing() {
    let asked = asked();
    let (chosen, sent) = (tick(&asked, false), tick(&asked, true));
    let waits = "checkboxes were ticked; the answers count once *Send these answers* is ticked";
    let other = "somebody edited a comment of this App that asks nothing";
    let bot = |id: u64, login: &str| {
        vec![
            ("/sender/type", json!("Bot")),
            ("/sender/id", json!(id)),
            ("/sender/login", json!(login)),
        ]
    };
    let cases = [
        (asked.as_str(), chosen.as_str(), vec![], waits),
        (&sent, &asked, vec![], waits),
        (&sent, &tick(&sent, false), vec![], waits),
        ("All done.", "All done. /save-plan", vec![], other),
        ("- [ ] Send", "- [x] Send", vec![], other),
        (&sent, "Answered.", vec![], other),
        (
            &asked,
            &sent,
            vec![("/changes/body", Value::Null)],
            "the edit left the comment's text as it was",
        ),
        (
            &asked,
            &sent,
            bot(5, "planwright[bot]"),
            "this App did that itself",
        ),
        (
            &asked,
            &sent,
            bot(901, "x[bot]"),
            "`x[bot]` (id 901) is a bot that is not in `github.allowed_bots`",
        ),
        (
            &asked,
            &sent,
            vec![("/installation", Value::Null)],
            NO_INSTALLATION,
        ),
    ];
    for (before, after, changes, expected) in cases {
        let body = edited(before, after, &changes);
        assert_eq!(
            why(decided("issue_comment", &body)),
            expected,
            "{after} {changes:?}"
        );
    }
    let allowed = edited(&asked, &sent, &bot(900, "x[bot]"));
    assert!(one(decided("issue_comment", &allowed)).actor.bot);
}

/// People with write could otherwise let the App's comments command in their name.
#[test]
fn commands_that_somebody_puts_into_our_comment_do_not_count() {
    let (asked, sent) = (asked(), tick(&asked(), true));
    let body = edited(&asked, &format!("/cancel\n\n{sent}"), &[]);
    assert_eq!(
        one(decided("issue_comment", &body)).command,
        Command::Answer
    );
}

/// A comment made with all its boxes ticked has not been sent by anybody.
#[test]
fn a_new_comment_of_ours_answers_nothing() {
    let sent = tick(&asked(), true);
    let body = edited(&asked(), &sent, &[("/action", json!("created"))]);
    let expected = if sent.contains('/') {
        "this App wrote the comment itself"
    } else {
        "no command in this comment"
    };
    assert_eq!(why(decided("issue_comment", &body)), expected);
}

#[test]
fn without_a_slug_our_comment_is_known_by_the_app_alone() {
    let facts = AppIdentity {
        app_slug: AppSlug::default(),
        ..facts()
    };
    let (before, after) = (asked(), tick(&asked(), true));
    let run = |changes: &[(&str, Value)]| {
        let body = edited(&before, &after, changes);
        decide("issue_comment", body.as_bytes(), &facts)
            .unwrap()
            .decision
    };
    assert_eq!(one(run(&[])).command, Command::Answer);
    let no_app = ("/comment/performed_via_github_app", Value::Null);
    let theirs = "commands in a comment that somebody else edited do not count";
    assert_eq!(why(run(&[no_app])), theirs);
}
