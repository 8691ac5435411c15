//! Summary of a plan in its own words: the sentence that states its goal, and the titles of its
//! steps.
//!
//! Nothing is invented: a plan without such a sentence or without steps has a summary without them.
//! In a plan document only the plan is read, without front matter.

use super::document;
use super::inline;
use super::sentence;
use super::steps::{self, MAX_STEP_TITLE_CHARS};
use crate::action_plan::{self, ActionPlan};
use crate::text::{one_line, truncate_chars};
use crate::{front_matter, markdown};

/// Maximum length of the displayed sentence, in code points.
pub const MAX_SENTENCE_CHARS: usize = 250;
/// Maximum number of steps that are listed; further ones are counted.
pub const MAX_STEPS: usize = 7;

/// Summary of a plan.
///
/// Each part is one line of Markdown that displays as plain text. Because of escaping, the source
/// may be longer than [`MAX_SENTENCE_CHARS`] and [`MAX_STEP_TITLE_CHARS`]. The caller must
/// neutralise mentions and commands before posting it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Goal of the plan; empty if no sentence states it.
    pub sentence: String,
    /// Titles of the first [`MAX_STEPS`] steps, and a line with the number of the others.
    pub steps: Vec<String>,
}

/// Summarises `plan`.
pub fn summarise(plan: &str) -> Summary {
    let plan = front_matter::body(document::plan_body(plan));
    let (sentence, titles) = if action_plan::is_action_plan(plan)
        && let Ok(plan) = action_plan::parse(plan)
    {
        action_plan_parts(&plan)
    } else {
        let titles = steps::titles(plan);
        let sentence = sentence::goal(&markdown::blocks(plan), &titles);
        (sentence, titles)
    };
    let mut steps: Vec<String> = titles
        .iter()
        .take(MAX_STEPS)
        .map(|title| inline::shown(title))
        .collect();
    if let Some(more) = titles.len().checked_sub(MAX_STEPS).filter(|n| *n > 0) {
        steps.push(format!("… and {more} more"));
    }
    let sentence = sentence.unwrap_or_default();
    Summary {
        sentence: inline::shown(&truncate_chars(&sentence, MAX_SENTENCE_CHARS)),
        steps,
    }
}

/// Returns the goal in the rationale of an action plan, and its actions as steps.
fn action_plan_parts(plan: &ActionPlan) -> (Option<String>, Vec<String>) {
    let titles = plan.actions.iter().map(|step| {
        let target = one_line(step.action.target().unwrap_or_default());
        let title = format!("{} {target}", step.action.name());
        truncate_chars(title.trim_end(), MAX_STEP_TITLE_CHARS)
    });
    let titles: Vec<String> = titles.collect();
    let sentence = sentence::goal(&markdown::blocks(&plan.rationale), &titles);
    (sentence, titles)
}

/// Returns the path in a code span such as `src/main.rs:10-20`; `None` if it contains none.
pub fn as_path(code: &str) -> Option<&str> {
    let path = code.split_once(':').map_or(code, |(path, lines)| {
        let numbers = lines
            .chars()
            .all(|c| c.is_ascii_digit() || "-,:".contains(c));
        if numbers { path } else { code }
    });
    let plain = !path.starts_with('/')
        && path
            .chars()
            .all(|c| c.is_alphanumeric() || "./_-+".contains(c));
    let (_, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = file.rsplit_once('.')?;
    let named = !extension.is_empty()
        && extension.len() <= 10
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && (path.contains('/') || !stem.is_empty() && KNOWN_EXTENSIONS.contains(&extension));
    (plain && named && path.len() <= 200).then_some(path)
}

/// Extensions of file names without a directory; `config.load` is a method.
const KNOWN_EXTENSIONS: [&str; 30] = [
    "c", "cfg", "cpp", "cs", "css", "go", "h", "html", "java", "js", "json", "jsx", "kt", "lock",
    "md", "php", "proto", "py", "rb", "rs", "sh", "sql", "swift", "tf", "toml", "ts", "tsx", "txt",
    "yaml", "yml",
];

#[cfg(test)]
mod tests;
