//! When output is returned, and how much is held back.

use super::*;

fn modelled(text: &str) -> Value {
    let mut entry = answered(text);
    entry["message"]["model"] = json!("opus");
    entry["gitBranch"] = json!("main");
    entry
}

#[test]
fn text_comes_as_soon_as_the_head_is_known() {
    let mut transcript = Transcript::new(filtered());
    let mut push = |entry: &Value| parts(transcript.push(format!("{entry}\n").as_bytes()));
    assert_eq!(push(&said("Why?")), [""; 0]);
    assert_eq!(
        push(&modelled("Because.")),
        [""; 0],
        "three entries make a session"
    );
    assert_eq!(
        push(&said("Go on.")),
        [
            "<session>\n  <meta branch=\"main\" />\n  <meta model=\"opus\" />\n  <user>Why?</user>\n  \
             <assistant>Because.</assistant>\n  <user>Go on.</user>\n"
        ]
    );
    assert_eq!(
        push(&modelled("Well.")),
        ["  <assistant>Well.</assistant>\n"]
    );
    let end = transcript.finish();
    assert_eq!(end.pieces, [Piece::Text("</session>".to_owned())]);
    assert_eq!(end.verdict, Verdict::Worth);
}

#[test]
fn no_more_is_held_back_than_promised() {
    let mut transcript = Transcript::new(filtered());
    let line = format!("{}\n", said(&"x".repeat(100_000)));
    let mut fed = 0;
    while transcript.push(line.as_bytes()).is_empty() {
        fed += line.len();
        assert!(fed < MAX_HELD_BYTES + 200_000);
    }
    assert!(fed >= MAX_HELD_BYTES - 200_000);
    assert_eq!(transcript.push(line.as_bytes()).len(), 1);
    let end = transcript.finish();
    assert_eq!(end.verdict, Verdict::Worth, "begun is begun");
    assert!(end.stats.bytes_out > MAX_HELD_BYTES as u64);
}

#[test]
fn the_cuts_between_chunks_do_not_matter() {
    let whole = parts_of(REAL.as_bytes(), filtered());
    for size in [1, 7, 4096] {
        let mut transcript = Transcript::new(filtered());
        let mut pieces = Vec::new();
        for chunk in REAL.as_bytes().chunks(size) {
            pieces.extend(transcript.push(chunk));
        }
        let end = transcript.finish();
        pieces.extend(end.pieces);
        assert_eq!((parts(pieces), end.verdict, end.stats), whole);
    }
}

#[test]
fn every_part_has_the_head() {
    let options = Options {
        source: Some("agent-1f2e3d4c".to_owned()),
        max_tokens: Some(45),
        ..Options::default()
    };
    let long = "w".repeat(400);
    let entries = [modelled("one"), said(&long), said("three"), said("four")];
    let (parts, _, stats) = parts_of(&log(&entries), options);
    let head = "<session>\n  <meta source=\"agent-1f2e3d4c\" />\n  <meta branch=\"main\" />\n  <meta model=\"opus\" />\n";
    assert_eq!(
        parts,
        [
            format!("{head}  <assistant>one</assistant>\n</session>"),
            format!("{head}  <user>{long}</user>\n</session>"),
            format!("{head}  <user>three</user>\n  <user>four</user>\n</session>"),
        ]
    );
    assert_eq!(stats.bytes_out, parts.concat().len() as u64);
}

#[test]
fn a_log_of_many_entries_is_not_kept() {
    let mut transcript = Transcript::new(filtered());
    let mut out = 0;
    for n in 0..300 {
        let call = called(
            "Read",
            &format!("t{n}"),
            &json!({"file_path": "/src/lib.rs"}),
        );
        let entries = [
            said("Go on."),
            modelled("Yes."),
            call,
            returned(&format!("t{n}"), &json!("x\n".repeat(500))),
        ];
        let chunk = log(&entries);
        out += parts(transcript.push(&chunk)).concat().len();
        assert_eq!(transcript.writer.held.len(), 0);
    }
    let end = transcript.finish();
    assert_eq!(end.stats.entries_out, 1_200);
    assert_eq!(end.stats.bytes_out, (out + "</session>".len()) as u64);
    assert_eq!(end.stats.cut_results, 300);
}
