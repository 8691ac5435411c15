//! Agent output: recorded outputs of the real client, and test vectors for streams, events and
//! errors.

use planwright::formats::agent_stream::{
    ErrorClass, Event, Stream, StreamOutcome, Summary, classify, outcome,
};
use serde_json::{Value, json};

use crate::harness::{self, Departures, Tests};

crate::harness::tests!(
    recorded_streams_give_the_recorded_outcomes,
    streams_are_read_as_recommended,
    events_are_read_as_recommended,
    errors_are_classified_as_recommended,
    recorded_errors_are_classified_by_what_can_be_done,
);

/// What a stream gives, in one push.
fn parse(stdout: &[u8]) -> (Summary, Vec<Event>) {
    let mut events = Vec::new();
    let mut on = |event: &Event| events.push(event.clone());
    let mut stream = Stream::new();
    stream.push(stdout, &mut on);
    let summary = stream.finish(&mut on);
    (summary, events)
}

/// The `type` of the event; none for what is no event.
fn kind(event: &Event) -> Option<&str> {
    match event {
        Event::Init { .. } | Event::Retry { .. } | Event::Denied { .. } => Some("system"),
        Event::Assistant(_) => Some("assistant"),
        Event::Result(_) => Some("result"),
        Event::Other { kind } => Some(kind),
        Event::Malformed | Event::TooLong => None,
    }
}

fn name(outcome: StreamOutcome) -> &'static str {
    match outcome {
        StreamOutcome::Success => "success",
        StreamOutcome::AgentError => "agent_error",
        StreamOutcome::ProcessError => "process_error",
        StreamOutcome::NoResult => "no_result",
    }
}

fn recorded_streams_give_the_recorded_outcomes(tests: &mut Tests) {
    let outcomes = harness::json("../claude-streams/outcomes.json")
        .as_object()
        .unwrap();
    assert_eq!(outcomes.len(), 157);
    for (scenario, want) in outcomes {
        tests.case(scenario, move || {
            let meta = harness::json(&format!("../claude-streams/{scenario}.meta.json"));
            let exit = meta["exit"].as_str();
            let (summary, _) = parse(&recorded_stream(scenario));
            let first = summary.first.clone().unwrap_or_default();
            let ours = json!({
                "outcome_of_first_result": name(outcome(&summary, exit.map(|code| code.parse().unwrap()))),
                "exit": exit,
                "events": summary.events,
                "malformed_lines": summary.malformed,
                "results": summary.results,
                "session_id": summary.session,
                "subtype": first.subtype,
                "is_error": first.is_error,
                "terminal_reason": first.terminal_reason,
                "api_error_status": first.api_status,
                "num_turns": first.turns,
                "result_chars": first.text.as_ref().map(|text| text.chars().count()),
                "errors": first.errors.len(),
                "permission_denials": summary.first.as_ref().map(|first| first.denials),
                "api_retries": summary.retries,
                "init_events": summary.inits,
            });
            assert_eq!(ours, *want);
        });
    }
}

/// What the real client printed in a scenario.
fn recorded_stream(scenario: &str) -> Vec<u8> {
    harness::bytes(&format!("../claude-streams/{scenario}.stdout.jsonl"))
}

const STREAMS: Departures = &[(
    "S-25",
    "the first result counts, not the last: a process is asked one thing and ended at its first result",
)];

/// Standard output of a case, which may be given in parts.
fn stdout(input: &Value) -> String {
    if let Some(whole) = input["stdout"].as_str() {
        return whole.to_owned();
    }
    let parts = input["stdout_parts"].as_array().unwrap().iter();
    parts
        .map(|part| match part["text"].as_str() {
            Some(text) => text.to_owned(),
            None => part["repeat"]
                .as_str()
                .unwrap()
                .repeat(usize::try_from(part["times"].as_u64().unwrap()).unwrap()),
        })
        .collect()
}

/// A text as the vectors write long ones.
fn shown(text: &str) -> String {
    match text.chars().next() {
        Some(first) if text.len() > 1000 && text.chars().all(|char| char == first) => {
            format!("<{first} repeated {} times>", text.chars().count())
        }
        _ => text.to_owned(),
    }
}

