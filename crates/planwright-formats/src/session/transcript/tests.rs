//! Tests of `formats::session::transcript`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde_json::{Value, json};

use super::*;

mod budget;
mod filters;
mod hostile;
mod properties;
mod streaming;

fn filtered() -> Options {
    Options {
        filter: true,
        ..Options::default()
    }
}

/// Parts, verdict and counts of a log.
fn parts_of(log: &[u8], options: Options) -> (Vec<String>, Verdict, Stats) {
    let mut transcript = Transcript::new(options);
    let mut pieces = transcript.push(log);
    let end = transcript.finish();
    pieces.extend(end.pieces);
    let parts = parts(pieces);
    (parts, end.verdict, end.stats)
}

fn parts(pieces: Vec<Piece>) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut begun = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) if begun => parts.last_mut().unwrap().push_str(&text),
            Piece::Text(text) => parts.push(text),
            Piece::NextPart => {}
        }
        begun = !parts.last().unwrap().ends_with(xml::CLOSE);
    }
    parts
}

fn log(entries: &[Value]) -> Vec<u8> {
    let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// The one document of a log without filtering.
fn all(entries: &[Value]) -> String {
    let (parts, _, _) = parts_of(&log(entries), Options::default());
    assert_eq!(parts.len(), 1);
    parts[0].clone()
}

fn said(text: &str) -> Value {
    json!({"type": "user", "message": {"content": text}})
}

fn answered(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

fn called(name: &str, id: &str, input: &Value) -> Value {
    let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    json!({"type": "assistant", "message": {"content": [call]}})
}

fn returned(id: &str, content: &Value) -> Value {
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    json!({"type": "user", "message": {"content": [result]}})
}

/// The document of a log with filtering, with a conversation before it that makes it worth reading.
fn after_talk(entries: &[Value]) -> (Vec<String>, Stats) {
    let mut talk = vec![said("Why?"), answered("Because."), said("Go on.")];
    talk.extend_from_slice(entries);
    let (parts, verdict, stats) = parts_of(&log(&talk), filtered());
    assert_eq!(verdict, Verdict::Worth);
    assert_eq!(parts.len(), 1);
    let start = "<session>\n  <user>Why?</user>\n  <assistant>Because.</assistant>\n  <user>Go on.</user>\n";
    let rest = parts[0].strip_prefix(start).unwrap();
    let rest = rest.strip_suffix("</session>").unwrap();
    (rest.lines().map(str::to_owned).collect(), stats)
}

const REAL: &str = include_str!("../../../../../fixtures/transcripts/session.jsonl");

#[test]
fn a_log_as_the_host_writes_it() {
    let options = Options {
        session_id: Some("6f0d2c1e-52aa-4c0e-9b3a-0d4c7a1b9e55".to_owned()),
        ..filtered()
    };
    let (parts, verdict, stats) = parts_of(REAL.as_bytes(), options);
    assert_eq!(verdict, Verdict::Worth);
    let expected = include_str!("../../../../../fixtures/transcripts/session.xml");
    assert_eq!(format!("{}\n", parts[0]), expected);
    assert_eq!(
        stats.to_string(),
        "17 entries read, 10 written; left out: not JSON 1, other sessions 1, file snapshots 1, bookkeeping 1, \
         looking for logs 2, without content 1; cut: tool results 1; 11117 → 2574 bytes, 76.8 % less"
    );
    assert_eq!(stats.first_unreadable, Some(15));
    assert_eq!(stats.bytes_in, REAL.len() as u64);
    assert_eq!(stats.bytes_out, parts[0].len() as u64);
}

#[test]
fn the_same_log_gives_the_same_transcript() {
    let once = parts_of(REAL.as_bytes(), filtered());
    assert_eq!(once, parts_of(REAL.as_bytes(), filtered()));
}

#[test]
fn results_in_every_shape_are_kept() {
    let text = json!([{"type": "text", "text": "one"}, {"type": "image", "source": {"data": "iVBO"}}, "three", 4]);
    assert_eq!(
        all(&[
            returned("a", &json!("as text")),
            returned("b", &text),
            returned("c", &Value::Null),
            json!({"type": "tool_result", "message": {"tool_use_id": "d", "content": text}}),
            json!({"type": "tool_result", "message": {"tool_use_id": "e", "content": "as text"}}),
        ]),
        "<session>\n  <tool_result tool=\"a\">\nas text\n  </tool_result>\n  \
         <tool_result tool=\"b\">\none\n[image omitted]\nthree\n  </tool_result>\n  \
         <tool_result tool=\"c\">\n\n  </tool_result>\n  \
         <tool_result tool=\"d\">\none\n[image omitted]\nthree\n  </tool_result>\n  \
         <tool_result tool=\"e\">\nas text\n  </tool_result>\n</session>"
    );
}

#[test]
fn what_the_host_noted_stands_in_for_an_empty_result() {
    let mut bash = returned("a", &json!(""));
    bash["toolUseResult"] = json!({"stdout": "out\n", "stderr": "err", "interrupted": false});
    let mut agent = returned("b", &json!([]));
    agent["toolUseResult"] =
        json!({"agentId": "1f2e3d4c", "content": [{"type": "text", "text": "found it"}]});
    let mut refused = returned("c", &json!(" "));
    refused["tool_use_result"] = json!("Error: the user said no");
    let mut full = returned("d", &json!("the result itself"));
    full["toolUseResult"] = json!({"stdout": "not this"});
    let mut two = returned("e", &json!(""));
    two["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "tool_result", "tool_use_id": "f", "content": ""}));
    two["toolUseResult"] = json!("of which of them?");
    let xml = all(&[bash, agent, refused, full, two]);
    let results: Vec<&str> = xml.split("\">\n").skip(1).collect();
    let texts: Vec<&str> = results
        .iter()
        .map(|rest| rest.split("\n  </tool_result>").next().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "out\n\nerr",
            "found it",
            "Error: the user said no",
            "the result itself",
            "",
            ""
        ]
    );
}

#[test]
fn words_between_results_keep_their_places() {
    let content = json!([
        {"type": "text", "text": "first"},
        "second",
        {"type": "tool_result", "tool_use_id": "t", "content": "r"},
        {"type": "text", "text": "third"},
    ]);
    assert_eq!(
        all(&[json!({"type": "user", "message": {"content": content}})]),
        "<session>\n  <user>first\nsecond</user>\n  <tool_result tool=\"t\">\nr\n  </tool_result>\n  <user>third</user>\n</session>"
    );
}

#[test]
fn summaries_and_words_of_the_host_are_kept() {
    assert_eq!(
        all(&[
            json!({"type": "summary", "summary": "They fixed the <export>.", "leafUuid": "x"}),
            json!({"type": "system", "subtype": "local_command", "content": "Compacted\n\n\n\nnow"}),
            json!({"type": "system", "subtype": "turn_duration", "durationMs": 12}),
        ]),
        "<session>\n  <summary>They fixed the &lt;export&gt;.</summary>\n  \
         <system subtype=\"local_command\">Compacted\n\nnow</system>\n</session>"
    );
}

#[test]
fn parameters_are_text_or_json() {
    let input = json!({"path": "/a b", "count": 3, "all": true, "none": null, "list": ["x", 1], "map": {"k": "<"}});
    let xml = all(&[called("Tool", "t1", &input)]);
    let params: Vec<&str> = xml.lines().filter(|line| line.contains("<param")).collect();
    assert_eq!(
        params,
        [
            "    <param name=\"path\">/a b</param>",
            "    <param name=\"count\">3</param>",
            "    <param name=\"all\">true</param>",
            "    <param name=\"none\">null</param>",
            "    <param name=\"list\">[\"x\",1]</param>",
            "    <param name=\"map\">{\"k\":\"&lt;\"}</param>",
        ]
    );
}

#[test]
fn the_tokens_of_a_message_are_written_once_behind_it() {
    let part = |text: &str, id: &str, output: u64| {
        let mut entry = answered(text);
        entry["message"]["id"] = json!(id);
        entry["message"]["usage"] = json!({"input_tokens": 7, "output_tokens": output});
        entry
    };
    let mut unsaid = part("", "m1", 30);
    unsaid["message"]["content"] = json!([]);
    let mut uncounted = part("e", "m2", 0);
    uncounted["message"]["usage"] = Value::Null;
    let xml = all(&[
        part("a", "m1", 1),
        part("b", "m1", 2),
        unsaid,
        said("c"),
        part("d", "m2", 4),
        uncounted,
    ]);
    assert_eq!(
        xml,
        "<session>\n  <assistant>a</assistant>\n  <assistant>b</assistant>\n  \
         <usage input_tokens=\"7\" output_tokens=\"30\" />\n  <user>c</user>\n  <assistant>d</assistant>\n  \
         <assistant>e</assistant>\n  <usage input_tokens=\"7\" output_tokens=\"4\" />\n</session>"
    );
}

#[test]
fn a_made_up_message_does_not_name_the_model() {
    let mut made_up = answered("You hit a limit.");
    made_up["message"]["model"] = json!("<synthetic>");
    let mut real = answered("Hello.");
    real["message"]["model"] = json!("opus");
    let xml = all(&[made_up, real]);
    assert!(
        xml.starts_with("<session>\n  <meta model=\"opus\" />\n"),
        "{xml}"
    );
}

#[test]
fn counts_make_one_line() {
    let mut stats = Stats {
        lines: 12,
        entries_in: 10,
        entries_out: 6,
        bytes_in: 3000,
        bytes_out: 999,
        repeated_commands: 1,
        repeated_texts: 2,
        cut_parameters: 3,
        cut_results: 4,
        ..Stats::default()
    };
    stats.leave_out(LeftOut::TooLong);
    stats.leave_out(LeftOut::Malformed);
    stats.leave_out(LeftOut::Snapshot);
    stats.leave_out(LeftOut::Snapshot);
    assert_eq!(
        stats.to_string(),
        "10 entries read, 6 written; left out: not JSON 1, too long 1, file snapshots 2; repeated: command texts 1, \
         texts 2; cut: parameters 3, tool results 4; 3000 → 999 bytes, 66.7 % less"
    );
    assert_eq!(stats.unreadable(), 2);
    assert_eq!(stats.first_unreadable, Some(12));
    assert_eq!(
        Stats::default().to_string(),
        "0 entries read, 0 written; 0 → 0 bytes"
    );
}
