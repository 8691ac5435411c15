//! Is what an agent wrote a report, or a plan?

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use super::complaint::Complaint;
use super::front_matter;
use super::heading::{Named, name, phase_heading};
use super::placeholder::placeholders;
use super::prose::items;
use crate::plan::title::strip_prefix;
use crate::{hidden, markdown};

/// Smallest report in bytes (the limit of benbrastmckie/.config's research-specialist).
pub const SMALLEST_REPORT: usize = 500;
/// Smallest plan in bytes (the limit of the same project's validator).
pub const SMALLEST_PLAN: usize = 500;
/// Largest report in code points. Ours: with a frame it fits into a comment of GitHub, which holds 65,536.
pub const LARGEST_REPORT: usize = 50_000;
/// Leftovers of a template that are named; more say nothing new.
const PLACEHOLDERS: usize = 10;

/// Sections of which a report needs one, at level 2.
const FINDINGS: [&str; 3] = ["findings", "executive summary", "analysis"];
/// Sections that hold the steps of a plan.
const STEPS: [&str; 11] = [
    "action items",
    "action plan",
    "changes",
    "implementation",
    "implementation phases",
    "implementation plan",
    "implementation steps",
    "phases",
    "proposed changes",
    "steps",
    "tasks",
];

/// What is wrong with a report; empty when nothing is. Comments are not measured, and nothing in code counts.
pub fn check_report(text: &str) -> Vec<Complaint> {
    let mut found = check(text, SMALLEST_REPORT, |headings, _| {
        let has = headings
            .iter()
            .any(|(level, text)| *level == 2 && FINDINGS.contains(&name(text).as_str()));
        (!has).then_some(Complaint::NoFindings)
    });
    let chars = text.chars().count();
    if chars > LARGEST_REPORT {
        found.push(Complaint::TooLarge {
            chars,
            most: LARGEST_REPORT,
        });
    }
    found
}

/// What is wrong with a plan; empty when nothing is. Comments are not measured, and nothing in code counts.
pub fn check_plan(text: &str) -> Vec<Complaint> {
    check(text, SMALLEST_PLAN, |headings, root| {
        let steps = headings
            .iter()
            .any(|(level, text)| phase_heading(*level, text).is_some());
        (!steps && !has_steps(root)).then_some(Complaint::NoSteps)
    })
}

/// A guess for a text of unknown kind: it has phases or milestones, else no section of a report and either `Plan` in its
/// title or boxes to tick.
pub fn looks_like_plan(text: &str) -> bool {
    let (_, body) = front_matter::tolerant(text);
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let headings = headings(root);
    let phases = headings.iter().any(|(level, text)| {
        phase_heading(*level, text).is_some_and(|found| found.named != Named::Step)
    });
    let report = headings
        .iter()
        .any(|(level, text)| *level == 2 && FINDINGS.contains(&name(text).as_str()));
    let titled = headings
        .iter()
        .find(|(level, _)| *level == 1)
        .is_some_and(|(_, text)| {
            let words = text.to_lowercase();
            strip_prefix(text).len() < text.trim().len()
                || words.split_whitespace().next_back() == Some("plan")
        });
    let boxes = || {
        root.descendants()
            .any(|node| matches!(node.data().value, NodeValue::TaskItem(_)))
    };
    phases || !report && (titled || boxes())
}

fn check(
    text: &str,
    least: usize,
    structure: impl for<'a> Fn(&[(u8, String)], &'a AstNode<'a>) -> Option<Complaint>,
) -> Vec<Complaint> {
    let seen = hidden::visible(text).text;
    let bytes = seen.trim().len();
    if bytes == 0 {
        return vec![Complaint::Empty];
    }
    let mut found = Vec::new();
    if bytes < least {
        found.push(Complaint::TooSmall { bytes, least });
    }
    let (_, body) = front_matter::tolerant(text);
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let headings = headings(root);
    let titled = headings
        .iter()
        .any(|(level, text)| *level == 1 && !text.trim().is_empty());
    if !titled {
        found.push(Complaint::NoTitle);
    }
    found.extend(structure(&headings, root));
    let above = text.len() - body.len();
    let above = memchr::memchr_iter(b'\n', &text.as_bytes()[..above]).count();
    let left = placeholders(root).into_iter().take(PLACEHOLDERS);
    found.extend(left.map(|(line, text)| Complaint::Placeholder {
        line: line + above,
        text,
    }));
    found
}

/// Level and text of every heading that is in no quote or list.
fn headings<'a>(root: &'a AstNode<'a>) -> Vec<(u8, String)> {
    root.children()
        .filter_map(|node| match &node.data().value {
            NodeValue::Heading(heading) => Some((heading.level, node.collect_text())),
            _ => None,
        })
        .collect()
}

/// A numbered list or boxes, two at least, or a section for steps with something in it.
fn has_steps<'a>(root: &'a AstNode<'a>) -> bool {
    root.children().any(|node| match &node.data().value {
        NodeValue::List(list) => {
            let boxes = items(node)
                .filter(|item| matches!(item.data().value, NodeValue::TaskItem(_)))
                .count();
            boxes >= 2 || list.list_type == ListType::Ordered && items(node).nth(1).is_some()
        }
        NodeValue::Heading(heading) => {
            let filled = node.next_sibling().is_some_and(|next| {
                !matches!(&next.data().value, NodeValue::Heading(next) if next.level <= heading.level)
            });
            filled && STEPS.contains(&name(&node.collect_text()).as_str())
        }
        _ => false,
    })
}
