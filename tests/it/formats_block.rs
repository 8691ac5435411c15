//! Metadata blocks, compared with the behaviour of erk's own readers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::formats::block::{self, Content};

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
