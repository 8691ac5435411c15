//! Decisions while the slug of the App is not known, because GitHub has not confirmed the App yet.

use super::*;

fn without_slug() -> AppIdentity {
    AppIdentity {
        app_slug: AppSlug::default(),
        ..facts()
    }
}

/// Changes that make our own account the sender.
fn by_us() -> Vec<(&'static str, Value)> {
    vec![
        ("/sender/type", json!("Bot")),
        ("/sender/id", json!(5)),
        ("/sender/login", json!("planwright[bot]")),
    ]
}

#[test]
fn what_this_app_does_is_ignored_and_what_people_do_counts() {
    let bot = "`planwright[bot]` (id 5) is a bot that is not in `github.allowed_bots`";
    let app = ("/comment/performed_via_github_app", json!({"id": 424_242}));
    let cases = [
        ("issue_comment", CREATED, vec![], None),
        ("issues", ISSUE_LABELED, vec![], None),
        ("pull_request", PULL_LABELED, vec![], None),
        (
            "issue_comment",
            CREATED,
            [by_us(), vec![app.clone()]].concat(),
            Some("this App wrote the comment itself"),
        ),
        (
            "issue_comment",
            CREATED,
            vec![app],
            Some("this App wrote the comment itself"),
        ),
        ("issue_comment", CREATED, by_us(), Some(bot)),
        ("issue_comment", EDITED, by_us(), Some(bot)),
        ("issues", ISSUE_LABELED, by_us(), Some(bot)),
        ("pull_request", PULL_LABELED, by_us(), Some(bot)),
    ];
    for (event, body, changes, expected) in cases {
        let body = with(body, &changes);
        let decision = decide(event, body.as_bytes(), &without_slug())
            .unwrap()
            .decision;
        match expected {
            Some(expected) => assert_eq!(why(decision), expected, "{event} {changes:?}"),
            None => drop(one(decision)),
        }
    }
}

#[test]
fn a_slug_that_becomes_known_counts_in_all_clones_and_replaces_the_configured_one() {
    let facts = AppIdentity {
        app_slug: AppSlug::new(Some("old-name".to_owned())),
        ..facts()
    };
    let shared = facts.app_slug.clone();
    assert_eq!(facts.app_slug.get(), Some("old-name"));
    shared.confirm("planwright");
    shared.confirm("another");
    assert_eq!(facts.app_slug.get(), Some("planwright"));
    let body = with(ISSUE_LABELED, &by_us());
    let decision = decide("issues", body.as_bytes(), &facts).unwrap().decision;
    assert_eq!(why(decision), "this App did that itself");
}
