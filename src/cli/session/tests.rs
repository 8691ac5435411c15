//! Tests of `cli::session`.

use super::*;

#[test]
fn a_plan_steers_no_terminal_and_a_pipe_gets_its_bytes() {
    let text = "# Plan\u{1b}]0;title\u{7}\r\n\n\t- one\u{202e}\n";
    assert_eq!(shown(text, false), text);
    assert_eq!(
        shown(text, true),
        "# Plan\u{fffd}]0;title\u{fffd}\u{fffd}\n\n\t- one\u{fffd}\n"
    );
}
