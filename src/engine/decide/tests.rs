//! Tests of `engine::trigger::decide`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod boxes;
mod edits;
mod pushes;
mod slugless;
mod unusable;

use serde_json::{Value, json};

use super::*;
use crate::engine::model::time::Millis;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/fixtures/payloads/",
            $name,
            ".json"
        ))
    };
}

const CREATED: &str = fixture!("issue_comment.created");
const EDITED: &str = fixture!("issue_comment.edited");
const ISSUE_LABELED: &str = fixture!("issues.labeled");
const PULL_LABELED: &str = fixture!("pull_request.labeled");

fn facts() -> AppIdentity {
    AppIdentity {
        app_id: 424_242,
        app_slug: AppSlug::new(Some("planwright".to_owned())),
        labels: vec![
            (Command::SavePlan, "save-plan".to_owned()),
            (Command::SaveRawPlan, "Save-Raw-Plan".to_owned()),
        ],
        allowed_bots: vec![900],
    }
}

fn decided(event: &str, body: &str) -> Decision {
    decide(event, body.as_bytes(), &facts()).unwrap().decision
}

/// `body` with the member at each JSON pointer replaced; `null` takes the member out.
fn with(body: &str, changes: &[(&str, Value)]) -> String {
    let mut value: Value = serde_json::from_str(body).unwrap();
    for (pointer, new) in changes {
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        if new.is_null() {
            parent.remove(member);
        } else {
            parent.insert(member.to_owned(), new.clone());
        }
    }
    value.to_string()
}

fn one(decision: Decision) -> Trigger {
    match decision {
        Decision::Runs { mut triggers, .. } if triggers.len() == 1 => triggers.remove(0),
        other => panic!("one run expected: {other:?}"),
    }
}

fn why(decision: Decision) -> String {
    match decision {
        Decision::Ignore { why } => why.into_owned(),
        other => panic!("ignored expected: {other:?}"),
    }
}

fn millis(text: &str) -> Millis {
    Millis::from(text.parse::<chrono::DateTime<chrono::Utc>>().unwrap())
}

#[test]
fn a_command_in_a_new_comment_is_a_run() {
    let run = one(decided("issue_comment", CREATED));
    assert_eq!(run.command, Command::SavePlan);
    assert_eq!(run.actor.login, "mira-solano");
    assert_eq!(run.actor.id, 70_110_311);
    assert!(!run.actor.bot);
    assert_eq!(run.place.key(), "812340077#42");
    assert_eq!(run.place.repo.full_name(), "harbour-works/tidewatch");
    assert_eq!(run.place.repo.installation, 51_020_304);
    assert!(!run.place.pull_request);
    assert!(
        run.guidance
            .as_deref()
            .unwrap_or_default()
            .starts_with("keep the public API as it is")
    );
    assert_eq!(run.at, millis("2026-11-20T10:15:00Z"));
    let Origin::Comment { id, text, url } = run.origin else {
        panic!("a comment");
    };
    assert_eq!(id, 3_310_000_001);
    assert!(text.starts_with("/save-plan keep") && text.contains("\r\n## Steps\r\n"));
    assert!(url.ends_with("/issues/42#issuecomment-3310000001"));
}

#[test]
fn a_comment_on_a_pull_request_has_a_pull_request_as_its_place() {
    let run = one(decided(
        "issue_comment",
        fixture!("issue_comment.created.pull_request"),
    ));
    assert_eq!(run.command, Command::SaveRawPlan);
    assert!(run.place.pull_request);
    assert_eq!(run.place.number, 57);
}

#[test]
fn several_commands_are_several_runs_in_order() {
    let body = with(
        CREATED,
        &[("/comment/body", json!("/save-raw-plan\n\n/save-plan"))],
    );
    let Decision::Runs {
        triggers: runs,
        action: "created",
    } = decided("issue_comment", &body)
    else {
        panic!("runs");
    };
    let commands: Vec<_> = runs.iter().map(|run| run.command).collect();
    assert_eq!(commands, [Command::SaveRawPlan, Command::SavePlan]);
}

#[test]
fn commands_that_only_answer_and_stand_side_by_side_are_one_run() {
    let body = "/plan-status\n/cancel\n/plan-status\n/save-plan\n/plan-help\n/retry";
    let payload = with(CREATED, &[("/comment/body", json!(body))]);
    let Decision::Runs { triggers, .. } = decided("issue_comment", &payload) else {
        panic!("runs");
    };
    let commands: Vec<Vec<Command>> = triggers
        .iter()
        .map(|trigger| trigger.commands().collect())
        .collect();
    assert_eq!(
        commands,
        [
            vec![Command::Status, Command::Cancel],
            vec![Command::SavePlan],
            vec![Command::Help, Command::Retry]
        ]
    );
}

