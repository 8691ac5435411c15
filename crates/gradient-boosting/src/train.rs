//! Fits trees to examples, each tree to what the ones before it leave unexplained.

use crate::{MAX_NODES, MAX_VALUES, Model, Node, Tree, probability, score};

/// Number of models whose scores are averaged. Each tries other values at each split, so their average
/// is more reliable than any one of them.
const MODELS: usize = 4;
/// Number of trees of each of them.
const TREES: usize = 400;
/// Share of a tree's score that is added.
const LEARNING_RATE: f64 = 0.05;
/// Maximum number of leaves of a tree.
const MAX_LEAVES: usize = 8;
/// Minimum number of examples in a leaf.
const MIN_EXAMPLES: usize = 10;
/// Strength with which scores are pulled towards zero.
const PENALTY: f64 = 5.0;
/// Maximum number of thresholds of a value that are tried.
const MAX_THRESHOLDS: usize = 63;

/// A row of numbers with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// At most [`MAX_VALUES`] numbers, as many as in the other examples.
    pub values: Vec<f32>,
    /// The probability that the answer is yes.
    pub target: f32,
    /// How much the example counts.
    pub weight: f32,
}

/// An example's share in a sum: first and second derivative of the loss.
#[derive(Debug, Clone, Copy, Default)]
struct Loss {
    first: f64,
    second: f64,
    examples: usize,
}

impl Loss {
    fn add(&mut self, other: Self) {
        self.first += other.first;
        self.second += other.second;
        self.examples += other.examples;
    }

    fn without(self, other: Self) -> Self {
        Self {
            first: self.first - other.first,
            second: self.second - other.second,
            examples: self.examples - other.examples,
        }
    }

    /// Returns by how much the best score for these examples reduces the loss.
    fn gain(self) -> f64 {
        self.first * self.first / (self.second + PENALTY)
    }

    fn best_score(self) -> f64 {
        -self.first / (self.second + PENALTY)
    }
}

/// Fits a model to `examples`.
///
/// # Panics
///
/// Panics if the examples have different numbers of values, more than [`MAX_VALUES`], or one that is
/// not finite.
#[must_use]
pub fn train(examples: &[Example]) -> Model {
    let values = examples.first().map_or(0, |example| example.values.len());
    assert!(values <= MAX_VALUES, "at most {MAX_VALUES} values");
    for example in examples {
        assert_eq!(example.values.len(), values, "rows differ in length");
        let is_finite = example.values.iter().all(|it| it.is_finite());
        assert!(is_finite, "values must be finite");
    }
    let thresholds: Vec<Vec<f32>> = (0..values).map(|at| thresholds(examples, at)).collect();
    // For each value, the number of thresholds that each example exceeds.
    let steps: Vec<Vec<u8>> = thresholds
        .iter()
        .enumerate()
        .map(|(at, thresholds)| {
            let step = |example: &Example| {
                let below = thresholds.partition_point(|it| *it < example.values[at]);
                #[expect(clippy::cast_possible_truncation, reason = "at most MAX_THRESHOLDS")]
                let step = below as u8;
                step
            };
            examples.iter().map(step).collect()
        })
        .collect();
    let total: f64 = examples.iter().map(|it| f64::from(it.weight)).sum();
    let yes: f64 = examples
        .iter()
        .map(|it| f64::from(it.weight * it.target))
        .sum();
    let log_odds = (yes.max(1e-3) / (total - yes).max(1e-3)).ln();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    #[expect(clippy::cast_possible_truncation, reason = "a score")]
    let start = log_odds as f32;
    let mut trees = vec![vec![Node::Leaf(start)]];
    for _ in 0..MODELS {
        let mut scores = vec![start; examples.len()];
        for _ in 0..TREES {
            let losses: Vec<Loss> = examples
                .iter()
                .zip(&scores)
                .map(|(example, score)| {
                    let found = f64::from(probability(*score));
                    let weight = f64::from(example.weight);
                    Loss {
                        first: weight * (found - f64::from(example.target)),
                        second: weight * found * (1.0 - found),
                        examples: 1,
                    }
                })
                .collect();
            let mut tree = grow(&losses, &steps, &thresholds, &mut random);
            for (example, total) in examples.iter().zip(&mut scores) {
                *total += score(&tree, &example.values);
            }
            for node in &mut tree {
                if let Node::Leaf(score) = node {
                    #[expect(clippy::cast_precision_loss, reason = "a small number")]
                    let models = MODELS as f32;
                    *score /= models;
                }
            }
            trees.push(tree);
        }
    }
    Model { values, trees }
}

