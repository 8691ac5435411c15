//! Summaries of the streams in `fixtures/streams`.

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../fixtures/streams/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Events, malformed lines, unknown kinds, turns, calls; the session; the texts.
type Counts<'a> = ([u64; 5], Option<&'a str>, &'a [&'a str]);

#[test]
fn streams_amount_to_what_their_table_says() {
    let table: [(&str, i32, StreamOutcome, Counts<'_>); 9] = [
        (
            "success.jsonl",
            0,
            StreamOutcome::Success,
            (
                [7, 0, 0, 2, 1],
                Some("5e55-0001"),
                &[
                    "I will look at the cache first.",
                    "# Plan: Bound the cache 🧊",
                ],
            ),
        ),
        (
            "sub-agent.jsonl",
            0,
            StreamOutcome::Success,
            (
                [7, 0, 0, 2, 2],
                Some("5e55-0002"),
                &["The tests are there.\nThat is all."],
            ),
        ),
        (
            "never-answered.jsonl",
            1,
            StreamOutcome::AgentError,
            ([5, 0, 0, 0, 0], Some("5e55-0003"), &[]),
        ),
        (
            "turn-limit.jsonl",
            1,
            StreamOutcome::AgentError,
            ([3, 0, 0, 0, 0], Some("5e55-0004"), &[]),
        ),
        (
            "lost-session.jsonl",
            1,
            StreamOutcome::AgentError,
            ([1, 0, 0, 0, 0], Some("5e55-0005"), &[]),
        ),
        (
            "cut-off.jsonl",
            0,
            StreamOutcome::NoResult,
            ([2, 1, 0, 1, 0], Some("5e55-0006"), &["I begin with"]),
        ),
        (
            "array.json",
            0,
            StreamOutcome::Success,
            ([3, 0, 0, 1, 0], Some("5e55-0007"), &["Fine."]),
        ),
        (
            "windows.jsonl",
            0,
            StreamOutcome::Success,
            ([3, 0, 0, 1, 0], Some("5e55-0008"), &["As one text."]),
        ),
        (
            "noise.jsonl",
            0,
            StreamOutcome::Success,
            ([9, 6, 2, 3, 0], Some("5e55-0010"), &["Heard."]),
        ),
    ];
    for (name, code, want, (counts, session, texts)) in table {
        let (summary, _) = read(&fixture(name));
        assert_eq!(outcome(&summary, Some(code)), want, "{name}");
        let found = [
            summary.events,
            summary.malformed,
            summary.unknown,
            summary.turns,
            summary.tools,
        ];
        assert_eq!(found, counts, "{name}");
        assert_eq!(summary.session.as_deref(), session, "{name}");
        assert_eq!(summary.texts, texts, "{name}");
    }
}

#[test]
fn each_line_gives_its_event() {
    let (summary, events) = read(&fixture("never-answered.jsonl"));
    let retry = |attempt, status| Event::Retry {
        attempt: Some(attempt),
        status: Some(status),
    };
    assert_eq!(events[1..3], [retry(1, 500), retry(2, 529)]);
    let Event::Assistant(said) = &events[3] else {
        panic!("{events:?}");
    };
    assert!(said.synthetic && !said.new_turn);
    assert_eq!(summary.retries, 2);
    let first = summary.first.unwrap();
    assert_eq!(
        classify(&first.message(), first.api_status),
        ErrorClass::Transient
    );

    let (summary, events) = read(&fixture("turn-limit.jsonl"));
    let tool = "Write".to_owned();
    assert_eq!(events[1], Event::Denied { tool });
    let first = summary.first.unwrap();
    assert_eq!((summary.denials, first.denials), (1, 1));
    assert_eq!(first.message(), "The turns are used up (1).");
    assert_eq!(first.text, None);

    let (_, events) = read(&fixture("sub-agent.jsonl"));
    let Event::Assistant(said) = &events[3] else {
        panic!("{events:?}");
    };
    assert!(said.sub_agent && !said.new_turn);
    assert_eq!(said.tools[0].name, "Grep");
    assert_eq!(
        events[0],
        Event::Other {
            kind: "system".to_owned()
        }
    );

    let (summary, _) = read(&fixture("lost-session.jsonl"));
    let first = summary.first.unwrap();
    assert_eq!(
        classify(&first.message(), first.api_status),
        ErrorClass::SessionExpired
    );
}

#[test]
fn thinking_is_never_a_text() {
    let (summary, events) = read(&fixture("success.jsonl"));
    let Event::Assistant(said) = &events[1] else {
        panic!("{events:?}");
    };
    assert_eq!((said.text.as_deref(), said.new_turn), (None, true));
    assert!(summary.texts.iter().all(|text| !text.contains("Two lines")));
}

#[test]
fn the_first_result_counts() {
    let (summary, _) = read(&fixture("noise.jsonl"));
    assert_eq!(summary.results, 2);
    assert_eq!(summary.first.unwrap().text.as_deref(), Some("Heard."));
}
