//! Tests of `formats::yaml`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

fn written(value: &Value) -> String {
    write(value.as_object().unwrap())
}

#[test]
fn scalars_are_quoted_only_where_needed() {
    for (value, want) in [
        (json!("2"), "'2'"),
        (json!("1.1"), "'1.1'"),
        (json!("2A.1"), "2A.1"),
        (
            json!("2025-11-25T14:37:43.513418+00:00"),
            "'2025-11-25T14:37:43.513418+00:00'",
        ),
        (json!("2025-11-25"), "'2025-11-25'"),
        (json!("12:30"), "'12:30'"),
        (json!("1e5"), "'1e5'"),
        (json!("0x1F"), "'0x1F'"),
        (json!("true"), "'true'"),
        (json!("No"), "'No'"),
        (json!("null"), "'null'"),
        (json!("~"), "'~'"),
        (json!("y"), "'y'"),
        (json!(""), "''"),
        (
            json!("plain text, with 'quotes' and \"more\""),
            "plain text, with 'quotes' and \"more\"",
        ),
        (json!("a: b"), "'a: b'"),
        (json!("a #b"), "'a #b'"),
        (json!("#123"), "'#123'"),
        (json!("- x"), "'- x'"),
        (json!("it's: so"), "'it''s: so'"),
        (json!("Line 1\nLine 2"), "'Line 1\n\n  Line 2'"),
        (json!("tab\there"), "\"tab\\there\""),
        (json!("a </details> b"), "\"a \\x3C/details\\x3E b\""),
        (
            json!("```\n</details>"),
            "\"\\x60\\x60\\x60\\n\\x3C/details\\x3E\"",
        ),
        (json!("é 日本 🚀"), "é 日本 🚀"),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(42), "42"),
        (json!(1.5), "1.5"),
        (json!(1e20), "1.0e+20"),
        (json!([]), "[]"),
        (json!({}), "{}"),
    ] {
        assert_eq!(written(&json!({ "k": value })), format!("k: {want}\n"));
    }
}

#[test]
fn lists_and_maps_stand_like_pyyaml_s() {
    let value = json!({
        "d": { "x": 1, "z": ["a", "b"] },
        "nodes": [{ "id": "1.1", "pr": null }, "s", ["p", "m"]],
    });
    assert_eq!(
        written(&value),
        "d:\n  x: 1\n  z:\n  - a\n  - b\nnodes:\n- id: '1.1'\n  pr: null\n- s\n- - p\n  - m\n"
    );
    assert_eq!(written(&json!({})), "{}\n");
}

#[test]
fn reading_is_tolerant_but_limited() {
    assert_eq!(read("a: 1\na: 2\n").unwrap(), json!({ "a": 2 }));
    assert_eq!(read("1: x\n").unwrap(), json!({ "1": "x" }));
    assert_eq!(
        read("a: 2025-11-25T16:00:00Z\n").unwrap(),
        json!({ "a": "2025-11-25T16:00:00Z" })
    );
    assert_eq!(read("").unwrap(), Value::Null);
    assert!(
        !read("invalid: yaml: content:\n")
            .unwrap_err()
            .contains('\n')
    );
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let last = format!("*a{}", level - 1);
        let items = [last.as_str(); 10].join(",");
        bomb = format!(
            "{bomb}a{level}: &a{level} [{items}]
"
        );
    }
    assert!(read(&bomb).is_err());
    assert!(read(&"[".repeat(100_000)).is_err());
    assert!(read(&"- ".repeat(50_000)).is_err());
}

fn json_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~\n\t]{0,20}",
        "\\PC{0,12}",
        any::<String>(),
        "[-+0-9._:xobeETZ]{0,8}",
        "(yes|No|ON|null|~|<<|=|---|\\.inf|NaN|y|n) ?",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// What machine-written headers consist of, and what comes close to it.
