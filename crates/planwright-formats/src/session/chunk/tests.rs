//! Tests of `formats::session::chunk`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use proptest::prelude::*;

#[test]
fn what_fits_stays_whole() {
    assert_eq!(chunk("", 10), [""]);
    assert_eq!(chunk("a\n\nb\n", 5), ["a\n\nb\n"]);
}

#[test]
fn whole_lines_share_a_chunk_and_their_line_ends_count() {
    assert_eq!(chunk("aaa\nbbb\nccc\n", 8), ["aaa\nbbb", "ccc\n"]);
    assert_eq!(chunk("aaa\nbbb\nccc\n", 7), ["aaa", "bbb", "ccc\n"]);
}

#[test]
fn a_line_that_is_too_long_is_cut_between_characters() {
    assert_eq!(chunk("ab\nééé\ncd", 6), ["ab", "éé", "é", "cd"]);
    assert_eq!(
        chunk("👀👀", 1),
        ["👀", "👀"],
        "nothing is smaller than a character"
    );
    assert_eq!(chunk("ab\n\n", 0), ["a", "b"]);
}

#[test]
fn a_comment_of_one_line() {
    let text = "x".repeat(COMMENT_BYTES + 1);
    let chunks = chunk(&text, COMMENT_BYTES);
    let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.len()).collect();
    assert_eq!(lengths, [COMMENT_BYTES - 1, 2]);
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_is_larger(lines in proptest::collection::vec("[a-z日👀]{0,12}", 0..30), most in 5_usize..60) {
        let text = lines.join("\n");
        let chunks = chunk(&text, most);
        prop_assert!(chunks.iter().all(|chunk| chunk.len() <= most));
        let letters = |text: &str| text.replace('\n', "");
        prop_assert_eq!(letters(&chunks.concat()), letters(&text));
        if lines.iter().all(|line| line.len() < most) {
            prop_assert_eq!(chunks.join("\n"), text);
        }
    }
}
