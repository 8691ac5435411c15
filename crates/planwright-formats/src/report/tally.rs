//! Whether enough of several reports came about.

/// At least half of the `expected` reports, rounded up, and one at the least.
pub fn threshold(expected: usize, ok: usize) -> bool {
    ok.saturating_mul(2) >= expected && ok >= 1
}

/// What became of several reports. Those that stand in for one ([`super::degraded()`]) are not good ones: counted as such
/// they would make the threshold idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many were asked for.
    pub expected: usize,
    /// Written by the agent, and good.
    pub ok: usize,
    /// Made from the agent's text, because it wrote none.
    pub degraded: usize,
    /// Nothing came of them.
    pub failed: usize,
}

impl Tally {
    /// Enough of them are good.
    pub fn passes(self) -> bool {
        threshold(self.expected, self.ok)
    }

    /// How many good ones are needed.
    pub fn needed(self) -> usize {
        self.expected.div_ceil(2).max(1)
    }
}
