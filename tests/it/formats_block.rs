//! Metadata blocks, compared with the behaviour of erk's own readers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::formats::block::{self, Content};

use crate::frame_support::erk_reads_block;

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
