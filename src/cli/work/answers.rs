//! Reads answers from a JSON or TOML file, for `--answers`.
//!
//! Answers are found by header, by question, or by the number of the question over all rounds. A
//! list contains the answers in order; in TOML it is the value of `answers`.
//!
//! ```text
//! {"Place": "1", "Which formats?": [1, "CSV"], "3": ""}
//! ["1", "own words"]
//! ```
//!
//! A value is what the user would type, with the same meaning as after `/answer`. An empty value
//! leaves the question to the agent.

use std::path::Path;

use serde_json::Value;

use crate::cli::{Failure, input};
use crate::engine::model::progress::Round;
use crate::formats::question::answer::AnswerError;
use crate::formats::question::typed::{self, TypedInput};
use crate::formats::question::{Answer, Question};

/// The key of a list in TOML, which allows no list at the top level.
const LIST: &str = "answers";

/// The answers from a file.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Answers {
    file: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Header, question, or 1-based number.
    name: String,
    /// The inputs that the user would type, in order.
    values: Vec<String>,
}

/// The result of looking up a question in a file of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum AnswerSource {
    /// The file contains no answer.
    Nothing,
    /// The question is left to the agent.
    Left,
    /// The answer.
    Answer(Answer),
}

impl Answers {
    /// Reads a file of answers.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if the file cannot be read or contains no answers.
    pub(in crate::cli) fn read(file: &Path) -> Result<Self, Failure> {
        Self::of(&file.display().to_string(), &input::text(file)?)
    }

    fn of(file: &str, text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::Usage(format!(
                "{file}: {why}; write e.g. {{\"Place\": \"1\", \"Which formats?\": [1, 3]}}, see `planwright plan --help`"
            ))
        };
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(json) => toml::from_str(text).map_err(|toml| {
                let toml = toml.message();
                wrong(&format!("it is neither JSON ({json}) nor TOML ({toml})"))
            })?,
        };
        let mut entries = Vec::new();
        let mut list = |values: &[Value]| -> Result<(), Failure> {
            for (number, value) in (1..).zip(values) {
                let values = texts(value).ok_or_else(|| {
                    wrong(&format!(
                        "answer {number} is {value}, which is neither text nor a number"
                    ))
                })?;
                let name = number.to_string();
                entries.push(Entry { name, values });
            }
            Ok(())
        };
        match &value {
            Value::Array(values) => list(values)?,
            Value::Object(named) => {
                if let Some(Value::Array(values)) = named.get(LIST)
                    && named.len() == 1
                {
                    list(values)?;
                } else {
                    for (name, value) in named {
                        let values = texts(value).ok_or_else(|| {
                            wrong(&format!(
                                "the answer to {name:?} is {value}, which is neither text nor a number"
                            ))
                        })?;
                        let name = name.clone();
                        entries.push(Entry { name, values });
                    }
                }
            }
            other => return Err(wrong(&format!("it contains {other} instead of answers"))),
        }
        Ok(Self {
            file: file.to_owned(),
            entries,
        })
    }

    /// Returns the answer to a question. `number` is its 1-based number over all rounds.
    ///
    /// # Errors
    /// Returns an error if the answer is not valid for the question.
    pub(in crate::cli) fn find(
        &self,
        question: &Question,
        number: usize,
        earlier: &[Round],
    ) -> Result<AnswerSource, Failure> {
        let Some(at) = self.position(question, number, earlier) else {
            return Ok(AnswerSource::Nothing);
        };
        let Entry { name, values } = &self.entries[at];
        let wrong = |why: &str| {
            Failure::failed(format!(
                "{}: the answer to {name:?} cannot be used: {why} Correct it and run the same command again",
                self.file
            ))
        };
        let mut whole = Answer::default();
        let mut words: Vec<String> = Vec::new();
        for value in values {
            let typed =
                typed::parse(value, question, number).map_err(|error| wrong(&error.to_string()))?;
            match typed {
                TypedInput::Empty => {}
                TypedInput::OwnWords => {
                    return Err(wrong("0 means a free-text answer, but there is no text."));
                }
                TypedInput::Answer(one) => {
                    let answer = one.answer.unwrap_or_default();
                    whole.chosen.extend(answer.chosen);
                    words.extend(answer.text);
                }
            }
        }
        whole.chosen.sort_unstable();
        whole.chosen.dedup();
        if whole.chosen.len() > 1 && !question.multi {
            let error = AnswerError::Several { question: number };
            return Err(wrong(&error.to_string()));
        }
        whole.text = (!words.is_empty()).then(|| words.join("; "));
        if whole == Answer::default() {
            return Ok(AnswerSource::Left);
        }
        Ok(AnswerSource::Answer(whole))
    }

    /// Returns the index of the entry for a question, found by question, header or number. A header
    /// only matches the first question that has it.
    fn position(&self, question: &Question, number: usize, earlier: &[Round]) -> Option<usize> {
        let same = |name: &str, text: &str| {
            !text.trim().is_empty() && name.trim().to_lowercase() == text.trim().to_lowercase()
        };
        let by = |wanted: &dyn Fn(&str) -> bool| {
            let mut names = self.entries.iter().map(|entry| entry.name.as_str());
            names.position(wanted)
        };
        let asked = earlier.iter().flat_map(|round| &round.questions);
        let before = asked.take(number.saturating_sub(1));
        let first = !before
            .into_iter()
            .any(|other| same(&other.header, &question.header));
        by(&|name| same(name, &question.question))
            .or_else(|| by(&|name| first && same(name, &question.header)))
            .or_else(|| by(&|name| name.trim() == number.to_string()))
    }

    /// Checks that every entry answers a question in `rounds`.
    ///
    /// # Errors
    /// Returns an error that lists the entries without a question.
    pub(in crate::cli) fn all_used(&self, rounds: &[Round]) -> Result<(), Failure> {
        let questions = rounds.iter().flat_map(|round| &round.questions);
        let used: Vec<usize> = (1..)
            .zip(questions)
            .filter_map(|(number, question)| self.position(question, number, rounds))
            .collect();
        let unused: Vec<String> = (0..self.entries.len())
            .filter(|at| !used.contains(at))
            .map(|at| format!("{:?}", self.entries[at].name))
            .collect();
        if unused.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "the plan was written, but {} contains answers to questions that were not asked: {}; check that the plan decides them as you want",
            self.file,
            unused.join(", ")
        )))
    }
}