/// Returns the numbers between which the values at position `at` are distinguished, ascending.
fn thresholds(examples: &[Example], at: usize) -> Vec<f32> {
    let mut all: Vec<f32> = examples.iter().map(|it| it.values[at]).collect();
    all.sort_by(f32::total_cmp);
    let mut distinct = all.clone();
    distinct.dedup();
    if distinct.len() > MAX_THRESHOLDS {
        let quantile = |number: usize| all[number * all.len() / (MAX_THRESHOLDS + 1)];
        distinct = (1..=MAX_THRESHOLDS).map(quantile).collect();
        distinct.push(all[all.len() - 1]);
        distinct.dedup();
    }
    distinct
        .windows(2)
        .map(|pair| f32::midpoint(pair[0], pair[1]))
        .collect()
}

/// A way to divide examples.
struct Split {
    gain: f64,
    value: usize,
    /// Number of the threshold.
    threshold: usize,
}

/// A leaf of a tree that grows.
struct Leaf {
    node: usize,
    examples: Vec<usize>,
    total: Loss,
    best: Option<Split>,
}

/// Grows a tree, at the leaf where it helps most.
fn grow(losses: &[Loss], steps: &[Vec<u8>], thresholds: &[Vec<f32>], random: &mut Random) -> Tree {
    let mut leaf = |node: usize, examples: Vec<usize>| {
        let mut total = Loss::default();
        for at in &examples {
            total.add(losses[*at]);
        }
        // A random half of the values, on average.
        let tried: Vec<usize> = (0..steps.len())
            .filter(|_| random.next().is_multiple_of(2))
            .collect();
        let best = best_split(&examples, total, &tried, losses, steps);
        Leaf {
            node,
            examples,
            total,
            best,
        }
    };
    let mut tree: Tree = vec![Node::Leaf(0.0)];
    let mut leaves = vec![leaf(0, (0..losses.len()).collect())];
    while leaves.len() < MAX_LEAVES && tree.len() + 2 <= MAX_NODES {
        let gain = |leaf: &Leaf| leaf.best.as_ref().map_or(0.0, |split| split.gain);
        let Some(at) = (0..leaves.len())
            .filter(|at| leaves[*at].best.is_some())
            .max_by(|one, other| gain(&leaves[*one]).total_cmp(&gain(&leaves[*other])))
        else {
            break;
        };
        let split_leaf = leaves.swap_remove(at);
        let Some(split) = split_leaf.best else { break };
        let (low, high): (Vec<usize>, Vec<usize>) = split_leaf
            .examples
            .into_iter()
            .partition(|at| usize::from(steps[split.value][*at]) <= split.threshold);
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_NODES")]
        let next = tree.len() as u8;
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_VALUES")]
        let value = split.value as u8;
        tree[split_leaf.node] = Node::Split {
            value,
            threshold: thresholds[split.value][split.threshold],
            low: next,
            high: next + 1,
        };
        for examples in [low, high] {
            leaves.push(leaf(tree.len(), examples));
            tree.push(Node::Leaf(0.0));
        }
    }
    for leaf in leaves {
        #[expect(clippy::cast_possible_truncation, reason = "a score")]
        let score = (leaf.total.best_score() * LEARNING_RATE) as f32;
        tree[leaf.node] = Node::Leaf(score);
    }
    tree
}

/// Returns the best way to divide `examples` by one of the values `tried`.
fn best_split(
    examples: &[usize],
    total: Loss,
    tried: &[usize],
    losses: &[Loss],
    steps: &[Vec<u8>],
) -> Option<Split> {
    let mut best: Option<Split> = None;
    for value in tried {
        let mut sums = [Loss::default(); MAX_THRESHOLDS + 1];
        let of_value = &steps[*value];
        for at in examples {
            sums[usize::from(of_value[*at])].add(losses[*at]);
        }
        let mut low = Loss::default();
        for (threshold, sum) in sums[..MAX_THRESHOLDS].iter().enumerate() {
            if sum.examples == 0 {
                continue;
            }
            low.add(*sum);
            let high = total.without(low);
            if high.examples < MIN_EXAMPLES {
                break;
            }
            let gain = low.gain() + high.gain() - total.gain();
            let least = best.as_ref().map_or(1e-9, |split| split.gain);
            if low.examples >= MIN_EXAMPLES && gain > least {
                best = Some(Split {
                    gain,
                    value: *value,
                    threshold,
                });
            }
        }
    }
    best
}

/// Marsaglia's xorshift generator (<https://www.jstatsoft.org/article/view/v008i14>).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits are the least random.
        self.0 >> 32
    }
}
