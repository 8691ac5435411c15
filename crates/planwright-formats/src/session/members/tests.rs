//! Tests of `formats::session::members`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

#[test]
fn members_are_found_once_and_whole() {
    let json = r#" {"a": {"b": 1}, "b" : [2,3], "z": {"a": 9}, "n": null, "a": "last"} "#;
    let found = members(json, &["a", "b", "n", "missing"]).unwrap();
    assert_eq!(found, [Some(r#""last""#), Some("[2,3]"), None, None]);
}

#[test]
fn a_key_written_with_escapes_is_the_same_key() {
    assert_eq!(members(r#"{"\u0061": 1}"#, &["a"]).unwrap(), [Some("1")]);
    assert_eq!(
        members(r#"{"\ud800": 1, "a": 2}"#, &["a"]).unwrap(),
        [Some("2")]
    );
}

#[test]
fn what_is_not_an_object_is_an_error() {
    for json in [
        "",
        "[]",
        "5",
        "\"{}\"",
        "{",
        "{}x",
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        "{\"a\":\"\u{1}\"}",
    ] {
        assert!(members(json, &["a"]).is_err(), "{json}");
    }
}

#[test]
fn depth_costs_no_stack() {
    let deep = format!(
        r#"{{"x":{}{},"a":1}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(members(&deep, &["a"]).unwrap(), [Some("1")]);
    assert!(members(&"[".repeat(100_000), &["a"]).is_err());
    assert!(members(&format!(r#"{{"a":{}"#, "[".repeat(100_000)), &["a"]).is_err());
}

#[test]
fn strings_are_read_leniently() {
    assert_eq!(text(r#""plain""#).as_deref(), Some("plain"));
    assert_eq!(text(r#""a\nb\u00e9""#).as_deref(), Some("a\nbé"));
    assert_eq!(text("5"), None);
    let half = text(r#""cut \ud83d off""#).unwrap();
    assert!(
        half.starts_with("cut \u{fffd}") && half.ends_with(" off"),
        "{half}"
    );
}

#[test]
fn elements_of_an_array_only() {
    let mut seen = Vec::new();
    assert!(elements(r#"[1, "a", {}]"#, |element| seen.push(element)));
    assert_eq!(seen, ["1", "\"a\"", "{}"]);
    assert!(!elements("{}", |element| panic!("{element}")));
}
