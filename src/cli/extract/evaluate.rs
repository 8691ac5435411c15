//! `planwright extract --evaluate`: measures how often the right plan is chosen in labelled
//! conversations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Judged, judge};
use crate::cli::{Failure, input};
use crate::engine::extract::Verdict;
use crate::engine::model::candidate::Source;
use crate::formats::plan::title::fold_title;

/// The expected result for a conversation, from the labels in the head of its file.
#[derive(Debug)]
pub(super) enum Expected {
    Plan {
        posts: String,
        first: Vec<String>,
        last: Vec<String>,
        title: Vec<String>,
    },
    None,
    Unclear,
}

/// The result of a conversation compared to what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    /// The right text with a wrong title.
    Title,
    /// Part of the right text, or more than it.
    Span,
    /// Another text was saved.
    Wrong,
    /// Nothing was saved although there is a plan.
    Refused,
    /// The bot would ask although the case is clear.
    Asked,
}

impl Outcome {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Right, "right"),
        (Self::Title, "title"),
        (Self::Span, "span"),
        (Self::Wrong, "wrong"),
        (Self::Refused, "refused"),
        (Self::Asked, "asked"),
    ];

    fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(one, _)| *one == self)
            .map_or("", |(_, name)| name)
    }
}

pub(super) struct Case {
    file: String,
    part: String,
    language: String,
    expected: &'static str,
    outcome: Outcome,
    detail: String,
}

/// Evaluates every conversation below `folder` and returns a table, or JSON.
///
/// # Errors
/// Returns an error if the directory contains no conversations, or if one cannot be read or has no
/// labels.
pub(super) fn evaluate(folder: &Path, as_json: bool) -> Result<String, Failure> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut cases = Vec::new();
    for file in &files {
        cases.push(case(folder, file)?);
    }
    if cases.is_empty() {
        return Err(Failure::Usage(format!(
            "{} contains no conversations: files `NAME.md` with `expect: …` lines in the header",
            folder.display()
        )));
    }
    Ok(if as_json { json(&cases) } else { table(&cases) })
}

pub(super) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error| Failure::Usage(format!("{}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|it| it == "md")
            && path.file_name().is_none_or(|name| name != "README.md")
        {
            files.push(path);
        }
    }
    Ok(())
}

fn case(folder: &Path, path: &Path) -> Result<Case, Failure> {
    let name = path.display().to_string();
    let part = path
        .strip_prefix(folder)
        .ok()
        .and_then(|path| path.parent())
        .map(|part| part.display().to_string())
        .unwrap_or_default();
    case_in(part, name, &input::text(path)?)
}

/// Evaluates the conversation `text` of a part.
pub(super) fn case_in(part: String, name: String, text: &str) -> Result<Case, Failure> {
    let judged = judge(&name, text)?;
    let labels = &judged.labels;
    let expected = expected(labels)
        .ok_or_else(|| Failure::Usage(format!("{name}: the header has no complete `expect: …`")))?;
    let (outcome, detail) = outcome(&judged, &expected);
    Ok(Case {
        file: name,
        part,
        language: labels.get("language").cloned().unwrap_or_default(),
        expected: match expected {
            Expected::Plan { .. } => "plan",
            Expected::None => "none",
            Expected::Unclear => "unclear",
        },
        outcome,
        detail,
    })
}

pub(super) fn expected(labels: &BTreeMap<String, String>) -> Option<Expected> {
    let any = |key: &str| -> Option<Vec<String>> {
        let value = labels.get(key)?;
        Some(
            value
                .split(" || ")
                .map(|one| one.trim().to_owned())
                .collect(),
        )
    };
    match labels.get("expect")?.as_str() {
        "plan" => Some(Expected::Plan {
            posts: labels.get("expect-post")?.clone(),
            first: any("expect-first")?,
            last: any("expect-last")?,
            title: any("expect-title")?,
        }),
        "none" => Some(Expected::None),
        "unclear" => Some(Expected::Unclear),
        _ => None,
    }
}

