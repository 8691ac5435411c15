//! What one text holds: a plan block, a broken one, or nothing.

use std::borrow::Cow;

use super::Source;
use crate::block::{self, Content, Diagnostic, Parsed};
use crate::markdown::Lines;

/// What a text holds.
pub(super) enum Held {
    /// A plan, or a part of one.
    Plan(Plan),
    /// A plan block that cannot be read.
    Broken {
        /// 1-based.
        line: usize,
        why: String,
    },
    /// Neither.
    Nothing,
}

/// A plan block.
pub(super) struct Plan {
    pub(super) source: Source,
    pub(super) text: String,
    /// Number of the part and how many there are, where the comment says so.
    pub(super) part: Option<(usize, usize)>,
    /// Every line end of the comment was CRLF.
    pub(super) crlf: bool,
    /// How many plan blocks the text holds.
    pub(super) blocks: usize,
    /// Lines with other troubles of the same kind of block.
    pub(super) troubles: Vec<(usize, String)>,
}

/// What a comment holds.
pub(super) fn in_comment(body: &str) -> Held {
    held(
        body,
        &[
            ("plan-body", Source::PlanBody),
            ("plan-content", Source::PlanContent),
        ],
    )
}

/// What the body of an issue or a pull request holds.
pub(super) fn in_body(body: &str) -> Held {
    held(
        body,
        &[
            ("original-plan", Source::OriginalPlan),
            ("plan-body", Source::BodyBlock),
            ("plan-content", Source::BodyBlock),
        ],
    )
}

fn held(body: &str, keys: &[(&str, Source)]) -> Held {
    let (body, crlf) = unix(body);
    let body = &*body;
    let mut parsed = block::parse(body);
    let is_plan = |key: &str| keys.iter().any(|(known, _)| *known == key);
    parsed.blocks.retain(|block| is_plan(&block.key));
    parsed.diagnostics.retain(|trouble| is_plan(&trouble.key));
    for (key, source) in keys {
        if let Some((start, text)) = first_text(&mut parsed, key) {
            let line = Lines::new(body).at(start);
            let mut above = parsed.diagnostics.iter().filter(|one| one.line < line);
            // What stood in the broken one may have been the plan.
            if let Some(broken) = above.find(|one| one.key == *key && !one.is_stray()) {
                return broken_at(broken);
            }
            return Held::Plan(Plan {
                source: *source,
                text,
                part: part(&body[..start]),
                crlf,
                blocks: parsed.blocks.len(),
                troubles: parsed
                    .diagnostics
                    .iter()
                    .map(|trouble| (trouble.line, explain(trouble)))
                    .collect(),
            });
        }
    }
    if let Some(first) = parsed.diagnostics.first() {
        return broken_at(first);
    }
    match parsed.blocks.first() {
        Some(empty) => Held::Broken {
            line: Lines::new(body).at(empty.span.start),
            why: "there is nothing in the block".to_owned(),
        },
        None => Held::Nothing,
    }
}

fn broken_at(trouble: &Diagnostic) -> Held {
    Held::Broken {
        line: trouble.line,
        why: explain(trouble),
    }
}

/// What is wrong and what to do about it.
pub(super) fn explain(trouble: &Diagnostic) -> String {
    format!("{}; {}", trouble.message, trouble.remedy)
}

/// Start and text of the first block of `key` with something in it.
fn first_text(parsed: &mut Parsed, key: &str) -> Option<(usize, String)> {
    parsed.blocks.iter_mut().find_map(|block| {
        let Content::Text(text) = &mut block.content else {
            return None;
        };
        (block.key == key && !text.trim().is_empty())
            .then(|| (block.span.start, std::mem::take(text)))
    })
}

/// `text` with the line ends it was written with, and whether they were others. Frames are written with LF; where every
/// line end is CRLF, a browser has sent the text.
pub(super) fn unix(text: &str) -> (Cow<'_, str>, bool) {
    let ends = text.matches('\n').count();
    if ends > 0 && ends == text.matches("\r\n").count() {
        (text.replace("\r\n", "\n").into(), true)
    } else {
        (text.into(), false)
    }
}

/// `part i/n`, on a line of its own above the block.
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
