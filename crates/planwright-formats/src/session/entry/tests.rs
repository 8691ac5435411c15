//! Tests of `formats::session::entry`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

#[test]
fn only_the_entry_s_own_members_count() {
    let line = br#"{"type":"user","message":{"content":"\"slug\":\"no\""},"data":{"slug":"no","sessionId":"no"},
        "sessionId":"s1","timestamp":1700000000}"#;
    let entry = Entry::parse(line).unwrap();
    assert_eq!(entry.session().as_deref(), Some("s1"));
    assert_eq!(entry.slug(), None);
    assert_eq!(
        entry.timestamp().as_deref(),
        Some("2023-11-14T22:13:20.000Z")
    );
}

#[test]
fn members_of_another_type_are_absent() {
    let entry =
        Entry::parse(br#"{"sessionId":5,"slug":"","timestamp":[],"message":null}"#).unwrap();
    assert_eq!(
        (
            entry.session(),
            entry.slug(),
            entry.timestamp(),
            entry.message()
        ),
        (None, None, None, None)
    );
}

#[test]
fn other_lines_are_malformed() {
    for line in [
        &b"not json"[..],
        b"[]",
        b"null",
        b"\0\0\0",
        b"{\"a\":\"\xff\"}",
        b"{\"a\":1",
        b"{} {}",
    ] {
        assert_eq!(Entry::parse(line).unwrap_err(), Malformed, "{line:?}");
    }
    assert_eq!(Malformed.to_string(), "the line is not a JSON object");
}

#[test]
fn texts_stay_and_numbers_become_texts() {
    assert_eq!(
        normalized_timestamp(r#""2026-03-04T05:06:07.008Z""#).unwrap(),
        "2026-03-04T05:06:07.008Z"
    );
    assert_eq!(
        normalized_timestamp("1700000000.5").unwrap(),
        "2023-11-14T22:13:20.500Z"
    );
    assert_eq!(
        normalized_timestamp("1700000000500").unwrap(),
        "2023-11-14T22:13:20.500Z"
    );
    for none in ["\"\"", "{}", "true", "1e300", "-1e300"] {
        assert_eq!(normalized_timestamp(none), None, "{none}");
    }
}

#[test]
fn seconds_of_a_timestamp() {
    assert_eq!(parse_timestamp("1970-01-01T00:01:00.250Z"), Some(60.25));
    assert_eq!(parse_timestamp("1970-01-01T02:00:00+02:00"), Some(0.0));
    assert_eq!(parse_timestamp("yesterday"), None);
}
