//! Builds the agents' prompts: fixed instructions, and the conversation as data. This module does
//! no I/O.
//!
//! The templates are files in `prompts/`, compiled in. Text written by other people is enclosed in
//! delimiter lines that contain a nonce. Hidden text is removed (`formats::hidden`), and every `@`
//! is replaced by `＠`, because agent clients treat `@path` as a file to attach, even in code. The
//! instructions explain this, and `formats::plan::enriched` converts `＠` back in the answer. No
//! prompt begins with a character that has a special meaning to a client (`/`, `-`, `@`, `!`, `#`).

use crate::engine::model::candidate::{Candidate, Unconfirmed};
use crate::engine::model::conversation::Conversation;
use crate::engine::model::trigger::Trigger;
use crate::formats::question::{Answer, Question};

mod canary;
mod conversation;
mod data;
mod plan;
mod project;
mod research;
#[cfg(test)]
mod tests;

pub use canary::{new_words, obeys};
pub use plan::{PlanPromptInput, corrected, plan};
pub use project::Project;
pub use research::{PromptContext, Try, document, place, report};

/// The form in which the agent returns its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The output document of the plan extractor.
    Extracted,
    /// The files of the planner.
    Files,
    /// The plan of the planner, printed.
    Printed,
}

impl Form {
    /// Returns the instruction for working answers into the plan.
    fn with_answers(self) -> &'static str {
        match self {
            Self::Extracted => {
                "Work each answer into the parts of the plan it is about, and list it below `### Clarifications Made`. Then give the \
                 whole answer in the form of your instructions."
            }
            Self::Files => {
                "Work each answer into the parts of the plan it is about. Then write `plan.md` in your working directory, whole, as \
                 your instructions say."
            }
            Self::Printed => {
                "Work each answer into the parts of the plan it is about. Then print the whole plan as your instructions say, and \
                 nothing else."
            }
        }
    }

    /// Returns the instruction for writing open questions, which follows "at the end of the plan".
    fn with_open_questions(self) -> &'static str {
        match self {
            Self::Extracted => {
                ", before `## Context & Understanding`. Then give the whole answer in the form of your instructions, with \
                 `**Questions asked**` as it was."
            }
            Self::Files => {
                ". Then write `plan.md` in your working directory, whole, as your instructions say."
            }
            Self::Printed => {
                ". Then print the whole plan as your instructions say, and nothing else."
            }
        }
    }
}

/// The inputs of a first prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptInput<'a> {
    /// The command, with its author, place and guidance.
    pub trigger: &'a Trigger,
    /// The conversation. Posts after the command are left out, as in the search for plans.
    pub thread: &'a Conversation,
    /// The plan that was found, or several if it is unclear which one is meant.
    pub candidates: &'a [Candidate],
    /// Posts with plans that were not considered because their authors lack write permission.
    /// Comments among them are left out.
    pub unconfirmed: &'a [Unconfirmed],
    /// An unguessable word in the delimiters of data.
    pub nonce: &'a str,
    /// An unguessable word requested by an instruction in the data. An agent that writes it follows
    /// instructions in the data.
    pub canary: &'a str,
    /// The repository's files; `None` if the agent may not read them.
    pub project: Option<Project<'a>>,
    /// Number of rounds of questions that may be asked; zero for none.
    pub rounds: u32,
    /// Maximum length of the whole prompt, in characters.
    pub most: usize,
}

/// The questions of one round, each with its answer; `None` if it was not answered.
pub type Answered = Vec<(Question, Option<Answer>)>;

const FIRST: &str = include_str!("prompts/first.md");
const ANSWERS: &str = include_str!("prompts/answers.md");
const AFRESH: &str = include_str!("prompts/afresh.md");
const UNANSWERED: &str = include_str!("prompts/unanswered.md");
const UNASKED: &str = include_str!("prompts/unasked.md");
const ASK_AGAIN: &str = include_str!("prompts/ask-again.md");
const CORRECTIVE: &str = include_str!("prompts/corrective.md");
const GO_ON: &str = include_str!("prompts/go-on.md");
const STRICTER: &str = include_str!("prompts/stricter.md");

/// Returns the first prompt of a session: the request as JSON, the plan that was found, and the
/// conversation as data. It has at most [`PromptInput::most`] characters: posts in the middle are
/// left out first, starting with the oldest, and then the remaining ones are truncated.
pub fn first(given: &PromptInput<'_>) -> String {
    conversation::write(given, given.most)
}

/// Returns the prompt with the answers to the agent's questions. Unanswered questions are left to
/// the agent. `nonce` is the one of the first prompt.
pub fn answers(nonce: &str, answered: &Answered, rounds_left: u32, form: Form) -> String {
    let open = answered.iter().any(|(_, answer)| answer.is_none());
    filled(
        ANSWERS,
        &[
            ("answers", &round(nonce, "answers", answered)),
            ("unanswered", if open { OPEN } else { "" }),
            ("rounds", &rounds(rounds_left)),
            ("finish", form.with_answers()),
        ],
    )
}

/// Returns the prompt for replacing a lost session: the first prompt with all questions and answers
/// since.
pub fn afresh(given: &PromptInput<'_>, earlier: &[Answered]) -> String {
    let first = |most| conversation::write(given, most);
    begun_anew(
        given.nonce,
        earlier,
        (given.rounds, given.most),
        Form::Extracted,
        first,
    )
}

