//! Tests of `formats::agent_stream`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde_json::json;

use super::*;

mod cuts;
mod errors;
mod fixtures;
mod writes;

/// Reads a stream in one push.
fn read(stdout: &[u8]) -> (Summary, Vec<Event>) {
    read_cut(stdout, stdout.len().max(1), MAX_LINE_BYTES)
}

/// Reads a stream in pushes of `size` bytes, with lines up to `line_max`.
fn read_cut(stdout: &[u8], size: usize, line_max: usize) -> (Summary, Vec<Event>) {
    let mut events = Vec::new();
    let mut on = |event: &Event| events.push(event.clone());
    let mut stream = Stream::with_line_max(line_max);
    for chunk in stdout.chunks(size) {
        stream.push(chunk, &mut on);
    }
    let summary = stream.finish(&mut on);
    (summary, events)
}

fn result(members: &serde_json::Value) -> ResultEvent {
    let mut line = members.clone();
    line["type"] = json!("result");
    read(line.to_string().as_bytes()).0.first.unwrap()
}

#[test]
fn success_is_what_says_so_in_every_place() {
    for (members, failed) in [
        (json!({"is_error": false}), false),
        (json!({"is_error": false, "subtype": "success"}), false),
        (json!({"is_error": false, "subtype": null}), false),
        (json!({"is_error": true, "subtype": "success"}), true),
        (
            json!({"is_error": false, "subtype": "error_max_turns"}),
            true,
        ),
        (json!({"is_error": false, "subtype": "Success"}), true),
        (json!({"is_error": false, "subtype": true}), true),
        (json!({"is_error": "false"}), true),
        (json!({"is_error": "true"}), true),
        (json!({"is_error": 0}), true),
        (json!({"is_error": null, "subtype": "success"}), true),
        (json!({"subtype": "success"}), true),
        (json!({}), true),
    ] {
        assert_eq!(result(&members).failed(), failed, "{members}");
    }
}

