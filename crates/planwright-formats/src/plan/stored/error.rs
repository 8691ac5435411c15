//! Why there is no plan to be read.

use super::Place;

/// Why there is no plan, each with its remedy. Texts may hold a few words of users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStored {
    /// Nothing here is a plan.
    #[error(
        "there is no plan here: no comment and not the body holds a plan block, and {why}; `planwright plan list OWNER/REPO` shows where plans are"
    )]
    NoPlan {
        /// Why the body is not taken for one.
        why: String,
    },
    /// A header, but no plan, and no comment named.
    #[error(
        "the plan-header is there, but the plan is not: the save did not come to its end; comment `/retry` where the plan was asked for, or save it again"
    )]
    HeaderAlone,
    /// A header that names a comment which holds no plan, and no other that does.
    #[error(
        "the plan-header names comment {id} as the plan, but that comment is gone or empty, and no other one holds a plan: save the plan again"
    )]
    CommentGone {
        /// The comment.
        id: u64,
    },
    /// Parts of a long plan are not there.
    #[error(
        "the plan has {of} parts, and {} missing{}: restore the comments from their edit history, or save the plan again",
        list(missing),
        in_brackets(hints)
    )]
    PartsMissing {
        /// Their numbers, 1-based; at most the first six.
        missing: Vec<usize>,
        /// How many parts there are.
        of: usize,
        /// What may have become of them.
        hints: Vec<String>,
    },
    /// Two comments claim to be one part and differ.
    #[error(
        "comments {} all say that they are part {part} of {of}, and they differ: delete the wrong ones",
        numbers(comments)
    )]
    PartTwice {
        /// Number of the part, 1-based.
        part: usize,
        /// How many parts there are.
        of: usize,
        /// The comments.
        comments: Vec<u64>,
    },
    /// The comment that the plan begins in is a part of a longer one, but does not say which; and all the parts that
    /// say so are there without it.
    #[error(
        "comment {comment} holds a part of a longer plan, but no line `part i/n` above it, and the {of} parts that say so are there without it: restore that line from the comment's edit history, or save the plan again"
    )]
    PartUnnumbered {
        /// The comment.
        comment: u64,
        /// How many parts there are without it.
        of: usize,
    },
    /// A part does not fit to its neighbour.
    #[error(
        "part {part} of {of} (comment {comment}) was edited by hand: its {end} line is not the marker that ties it to part {neighbour}; restore the text from the comment's edit history"
    )]
    PartEdited {
        /// Number of the part, 1-based.
        part: usize,
        /// How many parts there are.
        of: usize,
        /// The comment.
        comment: u64,
        /// `first` or `last`.
        end: &'static str,
        /// Number of the part that it should be tied to.
        neighbour: usize,
    },
    /// The block is there, but an edit has broken it.
    #[error(
        "the plan block in {place} is broken: line {line}: {why}, or restore the text from the edit history"
    )]
    Broken {
        /// Where.
        place: Place,
        /// Line there, 1-based.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

fn list(parts: &[usize]) -> String {
    let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    match parts.len() {
        1 => format!("part {} is", names.join(", ")),
        _ => format!("parts {} are", names.join(", ")),
    }
}

fn numbers(ids: &[u64]) -> String {
    let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn in_brackets(hints: &[String]) -> String {
    if hints.is_empty() {
        return String::new();
    }
    format!(" ({})", hints.join("; "))
}
