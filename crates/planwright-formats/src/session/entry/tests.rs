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
