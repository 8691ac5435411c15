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
