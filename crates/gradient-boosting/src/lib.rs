//! Gradient-boosted decision trees for yes-or-no questions about rows of numbers
//! (J. H. Friedman, [Greedy function approximation: a gradient boosting machine](https://doi.org/10.1214/aos/1013203451)).
//!
//! [`train`] fits a [`Model`] to weighted examples, and [`Model::to_bytes`] stores it. Training is
//! deterministic.

mod train;

pub use train::{Example, train};

use thiserror::Error;

/// Maximum number of values in a row.
pub const MAX_VALUES: usize = 255;
/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 255;
/// Marks a leaf in stored models, instead of the position of a value.
const LEAF: u8 = 255;
/// Length of a stored node: position of the value, threshold or score, and the two next nodes.
const NODE: usize = 7;

/// A node of a tree. The next nodes of a node are stored behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Node {
    /// Adds to the score, and ends the tree.
    Leaf(f32),
    /// Goes on with the node `low` if the value at position `value` is at most `threshold`, and
    /// with `high` otherwise.
    Split {
        value: u8,
        threshold: f32,
        low: u8,
        high: u8,
    },
}

type Tree = Vec<Node>;

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Number of values in a row.
    values: usize,
    trees: Vec<Tree>,
}

/// Why stored bytes are not a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the stored model is damaged at byte {0}")]
pub struct Damaged(usize);

impl Model {
    /// Returns the probability that the answer is yes.
    ///
    /// # Panics
    ///
    /// Panics if `row` has fewer values than the rows of the training.
    #[must_use]
    pub fn probability(&self, row: &[f32]) -> f32 {
        let score: f32 = self.trees.iter().map(|tree| score(tree, row)).sum();
        probability(score)
    }

    /// Returns the number of values in a row.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Fails with the position at which the bytes are not a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        let (values, mut rest) = bytes.split_first().ok_or(Damaged(0))?;
        let mut trees = Vec::new();
        while let Some((nodes, after)) = rest.split_first() {
            let at = bytes.len() - after.len();
            let nodes = usize::from(*nodes);
            let stored = after.get(..nodes * NODE).filter(|_| nodes > 0);
            let stored = stored.ok_or(Damaged(at - 1))?;
            let mut tree = Tree::with_capacity(nodes);
            for (place, node) in stored.chunks_exact(NODE).enumerate() {
                let number = f32::from_le_bytes([node[1], node[2], node[3], node[4]]);
                let (low, high) = (node[5], node[6]);
                // Next nodes are behind this one, so every path ends.
                let is_next = |next: u8| (place + 1..nodes).contains(&usize::from(next));
                tree.push(match node[0] {
                    _ if !number.is_finite() => return Err(Damaged(at + place * NODE)),
                    LEAF => Node::Leaf(number),
                    value if value < *values && is_next(low) && is_next(high) => Node::Split {
                        value,
                        threshold: number,
                        low,
                        high,
                    },
                    _ => return Err(Damaged(at + place * NODE)),
                });
            }
            trees.push(tree);
            rest = &after[nodes * NODE..];
        }
        Ok(Self {
            values: usize::from(*values),
            trees,
        })
    }

    /// Stores the model: the number of values in a row, and for each tree the number of its nodes
    /// and the nodes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        let mut bytes = vec![self.values as u8];
        for tree in &self.trees {
            #[expect(clippy::cast_possible_truncation, reason = "at most MAX_NODES")]
            bytes.push(tree.len() as u8);
            for node in tree {
                let (value, number, low, high) = match *node {
                    Node::Leaf(score) => (LEAF, score, 0, 0),
                    Node::Split {
                        value,
                        threshold,
                        low,
                        high,
                    } => (value, threshold, low, high),
                };
                bytes.push(value);
                bytes.extend(number.to_le_bytes());
                bytes.extend([low, high]);
            }
        }
        bytes
    }
}

/// Returns what `tree` adds to the score of `row`.
fn score(tree: &[Node], row: &[f32]) -> f32 {
    let mut at = 0;
    loop {
        match tree[at] {
            Node::Leaf(score) => return score,
            Node::Split {
                value,
                threshold,
                low,
                high,
            } => {
                let is_low = row[usize::from(value)] <= threshold;
                at = usize::from(if is_low { low } else { high });
            }
        }
    }
}

/// Returns the probability for a score, its logistic function.
fn probability(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Rows of two values between 0 and 19, with the answer whether both exceed 9.
    fn examples() -> Vec<Example> {
        let row = |at: u16| [f32::from(at / 20), f32::from(at % 20)];
        let both = |row: [f32; 2]| row.iter().all(|value| *value > 9.0);
        (0..400)
            .map(|at| Example {
                values: row(at).to_vec(),
                target: f32::from(u8::from(both(row(at)))),
                weight: 1.0,
            })
            .collect()
    }

    #[test]
    fn an_answer_that_depends_on_two_values_together_is_learnt() {
        let model = train(&examples());
        for example in examples() {
            let found = model.probability(&example.values);
            assert!((found - example.target).abs() < 0.2, "{example:?}: {found}");
        }
    }

    #[test]
    fn without_information_the_probability_is_the_weighted_share() {
        let example = |target: f32, weight: f32| Example {
            values: vec![1.0],
            target,
            weight,
        };
        let mut examples = vec![example(1.0, 3.0); 20];
        examples.extend(vec![example(0.0, 1.0); 20]);
        let found = train(&examples).probability(&[1.0]);
        assert!((found - 0.75).abs() < 0.02, "{found}");
    }

    #[test]
    fn training_gives_the_same_model_each_time() {
        assert_eq!(train(&examples()), train(&examples()));
    }

    #[test]
    fn a_stored_model_is_read_as_it_was() {
        let model = train(&examples());
        assert_eq!(Model::from_bytes(&model.to_bytes()), Ok(model));
    }

    #[test]
    fn damaged_bytes_are_refused_with_their_place() {
        let error = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
        let message = "the stored model is damaged at byte ";
        let leaf = |number: f32| {
            let [a, b, c, d] = number.to_le_bytes();
            [LEAF, a, b, c, d, 0, 0]
        };
        assert_eq!(error(&[]), format!("{message}0"));
        assert_eq!(error(&[2, 0]), format!("{message}1"));
        assert_eq!(error(&[2, 1, LEAF, 0]), format!("{message}1"));
        let mut endless = vec![2, 2, 0, 0, 0, 0, 0, 0, 1];
        endless.extend(leaf(1.0));
        assert_eq!(error(&endless), format!("{message}2"));
        let mut unknown_value = vec![2, 3, 2, 0, 0, 0, 0, 1, 2];
        unknown_value.extend([leaf(1.0), leaf(2.0)].concat());
        assert_eq!(error(&unknown_value), format!("{message}2"));
        let mut not_a_number = vec![2, 1];
        not_a_number.extend(leaf(f32::NAN));
        assert_eq!(error(&not_a_number), format!("{message}2"));
    }
}
