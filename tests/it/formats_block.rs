//! Blocks against what erk's own readers do, and against erk's recorded test vectors where they are at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::formats::block::{self, Content};
use serde_json::{Value, json};

use crate::vectors;

/// What erk's current code reads as the plan in a comment: from the first opening marker to the first closing marker
/// of the key, then from the first `</summary>` to the first `</details>`, stripped.
fn erk_reads_block(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("<!-- erk:metadata-block:plan-body -->")?;
    let end = [
        "<!-- /erk:metadata-block -->",
        "<!-- /erk:metadata-block:plan-body -->",
    ]
    .iter()
    .filter_map(|closing| rest.find(closing))
    .min()?;
    let rest = rest[..end].trim();
    let at = ["<details>", "<details open>"]
        .iter()
        .find_map(|tag| rest.strip_prefix(tag))?;
    let (_, rest) = at
        .trim_start()
        .strip_prefix("<summary>")?
        .split_once("</summary>")?;
    rest.split_once("</details>").map(|(plan, _)| plan.trim())
}

/// What erk's older code reads between `erk:plan-content` markers.
fn erk_reads_markers(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("<!-- erk:plan-content -->")?;
    rest.split_once("<!-- /erk:plan-content -->")
        .map(|(plan, _)| plan.trim())
}

const HOSTILE: &[&str] = &[
    "# A\n\n- b\n",
    "\n\n# A\n\n\n",
    "# A\n\n<details>\n<summary>more</summary>\n\nx\n\n</details>\n\n# B\n",
    "# A\n\n```html\n</details>\n<!-- /erk:metadata-block:plan-body -->\n```\n\n# B",
    "# A\n\n<!-- /erk:metadata-block -->\n<!-- erk:metadata-block:plan-body -->\n<!-- /erk:metadata-block:plan-body -->\n# B",
    "# A\n\n<!-- erk:plan-content -->\nx\n<!-- /erk:plan-content -->\n# B",
    "# A\n\n```\nopen",
    "# A @bob fixes #1\r\n\r\n</DETAILS>\r\n",
];

#[test]
fn erk_s_readers_get_the_whole_plan() {
    for plan in HOSTILE {
        let safe = block::neutralise(plan);
        let rendered = block::plan_body(plan);
        assert_eq!(erk_reads_block(&rendered), Some(safe.trim()), "{plan:?}");
        let old = format!("<!-- erk:plan-content -->\n\n{safe}\n\n<!-- /erk:plan-content -->");
        assert_eq!(erk_reads_markers(&old), Some(safe.trim()), "{plan:?}");
        assert_eq!(
            block::parse(&rendered).blocks[0].content,
            Content::Text((*plan).to_owned())
        );
    }
}

#[test]
fn real_plans_survive_the_frame() {
    let Some(directory) = vectors::directory() else {
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(directory.join("../seeds")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !["000_", "002_", "003_"]
            .iter()
            .any(|start| name.starts_with(start))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(block::restore(&block::neutralise(&text)), text, "{name}");
        let rendered = block::plan_body(&text);
        let parsed = block::parse(&rendered);
        assert_eq!(
            parsed.blocks[0].content,
            Content::Text(text.clone()),
            "{name}"
        );
        assert_eq!(parsed.diagnostics, [], "{name}");
        assert_eq!(
            erk_reads_block(&rendered),
            Some(block::neutralise(&text).trim()),
            "{name}"
        );
        seen += 1;
    }
    assert_eq!(seen, 3);
}

/// Key and fields of every block with fields.
fn fields(text: &str) -> Vec<Value> {
    let blocks = block::parse(text).blocks.into_iter();
    blocks
        .filter_map(|found| match found.content {
            Content::Yaml(fields) => Some(json!({ "key": found.key, "data": fields })),
            Content::Text(_) | Content::Raw(_) => None,
        })
        .collect()
}

/// What we give for the vector `case` of `suite`, and what erk gave, both in comparable form.
fn compare(suite: &str, case: &Value) -> (Value, Value) {
    let input = |name: &str| case["input"][name].as_str().unwrap_or_default();
    let expected = &case["expected"];
    match suite {
        "metadata_render" => {
            let key = case["input"]["block"]["key"].as_str().unwrap();
            let text = block::render_yaml(key, case["input"]["block"]["data"].as_object().unwrap());
            // The first era wrote `<code>` into the summary; we write the current form.
            let want = expected["text"].as_str().unwrap_or_default();
            (
                text.into(),
                want.replace("<code>", "").replace("</code>", "").into(),
            )
        }
        "metadata_extract_raw" => {
            let keys: Vec<Value> = expected["raw_blocks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|found| found["key"].clone())
                .collect();
            let ours: Vec<String> = block::parse(input("text"))
                .blocks
                .into_iter()
                .map(|found| found.key)
                .collect();
            (json!(ours), json!(keys))
        }
        "metadata_parse_blocks" => {
            let result = &expected["result"];
            let blocks = if result.is_array() {
                result
            } else {
                &result["blocks"]
            };
            (json!(fields(input("text"))), blocks.clone())
        }
        "metadata_find_block" => {
            let found = fields(input("text"))
                .into_iter()
                .find(|found| found["key"] == input("key"));
            (json!(found), expected["block"].clone())
        }
        "metadata_replace_in_body" => {
            let body = block::replace(input("body"), input("key"), input("new_block_content"));
            (json!(body), expected["body"].clone())
        }
        "plan_comment_extract" => {
            let parsed = block::parse(input("comment"));
            let plan = match block::find(&parsed, "plan-body").map(|found| &found.content) {
                Some(Content::Text(text)) => Some(text.trim().to_owned()),
                _ => None,
            };
            (json!(plan), expected["plan"].clone())
        }
        other => panic!("no such suite: {other}"),
    }
}

#[test]
fn erk_s_vectors_hold() {
    for suite in [
        "metadata_render",
        "metadata_extract_raw",
        "metadata_parse_blocks",
        "metadata_find_block",
        "metadata_replace_in_body",
    ] {
        vectors::hold(suite, |_| true, &[], |case| compare(suite, case));
    }
    vectors::hold(
        "plan_comment_extract",
        |_| true,
        &[(
            "plan_comment_extract-002",
            "a plan between `erk:plan-content` markers is older than blocks and is no block",
        )],
        |case| compare("plan_comment_extract", case),
    );
}
