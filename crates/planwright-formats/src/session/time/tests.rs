//! Tests of `formats::session::time`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

#[test]
fn texts_stay_and_numbers_become_texts() {
    assert_eq!(
        timestamp(r#""2026-03-04T05:06:07.008Z""#).unwrap(),
        "2026-03-04T05:06:07.008Z"
    );
    assert_eq!(
        timestamp("1700000000.5").unwrap(),
        "2023-11-14T22:13:20.500Z"
    );
    assert_eq!(
        timestamp("1700000000500").unwrap(),
        "2023-11-14T22:13:20.500Z"
    );
    for none in ["\"\"", "{}", "true", "1e300", "-1e300"] {
        assert_eq!(timestamp(none), None, "{none}");
    }
}

#[test]
fn seconds_of_a_timestamp() {
    assert_eq!(seconds("1970-01-01T00:01:00.250Z"), Some(60.25));
    assert_eq!(seconds("1970-01-01T02:00:00+02:00"), Some(0.0));
    assert_eq!(seconds("yesterday"), None);
}
