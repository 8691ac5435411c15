//! Texts about posts that are not considered, and about text that is hidden on GitHub.

use super::code_span;
use super::failures::shorten;
use crate::engine::model::candidate::Unconfirmed;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::progress::HiddenText;
use crate::formats::action_plan::fences;
use crate::formats::block::quiet;
use crate::formats::command::Command;

/// Maximum number of authors that are named.
const MAX_NAMED: usize = 5;

/// Maximum length of hidden text that is shown, in characters. The conversation has all of it.
const MAX_SHOWN: usize = 4_000;

/// Returns one note for each author whose plans were not considered, and one for the authors beyond
/// `MAX_NAMED`.
pub fn not_considered(unconfirmed: &[Unconfirmed]) -> Vec<String> {
    let authors = by_author(unconfirmed);
    let mut notes: Vec<String> = authors
        .iter()
        .take(MAX_NAMED)
        .map(|(author, posts)| {
            let were = if *posts == 1 { "was" } else { "were" };
            format!(
                "{} by {author} {were} not considered: no write access.",
                count(*posts, "post")
            )
        })
        .collect();
    if let Some(others) = authors.len().checked_sub(MAX_NAMED).filter(|n| *n > 0) {
        notes.push(format!(
            "Posts by {} without write access were not considered either.",
            count(others, "other author")
        ));
    }
    notes
}

/// Returns the failure if all plans were posted by people without write permission.
pub fn only_unconfirmed(
    command: Command,
    unconfirmed: &[Unconfirmed],
    looked: Vec<String>,
) -> Failure {
    let name = command.name();
    let authors = by_author(unconfirmed);
    let choices: Vec<String> = authors
        .iter()
        .take(MAX_NAMED)
        .map(|(author, _)| code_span(&format!("/{name} author={author}")))
        .collect();
    Failure {
        code: Code::NoPlanFound,
        message: "The only plans in this conversation were posted by people without write access."
            .to_owned(),
        details: looked,
        remedy: format!(
            "Read the plan. To save it, name its author: comment {}.",
            choices.join(" or ")
        ),
    }
}

/// Returns the failure of a plan with hidden text that a person has to decide about. `raw` says
/// whether the command saves plans exactly as found.
pub fn hidden(command: Command, parts: &[String], raw: bool) -> Failure {
    let name = command.name();
    let why = if raw {
        "and must be saved exactly as found"
    } else {
        "and removing it would change the visible text"
    };
    Failure {
        code: Code::ValidationFailed,
        message: format!("The plan contains text that is invisible on GitHub, {why}."),
        details: vec![format!(
            "Hidden text ({}):\n\n{}",
            count(parts.len(), "part"),
            block(parts)
        )],
        remedy: format!(
            "Comment `/{name} hidden=remove` to save the plan without this text, or `/{name} hidden=keep` to save it with the plan."
        ),
    }
}

/// Returns a note on the plan's hidden text, with the text in a collapsed section.
pub fn hidden_text(text: &HiddenText) -> String {
    let parts = count(text.parts.len(), "part");
    let (note, summary) = if text.kept {
        (
            format!("The plan was saved with text that is invisible on GitHub ({parts})."),
            "Hidden text in the plan",
        )
    } else {
        (
            format!(
                "Text that is invisible on GitHub was left out of the plan ({parts}). To include \
                 it, comment the command again with `hidden=keep`."
            ),
            "Hidden text that was left out",
        )
    };
    format!(
        "> [!WARNING]\n> {note}\n\n<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n\n",
        block(&text.parts)
    )
}

/// Returns the parts in a fenced code block, escaped and truncated to `MAX_SHOWN` characters.
fn block(parts: &[String]) -> String {
    let whole = parts.join("\n");
    let mut text: String = whole.chars().take(MAX_SHOWN).collect();
    if text.len() < whole.len() {
        text.push_str("\n… and more");
    }
    let fence = fences::around(&text);
    quiet(&format!("{fence}text\n{}\n{fence}", text.trim_end()))
}

/// Returns the authors in the order of their first posts, with their number of posts.
fn by_author(unconfirmed: &[Unconfirmed]) -> Vec<(String, usize)> {
    let mut authors: Vec<(String, usize)> = Vec::new();
    for post in unconfirmed {
        let author = shorten(&post.author, 100);
        match authors.iter_mut().find(|(known, _)| *known == author) {
            Some((_, posts)) => *posts += 1,
            None => authors.push((author, 1)),
        }
    }
    authors
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
