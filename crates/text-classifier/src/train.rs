//! Fits a model to labelled examples.

use crate::{BUCKETS, Features, Model, of, probabilities};

/// Number of passes over the examples.
const EPOCHS: usize = 10;
/// Size of the first step of each weight. Later steps of a weight are smaller (Adagrad,
/// <https://jmlr.org/papers/v12/duchi11a.html>).
const LEARNING_RATE: f32 = 0.5;
/// Initial sum of squared gradients, which keeps the first steps of rare features short.
const INITIAL_SUM: f32 = 0.01;
/// Strength with which weights are pulled to zero.
const WEIGHT_DECAY: f32 = 1e-4;

/// Fits a model to `examples`, each with its class, a number below `classes`. The order of the
/// examples has an effect, and the result is the same each time.
///
/// # Panics
///
/// Panics if `classes` exceeds [`MAX_CLASSES`](crate::MAX_CLASSES) or an example has another class.
#[must_use]
pub fn train(examples: &[(Features, usize)], classes: usize) -> Model {
    let mut weights = vec![0.0; BUCKETS * classes];
    let mut squares = vec![INITIAL_SUM; BUCKETS * classes];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..EPOCHS {
        random.shuffle(&mut order);
        for at in &order {
            let (features, class) = &examples[*at];
            let mut errors = probabilities(|at| weights[at], features, classes);
            errors[..classes][*class] -= 1.0;
            for (bucket, value) in features.iter() {
                let places = of(bucket, classes);
                let row = weights[places.clone()].iter_mut().zip(&mut squares[places]);
                for ((weight, square), error) in row.zip(&errors) {
                    let gradient = error * value + WEIGHT_DECAY * *weight;
                    *square += gradient * gradient;
                    *weight -= LEARNING_RATE * gradient / square.sqrt();
                }
            }
        }
    }
    Model::of_weights(&weights, classes)
}

/// Marsaglia's xorshift generator (<https://www.jstatsoft.org/article/view/v008i14>).
struct Random(u64);

impl Random {
    fn shuffle(&mut self, order: &mut [usize]) {
        for end in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            #[expect(clippy::cast_possible_truncation, reason = "the remainder is an index")]
            order.swap(end, (self.0 % (end as u64 + 1)) as usize);
        }
    }
}
