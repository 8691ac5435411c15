//! Finds the lines of a file that are most similar to a text that is not in it.
//!
//! The search has two passes. The first slides a window of the height of the text over the file and
//! counts the pairs of adjacent bytes that both have in common; it is linear in the file for any
//! input. The second compares the few best windows by lines and characters, within a fixed number
//! of steps.
//!
//! Limits: files up to [`MAX_FILE_BYTES`], texts up to [`MAX_FIND_LINES`] and [`MAX_FIND_BYTES`],
//! twice [`MAX_CANDIDATES`] windows with [`MAX_STEPS`] steps each, and [`MAX_SEARCHES`] searches
//! for one plan. Together they take two seconds at worst (a file of 1 MB, and ten times 1,000 lines
//! of it in reverse order).

use std::cmp::Reverse;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::diff;
use super::finding::{NearMiss, Score};

/// Maximum number of searches for one plan; nobody reads more near misses.
pub(super) const MAX_SEARCHES: usize = 10;
/// Maximum size of a file that is searched, in bytes.
pub(super) const MAX_FILE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum size of a text that is searched for, in bytes.
pub(super) const MAX_FIND_BYTES: usize = 64 * 1024;
/// Maximum height of a text that is searched for, in lines.
pub(super) const MAX_FIND_LINES: usize = 1000;
/// Maximum number of windows per criterion that are compared exactly.
const MAX_CANDIDATES: usize = 3;
/// Maximum cost of comparing one window: the product of the lengths of the texts, in characters.
const MAX_STEPS: usize = 1_000_000;
/// Minimum similarity of a near miss in hundredths, unless only white space differs. The default of
/// `get_close_matches` in Python's difflib.
const MIN_SCORE: u8 = 60;

/// Returns the lines of `text` that are most similar to `find`.
///
/// Lines that differ in white space only are preferred, then the first of equals. `None` if nothing
/// is similar or one of the texts is too long.
pub(super) fn search(text: &str, find: &str) -> Option<NearMiss> {
    if text.is_empty() || text.len() > MAX_FILE_BYTES || find.len() > MAX_FIND_BYTES {
        return None;
    }
    let find: Vec<&str> = find.split('\n').collect();
    if find.len() > MAX_FIND_LINES {
        return None;
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text: Vec<&str> = text.split('\n').collect();
    let differs_in_space = |near: &[&str]| {
        let mut chars = without_spaces(&find).peekable();
        chars.peek().is_some() && chars.eq(without_spaces(near))
    };
    let ranked = candidates(&text, &find).into_iter().map(|window| {
        let near = &text[window.clone()];
        let operations = diff::operations(&find, near);
        let rank = (differs_in_space(near), score(&find, near, &operations));
        (rank, window, operations)
    });
    let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let ((only_spaces, score), window, operations) = best?;
    if !only_spaces && score.hundredths() < MIN_SCORE {
        return None;
    }
    Some(NearMiss {
        score,
        line: window.start + 1,
        end_line: window.end,
        only_spaces,
        diff: diff::render(&find, &text[window], operations),
    })
}

fn without_spaces<'a>(lines: &'a [&str]) -> impl Iterator<Item = char> + 'a {
    let chars = lines.iter().flat_map(|line| line.chars());
    chars.filter(|c| !c.is_whitespace())
}

/// Returns the windows that may be most similar, in the order of the file.
fn candidates(text: &[&str], find: &[&str]) -> Vec<Range<usize>> {
    let height = find.len().min(text.len());
    let wanted = BytePairs::new(find);
    let mut seen = BytePairs::new(&[]);
    // Ranks windows by the share of common pairs in both texts. A single line may be part of a
    // longer one, so it is also ranked by the share in `find` alone.
    let (mut alike, mut within) = (Best::default(), Best::default());
    for (index, line) in text.iter().enumerate() {
        seen.enter(line, &wanted);
        if index + 1 < height {
            continue;
        }
        let start = index + 1 - height;
        let both = seen.common;
        if both > 0 {
            alike.offer(per_million(2 * both, wanted.total + seen.total), start);
            if height == 1 {
                within.offer(per_million(both, wanted.total), start);
            }
        }
        seen.leave(text[start], &wanted);
    }
    let mut starts: Vec<usize> = alike.starts().chain(within.starts()).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.into_iter().map(|at| at..at + height).collect()
}

fn per_million(part: usize, whole: usize) -> usize {
    (part * 1_000_000).checked_div(whole).unwrap_or(0)
}

