//! The readers of every version of erk extract the whole plan from Planwright's frame.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::formats::block::{neutralise, plan_body};
use proptest::prelude::*;

use crate::frame_support::{config, text};

/// White space for Python's `\s` and `strip`.
fn python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn strip(text: &str) -> &str {
    text.trim_matches(python_space)
}

/// The current reader's first phase: from the first opening marker of any key to the next closing
/// marker, with that key or with none.
fn raw_block(comment: &str) -> Option<(&str, &str)> {
    let (_, rest) = comment.split_once("<!-- erk:metadata-block:")?;
    let (key, rest) = rest.split_once(" -->")?;
    let keyed = format!("<!-- /erk:metadata-block:{key} -->");
    let end = ["<!-- /erk:metadata-block -->", &keyed]
        .iter()
        .filter_map(|closing| rest.find(closing))
        .min()?;
    Some((key, strip(&rest[..end])))
}

/// Its second phase: `<details(?:\s+open)?>\s*<summary>.*?</summary>\s*(.*?)\s*</details>`.
fn current_era(comment: &str) -> Option<&str> {
    let (key, inner) = raw_block(comment)?;
    let at = ["<details>", "<details open>"]
        .iter()
        .find_map(|tag| inner.strip_prefix(tag))?;
    let at = at
        .trim_start_matches(python_space)
        .strip_prefix("<summary>")?;
    let (_, rest) = at.split_once("</summary>")?;
    let (plan, _) = rest.split_once("</details>")?;
    (key == "plan-body").then_some(strip(plan))
}

/// The era before: only `<details>`, and a closing marker that may lack the key.
fn first_blocks_era(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("<!-- erk:metadata-block:plan-body -->")?;
    let (inner, _) = rest.split_once("<!-- /erk:metadata-block")?;
    let inner = strip(inner).strip_prefix("<details>")?;
    let (_, rest) = inner.split_once("</summary>")?;
    let (plan, _) = rest.split_once("</details>")?;
    Some(strip(plan))
}

/// Before there were blocks: everything between two markers.
fn markers_era(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("<!-- erk:plan-content -->")?;
    let (plan, _) = rest.split_once("<!-- /erk:plan-content -->")?;
    Some(strip(plan))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn get_the_whole_plan(text in text()) {
        let safe = neutralise(&text);
        let whole = Some(strip(&safe));
        let comment = plan_body(&text);
        prop_assert_eq!(current_era(&comment), whole);
        let part = format!("part 1/2\n\n{comment}");
        prop_assert_eq!(current_era(&part), whole);
        prop_assert_eq!(first_blocks_era(&comment), whole);
        let older = format!("<!-- erk:plan-content -->\n\n{safe}\n\n<!-- /erk:plan-content -->");
        prop_assert_eq!(markers_era(&older), whole);
    }

    /// The comment is one block to them, and its text holds none.
    #[test]
    fn see_no_other_block(text in text()) {
        let comment = plan_body(&text);
        prop_assert_eq!(comment.matches("<!-- erk:").count(), 1);
        prop_assert_eq!(comment.matches("<!-- /erk:").count(), 1);
        prop_assert_eq!(comment.matches("</details>").count(), 1);
        prop_assert_eq!(comment.matches("<!-- WARNING: Machine-generated").count(), 1);
    }
}
