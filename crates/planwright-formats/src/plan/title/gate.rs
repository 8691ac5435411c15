//! The gate for a title: erk's rules (`validate_pr_title`, HEAD; R0 had none).
//!
//! Two of them are not ours. A title over 100 characters is no fault: GitHub's titles hold 256, and a longer one is cut.
//! A title without Latin letters is no fault: erk refuses it since its file name would be `plan.md`, and that is a fine
//! name for a file.

use std::fmt;

use super::MIN_CHARS;
use crate::plan::complaint::Lesson;

/// What is put in when there is no title, by erk and by the models it was used with.
const DEFAULTS: [&str; 2] = ["untitled plan", "implementation plan"];

const LESSON: Lesson = Lesson {
    what: "title",
    rules: &[
        "at least 5 characters; up to 250 are kept",
        "at least one letter, of any script",
        "says what the plan will do; no default such as `Implementation Plan` or `Untitled Plan`",
        "stands in the first line of the plan: `# Plan: <title>`",
    ],
    valid: &["Add user authentication", "Refactor the gateway layer"],
    invalid: &["🚀🎉", "12345", "#!@", "Plan", "Implementation Plan"],
};

/// Why a title is not good enough. The texts are erk's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TitleFault {
    /// Nothing but white space.
    Empty,
    /// Fewer than [`MIN_CHARS`] code points: so many.
    TooShort(usize),
    /// No letter of any script.
    NoLetter,
    /// A default, not a description.
    Fallback(String),
}

impl fmt::Display for TitleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Title is empty or whitespace-only"),
            Self::TooShort(length) => {
                write!(f, "Too short ({length} characters, minimum {MIN_CHARS})")
            }
            Self::NoLetter => f.write_str("Must contain at least one alphabetic character"),
            Self::Fallback(title) => write!(
                f,
                "'{title}' is a default fallback title, not a descriptive plan title"
            ),
        }
    }
}

impl std::error::Error for TitleFault {}

impl TitleFault {
    /// What a person should change, in one sentence.
    pub fn feedback(&self) -> &'static str {
        "Start the plan with a heading that says what it will do, for example `# Plan: Add user authentication`."
    }

    /// What a model should change: the reason, the refused `title`, the rules, and examples.
    pub fn agent_guidance(&self, title: &str) -> String {
        LESSON.tell(&self.to_string(), title)
    }
}

/// Checks a title: not empty, at least [`MIN_CHARS`], a letter of any script, not a default.
///
/// # Errors
/// The first rule that it breaks.
pub fn gate_title(title: &str) -> Result<(), TitleFault> {
    let title = title.trim();
    let length = title.chars().count();
    if title.is_empty() {
        Err(TitleFault::Empty)
    } else if length < MIN_CHARS {
        Err(TitleFault::TooShort(length))
    } else if !title.chars().any(char::is_alphabetic) {
        Err(TitleFault::NoLetter)
    } else if DEFAULTS.contains(&title.to_lowercase().as_str()) {
        Err(TitleFault::Fallback(title.to_owned()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_keep_to_the_rules() {
        for valid in LESSON.valid {
            assert_eq!(gate_title(valid), Ok(()));
        }
        for invalid in LESSON.invalid {
            assert!(gate_title(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_model_is_told_the_rules() {
        assert_eq!(
            TitleFault::TooShort(4).agent_guidance("Plan\n"),
            "Plan title validation failed: Too short (4 characters, minimum 5)\n\
             Actual value: \"Plan\"\n\
             \n\
             Rules:\n\
             - at least 5 characters; up to 250 are kept\n\
             - at least one letter, of any script\n\
             - says what the plan will do; no default such as `Implementation Plan` or `Untitled Plan`\n\
             - stands in the first line of the plan: `# Plan: <title>`\n\
             \n\
             Valid:\n\
             - \"Add user authentication\"\n\
             - \"Refactor the gateway layer\"\n\
             \n\
             Invalid:\n\
             - \"🚀🎉\"\n\
             - \"12345\"\n\
             - \"#!@\"\n\
             - \"Plan\"\n\
             - \"Implementation Plan\"\n\
             \n\
             Write it again by these rules; change nothing else."
        );
    }
}
