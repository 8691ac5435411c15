//! Valid fields of every schema, made from its table: they pass, are written, and are read back
//! equal.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Content, Map, Value, all, check, json, parse, render_yaml};
use crate::block::schema::kind::FieldKind;
use crate::block::schema::{Field, Schema, review};

/// Strings that YAML, Markdown or the frame could take for something else.
const PIECES: &[&str] = &[
    "a",
    "ä",
    " ",
    "\n",
    "\t",
    "'",
    "\"",
    "#",
    ": ",
    "- ",
    "{",
    "]",
    "&",
    "*",
    "!",
    "%",
    "@",
    "`",
    "```",
    "\\",
    "~",
    "null",
    "true",
    "no",
    "2",
    "0x1",
    "1e3",
    "1:30",
    "2025-11-25",
    "T10:00:00Z",
    "🚀",
    "\u{200b}",
    "\u{85}",
    "</details>",
    "<!-- erk:metadata-block:plan-header -->",
    "<!-- /erk:metadata-block -->",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES), 1..6).prop_map(|pieces| pieces.concat())
}

fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
    .boxed()
}

fn word(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(words).prop_map(Value::from).boxed()
}

fn value(kind: FieldKind) -> BoxedStrategy<Value> {
    let texts = || text().prop_map(Value::from).boxed();
    let positive = || (1..=u64::MAX).prop_map(Value::from).boxed();
    let or_null =
        |values: BoxedStrategy<Value>| prop_oneof![1 => Just(Value::Null), 4 => values].boxed();
    match kind {
        FieldKind::Any => anything(),
        FieldKind::Text => texts(),
        FieldKind::TextOrNull => or_null(prop_oneof![Just(json!("")), texts()].boxed()),
        FieldKind::FilledOrNull | FieldKind::SlugOrNull | FieldKind::RunIdOrNull => {
            or_null(texts())
        }
        FieldKind::RepoOrNull => {
            or_null(text().prop_map(|name| json!(format!("{name}/x"))).boxed())
        }
        FieldKind::Positive => positive(),
        FieldKind::PositiveOrNull => or_null(positive()),
        FieldKind::AtLeast(least) => (u64::from(least)..99).prop_map(Value::from).boxed(),
        FieldKind::Map => vec((text(), anything()), 0..3)
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
            .boxed(),
        FieldKind::Word(words) => word(words),
        FieldKind::WordOrNull(words) => or_null(word(words)),
        FieldKind::EitherOrNull(one, other) => {
            or_null(select(vec![one, other]).prop_map(Value::from).boxed())
        }
        FieldKind::TextsOrNull => or_null(vec(text(), 0..3).prop_map(|items| json!(items)).boxed()),
        FieldKind::FilledTextsOrNull | FieldKind::PositivesOrNull => {
            unreachable!("only retired fields hold these")
        }
    }
}

/// Values for the fields that a rule looks into.
fn ruled(schema: &Schema, field: &Field) -> BoxedStrategy<Value> {
    match (schema.keys[0], field.name) {
        ("tripwire-candidates", _) => {
            let one = (text(), text(), text());
            let one =
                one.prop_map(|(a, w, d)| json!({"action": a, "warning": w, "target_doc_path": d}));
            vec(one, 0..3).prop_map(Value::from).boxed()
        }
        ("objective-roadmap", "schema_version") => word(&["2", "3", "4"]),
        ("objective-roadmap", _) => {
            let one = (
                text(),
                text(),
                value(FieldKind::TextOrNull),
                value(FieldKind::TextsOrNull),
            );
            let one = one.prop_map(|(id, description, pr, depends_on)| {
                json!({"id": id, "description": description, "status": "done", "pr": pr, "depends_on": depends_on})
            });
            vec(one, 0..3).prop_map(Value::from).boxed()
        }
        (_, "total_steps") => (99_u64..).prop_map(Value::from).boxed(),
        _ => value(field.kind),
    }
}

fn fields(schema: &'static Schema) -> impl Strategy<Value = Map<String, Value>> {
    let one = |field: &'static Field| {
        let given = if field.required {
            Just(true).boxed()
        } else {
            any::<bool>().boxed()
        };
        (given, ruled(schema, field))
            .prop_map(|(given, value)| given.then(|| (field.name.to_owned(), value)))
    };
    let each: Vec<_> = schema.fields.iter().map(one).collect();
    each.prop_map(|fields| fields.into_iter().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn valid_fields_pass_and_come_back(
        (schema, fields) in select(all().collect::<Vec<_>>()).prop_flat_map(|schema| (Just(schema), fields(schema)))
    ) {
        let has_nodes = fields.contains_key("nodes") || fields.contains_key("steps");
        prop_assume!(schema.keys[0] != "objective-roadmap" || has_nodes);
        for key in schema.keys {
            for era in schema.eras {
                prop_assert_eq!(check(key, *era, &fields), Ok(()));
            }
            prop_assert_eq!(review(key, &fields), vec![]);
            let read = parse(&render_yaml(key, &fields));
            prop_assert_eq!(&read.diagnostics, &vec![]);
            prop_assert_eq!(&read.blocks[0].content, &Content::Yaml(fields.clone()));
        }
    }

    #[test]
    fn whatever_is_read_is_reviewed(
        key in select(all().flat_map(|schema| schema.keys).copied().collect::<Vec<_>>()),
        names in vec(select(all().flat_map(|schema| schema.fields).map(|field| field.name).collect::<Vec<_>>()), 0..5),
        values in vec(anything(), 5),
    ) {
        let fields: Map<_, _> = names.into_iter().map(str::to_owned).zip(values).collect();
        let odd = review(key, &fields);
        let valid = all().any(|schema| schema.fits(key, &fields) && schema.check(&schema.renamed(&fields)).is_ok());
        prop_assert!(valid || !odd.is_empty(), "{:?}", fields);
    }
}
