//! The metadata blocks of one text: its plan block or its `plan-header`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Findings, Location, StoredForm};
use crate::block::schema::{Oddity, number_field, review};
use crate::block::{self, Content, Diagnostic, Parsed};
use crate::markdown::Lines;
use crate::text::truncate_chars;

/// Key of the block with the metadata of a plan.
const HEADER_KEY: &str = "plan-header";
/// Field of the header with the id of the first comment of the plan.
const COMMENT_FIELD: &str = "plan_comment_id";
/// Maximum length of an invalid field value in a finding, in code points.
const MAX_VALUE_CHARS: usize = 60;
/// Beginnings of the footers that erk writes into pull requests.
const FOOTERS: [&str; 3] = [
    "To replicate this PR locally",
    "To checkout this PR",
    "Check it out",
];

/// Plan block of a text.
pub(super) enum PlanBlock {
    /// A plan, or a part of one.
    Plan(PlanPart),
    /// A plan block that cannot be parsed.
    Broken {
        /// 1-based line number.
        line: usize,
        reason: String,
    },
    /// No plan block.
    Missing,
}

/// A plan in a block, or a part of one.
pub(super) struct PlanPart {
    pub(super) form: StoredForm,
    pub(super) text: String,
    /// Number of this part and of all parts, if the comment states them.
    pub(super) part: Option<(usize, usize)>,
    /// Whether every line end of the comment was CRLF.
    pub(super) crlf: bool,
    /// Number of plan blocks in the text.
    pub(super) blocks: usize,
    /// Line and message of further diagnostics of plan blocks.
    pub(super) diagnostics: Vec<(usize, String)>,
}

/// Finds the plan block in a comment.
pub(super) fn in_comment(body: &str) -> PlanBlock {
    find_block(
        body,
        &[
            ("plan-body", StoredForm::PlanBody),
            ("plan-content", StoredForm::PlanContent),
        ],
    )
}

/// Finds the plan block in the body of an issue or a pull request.
pub(super) fn in_body(body: &str) -> PlanBlock {
    find_block(
        body,
        &[
            ("original-plan", StoredForm::OriginalPlan),
            ("plan-body", StoredForm::BodyBlock),
            ("plan-content", StoredForm::BodyBlock),
        ],
    )
}

fn find_block(body: &str, keys: &[(&str, StoredForm)]) -> PlanBlock {
    let (body, crlf) = original_line_ends(body);
    let body = &*body;
    let mut parsed = block::parse(body);
    let is_plan = |key: &str| keys.iter().any(|(known, _)| *known == key);
    parsed.blocks.retain(|block| is_plan(&block.key));
    parsed.diagnostics.retain(|it| is_plan(&it.key));
    for (key, form) in keys {
        if let Some((start, text)) = first_text(&mut parsed, key) {
            let line = Lines::new(body).at(start);
            let mut above = parsed.diagnostics.iter().filter(|it| it.line < line);
            // A broken block above may have contained the plan.
            if let Some(broken) = above.find(|it| it.key == *key && !it.is_stray()) {
                return broken_at(broken);
            }
            return PlanBlock::Plan(PlanPart {
                form: *form,
                text,
                part: part(&body[..start]),
                crlf,
                blocks: parsed.blocks.len(),
                diagnostics: parsed
                    .diagnostics
                    .iter()
                    .map(|it| (it.line, explain(it)))
                    .collect(),
            });
        }
    }
    if let Some(first) = parsed.diagnostics.first() {
        return broken_at(first);
    }
    match parsed.blocks.first() {
        Some(empty) => PlanBlock::Broken {
            line: Lines::new(body).at(empty.span.start),
            reason: "there is nothing in the block".to_owned(),
        },
        None => PlanBlock::Missing,
    }
}

fn broken_at(diagnostic: &Diagnostic) -> PlanBlock {
    PlanBlock::Broken {
        line: diagnostic.line,
        reason: explain(diagnostic),
    }
}

