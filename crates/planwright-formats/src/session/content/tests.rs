//! Tests of `formats::session::content`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

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
    read(comments.iter().map(String::as_str))
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(read([]), None);
    assert_eq!(
        read(["", "Session Data (1/2)\n```xml\n<session/>\n```"]),
        None
    );
    let other = comment("Session Data", "", "<a/>").replace("session-content", "plan-body");
    assert_eq!(read([other.as_str()]), None);
    let plain = comment("Session Data", "", "<a/>").replace("```xml", "```");
    assert_eq!(read([plain.as_str()]), None);
}

#[test]
fn one_transcript_with_its_hints() {
    let one = comment(
        "Session Data: fix-login",
        "**Extraction Hints:**\n- Session Data (7/9) is not a number here\n\n",
        "<session session_id=\"5f1c\">\n  <user>Why?</user>\n</session>",
    );
    let found = read([one.as_str()]).unwrap();
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
    let found = read([both.replace('\n', "\r\n").as_str()]).unwrap();
    assert_eq!(found.xml, "first\nsecond");
}

#[test]
fn a_count_out_of_all_reason_costs_nothing() {
    let found = read_all(&[comment("Session Data (1/18446744073709551615)", "", "x")]).unwrap();
    assert_eq!(found.missing.len(), 999);
    let no_number = comment("Session Data (1/99999999999999999999999)", "", "x");
    assert_eq!(read_all(&[no_number]).unwrap().xml, "x");
}
