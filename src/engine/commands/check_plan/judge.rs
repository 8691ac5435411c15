//! Evaluation of one plan for the report. Pure.

use super::look::Loaded;
use crate::engine::messages::{check as sentences, code_span, plain};
use crate::engine::model::progress::{Judged, Remark};
use crate::formats::action_plan::{self, ActionPlan, Annotation, check, fences};

/// Maximum size of the details of one plan, in bytes. `planwright check` shows them in full.
const MAX_DETAILS: usize = 12_000;

/// Parses `text`, and returns the faults of its structure if it is not an action plan.
pub(super) fn structure(
    name: &str,
    path: Option<&str>,
    text: &str,
) -> Result<ActionPlan, Box<Judged>> {
    action_plan::parse(text).map_err(|refused| {
        let diff = cut(&refused.diff().to_string());
        let fence = fences::around(&diff);
        Box::new(Judged {
            name: name.to_owned(),
            path: path.map(str::to_owned),
            good: false,
            skipped: false,
            sentence: refused.to_string(),
            details: format!("{fence}text\n{}\n{fence}", diff.trim_end()),
            remarks: remarks(refused.annotations()),
        })
    })
}

/// Checks a plan with a valid structure against the files that it would change.
pub(super) fn plan(
    name: &str,
    path: Option<&str>,
    plan: &ActionPlan,
    files: Option<&Loaded>,
) -> Judged {
    let findings = files
        .map(|files| check::check(plan, files))
        .unwrap_or_default();
    let good = findings.is_empty();
    let (sentence, details) = match findings.first() {
        None => (
            sentences::good(plan, files.is_some()),
            sentences::table(plan),
        ),
        Some(first) => (
            format!("line {}: {}", first.span.start, first.message()),
            plain(&cut(&check::render(&findings))),
        ),
    };
    Judged {
        name: name.to_owned(),
        path: path.map(str::to_owned),
        good,
        skipped: false,
        sentence,
        details,
        remarks: remarks(check::annotations(&findings)),
    }
}

/// Returns the result for a plan that was not checked because the request budget is used up.
pub(super) fn skipped(name: &str, path: Option<&str>) -> Judged {
    Judged {
        name: name.to_owned(),
        path: path.map(str::to_owned),
        skipped: true,
        sentence: sentences::SKIPPED.to_owned(),
        details: sentences::SKIPPED.to_owned(),
        ..Judged::default()
    }
}

/// Returns the result for a file that cannot be read as text.
pub(super) fn unread(path: &str, why: &str) -> Judged {
    Judged {
        name: path.to_owned(),
        path: Some(path.to_owned()),
        good: false,
        skipped: false,
        sentence: format!("line 1: it cannot be read: {why}"),
        details: format!("{} cannot be read: {why}.", code_span(path)),
        remarks: vec![Remark {
            line: 1,
            end_line: 1,
            title: "Action plan: cannot be read".to_owned(),
            message: format!("The file cannot be read: {why}."),
        }],
    }
}

fn remarks(annotations: Vec<Annotation>) -> Vec<Remark> {
    let number = |line: usize| u64::try_from(line).unwrap_or(u64::MAX).max(1);
    annotations
        .into_iter()
        .map(|it| Remark {
            line: number(it.line),
            end_line: number(it.end_line.max(it.line)),
            title: it.title,
            message: it.message,
        })
        .collect()
}

/// Returns the first whole lines of `text` that fit into [`MAX_DETAILS`].
fn cut(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        let line: String = line.chars().take(1_000).collect();
        if out.len() + line.len() > MAX_DETAILS {
            out.push_str("... and more; `planwright check` shows all\n");
            break;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}
