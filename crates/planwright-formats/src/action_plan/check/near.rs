//! The lines of a file that are most like a text that is not in it.
//!
//! In two passes. The first slides a window as tall as the text over the file and counts which pairs of neighbouring
//! bytes both have: linear in the file, whatever is in it. The second compares the few best windows line by line and
//! character by character, within a fixed number of steps.
//!
//! Bounds: files up to [`FILE`] and texts up to [`FIND_LINES`] and [`FIND`]; at most [`CANDIDATES`] windows twice over,
//! [`STEPS`] steps each; [`SEARCHES`] searches for one plan. All of them together take two seconds at worst (a file
//! of 1 MB, ten times 1,000 lines that it holds in reverse).

use std::cmp::Reverse;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::diff;
use super::finding::{NearMiss, Score};

/// Most searches for one plan: more near misses than that nobody reads.
pub(super) const SEARCHES: usize = 10;
/// Longest file that is searched, in bytes.
pub(super) const FILE: usize = 2 * 1024 * 1024;
/// Longest text that is searched for, in bytes.
pub(super) const FIND: usize = 64 * 1024;
/// Longest text that is searched for, in lines.
pub(super) const FIND_LINES: usize = 1000;
/// Windows that are compared exactly.
const CANDIDATES: usize = 3;
/// Steps of the comparison of one window: product of the lengths of what is compared, in characters.
const STEPS: usize = 1_000_000;
/// What is less alike is no near miss, unless only white space differs; the customary bound (`get_close_matches` of Python's difflib).
const LEAST: u8 = 60;

/// The window of `text` that is most like `find`, one that differs in white space only before all others, and the first
/// of equals; `None` when nothing is similar or one of them is
/// too long.
pub(super) fn search(text: &str, find: &str) -> Option<NearMiss> {
    if text.is_empty() || text.len() > FILE || find.len() > FIND {
        return None;
    }
    let find: Vec<&str> = find.split('\n').collect();
    if find.len() > FIND_LINES {
        return None;
    }
    let text: Vec<&str> = text
        .strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .collect();
    let spaced = |near: &[&str]| {
        let mut chars = without_spaces(&find).peekable();
        chars.peek().is_some() && chars.eq(without_spaces(near))
    };
    let ranked = candidates(&text, &find).into_iter().map(|window| {
        let near = &text[window.clone()];
        let steps = diff::steps(&find, near);
        let rank = (spaced(near), score(&find, near, &steps));
        (rank, window, steps)
    });
    let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let ((only_spaces, score), window, steps) = best?;
    if !only_spaces && score.hundredths() < LEAST {
        return None;
    }
    Some(NearMiss {
        score,
        line: window.start + 1,
        end_line: window.end,
        only_spaces,
        diff: diff::shown_steps(&find, &text[window], steps),
    })
}

fn without_spaces<'a>(lines: &'a [&str]) -> impl Iterator<Item = char> + 'a {
    let chars = lines.iter().flat_map(|line| line.chars());
    chars.filter(|c| !c.is_whitespace())
}

/// The windows that may be most alike, in the order of the file.
fn candidates(text: &[&str], find: &[&str]) -> Vec<Range<usize>> {
    let height = find.len().min(text.len());
    let mut wanted = Pairs::new();
    wanted.add(find);
    let mut seen = Pairs::new();
    // Of what both have, how much it is of both together; for a single line, which may be a part of a longer one, also
    // how much it is of the text.
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

/// The best few places, the first of equals.
#[derive(Default)]
struct Best(Vec<(Reverse<usize>, usize)>);

impl Best {
    fn offer(&mut self, likeness: usize, start: usize) {
        let it = (Reverse(likeness), start);
        if self.0.len() == CANDIDATES && self.0.last().is_some_and(|last| it > *last) {
            return;
        }
        self.0
            .insert(self.0.partition_point(|other| *other < it), it);
        self.0.truncate(CANDIDATES);
    }

    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(_, start)| *start)
    }
}

/// How often each pair of neighbouring bytes is in some lines, without white space at the lines' ends. A line end counts
/// as a byte, so that lines of one character count as well.
struct Pairs {
    counts: Vec<u32>,
    total: usize,
    /// How many of them the wanted lines have as well.
    common: usize,
}

impl Pairs {
    fn new() -> Self {
        Self {
            counts: vec![0; 1 << 16],
            total: 0,
            common: 0,
        }
    }

    fn add(&mut self, lines: &[&str]) {
        for pair in lines.iter().flat_map(|line| pairs(line)) {
            self.counts[pair] += 1;
            self.total += 1;
        }
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

/// How many characters two groups of lines have in common, of all of both, line ends left out. Around a single line
/// what the other one has more at its ends does not count: the text may be a part of that line.
fn score(find: &[&str], near: &[&str], steps: &[DiffOp]) -> Score {
    let mut left = STEPS;
    let (mut same, mut all) = (0, 0);
    let (mut rough_old, mut rough_new) = (Vec::new(), Vec::new());
    for step in steps {
        let (old, new) = (&find[step.old_range()], &near[step.new_range()]);
        let (old_chars, new_chars) = (chars(old), chars(new));
        all += old_chars.len() + new_chars.len();
        match step {
            DiffOp::Equal { .. } => same += old_chars.len() + new_chars.len(),
            DiffOp::Replace { .. } => {
                let cost = old_chars.len().saturating_mul(new_chars.len());
                if cost > left {
                    rough_old.extend_from_slice(old);
                    rough_new.extend_from_slice(new);
                    continue;
                }
                left -= cost;
                let ops = capture_diff_slices(Algorithm::Myers, &old_chars, &new_chars);
                same += 2 * equal(&ops);
                if find.len() == 1 && near.len() == 1 {
                    all -= more_at_ends(&ops);
                }
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
        }
    }
    if !rough_old.is_empty() {
        same += roughly_same(&rough_old, &rough_new);
    }
    Score::of(same, all)
}

fn chars(lines: &[&str]) -> Vec<char> {
    lines.iter().flat_map(|line| line.chars()).collect()
}

fn equal(ops: &[DiffOp]) -> usize {
    let equal = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    equal.map(|op| op.old_range().len()).sum()
}

/// What is only in the second text, before and behind everything of the first.
fn more_at_ends(ops: &[DiffOp]) -> usize {
    let more = |op: Option<&DiffOp>| match op {
        Some(DiffOp::Insert { new_len, .. }) => *new_len,
        _ => 0,
    };
    match ops {
        [only] => more(Some(only)),
        ops => more(ops.first()) + more(ops.last()),
    }
}

/// How many characters of both are probably the same, when comparing them would take too long.
fn roughly_same(old: &[&str], new: &[&str]) -> usize {
    let mut wanted = Pairs::new();
    wanted.add(old);
    let mut seen = Pairs::new();
    for line in new {
        seen.enter(line, &wanted);
    }
    // A pair of bytes begins at most one character.
    2 * seen.common.min(chars(old).len()).min(chars(new).len())
}
