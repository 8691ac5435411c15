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

/// The expected values are those of PyYAML's `safe_load`.
#[test]
fn plain_scalars_are_read_as_pyyaml_reads_them() {
    for (text, want) in [
        ("1e5", json!("1e5")),
        ("1.5e3", json!("1.5e3")),
        ("1.5e+3", json!(1500.0)),
        ("12e45", json!("12e45")),
        ("1.e+5", json!(100_000.0)),
        ("1.", json!(1.0)),
        ("1._", json!(1.0)),
        (".5", json!(0.5)),
        (".5_", json!(0.5)),
        (".5e+5", json!(50_000.0)),
        (".5e5", json!(".5e5")),
        ("._5", json!("._5")),
        ("-.5", json!("-.5")),
        ("+.5", json!("+.5")),
        ("-1_0.5_", json!(-10.5)),
        ("08", json!("08")),
        ("0888", json!("0888")),
        ("010", json!(8)),
        ("0777", json!(511)),
        ("00", json!(0)),
        ("0_", json!(0)),
        ("-0", json!(0)),
        ("+1", json!(1)),
        ("1_0", json!(10)),
        ("1__", json!(1)),
        ("_1", json!("_1")),
        ("0o17", json!("0o17")),
        ("0b1", json!(1)),
        ("0b2", json!("0b2")),
        ("0x1f", json!(31)),
        ("+0x_f", json!(15)),
        ("0x", json!("0x")),
        ("0x1G", json!("0x1G")),
        ("1:30", json!(90)),
        ("1:60", json!("1:60")),
        ("01:30", json!("01:30")),
        ("0:1", json!("0:1")),
        ("-1:1", json!(-61)),
        ("190:20:30", json!(685_230)),
        ("1:30.5", json!(90.5)),
        ("1.2.3", json!("1.2.3")),
        ("NaN", json!("NaN")),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("nULL", json!("nULL")),
        ("y", json!("y")),
        ("n", json!("n")),
        ("Y", json!("Y")),
        ("yes", json!(true)),
        ("No", json!(false)),
        ("on", json!(true)),
        ("OFF", json!(false)),
        ("oN", json!("oN")),
        ("TRUE", json!(true)),
        ("tRUE", json!("tRUE")),
        ("..", json!("..")),
        ("-x", json!("-x")),
        ("1 2", json!("1 2")),
        ("!!str 1", json!("1")),
        ("!!int \"3\"", json!(3)),
        ("! 12", json!(12)),
        // PyYAML fails on these, or reads them as values that JSON does not have: their text is
        // kept.
        (".inf", json!(".inf")),
        ("-.INF", json!("-.INF")),
        (".nan", json!(".nan")),
        ("1.0e+999", json!("1.0e+999")),
        ("0b_", json!("0b_")),
        ("99999999999999999999", json!("99999999999999999999")),
        ("-9223372036854775809", json!("-9223372036854775809")),
        ("2026-01-01", json!("2026-01-01")),
        ("2026-13-45", json!("2026-13-45")),
        ("=", json!("=")),
        ("<<", json!("<<")),
        ("!foo bar", json!("bar")),
    ] {
        let fields = json!({ "k": want, "last": 1 });
        assert_eq!(read(&format!("k: {text}\nlast: 1\n")), Ok(fields), "{text}");
        let list = json!({ "k": [want] });
        assert_eq!(read(&format!("k:\n- {text}\n")), Ok(list), "{text}");
    }
}

#[test]
fn a_commit_id_like_1234e56_is_read_as_text() {
    for id in ["1234e56", "0898123", "791e558", "12e4567", "00e1234"] {
        let fields = json!({ "commit_sha": id });
        assert_eq!(read(&format!("commit_sha: {id}\n")), Ok(fields.clone()));
        assert_eq!(load::parse(&format!("commit_sha: {id}\n")), Ok(fields));
        assert_eq!(write_one(id), format!("k: '{id}'\n"));
    }
}

fn write_one(text: &str) -> String {
    written(&json!({ "k": text }))
}

#[test]
fn what_another_reader_takes_for_a_number_or_a_word_is_quoted() {
    for text in [
        "1e5",
        "1E5",
        "+1e5",
        "08",
        "0o17",
        "0O17",
        "0b11",
        "0xfF",
        "1,000",
        "1_000",
        "+.5",
        "1.5e3",
        "01:30",
        "y",
        "N",
        "yes",
        "Infinity",
        "-inf",
        "nan",
        "+.nan",
        "2026-01-01",
    ] {
        assert_eq!(write_one(text), format!("k: '{text}'\n"));
    }
    for text in ["1234abc", "2A.1", "1.2.3", "v1", "yesterday", "a:b", "0z"] {
        assert_eq!(write_one(text), format!("k: {text}\n"));
    }
}

/// What PyYAML writes for such strings, and what it reads back.
#[test]
fn line_breaks_of_yaml_1_1_gain_no_blanks() {
    for (text, want) in [
        ("k: 'a\u{85}  b'\n", "a b"),
        ("k: 'a\u{2028}  b'\n", "a\u{2028}b"),
        ("k: 'a\u{2028}\n  b'\n", "a\u{2028}\nb"),
        ("k: '\u{2028}  '\n", "\u{2028}"),
        ("k: \"a \\P b\"\n", "a \u{2029} b"),
        ("k: a\u{2029}  b\n", "a\u{2029}b"),
        ("k: a\u{2028}\nl: 1\n", "a"),
    ] {
        assert_eq!(read(text).unwrap()["k"], want, "{text:?}");
    }
}

#[test]
fn merged_maps_and_aliases_are_read_as_pyyaml_reads_them() {
    assert_eq!(
        read(
            "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  x: 3\nc: [*a, &s t, *s]\nd:\n  <<: [{x: 1}, {x: 2, z: 0}]\n"
        ),
        Ok(json!({
            "a": { "x": 1, "y": 2 },
            "b": { "x": 3, "y": 2 },
            "c": [{ "x": 1, "y": 2 }, "t", "t"],
            "d": { "x": 1, "z": 0 },
        }))
    );
    assert_eq!(
        read("a: &a [*a]\n"),
        Err("an alias is inside the value it refers to at line 1".to_owned())
    );
    assert_eq!(
        read("[1]: x\n"),
        Err("a list or map cannot be a key at line 1".to_owned())
    );
    assert!(read("a: 1\n---\nb: 1\n").is_err());
    assert_eq!(read("\u{feff}a: 1\n"), Ok(json!({ "a": 1 })));
}

/// A reader of YAML 1.2, independent of ours.
#[test]
fn readers_of_yaml_1_2_see_the_same_strings() {
    for text in [
        "1e5", "08", "0o17", "010", "y", "no", "~", ".5", "0x1f", "1_000", "12:30", "null", "é",
        "a\u{85}b",
    ] {
        let read: Value = serde_saphyr::from_str(&write_one(text)).unwrap();
        assert_eq!(read, json!({ "k": text }));
    }
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
        if let Some(fields) = flat::parse(&text) {
            prop_assert_eq!(load::parse(&text), Ok(Value::Object(fields)), "{:?}", text);
        }
    }

    #[test]
    fn what_is_written_reads_the_same_either_way(fields in prop::collection::vec(("[a-z_]{1,9}", json_value()), 0..5)) {
        let fields: Map<String, Value> = fields.into_iter().collect();
        prop_assert_eq!(load::parse(&write(&fields)), Ok(Value::Object(fields)));
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
            flat::parse(text).map(Value::Object),
            Some(load::parse(text).unwrap()),
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
