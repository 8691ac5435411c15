//! Parsing of the process table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![cfg(target_os = "linux")]

use super::table::{parse_stat, process, processes};

#[test]
fn a_process_named_like_the_rest_of_the_line_is_parsed_correctly() {
    let line = b"42 (a) S 1 1 1 (\n) Z 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456 1000 2";
    let process = parse_stat(42, line).unwrap();
    assert!(!process.alive);
    assert_eq!((process.parent, process.group, process.session), (7, 8, 9));
    assert_eq!(process.key.start, 123_456);
    assert_eq!((process.threads, process.resident), (3, 2));
}

#[test]
fn an_incomplete_line_is_not_a_process() {
    for line in [
        &b""[..],
        b"42 (sh",
        b"42 (sh) S 1 2 3",
        b"42 (sh) S 1 2 three 4 5",
    ] {
        assert_eq!(parse_stat(42, line), None);
    }
}

#[test]
fn this_process_is_in_the_table() {
    let own = std::process::id().cast_signed();
    let this = process(own).unwrap();
    assert!(this.alive && this.key.start > 0);
    assert!(processes().iter().any(|other| other.key == this.key));
}
