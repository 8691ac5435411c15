//! Property tests of metadata blocks: every version of erk reads the blocks that Planwright writes,
//! and an edit changes nothing else in the text.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::sync::LazyLock;

use crate::frame_support::config;
use fancy_regex::Regex;
use planwright::formats::block::{self, Content, EditError};
use planwright::formats::yaml;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// How one era of erk finds a block (the same in all) and the YAML in it.
struct Era {
    name: &'static str,
    body: &'static str,
}

const RAW: &str = r"(?s)<!-- erk:metadata-block:(.+?) -->(.+?)<!-- /erk:metadata-block(?::\1)? -->";

const ERAS: [Era; 3] = [
    Era {
        name: "November 2025",
        body: r"(?s)<details>\s*<summary><code>[^<]+</code></summary>\s*```yaml\s*(.*?)\s*```\s*</details>",
    },
    Era {
        name: "February 2026",
        body: r"(?s)<details(?:\s+open)?>\s*<summary><code>[^<]+</code></summary>\s*```yaml\s*(.*?)\s*```\s*</details>",
    },
    Era {
        name: "April 2026",
        body: r"(?s)<details(?:\s+open)?>\s*<summary>(?:<code>)?[^<]+(?:</code>)?</summary>\s*```yaml\s*(.*?)\s*```\s*</details>",
    },
];

/// How erk finds a plan, in February and in April 2026.
const PLAN: &str = r"(?s)<details(?:\s+open)?>\s*<summary>.*?</summary>\s*(.*?)\s*</details>";

struct Matchers {
    raw: Regex,
    eras: Vec<(&'static str, Regex)>,
    plan: Regex,
}

impl Matchers {
    fn new() -> Self {
        Self {
            raw: Regex::new(RAW).unwrap(),
            eras: ERAS
                .iter()
                .map(|era| (era.name, Regex::new(era.body).unwrap()))
                .collect(),
            plan: Regex::new(PLAN).unwrap(),
        }
    }

    /// Key and inside of the first block.
    fn raw<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        let found = self.raw.captures(text).unwrap().expect("a block");
        (
            found.get(1).unwrap().as_str().trim(),
            found.get(2).unwrap().as_str().trim(),
        )
    }
}

thread_local! {
    static MATCHERS: Matchers = Matchers::new();
}

/// Strings that quoting and framing have to do with.
fn string() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "word ",
        "a",
        "'",
        "\"",
        "\\",
        "\\1",
        ": ",
        " #",
        "- ",
        "\n",
        "\r\n",
        "\t",
        "```",
        "```yaml",
        "</details>",
        "<details>",
        "<!--",
        "-->",
        "<!-- erk:metadata-block:k -->",
        "<!-- /erk:metadata-block:k -->",
        "<!-- /erk:metadata-block -->",
        "é",
        "🚀",
        "2025-11-25T14:37:43+00:00",
        "true",
        "null",
        "~",
        "0x1f",
        "12",
        "{",
        "[",
        "&a",
        "*a",
        "!",
        "%",
        "@b",
        "<summary>",
        "</summary>",
        "---",
        " ",
    ];
    prop_oneof![
        3 => vec(prop::sample::select(PIECES), 0..6).prop_map(|pieces| pieces.concat()),
        1 => "[ -~]{0,24}",
        1 => "\\PC{0,6}",
        1 => Just("word ".repeat(20)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        5 => string().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => vec(string(), 0..3).prop_map(Value::from),
        1 => (string(), string()).prop_map(|(a, b)| json!({ "x": a, "y": [b] })),
    ]
}

fn fields() -> impl Strategy<Value = Map<String, Value>> {
    vec(("[a-z]{1,4}(_[a-z]{1,3})?", value()), 1..5).prop_map(|fields| fields.into_iter().collect())
}

/// A text around a block: prose, code, other blocks, broken blocks; never with the key `k`.
fn around() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "text\n",
        "text",
        "\n",
        "\n\n",
        "\r\n",
        "# h\n",
        "- a\n",
        "  b\n",
        "1. c\n",
        "> q\n",
        "    code\n",
        "`x`",
        "`",
        "---\n",
        "\n---\n",
        "~~~\nx\n~~~\n",
        "```\nx\n```\n",
        "<details>\n",
        "</details>\n",
        "<b>\n",
        "é🚀",
        "<!-- note -->\n",
        "<!-- /erk:metadata-block:j -->\n",
        "<!-- erk:metadata-block:j -->\n<details>\n<summary>j</summary>\n\n```yaml\na: 1\n```\n\n</details>\n<!-- /erk:metadata-block:j -->\n",
        "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n",
        "\\1 $0 \\n",
    ];
    vec(prop::sample::select(PIECES), 0..7).prop_map(|pieces| pieces.concat())
}

/// Places in the text before the block where it stands on a line of its own.
fn ended(before: String) -> String {
    before + "\n\n"
}

fn read(text: &str, key: &str) -> Option<Map<String, Value>> {
    match block::find(&block::parse(text), key)?.content.clone() {
        Content::Yaml(fields) => Some(fields),
        other => panic!("{other:?}"),
    }
}

