//! What an agent is told: fixed instructions, and the conversation as data. Pure.
//!
//! The texts are files in `prompts/`, compiled in. Whatever others wrote stands between lines that carry a nonce, without
//! hidden text (`formats::hidden`), and with every `@` written `＠`: a client of an agent takes `@path` for a file that it
//! is to attach, in code too. The instructions say so, and `formats::plan::enriched` writes the answer's `＠` as `@` again.
//! No prompt begins with a character that a client gives a meaning to (`/`, `-`, `@`, `!`, `#`).

use crate::engine::model::candidate::{Candidate, Unconfirmed};
use crate::engine::model::conversation::Thread;
use crate::engine::model::trigger::Trigger;
use crate::formats::question::{Answer, Question};

mod canary;
mod conversation;
mod data;
mod plan;
mod research;
#[cfg(test)]
mod tests;

pub use canary::{new_words, obeys};
pub use plan::{Specified, corrected, plan};
pub use research::{Around, Try, document, place, report};

/// In which form the agent gives its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The document of the plan extractor.
    Extracted,
    /// The planner's files.
    Files,
    /// The planner's plan, printed.
    Printed,
}

impl Form {
    /// How answers come into the plan.
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

    /// Where open questions go, behind "at the end of the plan".
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

/// What a first prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// What was asked for, by whom, where, with which guidance.
    pub trigger: &'a Trigger,
    /// The conversation; posts after the command are left out, as the search does.
    pub thread: &'a Thread,
    /// The plan that was found; several where it is not clear which one is meant.
    pub candidates: &'a [Candidate],
    /// Posts with a plan that were not considered: comments among them are left out.
    pub unconfirmed: &'a [Unconfirmed],
    /// Unguessable word that the delimiters of data carry.
    pub nonce: &'a str,
    /// Unguessable word that an instruction hidden in the data asks for: whoever writes it obeys data.
    pub canary: &'a str,
    /// How many rounds of questions may be asked; zero for none.
    pub rounds: u32,
    /// Most characters of the whole prompt.
    pub most: usize,
}

/// Questions of one round and what was answered; `None` where nothing was.
pub type Answered = Vec<(Question, Option<Answer>)>;

const FIRST: &str = include_str!("prompts/first.md");
const ANSWERS: &str = include_str!("prompts/answers.md");
const AFRESH: &str = include_str!("prompts/afresh.md");
const UNANSWERED: &str = include_str!("prompts/unanswered.md");
const UNASKED: &str = include_str!("prompts/unasked.md");
const ASK_AGAIN: &str = include_str!("prompts/ask-again.md");
const CORRECTIVE: &str = include_str!("prompts/corrective.md");
const STRICTER: &str = include_str!("prompts/stricter.md");

/// The first prompt of a session: what is wanted as JSON, the plan that was found, the conversation as data. At most
/// [`Given::most`] characters; posts in the middle are left out first, the oldest before the others, then what is left
/// is cut.
pub fn first(given: &Given<'_>) -> String {
    conversation::write(given, given.most)
}

/// The prompt that brings answers: each question with its answer; what has none is left to the agent. `nonce` is the
/// one of the first prompt.
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

/// The first prompt again for a session that is lost, with everything asked and answered since.
pub fn afresh(given: &Given<'_>, earlier: &[Answered]) -> String {
    let first = |most| conversation::write(given, most);
    begun_anew(
        given.nonce,
        earlier,
        (given.rounds, given.most),
        Form::Extracted,
        first,
    )
}

/// A first prompt, made by `first` for so many characters, and all rounds behind it.
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

/// Asks to write the answer again; `strict` for the second time.
pub fn correction(complaints: &[String], strict: bool) -> String {
    let list = listed(complaints.iter().cloned());
    let template = if strict { STRICTER } else { CORRECTIVE };
    filled(template, &[("complaints", &list)])
}

/// Nobody answered: asks to finish without asking.
pub fn unanswered(questions: &[Question], form: Form) -> String {
    let list = listed(questions.iter().map(|question| question.question.clone()));
    let finish = form.with_open_questions();
    filled(UNANSWERED, &[("questions", &list), ("finish", finish)])
}

/// What of the last round of questions people were not asked, a sentence each.
pub fn unasked(lost: &[String]) -> String {
    filled(UNASKED, &[("lost", &listed(lost.iter().cloned()))])
}

/// Asks for questions again that could not be read, or to finish without them.
pub fn ask_again(lost: &[String], rounds_left: u32) -> String {
    let parts = [
        ("lost", listed(lost.iter().cloned())),
        ("rounds", rounds(rounds_left)),
        ("again", if rounds_left > 0 { AGAIN } else { "" }.to_owned()),
    ];
    let parts = parts.each_ref().map(|(name, text)| (*name, text.as_str()));
    filled(ASK_AGAIN, &parts)
}

/// How to ask again.
const AGAIN: &str = "To ask, answer with one short sentence and one marker with valid JSON, in the form of your \
     instructions.\n";

/// Texts as items of a list, one line each.
fn listed(items: impl Iterator<Item = String>) -> String {
    let mut list = String::new();
    for item in items {
        list.push_str("- ");
        list.push_str(&data::line(&item, ""));
        list.push('\n');
    }
    list
}

/// What is said when a question has no answer.
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

/// Questions with their answers, as data.
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

/// A template with its `{names}` filled in, each once and in one go: what is filled in is not looked through again.
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

/// The agent's own earlier answer as data, for a new session that has to put it right.
pub fn draft(nonce: &str, text: &str) -> String {
    let draft = data::between(nonce, "your earlier answer", &data::text(text, nonce));
    format!("\n\n{draft}\n\n")
}
