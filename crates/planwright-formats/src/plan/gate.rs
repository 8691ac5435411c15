//! The gates that the title and the content of a plan must pass before it is saved.
//!
//! The content rules are those of erk's `validate-plan-content`, applied to the Markdown tree:
//!
//! | | erk, both versions | this module |
//! |---|---|---|
//! | text | as given | the plan behind the frame of a plan document, else the text: headings of the frame are no plan |
//! | length | code points, without white space at both ends, at least 100 | same |
//! | heading | a line that begins with `#`, also in code | a heading, ATX or setext: not `#hashtag`, not in code or front matter |
//! | list | a line that begins with `-`, `*` or `+`, or with a digit and contains `. ` anywhere | a list, also `1)`: not `**bold**`, `---` or `2024 was good. Yes` |
//! | order | empty, too short, no structure | same, in the same words |
//!
//! The title rules are those of `validate_pr_title` in erk HEAD (R0 had none), with two exceptions.
//! A title of more than 100 characters is truncated instead of rejected, since GitHub allows 256. A
//! title without Latin letters is accepted: erk rejects it because its file name would be
//! `plan.md`, which is a valid file name.

use std::fmt;

use comrak::Arena;
use comrak::nodes::NodeValue;
use thiserror::Error;

use super::document;
use crate::text::{is_wide, one_line, truncate_chars};
use crate::{front_matter, markdown};

/// Minimum length of a plan: the number of erk, counted by [`Length`].
pub const MIN_PLAN_CHARS: usize = 100;
/// Minimum length of a title: the number of erk, counted by [`Length`].
pub const MIN_TITLE_CHARS: usize = 5;
/// Maximum length of the rejected text in a message to a model, in code points.
const MAX_QUOTED_CHARS: usize = 200;

/// Titles that erk and models insert when there is none.
const DEFAULT_TITLES: [&str; 2] = ["untitled plan", "implementation plan"];

/// Rules of a gate, as they are explained to a model.
struct Rules {
    /// The checked part: `title` or `content`.
    subject: &'static str,
    requirements: &'static [&'static str],
    valid: &'static [&'static str],
    invalid: &'static [&'static str],
}

impl Rules {
    /// Renders the reason, the rejected text on one line, the rules and the examples.
    fn explain(&self, reason: &str, rejected: &str) -> String {
        let mut text = format!(
            "Plan {} validation failed: {reason}\nActual value: {:?}\n\nRules:\n",
            self.subject,
            truncate_chars(&one_line(rejected), MAX_QUOTED_CHARS)
        );
        for rule in self.requirements {
            text.push_str(&format!("- {rule}\n"));
        }
        for (head, examples) in [("Valid", self.valid), ("Invalid", self.invalid)] {
            text.push_str(&format!("\n{head}:\n"));
            for example in examples {
                text.push_str(&format!("- {example:?}\n"));
            }
        }
        text.push_str("\nWrite it again by these rules; change nothing else.");
        text
    }
}

const TITLE_RULES: Rules = Rules {
    subject: "title",
    requirements: &[
        "at least 5 characters, one of Chinese, Japanese or Korean counts as two; up to 250 are kept",
        "at least one letter, of any script",
        "says what the plan will do; no default such as `Implementation Plan` or `Untitled Plan`",
        "is in the first line of the plan: `# Plan: <title>`",
    ],
    valid: &["Add user authentication", "Refactor the gateway layer"],
    invalid: &["🚀🎉", "12345", "#!@", "Plan", "Implementation Plan"],
};

const CONTENT_RULES: Rules = Rules {
    subject: "content",
    requirements: &[
        "at least 100 characters, not counting leading and trailing white space; one of Chinese, \
         Japanese or Korean counts as two",
        "a heading (`## Steps`) or a list (`1. …`, `- …`) that Markdown reads as one: not in a \
         code block, and with a space after `#`, `-` or `1.`",
        "says what is to be done, in which steps, in which files, and how it is tested",
    ],
    valid: &[
        "# Plan: Add CSV export\n\nReports can be downloaded as CSV.\n\n1. Write `src/csv.rs`\n2. Add the button to \
         `web/report.html`\n3. Test quotes and line breaks",
    ],
    invalid: &[
        "# Add CSV export\n\n- Do it",
        "TODO",
        "I have written the plan to plan.md.",
    ],
};

/// Length of a text without white space at both ends. Unlike in erk, a Chinese, Japanese or Korean
/// character counts as two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// All code points.
    pub chars: usize,
    /// Those of them that count as two.
    pub wide: usize,
}

impl Length {
    /// Measures `text`.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        Self {
            chars: text.chars().count(),
            wide: text.chars().filter(|c| is_wide(*c)).count(),
        }
    }

    /// Whether the text is shorter than `minimum`, where wide code points count as two.
    pub fn is_below(self, minimum: usize) -> bool {
        self.chars + self.wide < minimum
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} characters", self.chars)?;
        match self.wide {
            0 => Ok(()),
            wide if wide == self.chars => f.write_str(", which count twice"),
            wide => write!(f, ", {wide} of which count twice"),
        }
    }
}

