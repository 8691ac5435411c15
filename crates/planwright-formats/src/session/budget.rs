//! Splits a transcript where a reader's budget of tokens is used up: between entries, each part a document of its own.

use super::transcript::Head;

/// Characters that count as one token (erk's estimate).
const CHARS_PER_TOKEN: usize = 4;
/// Tokens of the frame `<session>…</session>` without anything in it.
const FRAME: usize = "<session>\n</session>".len() / CHARS_PER_TOKEN;

/// Tokens of `text`, estimated: a quarter of its characters, rounded down.
pub fn estimate(text: &str) -> usize {
    text.chars().count() / CHARS_PER_TOKEN
}

/// Counts the tokens of the part that is being written.
///
/// The estimates of the entries are added up, each rounded down, as erk adds them: a part can be larger than the budget
/// by one token for each entry. An entry that alone is over the budget has a part of its own.
#[derive(Debug, Clone)]
pub struct Budget {
    most: Option<usize>,
    /// Tokens of a part without entries.
    overhead: usize,
    /// Tokens of the entries of this part; `None` before the first.
    used: Option<usize>,
}

impl Budget {
    /// A budget for parts that begin with `head`; one part without `max_tokens`.
    pub fn new(head: &Head, max_tokens: Option<usize>) -> Self {
        Self {
            most: max_tokens,
            overhead: FRAME + head.lines().map(|line| estimate(&line)).sum::<usize>(),
            used: None,
        }
    }

    /// Counts the lines of an entry. False when it must begin another part.
    pub fn takes(&mut self, entry: &str) -> bool {
        let Some(most) = self.most else {
            return true;
        };
        let tokens = estimate(entry.strip_suffix('\n').unwrap_or(entry));
        let after = self.used.map_or(tokens, |used| used + tokens);
        let fits = self.used.is_none() || after + self.overhead <= most;
        self.used = Some(if fits { after } else { tokens });
        fits
    }
}

#[cfg(test)]
mod tests;
