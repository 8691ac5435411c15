//! Exact search for the text of a `FIND`.

use memchr::{memchr_iter, memmem};

/// Maximum number of bytes that one check searches for `FIND` texts, over all pairs.
///
/// A plan of 2 MiB can hold tens of thousands of pairs. The limit allows some thousand of them in a
/// file of 1 MB, which takes seconds at worst.
pub(super) const MAX_SEARCHED_BYTES: u64 = 4 << 30;

/// Maximum number of lines that are listed.
const MAX_LINES: usize = 10;

/// Result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matches {
    None,
    /// One match, at this byte.
    One(usize),
    Many {
        /// Number of matches without overlaps; at least two.
        count: usize,
        /// Lines of the first matches, 1-based, without duplicates.
        lines: Vec<usize>,
        /// Whether there are matches in further lines.
        more: bool,
    },
}

/// Searches for `find`, which is not empty, in `text`. Linear in both.
pub(super) fn matches(text: &str, find: &str) -> Matches {
    let (text, find) = (text.as_bytes(), find.as_bytes());
    let finder = memmem::Finder::new(find);
    let Some(first) = finder.find(text) else {
        return Matches::None;
    };
    let Some(second) = finder.find(&text[first + 1..]) else {
        return Matches::One(first);
    };
    // `aa` occurs once in `aaa` without overlaps, but it is ambiguous which one is meant.
    let mut others = finder.find_iter(text).skip(1).peekable();
    let overlapping = others.peek().is_none().then_some(first + 1 + second);
    let (mut count, mut lines, mut more) = (0, Vec::new(), false);
    let (mut line, mut counted) = (1, 0);
    for at in std::iter::once(first).chain(others).chain(overlapping) {
        count += 1;
        if more {
            continue;
        }
        line += memchr_iter(b'\n', &text[counted..at]).count();
        counted = at;
        if lines.last() != Some(&line) {
            more = lines.len() == MAX_LINES;
            lines.extend((!more).then_some(line));
        }
    }
    Matches::Many { count, lines, more }
}

/// Returns the line of the first match of `find`, which is not empty, 1-based.
pub(super) fn first_line(text: &str, find: &str) -> Option<usize> {
    let at = memmem::find(text.as_bytes(), find.as_bytes())?;
    Some(1 + memchr_iter(b'\n', &text.as_bytes()[..at]).count())
}
