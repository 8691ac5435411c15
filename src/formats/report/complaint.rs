//! What is wrong with a report or a plan that an agent wrote.

use std::fmt;

/// One thing that is wrong. `Display` is one sentence that names the place and what to do.
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

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the document is empty; write all of it into the file"),
            Self::TooSmall { bytes, least } => write!(
                f,
                "the document has {bytes} bytes without its comments and needs {least}; say more, with places and reasons"
            ),
            Self::TooLarge { chars, most } => write!(
                f,
                "the document has {chars} characters and may have {most}; leave out long listings and name their places"
            ),
            Self::NoTitle => f.write_str(
                "the document has no heading of level 1; begin it with a line `# Title`, outside of code",
            ),
            Self::NoFindings => f.write_str(
                "the document has no section for what was found; write it below `## Findings`, `## Executive Summary` or \
                 `## Analysis`, outside of code",
            ),
            Self::NoSteps => f.write_str(
                "the document has no steps; write phases (`## Phase 1: …`), a numbered list or a section `## \
                 Implementation Steps`, outside of code",
            ),
            Self::Placeholder { line, text } => write!(
                f,
                "line {line}: `{}` is left over from a template; write what belongs there, or take it out",
                // A back-tick would end the code span, and what stands behind it would mean something.
                text.replace('`', "'")
            ),
        }
    }
}