/// Reason why a title is rejected. The messages are those of erk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TitleError {
    /// The title contains only white space.
    #[error("Title is empty or whitespace-only")]
    Empty,
    /// The title has only this length, less than [`MIN_TITLE_CHARS`].
    #[error("Too short ({0}, minimum {MIN_TITLE_CHARS})")]
    TooShort(Length),
    /// The title has no letter of any script.
    #[error("Must contain at least one alphabetic character")]
    NoLetter,
    /// The title is a default.
    #[error("'{0}' is a default fallback title, not a descriptive plan title")]
    Fallback(String),
}

impl TitleError {
    /// Returns the remedy for people, in one sentence.
    pub fn feedback(&self) -> &'static str {
        "Start the plan with a heading that says what it will do, for example `# Plan: Add user authentication`."
    }

    /// Returns the instructions for a model: the reason, the rejected `title`, the rules and
    /// examples.
    pub fn agent_guidance(&self, title: &str) -> String {
        TITLE_RULES.explain(&self.to_string(), title)
    }
}

/// Checks that a title has at least [`MIN_TITLE_CHARS`], contains a letter and is no default.
///
/// # Errors
/// The first rule that is violated.
pub fn gate_title(title: &str) -> Result<(), TitleError> {
    let title = title.trim();
    let length = Length::of(title);
    if title.is_empty() {
        Err(TitleError::Empty)
    } else if length.is_below(MIN_TITLE_CHARS) {
        Err(TitleError::TooShort(length))
    } else if !title.chars().any(char::is_alphabetic) {
        Err(TitleError::NoLetter)
    } else if DEFAULT_TITLES.contains(&title.to_lowercase().as_str()) {
        Err(TitleError::Fallback(title.to_owned()))
    } else {
        Ok(())
    }
}

/// Reason why a text is rejected as a plan. The messages are those of erk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ContentError {
    /// The text contains only white space.
    #[error("Plan is empty or contains only whitespace")]
    Empty,
    /// The text has only this length, less than [`MIN_PLAN_CHARS`].
    #[error("Plan too short ({0}, minimum {MIN_PLAN_CHARS})")]
    TooShort(Length),
    /// The text has neither a heading nor a list.
    #[error("Plan lacks structure (no headers or lists found)")]
    NoStructure,
}

impl ContentError {
    /// Returns the remedy for people, in one sentence.
    pub fn feedback(&self) -> &'static str {
        match self {
            Self::Empty => "Write down what is to be done, in which steps, and how it is tested.",
            Self::TooShort(_) => {
                "Say more: name the files to change, the steps in order, and how the result is tested."
            }
            Self::NoStructure => {
                "Give the plan a heading (`## Steps`) or write its steps as a list (`1. …`), outside of code."
            }
        }
    }

    /// Returns the instructions for a model: the reason, the beginning of the rejected `text`, the
    /// rules and examples.
    pub fn agent_guidance(&self, text: &str) -> String {
        CONTENT_RULES.explain(&self.to_string(), document::plan_body(text))
    }
}

/// The properties of a plan that [`gate_content`] checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Length without white space at both ends.
    pub length: Length,
    /// Headings at any depth.
    pub headings: usize,
    /// Lists at any depth.
    pub lists: usize,
}

impl Measure {
    /// Measures `text`, or the plan in it if it is a plan document.
    pub fn of(text: &str) -> Self {
        let text = document::plan_body(text);
        let mut found = Self {
            length: Length::of(text),
            headings: 0,
            lists: 0,
        };
        let arena = Arena::new();
        for node in markdown::parse(&arena, front_matter::body(text)).descendants() {
            match node.data().value {
                NodeValue::Heading(_) => found.headings += 1,
                NodeValue::List(_) => found.lists += 1,
                _ => {}
            }
        }
        found
    }

    /// Applies the content rules.
    ///
    /// # Errors
    /// The first rule that is violated.
    pub fn verdict(self) -> Result<(), ContentError> {
        if self.length.chars == 0 {
            Err(ContentError::Empty)
        } else if self.length.is_below(MIN_PLAN_CHARS) {
            Err(ContentError::TooShort(self.length))
        } else if self.headings + self.lists == 0 {
            Err(ContentError::NoStructure)
        } else {
            Ok(())
        }
    }
}

