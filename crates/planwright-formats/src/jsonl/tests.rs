//! Tests of `formats::jsonl`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

fn cut(text: &[u8], size: usize, limit: usize) -> Vec<Option<Vec<u8>>> {
    let mut found = Vec::new();
    let mut take = |line: Line<'_>| {
        found.push(match line {
            Line::Bytes(bytes) => Some(bytes.to_vec()),
            Line::TooLong => None,
        });
    };
    let mut lines = Lines::with_limit(limit);
    for chunk in text.chunks(size) {
        lines.push(chunk, &mut take);
    }
    lines.finish(&mut take);
    found
}

#[test]
fn chunks_make_no_difference() {
    let text = b"one\n\ntwo\r\nthree, longer\nfour";
    let whole = cut(text, text.len(), 100);
    let want: Vec<_> = ["one", "", "two\r", "three, longer", "four"]
        .map(|line| Some(line.as_bytes().to_vec()))
        .into();
    assert_eq!(whole, want);
    for size in 1..text.len() {
        assert_eq!(cut(text, size, 100), want, "chunks of {size}");
    }
}

#[test]
fn a_long_line_is_skipped_and_the_next_is_read() {
    let text = b"ab\nabcdef\nabc\nabcdefghi";
    for size in 1..=text.len() {
        let found = cut(text, size, 3);
        assert_eq!(
            found,
            [Some(b"ab".to_vec()), None, Some(b"abc".to_vec()), None],
            "chunks of {size}"
        );
    }
}

#[test]
fn the_buffer_does_not_stay_large() {
    let mut lines = Lines::default();
    lines.push(&vec![b'x'; 8 * MAX_KEPT_BUFFER_BYTES], |_| ());
    let mut length = 0;
    lines.push(b"\n", |line| {
        if let Line::Bytes(bytes) = line {
            length = bytes.len();
        }
    });
    assert_eq!(length, 8 * MAX_KEPT_BUFFER_BYTES);
    assert!(lines.partial.capacity() <= 2 * MAX_KEPT_BUFFER_BYTES);
}

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
    assert_eq!(string(r#""plain""#).as_deref(), Some("plain"));
    assert_eq!(string(r#""a\nb\u00e9""#).as_deref(), Some("a\nbé"));
    assert_eq!(string("5"), None);
    let half = string(r#""cut \ud83d off""#).unwrap();
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