/// The best few windows, the first of equals.
#[derive(Default)]
struct Best(Vec<(Reverse<usize>, usize)>);

impl Best {
    fn offer(&mut self, similarity: usize, start: usize) {
        let it = (Reverse(similarity), start);
        if self.0.len() == MAX_CANDIDATES && self.0.last().is_some_and(|last| it > *last) {
            return;
        }
        self.0
            .insert(self.0.partition_point(|other| *other < it), it);
        self.0.truncate(MAX_CANDIDATES);
    }

    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(_, start)| *start)
    }
}

/// Number of occurrences of each pair of adjacent bytes in a set of lines, without white space at
/// their ends. A line break counts as a byte, so that lines of one character count as well.
struct BytePairs {
    counts: Vec<u32>,
    total: usize,
    /// Number of pairs that the wanted lines have as well.
    common: usize,
}

impl BytePairs {
    /// Counts the pairs of `lines`.
    fn new(lines: &[&str]) -> Self {
        let mut counted = Self {
            counts: vec![0; 1 << 16],
            total: 0,
            common: 0,
        };
        for pair in lines.iter().flat_map(|line| pairs(line)) {
            counted.counts[pair] += 1;
            counted.total += 1;
        }
        counted
    }

    fn enter(&mut self, line: &str, wanted: &Self) {
        for pair in pairs(line) {
            self.counts[pair] += 1;
            self.total += 1;
            self.common += usize::from(self.counts[pair] <= wanted.counts[pair]);
        }
    }

    fn leave(&mut self, line: &str, wanted: &Self) {
        for pair in pairs(line) {
            self.common -= usize::from(self.counts[pair] <= wanted.counts[pair]);
            self.counts[pair] -= 1;
            self.total -= 1;
        }
    }
}

fn pairs(line: &str) -> impl Iterator<Item = usize> + '_ {
    let mut before = b'\n';
    let bytes = line.trim().bytes().chain([b'\n']);
    bytes.map(move |byte| {
        let pair = usize::from(before) << 8 | usize::from(byte);
        before = byte;
        pair
    })
}

/// Returns the share of characters that two groups of lines have in common, without line breaks.
///
/// For a single line, additional characters at the ends of `near` do not count, because `find` may
/// be a part of that line.
fn score(find: &[&str], near: &[&str], operations: &[DiffOp]) -> Score {
    let mut steps_left = MAX_STEPS;
    let (mut same, mut all) = (0, 0);
    let (mut rough_old, mut rough_new) = (Vec::new(), Vec::new());
    for operation in operations {
        let (old, new) = (&find[operation.old_range()], &near[operation.new_range()]);
        let (old_chars, new_chars) = (chars(old), chars(new));
        all += old_chars.len() + new_chars.len();
        match operation {
            DiffOp::Equal { .. } => same += old_chars.len() + new_chars.len(),
            DiffOp::Replace { .. } => {
                let cost = old_chars.len().saturating_mul(new_chars.len());
                if cost > steps_left {
                    rough_old.extend_from_slice(old);
                    rough_new.extend_from_slice(new);
                    continue;
                }
                steps_left -= cost;
                let ops = capture_diff_slices(Algorithm::Myers, &old_chars, &new_chars);
                same += 2 * equal(&ops);
                if find.len() == 1 && near.len() == 1 {
                    all -= inserted_at_ends(&ops);
                }
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
        }
    }
    if !rough_old.is_empty() {
        same += roughly_same(&rough_old, &rough_new);
    }
    Score::new(same, all)
}

fn chars(lines: &[&str]) -> Vec<char> {
    lines.iter().flat_map(|line| line.chars()).collect()
}

fn equal(ops: &[DiffOp]) -> usize {
    let equal = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    equal.map(|op| op.old_range().len()).sum()
}

/// Returns the number of characters that only the second text has, before and after the first one.
fn inserted_at_ends(ops: &[DiffOp]) -> usize {
    let inserted = |op: &DiffOp| match op {
        DiffOp::Insert { new_len, .. } => *new_len,
        _ => 0,
    };
    match ops {
        [] => 0,
        [only] => inserted(only),
        [first, .., last] => inserted(first) + inserted(last),
    }
}

/// Estimates the number of common characters of texts that are too long to compare.
fn roughly_same(old: &[&str], new: &[&str]) -> usize {
    let wanted = BytePairs::new(old);
    let mut seen = BytePairs::new(&[]);
    for line in new {
        seen.enter(line, &wanted);
    }
    // At most one character starts in a pair of bytes.
    2 * seen.common.min(chars(old).len()).min(chars(new).len())
}