/// Checks that `text` can be a plan.
///
/// # Errors
/// The first rule that is violated.
pub fn gate_content(text: &str) -> Result<(), ContentError> {
    Measure::of(text).verdict()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use super::*;

    fn filler(count: usize) -> String {
        "wörter ".repeat(count)
    }

    #[test]
    fn structure_is_read_from_the_tree() {
        for (text, ok) in [
            (format!("# T\n\n{}", filler(20)), true),
            (format!("Title\n=====\n\n{}", filler(20)), true),
            (format!("- a\n- b\n\n{}", filler(20)), true),
            (format!("1) a\n2) b\n\n{}", filler(20)), true),
            (format!("> ## quoted\n>\n> {}", filler(20)), true),
            (format!("#hashtag {}", filler(20)), false),
            (format!("**bold** {}", filler(20)), false),
            (format!("2024 was good. Yes {}", filler(20)), false),
            (format!("---\n\n{}", filler(20)), false),
            (format!("---\ntitle: x\n---\n{}", filler(20)), false),
            (format!("---\ntitle: x\n---\n- a\n\n{}", filler(20)), true),
            (
                format!("```\n# not a heading\n- not a list\n```\n{}", filler(20)),
                false,
            ),
        ] {
            let expected = if ok {
                Ok(())
            } else {
                Err(ContentError::NoStructure)
            };
            assert_eq!(gate_content(&text), expected, "{text}");
        }
    }

    #[test]
    fn messages() {
        let faults = [" \n\t".to_owned(), "# Kürzer".to_owned(), filler(30)]
            .map(|text| gate_content(&text).unwrap_err());
        assert_eq!(
            faults.map(|fault| format!("{fault} | {}", fault.feedback())),
            [
                "Plan is empty or contains only whitespace | Write down what is to be done, in which steps, and how \
                 it is tested.",
                "Plan too short (8 characters, minimum 100) | Say more: name the files to change, the steps in order, \
                 and how the result is tested.",
                "Plan lacks structure (no headers or lists found) | Give the plan a heading (`## Steps`) or write its \
                 steps as a list (`1. …`), outside of code.",
            ]
        );
    }

    #[test]
    fn a_chinese_japanese_or_korean_character_counts_as_two() {
        let steps = "- 读取文件\n- 分批写入数据库\n- 统计内存\n- 在测试环境里导入十万行\n- 更新手册中关于导入的说明";
        assert_eq!(steps.chars().count(), 52);
        let fault = gate_content(steps).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "Plan too short (52 characters, 38 of which count twice, minimum 100)"
        );
        assert_eq!(
            gate_content(&format!("{steps}\n- 发布新版本并通知用户")),
            Ok(())
        );
        assert_eq!(
            gate_title("检索").unwrap_err().to_string(),
            "Too short (2 characters, which count twice, minimum 5)"
        );
        assert_eq!(gate_title("検索改善"), Ok(()));
    }

    #[test]
    fn length_counts_code_points_without_the_edges() {
        let text = format!("# {}", "é".repeat(98));
        assert_eq!(gate_content(&format!("\n\n{text}   \n")), Ok(()));
        assert_eq!(
            gate_content(&text[..text.len() - 'é'.len_utf8()]),
            Err(ContentError::TooShort(Length { chars: 99, wide: 0 }))
        );
    }

    #[test]
    fn a_frame_is_no_plan() {
        let told = document::Enrichment {
            notes: vec!["No agent is configured.".to_owned()],
            ..document::Enrichment::raw()
        };
        let framed = |body: &str| document::wrap("Add CSV export", &told, body);
        assert_eq!(
            gate_content(&framed("- Do it")),
            Err(ContentError::TooShort(Length { chars: 7, wide: 0 }))
        );
        assert_eq!(
            gate_content(&framed(&filler(20))),
            Err(ContentError::NoStructure)
        );
        let plan = format!("## Steps\n\n{}", filler(20));
        assert_eq!(gate_content(&framed(&plan)), Ok(()));
        assert_eq!(Measure::of(&framed(&plan)), Measure::of(&plan));
    }

    #[test]
    fn the_guidance_for_content_states_the_rules() {
        let text = format!("TODO\n{}", filler(100));
        let told = ContentError::NoStructure.agent_guidance(&text);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[0],
            "Plan content validation failed: Plan lacks structure (no headers or lists found)"
        );
        assert!(lines[1].starts_with("Actual value: \"TODO wörter ") && lines[1].ends_with("…\""));
        assert_eq!(
            lines.last().unwrap(),
            &"Write it again by these rules; change nothing else."
        );
        for part in ["\nRules:\n- ", "\nValid:\n- ", "\nInvalid:\n- "] {
            assert!(told.contains(part), "{told}");
        }
        for valid in CONTENT_RULES.valid {
            assert_eq!(gate_content(valid), Ok(()));
        }
        for invalid in CONTENT_RULES.invalid {
            assert!(gate_content(invalid).is_err());
        }
    }

    #[test]
    fn the_title_examples_follow_the_rules() {
        for valid in TITLE_RULES.valid {
            assert_eq!(gate_title(valid), Ok(()));
        }
        for invalid in TITLE_RULES.invalid {
            assert!(gate_title(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_guidance_for_titles_states_the_rules() {
        assert_eq!(
            TitleError::TooShort(Length::of("Plan")).agent_guidance("Plan\n"),
            "Plan title validation failed: Too short (4 characters, minimum 5)\n\
             Actual value: \"Plan\"\n\
             \n\
             Rules:\n\
             - at least 5 characters, one of Chinese, Japanese or Korean counts as two; up to 250 are kept\n\
             - at least one letter, of any script\n\
             - says what the plan will do; no default such as `Implementation Plan` or `Untitled Plan`\n\
             - is in the first line of the plan: `# Plan: <title>`\n\
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