fn streams_are_read_as_recommended(tests: &mut Tests) {
    tests.hold_agent("stream_parse", STREAMS, |case| {
        let (summary, events) = parse(stdout(&case["input"]).as_bytes());
        let code = case["input"]["exit_code"].as_i64();
        let first = summary.first.clone().unwrap_or_default();
        let ours = json!({
            "outcome": name(outcome(&summary, code.map(|code| i32::try_from(code).unwrap()))),
            "result": first.text,
            "result_subtype": first.subtype,
            "session_id": summary.session,
            "event_types": events.iter().filter_map(kind).collect::<Vec<_>>(),
            "assistant_texts": summary.texts.iter().map(|text| shown(text)).collect::<Vec<_>>(),
            "tool_uses": summary.tools,
            "malformed_lines": summary.malformed,
            // Not of the stream: whoever runs the process has them.
            "exit_code": code,
            "stderr": case["input"]["stderr"],
        });
        (ours, case["expect"].clone())
    });
}

const EVENTS: Departures = &[(
    "E-07",
    "what tools answer is not read: it can be 50 MB, and nothing is decided by it",
)];

fn events_are_read_as_recommended(tests: &mut Tests) {
    tests.hold_agent("event_parse", EVENTS, |case| {
        let (summary, events) = parse(case["input"]["event"].to_string().as_bytes());
        let event = &events[0];
        let said = match event {
            Event::Assistant(said) => said.clone(),
            _ => planwright::formats::agent_stream::AssistantEvent::default(),
        };
        let result = summary.first.as_ref();
        let questions = summary.texts.join("\n").matches("<!--QUESTION:").count();
        let ours = json!({
            "type": kind(event),
            "session_id": summary.session,
            "is_result": result.is_some(),
            "is_error": result.is_some_and(|result| result.is_error != Some(false)),
            "result_text": result.and_then(|result| result.text.clone()),
            "text": said.text,
            "outcome": name(outcome(&summary, Some(0))),
            "num_turns": result.and_then(|result| result.turns),
            "total_cost_usd": result.and_then(|result| result.cost_usd),
            "permission_denials": result.map(|result| result.denials),
            "question_count": questions,
            "from_subagent": said.sub_agent,
        });
        let want = case["expect"].as_object().unwrap();
        let ours: Value = want
            .keys()
            .map(|key| (key.clone(), ours[key].clone()))
            .collect();
        (ours, case["expect"].clone())
    });
}

const ERRORS: Departures = &[
    ("XT-01", "errors of test runners are not ours to sort"),
    ("XT-02", "errors of test runners are not ours to sort"),
    ("XT-03", "errors of test runners are not ours to sort"),
    ("XT-04", "errors of test runners are not ours to sort"),
    ("XT-05", "errors of test runners are not ours to sort"),
    ("XT-06", "errors of test runners are not ours to sort"),
    ("XT-07", "errors of test runners are not ours to sort"),
];

fn errors_are_classified_as_recommended(tests: &mut Tests) {
    tests.hold_agent("classify_error", ERRORS, |case| {
        let class = match classify(case["input"]["message"].as_str().unwrap(), None) {
            ErrorClass::Transient => "transient",
            ErrorClass::Fatal => "fatal",
            ErrorClass::Permanent => "permanent",
            ErrorClass::SessionExpired => "session_expired",
        };
        (json!({ "class": class }), case["expect"].clone())
    });
}

fn recorded_errors_are_classified_by_what_can_be_done(tests: &mut Tests) {
    for (scenario, want) in [
        ("03b-always529", ErrorClass::Transient),
        ("04-always500", ErrorClass::Transient),
        ("04b-400", ErrorClass::Permanent),
        ("04c-credit", ErrorClass::Fatal),
        ("04d-toolong", ErrorClass::Permanent),
        ("05-401", ErrorClass::Fatal),
        ("05b-403", ErrorClass::Fatal),
        ("05c-usage-limit", ErrorClass::Transient),
        ("05d-404model", ErrorClass::Fatal),
        ("06d-resume-nonexist", ErrorClass::SessionExpired),
        ("06e-resume-notuuid", ErrorClass::Permanent),
        ("10-maxturns", ErrorClass::Permanent),
        ("12c-stdin-3m", ErrorClass::Permanent),
        ("15e-budget", ErrorClass::Permanent),
        ("15s-nokey", ErrorClass::Fatal),
        ("17g-repo-baseurl", ErrorClass::Transient),
    ] {
        tests.case(scenario, move || {
            let (summary, _) = parse(&recorded_stream(scenario));
            let first = summary.first.unwrap();
            let message = first.message();
            assert_eq!(classify(&message, first.api_status), want, "{message}");
            // The text alone says the same: other clients give no status.
            assert_eq!(classify(&message, None), want, "{message}");
        });
    }
}
