//! Texts about a repository's knowledge.

use super::failures::shorten;
use super::{code_span, plain};
use crate::engine::knowledge::{LeftOut, Why};

/// Maximum number of files named for each reason.
const NAMED: usize = 3;

/// Maximum length of a file name, in characters.
const MAX_NAME: usize = 60;

/// Describes the files that were left out, by reason, in one sentence of Markdown under 10,000
/// bytes. Returns `None` if no content is missing.
pub fn left_out(files: &[LeftOut]) -> Option<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut sorted: Vec<_> = files.iter().filter_map(reason).collect();
    // The sort is stable, so the order within a reason is kept.
    sorted.sort_by_key(|(rank, ..)| *rank);
    for (_, reason, path) in sorted {
        match groups.last_mut() {
            Some((last, paths)) if *last == reason => paths.push(path),
            _ => groups.push((reason, vec![path])),
        }
    }
    if groups.is_empty() {
        return None;
    }
    let parts: Vec<String> = groups
        .iter()
        .map(|(reason, paths)| format!("{} ({reason})", names(paths)))
        .collect();
    let parts = parts.join("; ");
    Some(plain(&format!(
        "Left out of the repository's knowledge: {parts}."
    )))
}

/// Returns the rank of the reason (most important first), its description and the path; `None` for
/// duplicates.
fn reason(one: &LeftOut) -> Option<(u8, String, &str)> {
    let (rank, words) = match &one.why {
        Why::SameAs(_) => return None,
        Why::NotListed => (
            0,
            "a folder with more files than GitHub lists, so some may be missing",
        ),
        Why::NoRoom => (1, "the limit on number or total size is reached"),
        Why::TooLarge(most) => {
            let words = format!("larger than {} KB", most / 1024);
            return Some((2, words, &one.path));
        }
        Why::NotText => (3, "not UTF-8 text"),
        Why::Gone => (4, "changed or removed meanwhile"),
        Why::Unreadable(_) => (5, "not readable"),
        Why::OddPath => (6, "invalid path"),
        Why::Link => (7, "a symbolic link, which is not followed"),
        Why::Submodule => (8, "a submodule"),
        Why::NotMarkdown => (9, "the name does not end in `.md`"),
    };
    Some((rank, words.to_owned(), &one.path))
}

/// Lists the first few files and the number of the others.
fn names(paths: &[&str]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| code_span(&shorten(path, MAX_NAME)))
        .collect();
    match paths.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
