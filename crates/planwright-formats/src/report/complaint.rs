//! What is wrong with a report or a plan that an agent wrote.

use std::fmt;

/// One thing that is wrong. `Display` is for the agent: the place and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complaint {
    /// Nothing but white space and comments.
    Empty,
    /// Too little text.
    TooSmall {
        /// Bytes without comments and without white space at both ends.
        bytes: usize,
        /// How many are needed.
        least: usize,
    },
    /// Too much text.
    TooLarge {
        /// Code points.
        chars: usize,
        /// How many are allowed.
        most: usize,
    },
    /// No heading of level 1.
    NoTitle,
    /// A report without a section for what was found.
    NoFindings,
    /// A plan without steps.
    NoSteps,
    /// Something of a template that nobody filled in.
    Placeholder {
        /// 1-based line.
        line: usize,
        /// It, on one line.
        text: String,
    },
}

impl Complaint {
    /// What is wrong, for people.
    pub fn what(&self) -> String {
        let text = match self {
            Self::Empty => "the document is empty",
            Self::TooSmall { bytes, least } => {
                return format!(
                    "the document has {bytes} bytes without its comments and needs {least}"
                );
            }
            Self::TooLarge { chars, most } => {
                return format!("the document has {chars} characters and may have {most}");
            }
            Self::NoTitle => "the document has no heading of level 1",
            Self::NoFindings => "the document has no section for what was found",
            Self::NoSteps => "the document has no steps",
            Self::Placeholder { line, text } => {
                // A back-tick would end the code span, and what stands behind it would mean something.
                let text = text.replace('`', "'");
                return format!("line {line}: `{text}` is left over from a template");
            }
        };
        text.to_owned()
    }

    /// What the agent is to do.
    fn ask(&self) -> &'static str {
        match self {
            Self::Empty => "write all of it into the file",
            Self::TooSmall { .. } => "say more, with places and reasons",
            Self::TooLarge { .. } => "leave out long listings and name their places",
            Self::NoTitle => "begin it with a line `# Title`, outside of code",
            Self::NoFindings => {
                "write it below `## Findings`, `## Executive Summary` or `## Analysis`, outside of code"
            }
            Self::NoSteps => {
                "write phases (`## Phase 1: …`), a numbered list or a section `## Implementation Steps`, outside of code"
            }
            Self::Placeholder { .. } => "write what belongs there, or take it out",
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.ask())
    }
}
