//! What a line of the process table says.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![cfg(target_os = "linux")]

use super::table::{all, one, parse};

#[test]
fn a_process_that_is_named_like_the_line_goes_on_is_read_right() {
    let line = b"42 (a) S 1 1 1 (\n) Z 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 2";
    let process = parse(42, line).unwrap();
    assert!(!process.alive);
    assert_eq!((process.parent, process.group, process.session), (7, 8, 9));
    assert_eq!(process.start, 123_456);
}

#[test]
fn a_line_that_ends_early_is_no_process() {
    for line in [
        &b""[..],
        b"42 (sh",
        b"42 (sh) S 1 2 3",
        b"42 (sh) S 1 2 three 4 5",
    ] {
        assert_eq!(parse(42, line), None);
    }
}

#[test]
fn this_process_is_in_the_table() {
    let own = std::process::id().cast_signed();
    let process = one(own).unwrap();
    assert!(process.alive && process.start > 0);
    assert!(all().iter().any(|other| other.key() == process.key()));
}
