//! The `plan-header` block of a body, and what stands behind it.

use serde_json::{Map, Value};

use super::{Findings, Place, held};
use crate::block::schema::{Oddity, number_field, review};
use crate::block::{self, Content};

const KEY: &str = "plan-header";
const COMMENT: &str = "plan_comment_id";

/// Fields of the first header that can be read.
pub(super) fn read(body: &str, findings: &mut Findings) -> Option<Map<String, Value>> {
    let parsed = block::parse(body);
    for trouble in parsed.diagnostics.iter().filter(|one| one.key == KEY) {
        findings.add(
            Place::Body,
            Some(trouble.line),
            format!("the plan-header cannot be read: {}", held::explain(trouble)),
        );
    }
    let headers = parsed.blocks.iter().filter(|block| block.key == KEY);
    let mut readable = headers.filter_map(|block| match &block.content {
        Content::Yaml(fields) => Some(fields),
        Content::Text(_) | Content::Raw(_) => None,
    });
    let first = readable.next();
    let more = readable.count();
    if more > 0 {
        let message = format!("there are {} plan-headers; the first one counts", more + 1);
        findings.add(Place::Body, None, message);
    }
    if first.is_none() && parsed.diagnostics.iter().all(|one| one.key != KEY) {
        findings.add(Place::Body, None, "there is no plan-header");
    }
    if let Some(first) = first {
        check(first, findings);
    }
    first.cloned()
}

/// What is wrong with fields of the header. What erk only no longer uses is not.
fn check(header: &Map<String, Value>, findings: &mut Findings) {
    for odd in review(KEY, header) {
        // [`comment`] has more to say about it.
        let known = odd.field == COMMENT;
        if !known && matches!(odd.oddity, Oddity::Wrong(_) | Oddity::Missing) {
            findings.add(Place::Body, None, format!("plan-header: {odd}"));
        }
    }
}

/// The comment that the header names.
pub(super) fn comment(header: &Map<String, Value>, findings: &mut Findings) -> Option<u64> {
    let value = header.get(COMMENT).filter(|value| !value.is_null())?;
    let id = number_field(header, COMMENT);
    if id.is_none() {
        let shown = super::super::title::cut(&value.to_string(), 60);
        findings.add(
            Place::Body,
            None,
            format!("{COMMENT} in the plan-header is {shown}, which is no comment id; the comments were searched instead"),
        );
    }
    id
}

/// The text between the first rule and the footer, where a block stands before that rule.
pub(super) fn behind(body: &str) -> Option<&str> {
    const RULE: &str = "\n\n---\n\n";
    let (before, text) = body.split_once(RULE)?;
    if !before.contains("<!-- erk:metadata-block:") {
        return None;
    }
    let text = match text.rsplit_once("\n---\n") {
        Some((text, last)) if is_footer(last) => text,
        _ => text,
    };
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// What erk puts below the last rule: how to check the branch out. In its first two days there was
/// no footer, and a rule there is one of the plan.
fn is_footer(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || FOOTERS.iter().any(|start| text.starts_with(start))
}

/// How footers begin.
const FOOTERS: [&str; 3] = [
    "To replicate this PR locally",
    "To checkout this PR",
    "Check it out",
];
