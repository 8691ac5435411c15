//! Tables for the pure parts: limits, errors, lenient reading.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::json;

use super::limit::{RateLimit, Wait, exhausted_until, rate_limit};
use super::response::Response;
use super::wire;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;
use crate::formats::command::Permission;

/// 2026-01-01T00:00:00Z.
const NOW: Millis = Millis(1_767_225_600_000);

fn after(seconds: u64) -> Millis {
    NOW.plus(Duration::from_secs(seconds))
}

/// A response to a request with this method.
fn response(
    method: &Method,
    status: u16,
    headers: &[(&'static str, &str)],
    body: &str,
) -> Response {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(
            HeaderName::from_static(name),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    Response {
        status: StatusCode::from_u16(status).unwrap(),
        headers: map,
        body: Bytes::copy_from_slice(body.as_bytes()),
        stream: None,
        what: "issue #7 of o/r".to_owned(),
        is_read: *method == Method::GET,
    }
}

/// A response to a read.
fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Response {
    response(&Method::GET, status, headers, body)
}

/// The error of a response to a write.
fn error(status: u16, headers: &[(&'static str, &str)], body: &str) -> ForgeError {
    let response = response(&Method::POST, status, headers, body);
    response.error_for_status().unwrap_err()
}

const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}"#;
const PRIMARY: &str = r#"{"message":"API rate limit exceeded for installation ID 5."}"#;
const TOO_QUICKLY: &str = r#"{"message":"Validation Failed","errors":[{"resource":"Issue","code":"custom","field":"base","message":"was submitted too quickly"}]}"#;
const MISSING: &str = r#"{"message":"Resource not accessible by integration"}"#;

#[test]
fn limits_are_told_from_refusals() {
    let remaining = ("x-ratelimit-remaining", "0");
    let soon = ("x-ratelimit-reset", "1767225690");
    let past = ("x-ratelimit-reset", "1767225599");
    let until = |seconds| Some(Wait::Until(after(seconds)));
    for (status, headers, body, expected) in [
        (403, vec![remaining, soon], PRIMARY, until(90)),
        (429, vec![remaining, soon], PRIMARY, until(90)),
        // A reset in the past is no time at all.
        (403, vec![remaining, past], PRIMARY, Some(Wait::Unspecified)),
        (
            403,
            vec![remaining, ("x-ratelimit-reset", "soon")],
            PRIMARY,
            Some(Wait::Unspecified),
        ),
        (403, vec![("retry-after", "72")], SECONDARY, until(72)),
        (403, vec![("retry-after", "0")], SECONDARY, until(1)),
        (
            429,
            vec![("retry-after", "Thu, 01 Jan 2026 00:02:00 GMT")],
            "",
            until(120),
        ),
        // Longer than any window: ask again by then.
        (429, vec![("retry-after", "99999999999")], "", until(7200)),
        (
            429,
            vec![remaining, ("x-ratelimit-reset", "99999999999")],
            "",
            until(7200),
        ),
        // `retry-after` goes first.
        (
            403,
            vec![("retry-after", "5"), remaining, soon],
            SECONDARY,
            until(5),
        ),
        (403, vec![], SECONDARY, Some(Wait::Unspecified)),
        // The limit is not spent, so its reset says nothing.
        (
            403,
            vec![("x-ratelimit-remaining", "4000"), soon],
            SECONDARY,
            Some(Wait::Unspecified),
        ),
        (
            403,
            vec![],
            r#"{"message":"You have triggered an abuse detection mechanism."}"#,
            Some(Wait::Unspecified),
        ),
        (429, vec![], "", Some(Wait::Unspecified)),
        (403, vec![remaining, soon], "", until(90)),
        (403, vec![], MISSING, None),
        (403, vec![remaining, soon], MISSING, None),
        (403, vec![], "", None),
        // So does the limit on creating content answer, too.
        (422, vec![], TOO_QUICKLY, Some(Wait::Unspecified)),
        (422, vec![], r#"{"message":"Validation Failed"}"#, None),
        // The answer's own time counts, not this machine's: here GitHub is two hours behind.
        (
            403,
            vec![
                remaining,
                ("x-ratelimit-reset", "1767218490"),
                ("date", "Wed, 31 Dec 2025 22:00:00 GMT"),
            ],
            PRIMARY,
            until(90),
        ),
        (
            429,
            vec![
                ("retry-after", "Wed, 31 Dec 2025 22:02:00 GMT"),
                ("date", "Wed, 31 Dec 2025 22:00:00 GMT"),
            ],
            "",
            until(120),
        ),
        (404, vec![remaining, soon], PRIMARY, None),
        (200, vec![remaining, soon], "[]", None),
        (503, vec![("retry-after", "5")], "", None),
    ] {
        let answer = answer(status, &headers, body);
        assert_eq!(
            rate_limit(&answer, NOW),
            expected,
            "{status} {headers:?} {body}"
        );
    }
}

#[test]
fn the_last_request_of_the_hour_says_so() {
    let zero = ("x-ratelimit-remaining", "0");
    let reset = ("x-ratelimit-reset", "1767225690");
    assert_eq!(
        exhausted_until(&answer(200, &[zero, reset], ""), NOW),
        Some(after(90))
    );
    for headers in [
        vec![("x-ratelimit-remaining", "1"), reset],
        vec![zero],
        vec![zero, ("x-ratelimit-reset", "1")],
        vec![zero, reset, ("x-ratelimit-resource", "search")],
    ] {
        assert_eq!(
            exhausted_until(&answer(200, &headers, ""), NOW),
            None,
            "{headers:?}"
        );
    }
}

#[test]
fn the_unsaid_wait_doubles_and_ends_with_a_success() {
    let limit = RateLimit::default();
    let mut now = NOW;
    for minutes in [1, 2, 4, 8, 16, 32, 64, 64] {
        let until = limit.start(Wait::Unspecified, now);
        assert_eq!(until.since(now), Duration::from_mins(minutes));
        // Another request of the same moment is the same strike.
        assert_eq!(limit.start(Wait::Unspecified, now), until);
        assert_eq!(
            limit.check("x", now).unwrap_err().to_string(),
            format!("GitHub's rate limit stops x until {}", until.iso())
        );
        // A success that was under way does not lift the limit.
        limit.record_success(now);
        limit.check("x", now).unwrap_err();
        now = until;
        limit.check("x", now).unwrap();
    }
    limit.record_success(now);
    assert_eq!(
        limit.start(Wait::Unspecified, now).since(now),
        Duration::from_mins(1)
    );
}

#[test]
fn a_said_limit_never_shortens_a_longer_one() {
    let limit = RateLimit::default();
    assert_eq!(limit.start(Wait::Until(after(90)), NOW), after(90));
    assert_eq!(limit.start(Wait::Until(after(5)), NOW), after(90));
    assert_eq!(limit.start(Wait::Unspecified, NOW), after(90));
}

#[test]
fn every_refusal_has_its_error_and_its_text() {
    let token = format!("ghs_{}", "a1B2".repeat(10));
    let leak = format!(r#"{{"message":"bad {token} here"}}"#);
    for (status, headers, body, text) in [
        (
            404,
            vec![],
            r#"{"message":"Not Found","status":"404"}"#,
            "GitHub answered 404 for issue #7 of o/r: it does not exist or the App cannot see it",
        ),
        (
            410,
            vec![],
            r#"{"message":"Issues are disabled for this repo"}"#,
            "GitHub answered 410 for issue #7 of o/r: Issues are disabled for this repo",
        ),
        (
            401,
            vec![],
            r#"{"message":"Bad credentials"}"#,
            "GitHub does not accept the App's credentials for issue #7 of o/r: Bad credentials",
        ),
        (
            403,
            vec![],
            r#"{"message":"This installation has been suspended"}"#,
            "GitHub does not accept the App's credentials for issue #7 of o/r: This installation has been suspended",
        ),
        (
            403,
            vec![("x-accepted-github-permissions", "issues=write")],
            MISSING,
            "GitHub refuses issue #7 of o/r: Resource not accessible by integration (the token needs the permission issues=write)",
        ),
        (403, vec![], "", "GitHub refuses issue #7 of o/r: Forbidden"),
        (
            422,
            vec![],
            r#"{"message":"Validation Failed","errors":[
            {"resource":"IssueComment","code":"unprocessable","field":"data","message":"Body is too long"},
            {"resource":"Label","code":"invalid","field":"color"},{"code":"custom"},"plain",{"resource":"Issue"},7]}"#,
            "GitHub answered 422 for issue #7 of o/r: Validation Failed (data: Body is too long; color: invalid; custom; plain; Issue)",
        ),
        (
            451,
            vec![],
            r#"{"message":"Repository access blocked","block":{"reason":"dmca"}}"#,
            "GitHub answered 451 for issue #7 of o/r: Repository access blocked (dmca)",
        ),
        (
            502,
            vec![("x-github-request-id", "AB:12")],
            "<html>nonsense</html>",
            "the outcome of issue #7 of o/r is unknown: GitHub answered 502: Bad Gateway (request AB:12)",
        ),
        (
            500,
            vec![],
            r#"{"message":"Server Error"}"#,
            "the outcome of issue #7 of o/r is unknown: GitHub answered 500: Server Error",
        ),
        (
            408,
            vec![],
            "",
            "the outcome of issue #7 of o/r is unknown: GitHub answered 408: Request Timeout",
        ),
        (
            400,
            vec![],
            leak.as_str(),
            "GitHub answered 400 for issue #7 of o/r: bad ***REDACTED:github-token*** here",
        ),
        (
            304,
            vec![],
            "",
            "GitHub answered 304 for issue #7 of o/r: Not Modified",
        ),
    ] {
        let error = error(status, &headers, body);
        assert_eq!(error.to_string(), text);
    }
    answer(204, &[], "").error_for_status().unwrap();
}

#[test]
fn refusals_that_are_no_missing_permission_are_told_apart() {
    for (status, message, expected) in [
        (
            403,
            "Unable to create comment because issue is locked.",
            "Locked",
        ),
        (403, "Repository was archived so is read-only.", "Archived"),
        (
            403,
            "Although you appear to have the correct authorization credentials, the `octo` organization has an IP allow \
             list enabled, and your IP address is not permitted to access this resource.",
            "IpAllowList",
        ),
        (403, "Resource not accessible by integration", "Forbidden"),
        (410, "This issue was deleted", "Deleted"),
        (410, "Issues are disabled for this repo", "Gone"),
        (410, "Issues has been disabled in this repository.", "Gone"),
    ] {
        let body = json!({"message": message}).to_string();
        let error = error(status, &[], &body);
        assert!(format!("{error:?}").starts_with(expected), "{error:?}");
        assert!(
            error.is_refusal() && error.to_string().contains(message),
            "{error}"
        );
    }
}

#[test]
fn long_messages_are_cut() {
    let body = json!({ "message": "ä\n".repeat(2000) }).to_string();
    let error = answer(400, &[], &body).error_for_status().unwrap_err();
    let ForgeError::Rejected { message, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(message.chars().count(), 501);
    assert!(message.ends_with('…'));
}

#[test]
fn an_unreadable_read_names_the_field_and_an_unreadable_write_has_happened() {
    let broken = |method| response(&method, 200, &[], r#"{"slug":"x"}"#);
    let read = broken(Method::GET).json::<wire::App>().unwrap_err();
    assert_eq!(
        read.to_string(),
        "GitHub's answer to issue #7 of o/r cannot be read: missing field `id` at line 1 column 12"
    );
    let write = broken(Method::POST).json::<wire::App>().unwrap_err();
    assert_eq!(
        write.to_string(),
        "the outcome of issue #7 of o/r is unknown: the answer cannot be read: missing field `id` at line 1 column 12"
    );
}

#[test]
fn the_finer_role_wins() {
    for (permission, role, expected) in [
        ("read", "read", Some(Permission::Read)),
        ("read", "triage", Some(Permission::Triage)),
        ("write", "write", Some(Permission::Write)),
        ("write", "maintain", Some(Permission::Maintain)),
        ("admin", "admin", Some(Permission::Admin)),
        ("write", "release-captain", Some(Permission::Write)),
        ("none", "none", None),
        ("none", "", None),
        ("something-new", "", None),
    ] {
        let body =
            json!({"permission": permission, "role_name": role, "user": {"id": 7, "login": "a"}});
        let collaborator: wire::Collaborator = serde_json::from_value(body).unwrap();
        assert_eq!(collaborator.role(), expected, "{permission} {role}");
        assert_eq!(collaborator.user_id(), 7);
    }
    let bare: wire::Collaborator =
        serde_json::from_value(json!({"permission": "admin", "user": null})).unwrap();
    assert_eq!((bare.role(), bare.user_id()), (Some(Permission::Admin), 0));
}

#[test]
fn only_the_apps_own_posts_are_its_own() {
    let bot = json!({"id": 9, "login": "Planwright[bot]", "type": "Bot"});
    let human = json!({"id": 8, "login": "planwright[bot]", "type": "User"});
    let other = json!({"id": 7, "login": "other[bot]", "type": "Bot"});
    for (user, app, own) in [
        (&bot, json!(null), true),
        (&bot, json!({"id": 1}), true),
        (&bot, json!({"id": 2}), false),
        (&other, json!(null), false),
        // The App was renamed: its id decides.
        (&other, json!({"id": 1}), true),
        (&human, json!(null), false),
        // A person signed in through the App.
        (&human, json!({"id": 1}), false),
        (&json!(null), json!({"id": 1}), false),
    ] {
        let comment: wire::Comment = serde_json::from_value(json!({
            "id": 1, "html_url": "u", "user": user, "performed_via_github_app": app,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
        assert_eq!(
            comment.post.is_own(1, "planwright[bot]"),
            own,
            "{user} {app}"
        );
    }
}
