//! Questions of an agent to people, and the answers.
//!
//! | looking for | it is in |
//! |---|---|
//! | markers in an agent's text, limits of questions | [`marker`] |
//! | the decision after a turn: ask, take the text or give up | [`turn`] |
//! | the comment with checkboxes, and which of them are ticked | [`boxes`] |
//! | the text after `/answer` | [`answer`] |
//! | input in a terminal | [`typed`] |

use serde::{Deserialize, Serialize};

pub mod answer;
pub mod boxes;
pub mod marker;
pub mod turn;
pub mod typed;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question itself.
    pub question: String,
    /// A title of two or three words; may be empty.
    #[serde(default)]
    pub header: String,
    /// Whether one of the options is wanted. Otherwise the answer is free text and the options are
    /// suggestions.
    #[serde(default)]
    pub choice: bool,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multi: bool,
    /// The options.
    #[serde(default)]
    pub options: Vec<Choice>,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// A label of a few words.
    pub label: String,
    /// What the option means; may be empty.
    #[serde(default)]
    pub description: String,
}

/// The answer to one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Positions of the chosen options, from 0, ascending.
    #[serde(default)]
    pub chosen: Vec<usize>,
    /// Free text, if any.
    #[serde(default)]
    pub text: Option<String>,
}

impl Answer {
    /// Returns the answer as text: the labels of the chosen options and the free text, joined by `;
    /// `.
    pub fn words(&self, question: &Question) -> String {
        let chosen = self.chosen.iter();
        let options = chosen.filter_map(|position| question.options.get(*position));
        let labels = options.map(|option| option.label.as_str());
        labels
            .chain(self.text.as_deref())
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// Returns the letter of the option at `position`, from 0; `?` after `z`, which
/// [`marker::MAX_OPTIONS`] never reaches.
fn letter(position: usize) -> char {
    ('a'..='z').nth(position).unwrap_or('?')
}
