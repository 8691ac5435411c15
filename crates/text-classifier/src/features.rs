//! Features of a text, hashed into buckets.

/// Number of bits of a bucket's number.
const BITS: u32 = 17;
/// Number of buckets. Features with the same bucket share their weights.
pub const BUCKETS: usize = 1 << BITS;

/// Longest sequence of characters that is a feature.
const MAX_CHARS: usize = 5;
/// Longest sequence of words that is a feature.
const MAX_WORDS: usize = 3;

/// A sparse vector of features: buckets in ascending order with their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features(Vec<(u32, f32)>);

impl Features {
    /// Returns the buckets and their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        self.0
            .iter()
            .map(|(bucket, value)| (*bucket as usize, *value))
    }

    /// Returns these features and `others`.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(&others.0);
        Self(all)
    }
}

/// Collects features.
#[derive(Debug, Default)]
pub struct Builder(Vec<u32>);

impl Builder {
    /// Adds a feature with a name of several parts.
    pub fn add(&mut self, parts: &[&str]) {
        self.0.push(bucket(parts));
    }

    /// Adds the sequences of one to five characters of a word with its boundaries.
    pub fn add_chars(&mut self, word: &str) {
        let mut padded = String::with_capacity(word.len() + 2);
        padded.push(' ');
        padded.push_str(word);
        padded.push(' ');
        let ends: Vec<usize> = padded
            .char_indices()
            .map(|(at, _)| at)
            .chain([padded.len()])
            .collect();
        for length in 1..=MAX_CHARS {
            for window in ends.windows(length + 1) {
                let gram = &padded[window[0]..window[length]];
                if gram != " " {
                    self.add(&["c", gram]);
                }
            }
        }
    }

    /// Adds the sequences of two and three words.
    pub fn add_sequences(&mut self, words: &[&str]) {
        for length in 2..=MAX_WORDS {
            for window in words.windows(length) {
                let mut parts = ["w"; MAX_WORDS + 1];
                parts[1..=length].copy_from_slice(window);
                self.add(&parts[..=length]);
            }
        }
    }

    /// Returns a vector of length 1 in which frequent features count for little more than rare
    /// ones.
    #[must_use]
    pub fn normalized(self) -> Features {
        let counted = self.counted();
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let damped = |count: usize| 1.0 + (count as f32).ln();
        let length: f32 = counted
            .iter()
            .map(|(_, count)| damped(*count) * damped(*count))
            .sum::<f32>()
            .sqrt();
        let values = counted.into_iter();
        Features(
            values
                .map(|(at, count)| (at, damped(count) / length))
                .collect(),
        )
    }

    /// Returns a vector in which each feature has the same value.
    #[must_use]
    pub fn uniform(self, value: f32) -> Features {
        let counted = self.counted().into_iter();
        Features(counted.map(|(at, _)| (at, value)).collect())
    }

    /// Returns the buckets with the number of their features.
    fn counted(mut self) -> Vec<(u32, usize)> {
        self.0.sort_unstable();
        let runs = self.0.chunk_by(|one, other| one == other);
        runs.map(|run| (run[0], run.len())).collect()
    }
}

/// Returns the bucket of a feature: the FNV-1a hash of its parts, folded to the number of buckets
/// (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>).
fn bucket(parts: &[&str]) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    for byte in bytes {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    (hash >> BITS) ^ (hash & ((1 << BITS) - 1))
}