#[test]
fn closed_and_locked_places_are_fine() {
    let body = with(
        CREATED,
        &[
            ("/issue/state", json!("closed")),
            ("/issue/locked", json!(true)),
        ],
    );
    one(decided("issue_comment", &body));
}

/// Anybody who can comment could otherwise ask for thousands of runs, each with a copy of the
/// comment.
#[test]
fn a_comment_full_of_commands_asks_for_eight() {
    let many = "/answer skip\n".repeat(5_000);
    let payload = with(CREATED, &[("/comment/body", json!(many))]);
    match decided("issue_comment", &payload) {
        Decision::Runs { triggers, .. } => assert_eq!(triggers.len(), 8),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_comment_that_nests_too_deeply_asks_for_nothing_and_says_why() {
    let wide = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(2_000),
        "-|".repeat(2_000),
        "b\n".repeat(100)
    );
    for text in [
        ">".repeat(65_000),
        format!("{}a", "- ".repeat(30_000)),
        wide,
    ] {
        let text = format!("/plan-help\n\n{text}");
        let expected = "the comment nests quotes or lists too deeply, or its tables omit too many \
                        cells: commands in it are ignored";
        let new = with(CREATED, &[("/comment/body", json!(text))]);
        assert_eq!(why(decided("issue_comment", &new)), expected);
        let edit = with(EDITED, &[("/comment/body", json!(text))]);
        assert_eq!(why(decided("issue_comment", &edit)), expected);
        // Without a command nobody needs to know.
        let talk = with(CREATED, &[("/comment/body", json!(text[12..]))]);
        assert_eq!(
            why(decided("issue_comment", &talk)),
            "no command in this comment"
        );
    }
}

#[test]
fn a_label_set_again_is_said_anew_and_a_copy_of_its_delivery_is_not() {
    let label = |at: &str| {
        let body = with(ISSUE_LABELED, &[("/issue/updated_at", json!(at))]);
        one(decided("issues", &body)).dedup_key().unwrap()
    };
    let (first, again) = ("2026-11-20T12:00:00Z", "2026-11-20T12:00:01Z");
    assert_eq!(label(first), label(first));
    assert_ne!(label(first), label(again));
}

/// The opening text can be changed between the command and the run: its digest tells.
#[test]
fn the_opening_text_of_the_payload_is_remembered_by_its_digest() {
    use crate::engine::model::trigger::digest;
    let text = "a \"plan\"\nfor two";
    for (body, text) in [(json!(text), text), (json!(""), "")] {
        let payload = with(CREATED, &[("/issue/body", body)]);
        let run = one(decided("issue_comment", &payload));
        assert_eq!(run.opening, Some(digest(text)));
    }
    // An empty text is `null` in GitHub's payloads.
    let payload = with(CREATED, &[("/issue/body", json!("EMPTY"))]).replace("\"EMPTY\"", "null");
    let run = one(decided("issue_comment", &payload));
    assert_eq!(run.opening, Some(digest("")));
}

#[test]
fn labels_mean_commands_for_the_person_who_sets_them() {
    let run = one(decided("issues", ISSUE_LABELED));
    assert_eq!(run.command, Command::SavePlan);
    assert_eq!(run.actor.login, "tove-lind");
    assert_eq!(run.at, millis("2026-11-20T13:00:00Z"));
    assert!(!run.place.pull_request);
    assert_eq!(
        run.origin,
        Origin::Label {
            name: "save-plan".to_owned()
        }
    );

    let run = one(decided("pull_request", PULL_LABELED));
    assert!(run.place.pull_request);
    assert_eq!(run.place.number, 57);

    let other_case = with(ISSUE_LABELED, &[("/label/name", json!("SAVE-raw-plan"))]);
    let run = one(decided("issues", &other_case));
    assert_eq!(run.command, Command::SaveRawPlan);
    assert_eq!(
        run.origin,
        Origin::Label {
            name: "SAVE-raw-plan".to_owned()
        }
    );
}

#[test]
fn what_is_ignored_and_why() {
    let plain = fixture!("issue_comment.created.plain");
    let cases: &[(&str, String, &str)] = &[
        (
            "issue_comment",
            plain.to_owned(),
            "no command in this comment",
        ),
        (
            "issue_comment",
            with(plain, &[("/comment/body", json!("all good"))]),
            "no command in this comment",
        ),
        (
            "issue_comment",
            with(CREATED, &[("/action", json!("deleted"))]),
            "this App does not handle `issue_comment` with action `deleted`",
        ),
        (
            "issue_comment",
            with(
                CREATED,
                &[
                    ("/sender/type", json!("Bot")),
                    ("/sender/login", json!("x[bot]")),
                ],
            ),
            "`x[bot]` (id 70110311) is a bot that is not in `github.allowed_bots`",
        ),
        (
            "issue_comment",
            with(CREATED, &[("/sender/login", json!("Planwright[bot]"))]),
            "this App did that itself",
        ),
        (
            "issue_comment",
            with(
                CREATED,
                &[("/comment/performed_via_github_app", json!({"id": 424_242}))],
            ),
            "this App wrote the comment itself",
        ),
        (
            "issue_comment",
            with(CREATED, &[("/installation", Value::Null)]),
            NO_INSTALLATION,
        ),
        (
            "issues",
            with(ISSUE_LABELED, &[("/installation", Value::Null)]),
            NO_INSTALLATION,
        ),
        (
            "issues",
            with(ISSUE_LABELED, &[("/action", json!("unlabeled"))]),
            "this App does not handle `issues` with action `unlabeled`",
        ),
        (
            "issues",
            with(ISSUE_LABELED, &[("/label/name", json!("bug"))]),
            "the label `bug` is not a command",
        ),
        (
            "pull_request",
            with(PULL_LABELED, &[("/sender/login", json!("planwright[bot]"))]),
            "this App did that itself",
        ),
        (
            "workflow_run",
            "{}".to_owned(),
            "this App does not handle `workflow_run` events",
        ),
        (
            "installation_repositories",
            fixture!("installation_repositories.added").to_owned(),
            "nothing is stored per repository",
        ),
        (
            "installation",
            with(
                fixture!("installation.created"),
                &[("/action", json!("renamed"))],
            ),
            "this App does not handle `installation` with action `renamed`",
        ),
        // Actions that do not concern us may look as they like: GitHub's `pinned` has no `label`,
        // `stacked` was new.
        (
            "issues",
            with(
                ISSUE_LABELED,
                &[("/action", json!("pinned")), ("/label", Value::Null)],
            ),
            "this App does not handle `issues` with action `pinned`",
        ),
        (
            "pull_request",
            r#"{"action":"stacked","pull_request":"?"}"#.to_owned(),
            "this App does not handle `pull_request` with action `stacked`",
        ),
        (
            "issues",
            "{}".to_owned(),
            "this App does not handle `issues` with action ``",
        ),
    ];
    for (event, body, expected) in cases {
        assert_eq!(why(decided(event, body)), *expected, "{event}");
    }
}

#[test]
fn an_allowed_bot_may_command_and_is_told_apart_by_id_alone() {
    let change = |id: u64| {
        let changes = [("/sender/type", json!("Bot")), ("/sender/id", json!(id))];
        decided("issue_comment", &with(CREATED, &changes))
    };
    assert!(one(change(900)).actor.bot);
    assert!(why(change(901)).contains("id 901"));
}

#[test]
fn another_apps_comment_for_a_person_counts() {
    let body = with(
        CREATED,
        &[("/comment/performed_via_github_app", json!({"id": 7}))],
    );
    one(decided("issue_comment", &body));
}

#[test]
fn installations_come_and_go() {
    let created = fixture!("installation.created");
    for action in ["created", "unsuspend", "new_permissions_accepted"] {
        assert_eq!(
            decided(
                "installation",
                &with(created, &[("/action", json!(action))])
            ),
            Decision::Installed {
                installation: 51_020_304,
                account: "harbour-works".to_owned()
            }
        );
    }
    let gone = |action| Decision::InstallationGone {
        installation: 51_020_304,
        action,
    };
    assert_eq!(
        decided("installation", fixture!("installation.deleted")),
        gone("deleted")
    );
    assert!(why(decided("installation", fixture!("installation.suspend"))).contains("suspended"));
}

#[test]
fn a_ping_tells_which_events_are_missing() {
    let missing = |body: &str| match decided("ping", body) {
        Decision::Ping { missing_events } => missing_events,
        other => panic!("{other:?}"),
    };
    assert!(missing(fixture!("ping")).is_empty());
    assert!(missing("{}").is_empty());
    assert!(missing(r#"{"hook":{"events":["*"]}}"#).is_empty());
    assert!(missing("not even JSON").is_empty());
    assert_eq!(
        missing(r#"{"hook":{"events":["issues","push"]}}"#),
        ["issue_comment", "pull_request"]
    );
}
