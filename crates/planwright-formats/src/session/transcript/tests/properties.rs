//! Properties of every transcript.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Texts with everything that can break an XML document.
fn words() -> impl Strategy<Value = String> {
    const PIECES: [&str; 16] = [
        "</session>",
        "]]>",
        "<user>",
        "&amp;",
        "&#0;",
        "\"",
        "'",
        "\u{0}",
        "\u{1b}[0m",
        "\r\n",
        "\n\n\n\n",
        "\u{fffe}",
        "warmup ",
        "/erk:plan ",
        "error\n",
        "日本語 ",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z ]{0,300}",
    ];
    vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        words().prop_map(|text| json!({"type": "text", "text": text})),
        words().prop_map(|text| json!({"type": "thinking", "thinking": text})),
        (words(), words(), words(), words()).prop_map(|(name, id, key, value)| {
            json!({"type": "tool_use", "name": name, "id": id, "input": {key: value}})
        }),
        (words(), words()).prop_map(|(id, text)| {
            json!({"type": "tool_result", "tool_use_id": id, "content": text})
        }),
        words().prop_map(|kind| json!({"type": kind})),
        words().prop_map(Value::String),
    ]
}

fn entry() -> impl Strategy<Value = Value> {
    const KINDS: [&str; 6] = ["user", "assistant", "tool_result", "summary", "system", "x"];
    let content = prop_oneof![
        vec(block(), 0..4).prop_map(Value::Array),
        words().prop_map(Value::String)
    ];
    (proptest::sample::select(&KINDS[..]), content, words(), proptest::option::of("[ab]")).prop_map(|(kind, content, text, id)| {
        json!({
            "type": kind, "gitBranch": text, "summary": text, "subtype": text, "content": text,
            "message": {"content": content, "model": text, "id": id, "usage": {"input_tokens": 3, "output_tokens": 4}},
        })
    })
}

/// Returns the entries of a document as XML text, without its head and root element.
fn entries_of(part: &str) -> String {
    let inside = part
        .strip_prefix("<session>\n")
        .unwrap()
        .strip_suffix("</session>")
        .unwrap();
    let body = inside
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with("  <meta "));
    body.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_part_is_well_formed_and_no_entry_is_lost(
        entries in vec(entry(), 0..12),
        max_tokens in prop_oneof![Just(1), 1_usize..400],
        filter in any::<bool>(),
    ) {
        let log = log(&entries);
        let options = Options { filter, ..Options::default() };
        let (whole, verdict, stats) = parts_of(&log, options.clone());
        let options = Options { max_tokens: Some(max_tokens), ..options };
        let (cut, same_verdict, same_stats) = parts_of(&log, options);
        prop_assert_eq!(verdict, same_verdict);
        prop_assert_eq!(stats.entries_out, same_stats.entries_out);
        prop_assert_eq!(whole.is_empty(), verdict != Verdict::Worth);
        for part in whole.iter().chain(&cut) {
            let document = roxmltree::Document::parse(part);
            prop_assert!(document.is_ok(), "{:?}: {}", document.err(), part);
        }
        let joined: String = cut.iter().map(|part| entries_of(part)).collect();
        let expected = whole.first().map_or_else(String::new, |whole| entries_of(whole));
        prop_assert_eq!(joined, expected);
        if max_tokens == 1 && verdict == Verdict::Worth {
            prop_assert_eq!(cut.len() as u64, stats.entries_out.max(1), "each entry is a part");
        }
        prop_assert_eq!(parts_of(&log, Options { filter, ..Options::default() }).0, whole);
    }

    #[test]
    fn any_bytes_are_survived(log in vec(any::<u8>(), 0..400)) {
        let (parts, _, stats) = parts_of(&log, Options::default());
        prop_assert_eq!(parts.len(), 1);
        prop_assert_eq!(stats.bytes_in, log.len() as u64);
    }
}