/// Builds a prompt for replacing a lost session. `first` returns the first prompt for a given
/// maximum length in characters; all rounds are appended to it.
fn begun_anew(
    nonce: &str,
    earlier: &[Answered],
    (rounds_left, most): (u32, usize),
    form: Form,
    first: impl Fn(usize) -> String,
) -> String {
    let told: Vec<String> = earlier
        .iter()
        .enumerate()
        .map(|(at, answered)| round(nonce, &format!("answers {}", at + 1), answered))
        .collect();
    let told = told.concat();
    let open = earlier.iter().flatten().any(|(_, answer)| answer.is_none());
    let left = format!("{}{}", if open { OPEN } else { "" }, rounds(rounds_left));
    let finish = form.with_answers();
    let rest: usize = [AFRESH, &told, &left, finish]
        .iter()
        .map(|part| part.chars().count())
        .sum();
    filled(
        AFRESH,
        &[
            ("first", &first(most.saturating_sub(rest))),
            ("rounds", &told),
            ("left", &left),
            ("finish", finish),
        ],
    )
}

/// Returns the prompt that asks for a corrected answer; `strict` for the second correction.
pub fn correction(complaints: &[String], strict: bool) -> String {
    let list = listed(complaints.iter().cloned());
    let template = if strict { STRICTER } else { CORRECTIVE };
    filled(template, &[("complaints", &list)])
}

/// Returns the prompt that asks the agent to finish without questions because nobody answered.
pub fn unanswered(questions: &[Question], form: Form) -> String {
    let list = listed(questions.iter().map(|question| question.question.clone()));
    let finish = form.with_open_questions();
    filled(UNANSWERED, &[("questions", &list), ("finish", finish)])
}

/// Returns the prompt for a session whose last turn was stopped before its end. `request` is the
/// request of that turn; `None` if it was the first one.
pub fn go_on(request: Option<&str>) -> String {
    match request {
        None => GO_ON.to_owned(),
        Some(request) => format!("{GO_ON}\nThe request was:\n\n{request}"),
    }
}

/// Returns the text that lists the questions of the last round that people were not asked, one
/// sentence each.
pub fn unasked(lost: &[String]) -> String {
    filled(UNASKED, &[("lost", &listed(lost.iter().cloned()))])
}

/// Returns the prompt that asks the agent to repeat questions that could not be parsed, or to
/// finish without them.
pub fn ask_again(lost: &[String], rounds_left: u32) -> String {
    let parts = [
        ("lost", listed(lost.iter().cloned())),
        ("rounds", rounds(rounds_left)),
        ("again", if rounds_left > 0 { AGAIN } else { "" }.to_owned()),
    ];
    let parts = parts.each_ref().map(|(name, text)| (*name, text.as_str()));
    filled(ASK_AGAIN, &parts)
}

/// The instruction for asking again.
const AGAIN: &str = "To ask, answer with one short sentence and one marker with valid JSON, in the form of your \
     instructions.\n";

/// Formats texts as a list with one line per item.
fn listed(items: impl Iterator<Item = String>) -> String {
    let mut list = String::new();
    for item in items {
        list.push_str("- ");
        list.push_str(&data::line(&item, ""));
        list.push('\n');
    }
    list
}

/// The instruction for questions without an answer.
const OPEN: &str =
    "Where nobody answered, use your judgement and write the assumption down in the plan.\n";

fn rounds(left: u32) -> String {
    match left {
        0 => {
            "No round of questions is left: ask nothing more, decide, and write assumptions down.\n"
                .to_owned()
        }
        1 => "One round of questions is left. Ask again only if you must.\n".to_owned(),
        n => format!("{n} rounds of questions are left. Ask again only if you must.\n"),
    }
}

/// Formats questions and their answers as data.
fn round(nonce: &str, name: &str, answered: &Answered) -> String {
    let mut told = String::new();
    for (at, (question, answer)) in answered.iter().enumerate() {
        let words = answer
            .as_ref()
            .map(|answer| data::text(&answer.words(question), nonce));
        let words = words.filter(|words| !words.trim().is_empty());
        told.push_str(&format!(
            "Question {}: {}\nAnswer {}: {}\n\n",
            at + 1,
            data::line(&question.question, nonce),
            at + 1,
            words.as_deref().unwrap_or("(nobody answered)")
        ));
    }
    data::between(nonce, name, told.trim_end())
}

/// Replaces each `{name}` in a template in a single pass, so that placeholders in the inserted text
/// are not replaced.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let part = parts.iter().find(|(name, _)| {
            rest[at + 1..]
                .strip_prefix(name)
                .is_some_and(|behind| behind.starts_with('}'))
        });
        out.push_str(&rest[..at]);
        if let Some((name, text)) = part {
            out.push_str(text);
            rest = &rest[at + name.len() + 2..];
        } else {
            out.push('{');
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    out
}

/// Formats the agent's own earlier answer as data, for a new session that has to correct it.
pub fn draft(nonce: &str, text: &str) -> String {
    let draft = data::between(nonce, "your earlier answer", &data::text(text, nonce));
    format!("\n\n{draft}\n\n")
}