#[test]
fn an_exit_code_can_spoil_a_result_and_never_make_one() {
    let (good, _) = read(br#"{"type":"result","is_error":false}"#);
    let (bad, _) = read(br#"{"type":"result","is_error":true}"#);
    let (none, _) = read(b"");
    for (summary, code, want) in [
        (&good, Some(0), StreamOutcome::Success),
        (&good, None, StreamOutcome::Success),
        (&good, Some(1), StreamOutcome::ProcessError),
        (&good, Some(-9), StreamOutcome::ProcessError),
        (&bad, Some(0), StreamOutcome::AgentError),
        (&bad, Some(1), StreamOutcome::AgentError),
        (&bad, None, StreamOutcome::AgentError),
        (&none, Some(0), StreamOutcome::NoResult),
        (&none, None, StreamOutcome::NoResult),
        (&none, Some(143), StreamOutcome::ProcessError),
    ] {
        assert_eq!(outcome(summary, code), want, "{code:?}");
    }
}

#[test]
fn members_of_a_result_are_read_one_by_one() {
    let all = result(&json!({
        "is_error": true, "subtype": "error_max_turns", "result": "Half a plan", "structured_output": {"a": [1]},
        "errors": ["one", 2, "three"], "num_turns": 4, "total_cost_usd": 0.25, "duration_ms": 1500,
        "usage": {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 20, "service_tier": "standard"},
        "permission_denials": [{}, {}], "session_id": "s", "terminal_reason": "max_turns", "api_error_status": 529,
    }));
    let want = ResultEvent {
        is_error: Some(true),
        subtype: Some("error_max_turns".to_owned()),
        text: Some("Half a plan".to_owned()),
        structured: Some(json!({"a": [1]})),
        errors: vec!["one".to_owned(), "three".to_owned()],
        turns: Some(4),
        cost_usd: Some(0.25),
        tokens: TokenUsage {
            input: 7,
            output: 5,
            cache_read: 300,
            cache_write: 20,
        },
        duration_ms: Some(1500),
        denials: 2,
        session: Some("s".to_owned()),
        terminal_reason: Some("max_turns".to_owned()),
        api_status: Some(529),
    };
    assert_eq!(all, want);
    assert_eq!(all.message(), "Half a plan");
    let strange = result(&json!({
        "is_error": false, "result": ["x"], "errors": "none", "num_turns": -1, "total_cost_usd": "0.25",
        "duration_ms": 1.5, "permission_denials": 3, "session_id": {}, "api_error_status": 99999, "usage": {"input_tokens": -1},
    }));
    let want = ResultEvent {
        is_error: Some(false),
        ..ResultEvent::default()
    };
    assert_eq!(strange, want);
}

#[test]
fn a_number_no_computer_can_hold_does_not_cost_the_result() {
    let (summary, _) = read(
        br#"{"type":"result","is_error":false,"total_cost_usd":1e999,"structured_output":[1e999]}"#,
    );
    assert_eq!(outcome(&summary, Some(0)), StreamOutcome::Success);
    let first = summary.first.unwrap();
    assert_eq!((first.cost_usd, first.structured), (None, None));
}

#[test]
fn depth_and_double_members_do_not_cost_a_line() {
    let deep = format!(
        r#"{{"type":"user","message":{}1{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let (summary, _) = read(deep.as_bytes());
    assert_eq!((summary.events, summary.malformed), (1, 0));
    let deep = deep.replace(
        r#""user","message""#,
        r#""result","is_error":true,"structured_output""#,
    );
    assert_eq!(read(deep.as_bytes()).0.first.unwrap().structured, None);
    let twice = br#"{"type":"user","type":"result","is_error":true,"is_error":false}"#;
    assert!(!read(twice).0.first.unwrap().failed());
}

#[test]
fn half_a_surrogate_pair_does_not_cost_the_result() {
    let (summary, _) = read(br#"{"type":"result","is_error":false,"result":"cut \ud83d"}"#);
    assert!(
        summary
            .first
            .unwrap()
            .text
            .unwrap()
            .starts_with("cut \u{fffd}")
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let (summary, _) =
        read(b"{\"type\":\"result\",\"is_error\":false,\"result\":\"a\xffb\"}\n\xff\n");
    assert_eq!((summary.not_utf8, summary.malformed), (2, 1));
    assert_eq!(summary.first.unwrap().text.as_deref(), Some("a\u{fffd}b"));
}

#[test]
fn a_line_over_the_limit_is_counted_and_the_stream_goes_on() {
    let long = format!(
        "{}\n{}\n",
        json!({"type": "user", "message": "x".repeat(200)}),
        json!({"type": "result", "is_error": false})
    );
    for size in [1, 64, 1000] {
        let (summary, events) = read_cut(long.as_bytes(), size, 100);
        assert_eq!((summary.lines, summary.too_long, summary.events), (2, 1, 1));
        assert_eq!(events[0], Event::TooLong);
        assert_eq!(outcome(&summary, Some(0)), StreamOutcome::Success);
    }
}

#[test]
fn texts_are_kept_whole_up_to_their_limit_and_the_rest_is_counted() {
    let line = |text: &str| {
        let event =
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
        format!("{event}\n").into_bytes()
    };
    let mut stream = Stream::new();
    let long = line(&"x".repeat(MAX_TEXTS_BYTES / 4));
    for _ in 0..5 {
        stream.push(&long, &mut |_| {});
    }
    stream.push(&line("short"), &mut |_| {});
    let summary = stream.summary();
    assert_eq!((summary.texts.len(), summary.texts_left_out), (4, 2));
    assert_eq!(summary.turns, 6);
}

#[test]
fn what_is_listed_has_limits_and_what_is_counted_has_none() {
    let calls: Vec<_> = (0..100).map(|_| json!({"type": "tool_use"})).collect();
    let (summary, events) = read(
        json!({"type": "assistant", "message": {"content": calls}})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(summary.tools, 100);
    let Event::Assistant(said) = &events[0] else {
        panic!("{events:?}");
    };
    assert_eq!((said.tools.len(), said.calls), (MAX_LISTED, 100));
    let long = "é".repeat(MAX_NAME_BYTES);
    let last = result(&json!({
        "is_error": false, "subtype": long, "session_id": long, "errors": vec!["e"; 100],
        "structured_output": "x".repeat(MAX_STRUCTURED_BYTES),
    }));
    assert_eq!(last.subtype.unwrap().len(), MAX_NAME_BYTES);
    assert_eq!((last.session, last.structured), (None, None));
    assert_eq!(last.errors.len(), MAX_LISTED);
    let (_, events) = read(json!({"type": long}).to_string().as_bytes());
    assert_eq!(
        events,
        [Event::Other {
            kind: "é".repeat(MAX_NAME_BYTES / 2)
        }]
    );
}

#[test]
fn an_array_that_is_not_whole_is_one_malformed_line() {
    for line in [
        r#"[{"type":"result","is_error":false}"#,
        r#"[{"type":"result","is_error":false}] x"#,
        "[]",
        "[",
    ] {
        let (summary, events) = read(line.as_bytes());
        assert_eq!(events, [Event::Malformed], "{line}");
        assert_eq!((summary.malformed, summary.results), (1, 0), "{line}");
    }
}

#[test]
fn a_summary_can_be_looked_at_while_the_stream_runs() {
    let mut stream = Stream::default();
    stream.push(b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\"}]}}\n{", &mut |_| {});
    assert_eq!((stream.summary().turns, stream.summary().tools), (1, 1));
    assert_eq!(stream.summary().lines, 1);
}
