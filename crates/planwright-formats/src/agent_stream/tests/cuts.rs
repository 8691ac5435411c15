//! The split of the bytes into pushes makes no difference.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(&["", "a\nb", "🧊", "\u{feff}", "<!--QUESTION:{}-->", "\"\\"][..])
            .prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        text().prop_map(|name| json!({"type": "tool_use", "name": name, "id": "c"})),
        text().prop_map(|text| json!({"type": "thinking", "thinking": text})),
        text().prop_map(Value::String),
    ]
}

fn event() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|id| json!({"type": "system", "subtype": "init", "session_id": id})),
        (vec(block(), 0..4), "[ab]", proptest::option::of("t")).prop_map(|(content, id, parent)| {
            json!({"type": "assistant", "message": {"id": id, "content": content}, "parent_tool_use_id": parent})
        }),
        (any::<Option<bool>>(), text()).prop_map(
            |(error, text)| json!({"is_error": error, "result": text, "type": "result"})
        ),
        text().prop_map(|kind| json!({"type": kind})),
        vec(text(), 0..3).prop_map(|texts| json!(texts)),
    ]
}

/// Bytes of a stream: whole lines of all kinds, noise, both line ends, and perhaps no line end at
/// the end.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => event().prop_map(|event| event.to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..20),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => Just(Vec::new()),
    ];
    let end = proptest::sample::select(&["\n", "\r\n", "", "\n\n"][..]);
    vec((line, end), 0..8).prop_map(|lines| {
        let mut bytes = Vec::new();
        for (line, end) in lines {
            bytes.extend_from_slice(&line);
            bytes.extend_from_slice(end.as_bytes());
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("CI").is_some() { 20_000 } else { 1_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_cut_says_the_same(bytes in stream(), sizes in vec(1_usize..40, 1..20), line_max in 20_usize..400) {
        for line_max in [line_max, MAX_LINE_BYTES] {
            let whole = read_cut(&bytes, bytes.len().max(1), line_max);
            let mut events = Vec::new();
            let mut on = |event: &Event| events.push(event.clone());
            let mut stream = Stream::with_line_max(line_max);
            let mut rest = bytes.as_slice();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                stream.push(chunk, &mut on);
                rest = after;
            }
            let summary = stream.finish(&mut on);
            prop_assert_eq!((summary, events), whole);
        }
    }

    #[test]
    fn what_is_counted_adds_up(bytes in stream()) {
        let (summary, events) = read(&bytes);
        let is = |want: fn(&Event) -> bool| events.iter().filter(|event| want(event)).count() as u64;
        prop_assert_eq!(summary.malformed, is(|event| matches!(event, Event::Malformed)));
        prop_assert_eq!(summary.results, is(|event| matches!(event, Event::Result(_))));
        prop_assert_eq!(summary.turns, is(|event| matches!(event, Event::Assistant(said) if said.new_turn)));
        prop_assert_eq!(summary.events, events.len() as u64 - summary.malformed);
        prop_assert_eq!(summary.first.is_some(), summary.results > 0);
    }
}