fn outcome(judged: &Judged, expected: &Expected) -> (Outcome, String) {
    let best = judged.search.candidates.first();
    let unclear = matches!(judged.search.verdict, Verdict::Unclear { .. });
    let saved = judged.verdict.as_ref().ok().zip(best);
    match (expected, saved) {
        (Expected::None, None) if !unclear => (Outcome::Right, String::new()),
        (Expected::Unclear, None) if unclear => (Outcome::Right, String::new()),
        (Expected::None | Expected::Plan { .. }, None) if unclear => {
            (Outcome::Asked, "asked".to_owned())
        }
        (_, None) => (Outcome::Refused, "nothing would be saved".to_owned()),
        (Expected::None | Expected::Unclear, Some((_, best))) => (
            Outcome::Wrong,
            format!("saved {:?}", first_line(&best.text)),
        ),
        (
            Expected::Plan {
                posts,
                first,
                last,
                title,
            },
            Some((prepared, best)),
        ) => {
            let numbers = post_numbers(&best.source, &judged.numbers, judged.command_post);
            if numbers != *posts {
                let what = first_line(&best.text);
                return (
                    Outcome::Wrong,
                    format!("saved post {numbers} ({what:?}), not {posts}"),
                );
            }
            let (begins, ends) = (first_line(&best.text), last_line(&best.text));
            if !first.iter().any(|line| line == begins) || !last.iter().any(|line| line == ends) {
                let detail = format!(
                    "from {begins:?} to {ends:?}, not from {:?} to {:?}",
                    first.join(" || "),
                    last.join(" || ")
                );
                return (Outcome::Span, detail);
            }
            let same = |wanted: &String| fold_title(wanted) == fold_title(&prepared.title);
            if title.iter().any(same) {
                (Outcome::Right, String::new())
            } else {
                let detail = format!("titled {:?}, not {:?}", prepared.title, title.join(" || "));
                (Outcome::Title, detail)
            }
        }
    }
}

/// Returns the numbers of the posts that a plan comes from, in the format of the labels.
pub(super) fn post_numbers(
    source: &Source,
    numbers: &[(Option<u64>, usize)],
    command_post: Option<u64>,
) -> String {
    let ids: Vec<Option<u64>> = match source {
        Source::Parts { posts } => posts.clone(),
        Source::Block { post } | Source::Section { post, .. } | Source::Whole { post } => {
            vec![*post]
        }
        Source::Inline => vec![command_post],
        Source::Log => Vec::new(),
    };
    let number = |id: Option<u64>| {
        numbers
            .iter()
            .find(|(other, _)| *other == id)
            .map_or_else(|| "?".to_owned(), |(_, number)| number.to_string())
    };
    ids.into_iter().map(number).collect::<Vec<_>>().join("+")
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

pub(super) fn last_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default()
}

pub(super) fn table(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases.iter().filter(|case| case.outcome != Outcome::Right) {
        let _ = writeln!(
            text,
            "{} ({}): {}: {}",
            case.file,
            case.expected,
            case.outcome.name(),
            case.detail
        );
    }
    let mut row = |name: &str, wanted: &dyn Fn(&Case) -> bool| {
        let all = cases.iter().filter(|case| wanted(case)).count();
        if all == 0 {
            return;
        }
        let count = |outcome: Outcome| {
            cases
                .iter()
                .filter(|case| wanted(case) && case.outcome == outcome)
                .count()
        };
        let _ = write!(text, "{name:<24} {all:>5}");
        for (outcome, _) in Outcome::ALL {
            let _ = write!(text, " {:>8}", count(outcome));
        }
        let _ = writeln!(text, " {:>8.1} %", percent(count(Outcome::Right), all));
    };
    let names: Vec<&str> = Outcome::ALL.iter().map(|(_, name)| *name).collect();
    let mut head = format!("{:<24} {:>5}", "", "all");
    for name in names {
        let _ = write!(head, " {name:>8}");
    }
    for part in distinct(cases, |case| &case.part) {
        for expected in ["plan", "none", "unclear"] {
            row(&format!("{part} {expected}"), &|case| {
                case.part == part && case.expected == expected
            });
        }
        row(&part, &|case| case.part == part);
    }
    for language in distinct(cases, |case| &case.language) {
        row(&language, &|case| case.language == language);
    }
    row("all", &|_| true);
    let wrong = |case: &&Case| case.outcome != Outcome::Right;
    let at = cases.iter().filter(wrong).count();
    let lines: Vec<&str> = text.lines().collect();
    let (failures, rows) = lines.split_at(at);
    let mut whole = failures.join("\n");
    if !failures.is_empty() {
        whole.push_str("\n\n");
    }
    whole.push_str(&head);
    whole.push('\n');
    whole.push_str(&rows.join("\n"));
    whole.push('\n');
    whole
}

fn distinct(cases: &[Case], of: fn(&Case) -> &String) -> Vec<String> {
    let mut found: Vec<String> = cases.iter().map(|case| of(case).clone()).collect();
    found.sort();
    found.dedup();
    found
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn percent(part: usize, all: usize) -> f64 {
    part as f64 * 100.0 / all as f64
}

fn json(cases: &[Case]) -> String {
    let cases: Vec<_> = cases
        .iter()
        .map(|case| {
            json!({
                "file": case.file, "part": case.part, "language": case.language, "expected": case.expected,
                "outcome": case.outcome.name(), "detail": case.detail,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "cases": cases }))
}
