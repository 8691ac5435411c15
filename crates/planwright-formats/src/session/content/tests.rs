//! Tests of `formats::session::content`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

/// A comment as erk wrote it.
fn comment(summary: &str, hints: &str, xml: &str) -> String {
    format!(
        "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n\
         <!-- erk:metadata-block:session-content -->\n<details>\n\
         <summary><strong>{summary}</strong></summary>\n\n{hints}```xml\n{xml}\n```\n\n</details>\n\
         <!-- /erk:metadata-block:session-content -->"
    )
}

fn read_all(comments: &[String]) -> Option<SessionContent> {
    parse(comments.iter().map(String::as_str))
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(parse([]), None);
    assert_eq!(
        parse(["", "Session Data (1/2)\n```xml\n<session/>\n```"]),
        None
    );
    let other = comment("Session Data", "", "<a/>").replace("session-content", "plan-body");
    assert_eq!(parse([other.as_str()]), None);
    let plain = comment("Session Data", "", "<a/>").replace("```xml", "```");
    assert_eq!(parse([plain.as_str()]), None);
}

#[test]
fn one_transcript_with_its_hints() {
    let one = comment(
        "Session Data: fix-login",
        "**Extraction Hints:**\n- Session Data (7/9) is not a number here\n\n",
        "<session session_id=\"5f1c\">\n  <user>Why?</user>\n</session>",
    );
    let found = parse([one.as_str()]).unwrap();
    assert_eq!(
        found.xml,
        "<session session_id=\"5f1c\">\n  <user>Why?</user>\n</session>"
    );
    assert_eq!(found.session_ids, ["5f1c"]);
    assert_eq!(found.missing, [""; 0]);
}

#[test]
fn chunks_come_by_their_numbers_after_whole_transcripts() {
    let comments = [
        comment("Session Data (10/10)", "", "ten"),
        comment(
            "Session Data (2/10)",
            "",
            "two session_id=\"b\" session_id=\"a\"",
        ),
        "Some words between.".to_owned(),
        comment("Session Data", "", "whole session_id=\"a\" session_id=\"\""),
        comment("Session Data (1/10)", "**Learn Hints:**\n- one\n\n", "one"),
    ];
    let found = read_all(&comments).unwrap();
    assert_eq!(
        found.xml,
        "whole session_id=\"a\" session_id=\"\"\none\ntwo session_id=\"b\" session_id=\"a\"\nten"
    );
    assert_eq!(found.session_ids, ["a", "b"]);
    let gaps: Vec<String> = (3..=9).map(|number| format!("{number}/10")).collect();
    assert_eq!(found.missing, gaps);
}

#[test]
fn two_cut_transcripts_are_not_shuffled() {
    let comments = [
        comment("Session Data (1/2): planning", "", "p1"),
        comment("Session Data (1/2): building", "", "b1"),
        comment("Session Data (2/2): building", "", "b2"),
        comment("Session Data (2/2): planning", "", "p2"),
        comment("Session Data (2/3): building", "", "c2"),
    ];
    let found = read_all(&comments).unwrap();
    assert_eq!(found.xml, "p1\np2\nb1\nb2\nc2");
    assert_eq!(found.missing, ["1/3: building", "3/3: building"]);
}

#[test]
fn a_fence_inside_a_transcript_ends_nothing() {
    let xml = "<tool_result tool=\"t\">\n```rust\nfn main() {}\n```\n</tool_result>";
    let found = read_all(&[comment("Session Data", "", xml)]).unwrap();
    assert_eq!(found.xml, xml);
}

#[test]
fn several_blocks_in_one_comment_with_crlf() {
    let both = format!(
        "Both:\n\n{}\n\n{}",
        comment("Session Data (2/2)", "", "second"),
        comment("Session Data (1/2)", "", "first")
    );
    let found = parse([both.replace('\n', "\r\n").as_str()]).unwrap();
    assert_eq!(found.xml, "first\nsecond");
}

#[test]
fn a_count_out_of_all_reason_costs_nothing() {
    let found = read_all(&[comment("Session Data (1/18446744073709551615)", "", "x")]).unwrap();
    assert_eq!(found.missing.len(), 999);
    let no_number = comment("Session Data (1/99999999999999999999999)", "", "x");
    assert_eq!(read_all(&[no_number]).unwrap().xml, "x");
}

#[test]
fn what_fits_stays_whole() {
    assert_eq!(chunks("", 10), [""]);
    assert_eq!(chunks("a\n\nb\n", 5), ["a\n\nb\n"]);
}

#[test]
fn whole_lines_share_a_chunk_and_their_line_ends_count() {
    assert_eq!(chunks("aaa\nbbb\nccc\n", 8), ["aaa\nbbb", "ccc\n"]);
    assert_eq!(chunks("aaa\nbbb\nccc\n", 7), ["aaa", "bbb", "ccc\n"]);
}

#[test]
fn a_line_that_is_too_long_is_cut_between_characters() {
    assert_eq!(chunks("ab\nééé\ncd", 6), ["ab", "éé", "é", "cd"]);
    assert_eq!(
        chunks("👀👀", 1),
        ["👀", "👀"],
        "nothing is smaller than a character"
    );
    assert_eq!(chunks("ab\n\n", 0), ["a", "b"]);
}

#[test]
fn a_comment_of_one_line() {
    let text = "x".repeat(MAX_CHUNK_BYTES + 1);
    let chunks = chunks(&text, MAX_CHUNK_BYTES);
    let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.len()).collect();
    assert_eq!(lengths, [MAX_CHUNK_BYTES - 1, 2]);
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_is_larger(lines in proptest::collection::vec("[a-z日👀]{0,12}", 0..30), most in 5_usize..60) {
        let text = lines.join("\n");
        let chunks = chunks(&text, most);
        prop_assert!(chunks.iter().all(|chunk| chunk.len() <= most));
        let letters = |text: &str| text.replace('\n', "");
        prop_assert_eq!(letters(&chunks.concat()), letters(&text));
        if lines.iter().all(|line| line.len() < most) {
            prop_assert_eq!(chunks.join("\n"), text);
        }
    }
}
