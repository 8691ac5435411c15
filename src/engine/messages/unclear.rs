//! Texts for the case that it is unclear which of several plans is meant.

use super::failures::shorten;
use super::{asked, code_span, person};
use crate::engine::model::candidate::{Candidate, Source};
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::progress::Unclear;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;
use crate::formats::command::Command;
use crate::formats::question::{Choice, Question};

/// The last option of the question.
const NONE: &str = "None of these";

/// Maximum length of an option's title, in characters.
const MAX_TITLE: usize = 100;
/// Maximum length of the beginning of a plan that is shown, in characters.
const MAX_BEGINNING: usize = 160;

/// Returns the question, with an option for each plan and one for none of them.
pub fn question(unclear: &Unclear) -> Question {
    let mut options: Vec<Choice> = unclear.among.iter().map(option).collect();
    options.push(Choice {
        label: NONE.to_owned(),
        description: "nothing is saved".to_owned(),
    });
    Question {
        question: "Which of these plans should be saved?".to_owned(),
        header: "Plan".to_owned(),
        choice: true,
        multi: false,
        options,
    }
}

fn option(candidate: &Candidate) -> Choice {
    Choice {
        label: label(candidate),
        description: match &candidate.url {
            Some(url) if !url.is_empty() => format!("{} ({url} )", beginning(candidate)),
            _ => beginning(candidate),
        },
    }
}

/// Returns the title and the author of a plan.
fn label(candidate: &Candidate) -> String {
    let author = candidate.author.as_deref().unwrap_or("somebody");
    match &candidate.title {
        Some(title) => format!("{} (by {author})", shorten(title, MAX_TITLE)),
        None => format!("the plan by {author}"),
    }
}

/// Returns the beginning of the plan's text without headings, on one line.
fn beginning(candidate: &Candidate) -> String {
    let lines = candidate.text.lines().filter(|line| !line.starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    shorten(&words.join(" "), MAX_BEGINNING)
}

/// Returns the comment that asks which plan is meant. `boxes` are the options.
pub fn asks(trigger: &Trigger, until: Millis, boxes: &str) -> String {
    format!(
        "❓ {}, there is more than one plan here, and it is not clear which one {} is about. Tick \
         one option, then *Send these answers*; or comment, for example, `/answer 1: a`. The \
         requester, or anyone with write access, can answer. Without an answer by {} nothing is \
         saved.\n\n{boxes}",
        person(trigger),
        asked(trigger),
        until.iso()
    )
}

/// Returns a note on a plan that somebody chose among several.
pub fn chosen(by: &str) -> String {
    format!(
        "There was more than one plan; {} chose this one.",
        shorten(by, 200)
    )
}

/// Returns a note on a plan that the agent chose among several.
pub fn by_agent(candidate: &Candidate) -> String {
    format!(
        "There was more than one plan; the agent took {}.",
        label(candidate)
    )
}

/// Returns a note on a plan that was chosen although others are about equally likely.
pub fn taken(unclear: &Unclear) -> Option<String> {
    let other = unclear.among.get(1)?;
    Some(format!(
        "There was more than one plan. The most likely one was saved; another is {}. To save that \
         one, comment the command with {}.",
        label(other),
        code_span(&format!("from={}", pointer(other)))
    ))
}

/// Returns the value of the option `from=` for a candidate.
fn pointer(candidate: &Candidate) -> String {
    let post = match &candidate.source {
        Source::Block { post } | Source::Section { post, .. } | Source::Whole { post } => *post,
        Source::Parts { posts } => posts.first().copied().flatten(),
        Source::Inline | Source::Log => None,
    };
    post.map_or_else(|| "opening".to_owned(), |id| id.to_string())
}

/// Returns a note on later comments that may change the plan. `urls` are their addresses.
pub fn later(urls: &[String]) -> Option<String> {
    let mut links: Vec<String> = Vec::new();
    for url in urls.iter().filter(|url| url.starts_with("http")) {
        let link = format!("[{}]({url})", links.len() + 1);
        if !links
            .iter()
            .any(|known| known.ends_with(&format!("({url})")))
        {
            links.push(link);
        }
    }
    links.truncate(5);
    (!links.is_empty()).then(|| {
        format!(
            "Later comments may change the plan; they were not applied: {}.",
            links.join(", ")
        )
    })
}

/// Returns a note on text directly below the plan that was not taken to be part of it.
pub fn not_saved(text: &str) -> String {
    format!(
        "What follows the plan in its post was taken for a remark and not saved: {}",
        code_span(&shorten(text, MAX_BEGINNING))
    )
}

/// Returns the failure if the post that the command points to cannot be read. `why` names the post
/// and the reason.
pub fn unreadable(command: Command, why: &str) -> Failure {
    let name = command.name();
    Failure {
        code: Code::InvalidInput,
        message: format!("The command points to a post that cannot be read: {why}."),
        details: Vec::new(),
        remedy: format!(
            "Copy the address of the comment that contains the plan (\"Copy link\" in its menu) \
             and comment `/{name} from=ADDRESS`, or `/{name} from=opening` for the opening text."
        ),
    }
}

/// Returns the failure if there are several plans and the operator has disabled the question.
pub fn refused(command: Command, unclear: &Unclear) -> Failure {
    let name = command.name();
    let choices: Vec<String> = unclear
        .among
        .iter()
        .map(|candidate| {
            let command = code_span(&format!("/{name} from={}", pointer(candidate)));
            format!("{command}: {}", label(candidate))
        })
        .collect();
    Failure {
        code: Code::NoPlanFound,
        message: format!(
            "There is more than one plan here, and it is not clear which one is meant: {}.",
            unclear.why
        ),
        details: choices,
        remedy: "To choose one, comment one of the commands above.".to_owned(),
    }
}

/// Returns the failure if somebody answered that none of the plans is meant.
pub fn none_of_these(command: Command) -> Failure {
    let name = command.name();
    Failure {
        code: Code::NoPlanFound,
        message: "Somebody answered that none of these plans is meant.".to_owned(),
        details: Vec::new(),
        remedy: format!(
            "Post the plan as a comment here, then comment `/{name}` again; or point to it with \
             `/{name} from=ADDRESS`, the address of the comment that contains it."
        ),
    }
}

/// Returns the failure if nobody answered which plan is meant.
pub fn nobody_chose(command: Command, url: &str) -> Failure {
    let name = command.name();
    Failure {
        code: Code::QuestionsUnanswered,
        message: "Nobody chose one of the plans.".to_owned(),
        details: vec![format!("The question: {url}")],
        remedy: format!(
            "Comment `/{name} from=ADDRESS` with the address of the comment that contains the plan."
        ),
    }
}
