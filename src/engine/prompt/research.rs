//! Builds the prompts of a research agent: one topic, with instructions that get stricter with each
//! try.

use super::{Project, data, filled, listed};
use crate::engine::model::research::Indexed;

const REPORT: &str = include_str!("../prompts/report.md");
const EXPLICIT: &str = include_str!("../prompts/report-explicit.md");
const STEPS: &str = include_str!("../prompts/report-steps.md");

/// The documents and other facts that accompany a topic or a specification.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptContext<'a> {
    /// An unguessable word in the delimiters of data.
    pub nonce: &'a str,
    /// An unguessable word requested by an instruction in the data.
    pub canary: &'a str,
    /// The documents in the working directory.
    pub documents: &'a [Indexed],
    /// The same documents as text, for an agent that has no tools to read files.
    pub inline: &'a str,
    /// The project's files; `None` if the agent may not read them.
    pub project: Option<Project<'a>>,
    /// Whether the agent has tools to write files.
    pub writes: bool,
}

/// The inputs of one try at a topic.
#[derive(Debug, Clone, Copy)]
pub struct Try<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The other topics, which other agents work on.
    pub others: &'a [String],
    /// Title and text of the issue or pull request that the topic comes from; `None` if there is
    /// none.
    pub place: Option<(&'a str, &'a str)>,
    /// The name of the file to write, chosen by the bot.
    pub file: &'a str,
    /// The wording of the instructions: 0 standard, 1 explicit, 2 and above step by step.
    pub wording: u32,
    /// The problems found in the last try.
    pub complaints: &'a [String],
}

/// Maximum length of the place's text that a research agent is given, in characters.
const MAX_ISSUE_TEXT: usize = 20_000;

/// Truncates the text of a place for the prompt. The result is stored, so that all tries are given
/// the same text.
pub fn place(text: &str) -> String {
    data::cut(text, MAX_ISSUE_TEXT)
}

/// Returns the prompt of one try, truncating inline documents to keep it within `most` characters.
pub fn report(attempt: &Try<'_>, around: &PromptContext<'_>, most: usize) -> String {
    let whole = write(attempt, around);
    let over = whole.chars().count().saturating_sub(most);
    if over == 0 || around.inline.is_empty() {
        return whole;
    }
    // Leave room for the line about the omitted characters.
    let length = around.inline.chars().count();
    let inline = data::cut(around.inline, length.saturating_sub(over + 100));
    let around = PromptContext {
        inline: &inline,
        ..*around
    };
    write(attempt, &around)
}

fn write(attempt: &Try<'_>, around: &PromptContext<'_>) -> String {
    let template = match attempt.wording {
        0 => REPORT,
        1 => EXPLICIT,
        _ => STEPS,
    };
    let topic = data::between(
        around.nonce,
        "topic",
        &data::line(attempt.topic, around.nonce),
    );
    let mut known = String::new();
    if !attempt.others.is_empty() {
        let others: Vec<String> = attempt
            .others
            .iter()
            .map(|other| format!("- {}\n", data::line(other, around.nonce)))
            .collect();
        known.push_str("\nOthers work on these topics; leave them out:\n\n");
        known.push_str(&data::between(
            around.nonce,
            "other topics",
            &others.concat(),
        ));
    }
    if let Some((title, text)) = attempt.place {
        let text = data::cut(&data::text(text, around.nonce), MAX_ISSUE_TEXT);
        let told = format!(
            "Title: {}\n\n{}\n\n{}",
            data::line(title, around.nonce),
            text.trim(),
            data::bait(around.canary)
        );
        known.push_str("\nThe issue that the topic comes from:\n\n");
        known.push_str(&data::between(around.nonce, "issue", &told));
    }
    known.push_str(&documents(around));
    let (how, end) = if around.writes {
        (
            " in your working directory, whole and in one go, with the Write tool. Do not write it anywhere else, and do not \
             give it as your answer.",
            format!(
                "When the file is written, answer with this line and nothing else: REPORT_CREATED: {}",
                attempt.file
            ),
        )
    } else {
        (
            ": what you print is the file, so print the report and nothing else.",
            "Print the report now.".to_owned(),
        )
    };
    let complaints = data::text(&listed(attempt.complaints.iter().cloned()), around.nonce);
    let complaints = data::between(around.nonce, "complaints", &complaints);
    filled(
        template,
        &[
            ("file", attempt.file),
            ("how", how),
            ("topic", &topic),
            ("around", &known),
            ("nonce", around.nonce),
            ("end", &end),
            ("complaints", &complaints),
        ],
    )
}

/// Formats the documents and the project folder for a prompt.
pub(super) fn documents(around: &PromptContext<'_>) -> String {
    let mut told = String::new();
    if let Some(project) = &around.project {
        told.push_str(&format!("\n{}", project.describe(around.nonce)));
    }
    if !around.documents.is_empty() && around.writes {
        let rows: Vec<String> = around
            .documents
            .iter()
            .map(|one| {
                format!(
                    "- `{}` ({} bytes): {}, from {}\n",
                    one.file,
                    one.bytes,
                    data::line(&one.title, around.nonce),
                    data::line(&one.path, around.nonce)
                )
            })
            .collect();
        told.push_str(
            "\nDocuments of the repository are in your working directory. Always read those on conventions and terms; of the others \
             those that matter here:\n\n",
        );
        told.push_str(&data::between(around.nonce, "documents", &rows.concat()));
    }
    if !around.inline.is_empty() {
        told.push_str("\nDocuments of the repository:\n\n");
        told.push_str(&data::between(around.nonce, "documents", around.inline));
    }
    told
}

/// Formats a document of the repository for an agent.
pub fn document(path: &str, text: &str, nonce: &str) -> String {
    format!(
        "Source: {}\n\n{}\n",
        data::line(path, nonce),
        data::text(text, nonce).trim_end()
    )
}
