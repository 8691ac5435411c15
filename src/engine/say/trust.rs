//! What the bot says about posts that do not count, and about text that people do not see.

use super::code_span;
use super::failures::shorten;
use crate::engine::model::candidate::Unconfirmed;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::progress::HiddenText;
use crate::formats::action_plan::fences;
use crate::formats::block::quiet;
use crate::formats::command::Command;

/// Most authors that are named.
const MAX_NAMED: usize = 5;

/// Longest hidden text that is shown, in characters; the conversation has all of it.
const MAX_SHOWN: usize = 4_000;

/// One note for each author whose plans were not considered, and one for those beyond
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

/// The only plans here were posted by people without write permission.
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

/// The plan holds text that people do not see, and somebody has to decide. `raw`: the command
/// changes nothing by itself.
pub fn hidden(command: Command, parts: &[String], raw: bool) -> Failure {
    let name = command.name();
    let why = if raw {
        "and is to be saved exactly as found"
    } else {
        "and cannot be shown the same without it"
    };
    Failure {
        code: Code::ValidationFailed,
        message: format!("The plan holds text that people do not see on GitHub, {why}."),
        details: vec![format!(
            "Hidden text ({}):\n\n{}",
            count(parts.len(), "part"),
            block(parts)
        )],
        remedy: format!(
            "Comment `/{name} hidden=remove` to save the plan without this text, or `/{name} hidden=keep` to save it, too."
        ),
    }
}

/// A note on the plan's hidden text, and the text itself behind a click.
pub fn hidden_text(text: &HiddenText) -> String {
    let parts = count(text.parts.len(), "part");
    let (note, summary) = if text.kept {
        (
            format!("The plan was saved with text that people do not see on GitHub ({parts})."),
            "Hidden text in the plan",
        )
    } else {
        (
            format!(
                "Text that people do not see on GitHub was left out of the plan ({parts}). To save it, too, comment the \
                 command again with `hidden=keep`."
            ),
            "Hidden text that was left out",
        )
    };
    format!(
        "> [!WARNING]\n> {note}\n\n<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n\n",
        block(&text.parts)
    )
}

/// The parts in a fence, made harmless, as many characters as have room.
fn block(parts: &[String]) -> String {
    let whole = parts.join("\n");
    let mut text: String = whole.chars().take(MAX_SHOWN).collect();
    if text.len() < whole.len() {
        text.push_str("\n… and more");
    }
    let fence = fences::around(&text);
    quiet(&format!("{fence}text\n{}\n{fence}", text.trim_end()))
}

/// Authors in the order of their first posts, with the number of posts.
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
