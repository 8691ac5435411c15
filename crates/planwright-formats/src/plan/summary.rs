//! What a plan does, in its own words: the sentence that says so, and the titles of its steps.
//!
//! Nothing is made up. Where the plan has no such sentence or no steps, there is none. Of a plan document only the plan is
//! read, without front matter.

use super::document;
use super::inline;
use super::sentence;
use super::steps::{self, TITLE_CHARS};
use super::title::{cut, front_matter};
use crate::action_plan::{self, ActionPlan};
use crate::markdown;

/// Longest sentence in Unicode code points, as a reader sees it.
pub const SENTENCE_CHARS: usize = 250;
/// Most steps that are named; further ones are counted.
pub const MOST_STEPS: usize = 7;

/// What a plan says, each part one line of Markdown without any markup: what would be read as markup is escaped, so the
/// source may be longer than [`SENTENCE_CHARS`] and [`TITLE_CHARS`]. The caller quiets mentions and commands before it
/// posts this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// What the plan does; empty where it does not say so in a sentence.
    pub sentence: String,
    /// Titles of the first [`MOST_STEPS`] steps, and a line that counts the others.
    pub steps: Vec<String>,
}

/// Summarises `plan`. The same text gives the same summary.
pub fn summarise(plan: &str) -> Summary {
    let plan = document::body(plan);
    let plan = &plan[front_matter(plan)..];
    let (sentence, titles) = if action_plan::is_action_plan(plan)
        && let Ok(plan) = action_plan::parse(plan)
    {
        of_actions(&plan)
    } else {
        let titles = steps::titles(plan);
        let sentence = sentence::goal(&markdown::blocks(plan), &titles);
        (sentence, titles)
    };
    let mut steps: Vec<String> = titles
        .iter()
        .take(MOST_STEPS)
        .map(|title| inline::shown(title))
        .collect();
    if let Some(more) = titles.len().checked_sub(MOST_STEPS).filter(|n| *n > 0) {
        steps.push(format!("… and {more} more"));
    }
    let sentence = sentence.unwrap_or_default();
    Summary {
        sentence: inline::shown(&cut(&sentence, SENTENCE_CHARS)),
        steps,
    }
}

/// The same of an executable plan: from its rationale, and its actions in order.
fn of_actions(plan: &ActionPlan) -> (Option<String>, Vec<String>) {
    let titles = plan.actions.iter().map(|step| {
        let target = inline::one_line(step.action.target().unwrap_or_default());
        let title = format!("{} {target}", step.action.name());
        cut(title.trim_end(), TITLE_CHARS)
    });
    let titles: Vec<String> = titles.collect();
    let sentence = sentence::goal(&markdown::blocks(&plan.rationale), &titles);
    (sentence, titles)
}

/// The path in a code span such as `src/main.rs:10-20`; `None` for anything else.
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

/// Extensions that make a name without a folder a file; `config.load` is a method.
const KNOWN_EXTENSIONS: [&str; 30] = [
    "c", "cfg", "cpp", "cs", "css", "go", "h", "html", "java", "js", "json", "jsx", "kt", "lock",
    "md", "php", "proto", "py", "rb", "rs", "sh", "sql", "swift", "tf", "toml", "ts", "tsx", "txt",
    "yaml", "yml",
];

#[cfg(test)]
mod tests;