fn header() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        6 => "[a-z]{1,3}(_[a-z]{1,3})?",
        1 => "(true|No|null|y|on|1|<<|a b|a-b|x:y|é|~|'q'|\\? a)",
    ];
    let value = prop_oneof![
        4 => "[ -~]{0,12}",
        2 => "(null|true|False|yes|~|\\[\\]|\\{\\}|nan|inf|Infinity|NaN|\\.inf|0|-0|-7|007|1_0|0x1f|0o17|1e5|1\\.5|12:30|9{16,20}|[1-9][A-F0-9e._-]{0,5})",
        2 => "2025-1[0-2]-25[T ]?([0-9:.Z+-]{0,14})",
        2 => "'[ -~]{0,6}'",
        2 => "\"[ -~]{0,6}\"",
        1 => "[\t \u{85}\u{2028}é:#-]{0,4}",
        1 => "[|>&*!%@`][ -~]{0,4}",
    ];
    let line = prop_oneof![
        6 => (key.clone(), value.clone()).prop_map(|(key, value)| format!("{key}: {value}")),
        2 => key.clone().prop_map(|key| format!("{key}:")),
        2 => value.clone().prop_map(|value| format!("- {value}")),
        2 => (key.clone(), value.clone()).prop_map(|(key, value)| format!("  {key}: {value}")),
        1 => (key.clone(), value.clone()).prop_map(|(key, value)| format!("- {key}: {value}")),
        1 => (key.clone(), value.clone()).prop_map(|(key, value)| format!("    {key}: {value}")),
        1 => value.clone().prop_map(|value| format!("  - {value}")),
        1 => value.prop_map(|value| format!("  {value}")),
        1 => "(|---|\\.\\.\\.|# x|%YAML 1.1| |\t)",
    ];
    let end = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\n\n"), 1 => Just("\r")];
    prop::collection::vec((line, end), 0..7).prop_map(|lines| {
        let lines: Vec<String> = lines.into_iter().map(|(line, end)| line + end).collect();
        lines.concat()
    })
}

/// How often the comparison by hand runs: `PLANWRIGHT_CASES`, else a number that takes a second.
fn cases() -> u32 {
    let given = std::env::var("PLANWRIGHT_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn the_simple_form_is_read_as_the_parser_reads_it(text in header()) {
        if let Some(fields) = flat::read(&text) {
            prop_assert_eq!(read_any(&text), Ok(Value::Object(fields)), "{:?}", text);
        }
    }

    #[test]
    fn what_is_written_reads_the_same_either_way(fields in prop::collection::vec(("[a-z_]{1,9}", json_value()), 0..5)) {
        let fields: Map<String, Value> = fields.into_iter().collect();
        prop_assert_eq!(read_any(&write(&fields)), Ok(Value::Object(fields)));
    }
}

#[test]
fn machine_written_headers_need_no_parser() {
    for text in [
        "schema_version: '2'\ncreated_at: '2025-11-25T14:37:43.513418+00:00'\ncreated_by: octo-cat\nplan_comment_id: 123\nrun: null\n",
        "\nstarted_at: 2025-11-25T16:00:00Z\nworkflow_run_id: \"1\"\n\nurl: https://github.com/a/b/actions/runs/1\r\n",
        "node_ids:\n- '1.1'\n- 2A.1\nvalidation_results: {}\nsteps: []\nok: true\n",
        "validation_results:\n  issue_is_open: true\n  more:\n    x: z\nnodes:\n- id: '1.1'\n  pr: null\n  depends_on:\n  - '1'\n- id: '2'\n\nlast: 1",
    ] {
        assert_eq!(
            flat::read(text).map(Value::Object),
            Some(read_any(text).unwrap()),
            "{text}"
        );
    }
}

/// Expected texts are PyYAML's own.
#[test]
fn long_lines_fold_like_pyyaml_s() {
    let words = |count: usize| vec!["word"; count].join(" ");
    for (value, want) in [
        (words(15), words(15)),
        (words(16), words(16)),
        (words(17), format!("{}\n  word", words(16))),
        (words(18), format!("{}\n  {}", words(16), words(2))),
        (
            format!("#{}", words(17)),
            format!("'#{}\n  word'", words(16)),
        ),
        (
            format!("it's: {}", words(17)),
            format!("'it''s: {}\n  {}'", words(15), words(2)),
        ),
        (
            format!("{}  two blanks", words(17)),
            format!("{}\n  word  two blanks", words(16)),
        ),
        (
            format!("{} ", words(17)),
            format!("'{}\n  word '", words(16)),
        ),
        (
            format!("\t{}", words(18)),
            format!("\"\\t{}\\\n  \\ {}\"", words(16), words(2)),
        ),
        ("x".repeat(100), "x".repeat(100)),
        (
            format!("\t{}", "x".repeat(100)),
            format!("\"\\t{}\"", "x".repeat(100)),
        ),
        (
            format!("a\n{}", words(20)),
            format!("'a\n\n  {}\n  {}'", words(16), words(4)),
        ),
    ] {
        let text = written(&json!({ "k": value }));
        assert_eq!(text, format!("k: {want}\n"));
        assert_eq!(read(&text).unwrap(), json!({ "k": value }));
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(fields in prop::collection::vec((any::<String>(), json_value()), 0..5)) {
        let fields: Map<String, Value> = fields.into_iter().collect();
        let text = write(&fields);
        prop_assert!(!text.contains("```"), "{text}");
        prop_assert_eq!(read(&text).map_err(|error| format!("{error}\n{text}")), Ok(Value::Object(fields)));
    }

    #[test]
    fn reading_anything_ends(text in any::<String>()) {
        let _ = read(&text);
    }
}
