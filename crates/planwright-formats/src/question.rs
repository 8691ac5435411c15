//! What an agent asks people, and what they answer.
//!
//! | looking for | it is in |
//! |---|---|
//! | marks in an agent's text, limits of questions | [`marker`] |
//! | ask, take the text or give up after a turn | [`turn`] |
//! | the comment with boxes, and what is ticked in it | [`boxes`] |
//! | what stands behind `/answer` | [`answer`] |
//! | what is typed in a terminal | [`typed`] |

use serde::{Deserialize, Serialize};

pub mod answer;
pub mod boxes;
pub mod marker;
pub mod turn;
pub mod typed;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is asked.
    pub question: String,
    /// Two or three words; may be empty.
    #[serde(default)]
    pub header: String,
    /// One of the options is wanted. Else free text, for which the options are suggestions.
    #[serde(default)]
    pub choice: bool,
    /// Several options may be chosen.
    #[serde(default)]
    pub multi: bool,
    /// What can be chosen.
    #[serde(default)]
    pub options: Vec<Choice>,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// A few words.
    pub label: String,
    /// What it means; may be empty.
    #[serde(default)]
    pub description: String,
}

/// What somebody answered to one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Positions of the chosen options, from 0, ascending.
    #[serde(default)]
    pub chosen: Vec<usize>,
    /// Free text, where some was given.
    #[serde(default)]
    pub text: Option<String>,
}

impl Answer {
    /// The answer in words: labels of what was chosen and the free text, between `; `.
    pub fn words(&self, question: &Question) -> String {
        let labels = self
            .chosen
            .iter()
            .filter_map(|at| question.options.get(*at))
            .map(|option| option.label.as_str());
        labels
            .chain(self.text.as_deref())
            .collect::<Vec<_>>()
            .join("; ")
    }
}