/// Returns the inputs for a value, or `None` if the value cannot be typed.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Number(number) => Some(vec![number.to_string()]),
        Value::Array(values) => {
            let one = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            values.iter().map(one).collect()
        }
        Value::Bool(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::formats::question::Choice;

    fn question(text: &str, header: &str, multi: bool) -> Question {
        let options = ["Cache", "Disk", "Both"].map(|label| Choice {
            label: label.to_owned(),
            description: String::new(),
        });
        Question {
            question: text.to_owned(),
            header: header.to_owned(),
            choice: true,
            multi,
            options: options.into(),
        }
    }

    const SEVERAL: &str = "Question 1 takes one option, but several are chosen. Choose one of \
                           them or, if *other* is among the options, write your own answer after `other:`.";

    fn words(answers: &Answers, question: &Question, number: usize) -> String {
        match answers.find(question, number, &[]).unwrap() {
            AnswerSource::Nothing => "nothing".to_owned(),
            AnswerSource::Left => "left".to_owned(),
            AnswerSource::Answer(answer) => answer.words(question),
        }
    }

    #[test]
    fn answers_are_found_by_question_header_and_number_in_json_and_toml() {
        let one = question("Where does it live?", "Place", false);
        let two = question("Which formats?", "Formats", true);
        for text in [
            r#"{"place": 2, "Which formats? ": [1, "Both", "or JSON"], "3": ""}"#,
            "place = 2\n\"Which formats?\" = [1, 3, \"or JSON\"]\n3 = \"\"\n",
            r#"["2", ["1", "3", "or JSON"], null]"#,
            "answers = [\"Disk\", [1, 3, \"or JSON\"], \"\"]",
        ] {
            let answers = Answers::of("a", text).unwrap();
            assert_eq!(words(&answers, &one, 1), "Disk");
            assert_eq!(words(&answers, &two, 2), "Cache; Both; or JSON", "{text}");
            assert_eq!(words(&answers, &question("?", "", false), 3), "left");
            assert_eq!(words(&answers, &question("?", "", false), 4), "nothing");
        }
    }

    #[test]
    fn what_cannot_be_an_answer_is_said_with_its_place() {
        for (text, want) in [
            (
                "{",
                "a: it is neither JSON (EOF while parsing an object at line 1 column 1) nor TOML (",
            ),
            ("7", "a: it contains 7 instead of answers; "),
            (
                "{\"x\": true}",
                "a: the answer to \"x\" is true, which is neither text nor a number; ",
            ),
            (
                "[[[1]]]",
                "a: answer 1 is [[1]], which is neither text nor a number; ",
            ),
        ] {
            let said = Answers::of("a", text).unwrap_err().to_string();
            let remedy = "write e.g. {\"Place\": \"1\", \"Which formats?\": [1, 3]}, see `planwright plan --help`";
            assert!(said.starts_with(want) && said.ends_with(remedy), "{said}");
        }
        let one = question("Where?", "Place", false);
        for (text, why) in [
            ("{\"Place\": [1, 2]}", SEVERAL),
            ("{\"Place\": \"1 2\"}", SEVERAL),
            (
                "{\"Place\": 4}",
                "Question 1 has no option `4`: its options are a to c. Choose one of these or, if \
                 *other* is among the options, write your own answer after `other:`.",
            ),
            (
                "{\"Place\": 0}",
                "0 means a free-text answer, but there is no text.",
            ),
        ] {
            let answers = Answers::of("a", text).unwrap();
            assert_eq!(
                answers.find(&one, 1, &[]).unwrap_err().to_string(),
                format!(
                    "a: the answer to \"Place\" cannot be used: {why} Correct it and run the same command again"
                )
            );
        }
    }

    #[test]
    fn answers_that_nothing_asked_for_are_named() {
        let answers = Answers::of("a", r#"{"Place": 1, "Plaice": 1, "9": 1}"#).unwrap();
        let round = Round {
            questions: vec![question("Where?", "Place", false)],
            ..Round::default()
        };
        assert_eq!(
            answers.all_used(&[round]).unwrap_err().to_string(),
            "the plan was written, but a contains answers to questions that were not asked: \"Plaice\", \"9\"; check that the plan decides them as you want"
        );
        assert!(Answers::default().all_used(&[]).is_ok());
    }
}