fn explain(diagnostic: &Diagnostic) -> String {
    format!("{}; {}", diagnostic.message, diagnostic.remedy)
}

/// Takes the text of the first block of `key` that is not empty, and its offset.
fn first_text(parsed: &mut Parsed, key: &str) -> Option<(usize, String)> {
    parsed.blocks.iter_mut().find_map(|block| {
        let Content::Text(text) = &mut block.content else {
            return None;
        };
        (block.key == key && !text.trim().is_empty())
            .then(|| (block.span.start, std::mem::take(text)))
    })
}

/// Restores LF line ends, and returns whether they were CRLF. Plans are written with LF; if every
/// line end is CRLF, the text was edited in a browser.
pub(super) fn original_line_ends(text: &str) -> (Cow<'_, str>, bool) {
    let ends = text.matches('\n').count();
    if ends > 0 && ends == text.matches("\r\n").count() {
        (text.replace("\r\n", "\n").into(), true)
    } else {
        (text.into(), false)
    }
}

/// Parses the line `part i/n` above a block.
fn part(above: &str) -> Option<(usize, usize)> {
    let number = |digits: &str| {
        let short = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| short)
    };
    above.lines().rev().find_map(|line| {
        let (part, of) = line.trim().strip_prefix("part ")?.split_once('/')?;
        let (part, of) = (number(part)?, number(of)?);
        (1 <= part && part <= of).then_some((part, of))
    })
}

/// Returns the fields of the first `plan-header` that can be parsed.
pub(super) fn header(body: &str, findings: &mut Findings) -> Option<Map<String, Value>> {
    let parsed = block::parse(body);
    let diagnostics = || parsed.diagnostics.iter().filter(|it| it.key == HEADER_KEY);
    for diagnostic in diagnostics() {
        findings.add(
            Location::Body,
            Some(diagnostic.line),
            format!("the plan-header cannot be read: {}", explain(diagnostic)),
        );
    }
    let headers = parsed.blocks.iter().filter(|block| block.key == HEADER_KEY);
    let mut readable = headers.filter_map(|block| match &block.content {
        Content::Yaml(fields) => Some(fields),
        Content::Text(_) | Content::Raw(_) => None,
    });
    let first = readable.next();
    let more = readable.count();
    if more > 0 {
        let message = format!("there are {} plan-headers; the first one counts", more + 1);
        findings.add(Location::Body, None, message);
    }
    if first.is_none() && diagnostics().next().is_none() {
        findings.add(Location::Body, None, "there is no plan-header");
    }
    if let Some(first) = first {
        check_header(first, findings);
    }
    first.cloned()
}

/// Reports wrong and missing fields of the header. Obsolete fields are accepted.
fn check_header(header: &Map<String, Value>, findings: &mut Findings) {
    for odd in review(HEADER_KEY, header) {
        // [`named_comment`] reports this field.
        if odd.field != COMMENT_FIELD && matches!(odd.oddity, Oddity::Wrong(_) | Oddity::Missing) {
            findings.add(Location::Body, None, format!("plan-header: {odd}"));
        }
    }
}

/// Returns the id of the comment that the header names.
pub(super) fn named_comment(header: &Map<String, Value>, findings: &mut Findings) -> Option<u64> {
    let value = header.get(COMMENT_FIELD).filter(|value| !value.is_null())?;
    let id = number_field(header, COMMENT_FIELD);
    if id.is_none() {
        let shown = truncate_chars(&value.to_string(), MAX_VALUE_CHARS);
        findings.add(
            Location::Body,
            None,
            format!("{COMMENT_FIELD} in the plan-header is {shown}, which is not a comment id; the comments were searched instead"),
        );
    }
    id
}

/// Returns the text between the first rule and the footer if there is a block before that rule.
pub(super) fn text_after_header(body: &str) -> Option<&str> {
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

/// Returns true for erk's instructions on checking out the branch. Its first versions wrote no
/// footer, so that the last rule may belong to the plan.
fn is_footer(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || FOOTERS.iter().any(|start| text.starts_with(start))
}
