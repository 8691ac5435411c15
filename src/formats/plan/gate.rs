//! The gate for a plan's content: erk's rules, decided by the tree.
//!
//! erk looks at the first characters of lines; here a heading is a heading and a list a list, so `#hashtag`,
//! `**bold**` and `2024 was good. Yes` do not count, and neither does anything in code.

use std::fmt;

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use crate::formats::markdown;

/// Shortest plan in Unicode code points, white space at both ends not counted (erk).
pub const MIN_CHARS: usize = 100;

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
    /// What a person should change.
    pub fn feedback(&self) -> &'static str {
        match self {
            Self::Empty => {
                "Write the plan into a comment: what is to be done, in which steps, and how it is tested."
            }
            Self::TooShort { .. } => {
                "Say more: name the files to change, the steps in order, and how the result is tested."
            }
            Self::NoStructure => {
                "Give the plan a heading (`## Steps`) or write its steps as a list (`1. …`), outside of code."
            }
        }
    }
}

/// Checks that `text` can be a plan at all.
pub fn gate_content(text: &str) -> Result<(), ContentFault> {
    let length = text.trim().chars().count();
    if length == 0 {
        Err(ContentFault::Empty)
    } else if length < MIN_CHARS {
        Err(ContentFault::TooShort { length })
    } else if !has_structure(text) {
        Err(ContentFault::NoStructure)
    } else {
        Ok(())
    }
}

fn has_structure(text: &str) -> bool {
    let arena = Arena::new();
    parse_document(&arena, text, &markdown::options())
        .descendants()
        .any(|node| {
            matches!(
                node.data().value,
                NodeValue::Heading(_) | NodeValue::List(_)
            )
        })
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
                "Plan is empty or contains only whitespace | Write the plan into a comment: what is to be done, in \
                 which steps, and how it is tested.",
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
}
