//! The gate for a plan's content: erk's rules (`validate-plan-content`), decided by the tree.
//!
//! | | erk, both eras | ours |
//! |---|---|---|
//! | what is looked at | the text as given | in a plan document the plan behind the frame, else the text: the frame's own headings are no plan |
//! | length | code points, without white space at both ends, at least 100 | the same |
//! | heading | a line that begins with `#`, in code too | a heading: not `#hashtag`, not in code or front matter; one with an underline as well |
//! | list | a line that begins with `-`, `*` or `+`, or with a digit and holds `. ` anywhere | a list: not `**bold**`, `---` or `2024 was good. Yes`; `1)` as well |
//! | order | empty, too short, no structure | the same, in the same words |

use std::fmt;

use comrak::Arena;
use comrak::nodes::NodeValue;

use super::complaint::Lesson;
use super::document;
use super::title::front_matter;
use crate::markdown;

/// Shortest plan in Unicode code points, white space at both ends not counted (erk).
pub const MIN_CHARS: usize = 100;

const LESSON: Lesson = Lesson {
    what: "content",
    rules: &[
        "at least 100 characters, white space at both ends not counted",
        "a heading (`## Steps`) or a list (`1. …`, `- …`) that Markdown reads as one: not in a code block, and with a blank \
         behind `#`, `-` or `1.`",
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

/// Why a text is not accepted as a plan. The texts are erk's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentFault {
    /// Nothing but white space.
    Empty,
    /// Fewer than [`MIN_CHARS`] code points.
    TooShort {
        /// Code points, white space at both ends not counted.
        length: usize,
    },
    /// Neither a heading nor a list.
    NoStructure,
}

impl fmt::Display for ContentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Plan is empty or contains only whitespace"),
            Self::TooShort { length } => {
                write!(
                    f,
                    "Plan too short ({length} characters, minimum {MIN_CHARS})"
                )
            }
            Self::NoStructure => f.write_str("Plan lacks structure (no headers or lists found)"),
        }
    }
}

impl std::error::Error for ContentFault {}

impl ContentFault {
    /// What a person should change, in one sentence.
    pub fn feedback(&self) -> &'static str {
        match self {
            Self::Empty => "Write down what is to be done, in which steps, and how it is tested.",
            Self::TooShort { .. } => {
                "Say more: name the files to change, the steps in order, and how the result is tested."
            }
            Self::NoStructure => {
                "Give the plan a heading (`## Steps`) or write its steps as a list (`1. …`), outside of code."
            }
        }
    }

    /// What a model should change: the reason, the beginning of the refused `text`, the rules, and examples.
    pub fn agent_guidance(&self, text: &str) -> String {
        LESSON.tell(&self.to_string(), document::body(text))
    }
}

/// What the gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Unicode code points, white space at both ends not counted.
    pub length: usize,
    /// Headings, nested ones too.
    pub headings: usize,
    /// Lists, nested ones too.
    pub lists: usize,
}

impl Measure {
    /// Measures `text`, or the plan in it when it is a plan document.
    pub fn of(text: &str) -> Self {
        let text = document::body(text);
        let mut found = Self {
            length: text.trim().chars().count(),
            headings: 0,
            lists: 0,
        };
        let arena = Arena::new();
        let plan = &text[front_matter(text)..];
        for node in markdown::parse(&arena, plan).descendants() {
            match node.data().value {
                NodeValue::Heading(_) => found.headings += 1,
                NodeValue::List(_) => found.lists += 1,
                _ => {}
            }
        }
        found
    }

    /// The gate's verdict.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn verdict(self) -> Result<(), ContentFault> {
        if self.length == 0 {
            Err(ContentFault::Empty)
        } else if self.length < MIN_CHARS {
            Err(ContentFault::TooShort {
                length: self.length,
            })
        } else if self.headings + self.lists == 0 {
            Err(ContentFault::NoStructure)
        } else {
            Ok(())
        }
    }
}

/// Checks that `text` can be a plan at all.
///
/// # Errors
/// The first rule that it breaks.
pub fn gate_content(text: &str) -> Result<(), ContentFault> {
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
                Err(ContentFault::NoStructure)
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
    fn length_counts_code_points_without_the_edges() {
        let text = format!("# {}", "é".repeat(98));
        assert_eq!(gate_content(&format!("\n\n{text}   \n")), Ok(()));
        assert_eq!(
            gate_content(&text[..text.len() - 'é'.len_utf8()]),
            Err(ContentFault::TooShort { length: 99 })
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
            Err(ContentFault::TooShort { length: 7 })
        );
        assert_eq!(
            gate_content(&framed(&filler(20))),
            Err(ContentFault::NoStructure)
        );
        let plan = format!("## Steps\n\n{}", filler(20));
        assert_eq!(gate_content(&framed(&plan)), Ok(()));
        assert_eq!(Measure::of(&framed(&plan)), Measure::of(&plan));
    }

    #[test]
    fn a_model_is_told_the_rules() {
        let text = format!("TODO\n{}", filler(100));
        let told = ContentFault::NoStructure.agent_guidance(&text);
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
        for valid in LESSON.valid {
            assert_eq!(gate_content(valid), Ok(()));
        }
        for invalid in LESSON.invalid {
            assert!(gate_content(invalid).is_err());
        }
    }
}
