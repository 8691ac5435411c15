//! Where a text is in another one, exactly.

use memchr::{memchr_iter, memmem};

/// Most bytes of files that one check looks through for `FIND` texts, over all pairs (the documentation of
/// [`super::check`] tells it). A plan of 2 MiB can hold tens of thousands of pairs; this is some thousand of them in a file
/// of 1 MB, and takes seconds at worst.
pub(super) const MOST_SEARCHED: u64 = 4 << 30;

/// Most line numbers that are told.
const LINES: usize = 10;

/// Where a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matches {
    /// Nowhere.
    None,
    /// Once, from this byte on.
    One(usize),
    /// Several times.
    Many {
        /// How many; of those that overlap, only as many as make two.
        count: usize,
        /// The lines of the first ones, 1-based, each once.
        lines: Vec<usize>,
        /// There are more lines.
        more: bool,
    },
}

/// Looks for `find`, which is not empty, in `text`. Linear in both.
pub(super) fn matches(text: &str, find: &str) -> Matches {
    let (text, find) = (text.as_bytes(), find.as_bytes());
    let finder = memmem::Finder::new(find);
    let mut counter = Counter::new(text);
    finder.find_iter(text).for_each(|at| counter.add(at));
    if counter.count == 0 {
        return Matches::None;
    }
    if counter.count == 1 {
        let first = counter.at;
        // `aa` is once in `aaa` when counted one behind the other, but which of two is meant cannot be told.
        match finder.find(&text[first + 1..]) {
            Some(overlapping) => counter.add(first + 1 + overlapping),
            None => return Matches::One(first),
        }
    }
    Matches::Many {
        count: counter.count,
        lines: counter.lines,
        more: counter.more,
    }
}

/// The first place of `find`, which is not empty.
pub(super) fn first(text: &str, find: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), find.as_bytes())
}

/// The line of the byte at `at`, 1-based.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

struct Counter<'a> {
    text: &'a [u8],
    count: usize,
    lines: Vec<usize>,
    more: bool,
    /// Where the last counted line number was, and that number.
    at: usize,
    line: usize,
}

impl<'a> Counter<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            count: 0,
            lines: Vec::new(),
            more: false,
            at: 0,
            line: 1,
        }
    }

    fn add(&mut self, at: usize) {
        self.count += 1;
        if self.more {
            return;
        }
        self.line += memchr_iter(b'\n', &self.text[self.at..at]).count();
        self.at = at;
        if self.lines.last() == Some(&self.line) {
            return;
        }
        if self.lines.len() == LINES {
            self.more = true;
        } else {
            self.lines.push(self.line);
        }
    }
}
