//! Limits, costs and the end of standard error.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::Duration;

use super::*;

const LIMITS: Limits = Limits {
    deadline: Duration::MAX,
    silence: Duration::MAX,
    turns: 2,
    cost: None,
};

fn said(id: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    ) + "\n"
}

fn result(cost: &str) -> String {
    format!(
        r#"{{"type":"result","is_error":false,"subtype":"success","result":"done","total_cost_usd":{cost}}}"#
    ) + "\n"
}

fn json(cost_before: Micros) -> OutputReader {
    OutputReader::new(OutputFormat::StreamJson, 1 << 20, 1 << 20, cost_before)
}

fn summary(reader: OutputReader) -> crate::formats::agent_stream::Summary {
    match reader.finish() {
        Output::Json(summary) => *summary,
        Output::Text(_) => panic!("not JSON"),
    }
}

#[test]
fn output_after_the_result_is_ignored_however_it_is_chunked() {
    let all = said("a") + &result("0.5") + &said("b") + &result("9") + &said("c") + &said("d");
    for size in [1, 7, 64, all.len()] {
        let mut reader = json(0);
        for piece in all.as_bytes().chunks(size) {
            reader.push(piece, &LIMITS).unwrap();
        }
        let summary = summary(reader);
        assert_eq!(summary.texts, ["a"]);
        assert_eq!((summary.results, summary.turns), (1, 1));
    }
}

#[test]
fn costs_of_the_session_are_not_counted_twice() {
    let table = [
        ("0.25", 0, 250_000, 250_000),
        ("0.25", 100_000, 150_000, 250_000),
        ("0.25", 300_000, 0, 250_000),
        ("-1", 0, 0, 0),
        ("1e300", 0, u64::MAX, u64::MAX),
        ("null", 0, 0, 0),
    ];
    for (cost, before, own, session) in table {
        let mut reader = json(before);
        reader.push(result(cost).as_bytes(), &LIMITS).unwrap();
        let spent = reader.spent();
        assert_eq!((spent.cost, spent.session_cost), (own, session), "{cost}");
    }
}

#[test]
fn the_turn_limit_counts_messages_and_not_their_blocks() {
    let mut reader = json(0);
    for id in ["a", "a", "a", "b", "b"] {
        reader.push(said(id).as_bytes(), &LIMITS).unwrap();
    }
    assert_eq!(
        reader.push(said("c").as_bytes(), &LIMITS),
        Err(Limit::Turns)
    );
    assert_eq!(reader.spent().turns, 3);
}

#[test]
fn overlong_lines_and_outputs_exceed_the_limit() {
    let mut reader = OutputReader::new(OutputFormat::StreamJson, 10, 1 << 20, 0);
    assert_eq!(
        reader.push(said("long").as_bytes(), &LIMITS),
        Err(Limit::Output)
    );
    let mut reader = OutputReader::new(OutputFormat::Markdown, 10, 16, 0);
    reader.push(b"0123456789abcdef", &LIMITS).unwrap();
    assert_eq!(reader.push(b"0", &LIMITS), Err(Limit::Output));
}

#[test]
fn the_tail_of_standard_error_starts_with_a_whole_word() {
    let mut tail = Tail::default();
    for _ in 0..10_000 {
        tail.push("ündé ".as_bytes());
    }
    tail.push("the end é\n".as_bytes());
    let text = tail.text();
    assert!(text.starts_with("ündé ") && text.ends_with("the end é"));
    assert!(text.len() <= MAX_TAIL_BYTES && text.len() > MAX_TAIL_BYTES - 20);
}

#[test]
fn a_secret_at_the_cut_is_dropped_entirely() {
    // The cut is made when the text is returned, or earlier. Both go through the secret.
    for before in [0, 3 * MAX_TAIL_BYTES] {
        let mut tail = Tail::default();
        tail.push(&vec![b'.'; before]);
        tail.push(b" SECRETSECRET the reason: ");
        tail.push(&vec![b'.'; MAX_TAIL_BYTES - 20]);
        if before > 0 {
            tail.push(&[b'.'; 1]);
        }
        let text = tail.text();
        assert!(text.starts_with("the reason: ."), "{}", &text[..30]);
    }
    let mut tail = Tail::default();
    tail.push(&vec![b'x'; MAX_TAIL_BYTES + 1]);
    assert_eq!(tail.text(), "", "one word, and its beginning is not there");
}