/// erk's first readers strip what stands between the fences: of a last value that is white space
/// nothing was left.
#[test]
fn a_value_of_white_space_is_written_in_quotes() {
    for text in ["\u{2000}", "a\u{2003}", "\u{3000}a"] {
        let mut fields = Map::new();
        fields.insert("a".into(), text.into());
        let block = block::render_yaml("a", &fields);
        assert!(block.contains(&format!("a: '{text}'")), "{block}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_era_of_erk_reads_the_fields(key in "[a-z]{1,6}(-[a-z]{1,6})?", fields in fields()) {
        let text = block::render_yaml(&key, &fields);
        prop_assert_eq!(read(&text, &key), Some(fields.clone()));
        MATCHERS.with(|erk| {
            let (found, inside) = erk.raw(&text);
            prop_assert_eq!(found, &key);
            for (name, body) in &erk.eras {
                let body = body.captures(inside).unwrap();
                prop_assert!(body.is_some(), "{}: {}", name, text);
                let yaml = body.unwrap().get(1).unwrap().as_str();
                prop_assert_eq!(yaml::read(yaml), Ok(Value::Object(fields.clone())), "{}: {}", name, text);
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_era_of_erk_reads_the_plan(plan in vec(string(), 0..4)) {
        let plan = plan.concat();
        let text = block::plan_body(&plan);
        prop_assert_eq!(block::plans(&text).concat(), if plan.trim().is_empty() { "" } else { plan.as_str() });
        MATCHERS.with(|erk| {
            let (found, inside) = erk.raw(&text);
            prop_assert_eq!(found, "plan-body");
            let found = erk.plan.captures(inside).unwrap().expect("a plan");
            let safe = block::neutralise(&plan);
            prop_assert_eq!(found.get(1).unwrap().as_str(), safe.trim());
            Ok(())
        })?;
    }

    #[test]
    fn adding_puts_the_block_in_and_changes_no_other_byte(text in around(), fields in fields()) {
        let new = block::render_yaml("k", &fields);
        let added = block::add(&text, &new);
        prop_assert_eq!(read(&added, "k"), Some(fields), "{}", added);
        let crlf = text.find('\n').is_some_and(|end| text[..end].ends_with('\r'));
        let new = if crlf { new.replace('\n', "\r\n") } else { new };
        let (before, after) = added.split_once(&new).unwrap();
        let gap = if crlf { "\r\n\r\n" } else { "\n\n" };
        let rest = match before.strip_suffix(gap) {
            Some(before) => [before, after].concat(),
            None => [before, after.strip_prefix(gap).unwrap()].concat(),
        };
        prop_assert_eq!(rest, text);
    }

    #[test]
    fn an_update_keeps_every_other_field_and_byte(before in around(), after in around(), old in fields(), at in any::<prop::sample::Index>(), new in value()) {
        let before = ended(before);
        let text = [before.as_str(), &block::render_yaml("k", &old), "\n", &after].concat();
        let key = old.keys().nth(at.index(old.len())).unwrap().clone();
        let mut want = old.clone();
        want.insert(key.clone(), new.clone());
        match block::update(&text, "k", |fields| drop(fields.insert(key.clone(), new.clone()))) {
            Err(EditError::Missing { .. }) => prop_assert!(block::find(&block::parse(&text), "k").is_none()),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(changed) => {
                let tail = ["\n", &after].concat();
                prop_assert!(changed.ends_with(&tail));
                let found = read(&changed, "k").unwrap();
                prop_assert!(found.keys().eq(want.keys()));
                prop_assert_eq!(found, want);
            }
        }
    }

    #[test]
    fn an_unreadable_block_is_left_alone(before in around(), after in around(), inside in prop::sample::select(&["", "x", "<details>", "```yaml\n- a\n```", "```yaml\na: [\n```"][..])) {
        let text = [&ended(before), "<!-- erk:metadata-block:k -->\n", inside, "\n<!-- /erk:metadata-block:k -->\n", &after].concat();
        match block::update(&text, "k", |fields| drop(fields.insert("x".to_owned(), json!(1)))) {
            Ok(changed) => prop_assert!(false, "{}", changed),
            Err(EditError::Missing { .. }) => prop_assert!(block::find(&block::parse(&text), "k").is_none()),
            Err(EditError::Unreadable { why, .. }) => prop_assert!(why.starts_with("line ")),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

/// Blocks as they are found and as they are written, ready made: this is the law with the most
/// cases.
static BLOCKS: LazyLock<[String; 5]> = LazyLock::new(|| {
    let fields = |value: Value| block::render_yaml("k", value.as_object().unwrap());
    let rendered = fields(json!({ "a": "x: y", "b": null, "c": ["\\1 $0", "</details>"] }));
    [
        rendered.replace('\n', "\r\n"),
        rendered,
        fields(json!({})),
        "<!-- erk:metadata-block:k -->\n<details open>\n<summary>k</summary>\n```yaml\na: '<!-- /erk:metadata-block:k -->'\n```\n</details>\n<!-- /erk:metadata-block -->".to_owned(),
        "<!-- erk:metadata-block:k -->\nnot to be read\n<!-- /erk:metadata-block:k -->".to_owned(),
    ]
});

proptest! {
    #![proptest_config(config())]

    #[test]
    fn replacing_changes_the_block_and_no_other_byte(before in around(), after in around(), old in 0..BLOCKS.len(), new in 0..BLOCKS.len()) {
        let before = ended(before);
        let (old, new) = (&BLOCKS[old], &BLOCKS[new]);
        let text = [before.as_str(), old, "\n", &after].concat();
        let parsed = block::parse(&text);
        match (block::replace(&text, "k", new), block::find(&parsed, "k")) {
            // In code there is no block.
            (None, None) => {}
            (Some(changed), Some(found)) => {
                // Warning lines above belong to the block, and its line ends stay.
                let (kept, warnings) = before.split_at(found.span.start.min(before.len()));
                prop_assert!(warnings.replace(block::WARNING, "").trim().is_empty());
                let lines = new.replace("\r\n", "\n").replace('\n', "\r\n");
                let new = if old.contains('\r') { &lines } else { new };
                prop_assert_eq!(changed, [kept, new, "\n", &after].concat());
            }
            (changed, found) => prop_assert!(false, "{:?} {:?}", changed, found),
        }
    }
}
