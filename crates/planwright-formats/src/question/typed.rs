//! Reads what somebody types in a terminal as the answer to one question: as behind `/answer`, and besides
//!
//! | typed | means |
//! |---|---|
//! | nothing | the question is left to the agent |
//! | `0` | words of one's own come next |

use super::answer::{self, AnswerError, One};
use super::{Answer, Question};

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// The question is left to the agent.
    Nothing,
    /// Own words are to be asked for.
    Other,
    /// The answer.
    One(One),
}

/// Reads `text`, typed as the answer to `question`, which has this number.
///
/// # Errors
/// It cannot be taken, as [`answer::read`] says.
pub fn read(text: &str, question: &Question, number: usize) -> Result<Typed, AnswerError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Typed::Nothing);
    }
    let labelled = |label: &str| question.options.iter().any(|it| it.label.trim() == label);
    if matches!(text, "0" | "０") && !question.options.is_empty() && !labelled(text) {
        return Ok(Typed::Other);
    }
    answer::one(text, question, number).map(Typed::One)
}

/// Words of one's own; `None` for nothing.
pub fn own_words(text: &str) -> Option<Answer> {
    let text = text.trim();
    (!text.is_empty()).then(|| Answer {
        chosen: Vec::new(),
        text: Some(text.to_owned()),
    })
}

/// An option of `question` has a label that looks like the number of another one. Labels come first, so such options are
/// shown with letters.
pub fn labels_are_numbers(question: &Question) -> bool {
    let number = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_digit());
    question
        .options
        .iter()
        .any(|option| number(option.label.trim()))
}

/// The mark of the option at position `at`, from 0, as it is shown.
pub fn mark(question: &Question, at: usize) -> String {
    if labels_are_numbers(question) {
        format!("{})", answer::letter(at))
    } else {
        format!("{}.", at + 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn question(labels: &[&str], multi: bool) -> Question {
        let options = labels.iter().map(|label| super::super::Choice {
            label: (*label).to_owned(),
            description: String::new(),
        });
        Question {
            question: "Where?".to_owned(),
            header: "Place".to_owned(),
            choice: !labels.is_empty(),
            multi,
            options: options.collect(),
        }
    }

    #[test]
    fn a_terminal_means_what_a_comment_means() {
        let one = question(&["Cache", "Disk", "Both"], false);
        let several = question(&["Cache", "Disk", "Both"], true);
        let open = question(&[], false);
        let numbers = question(&["1", "3", "5"], false);
        for question in [&one, &several, &open, &numbers] {
            for text in [
                "2",
                "２",
                " both",
                "b",
                "B)",
                "1 2",
                "1, c",
                "1 and 3",
                "a; other: and a log",
                "other: words",
                "Other:",
                "4",
                "z",
                "-1",
                "99999999999999999999",
                "2 or so",
                ",",
                "3;1;3",
                "1 0",
                "skip",
                "a, skip the rest",
                "3",
                "so\nso",
            ] {
                let questions = std::slice::from_ref(question);
                let typed = read(text, question, 1).map(|typed| match typed {
                    Typed::One(one) => one.answer,
                    other => panic!("{text:?}: {other:?}"),
                });
                // Behind `/answer`, the number of the question makes clear what is answered.
                let said = answer::read(&format!("1: {text}"), questions);
                assert_eq!(typed, said.map(|said| said.answers[0].clone()), "{text:?}");
            }
        }
    }

    #[test]
    fn nothing_and_zero_are_the_terminals_own() {
        let one = question(&["Cache", "Disk"], false);
        assert_eq!(read(" \t", &one, 1), Ok(Typed::Nothing));
        assert_eq!(read("0", &one, 1), Ok(Typed::Other));
        assert_eq!(read("０", &one, 1), Ok(Typed::Other));
        let open = question(&[], false);
        assert!(matches!(read("0", &open, 1), Ok(Typed::One(_))));
        let retries = question(&["0", "3"], false);
        let Ok(Typed::One(read)) = read("0", &retries, 1) else {
            panic!("a label")
        };
        assert_eq!(read.answer.unwrap().chosen, [0]);
        assert_eq!(
            (mark(&retries, 1), mark(&one, 1)),
            ("b)".into(), "2.".into())
        );
        assert_eq!(own_words(" x ").unwrap().text.as_deref(), Some("x"));
        assert_eq!(own_words(" "), None);
    }
}
