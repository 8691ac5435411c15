//! Linear classification of short texts: multinomial logistic regression over hashed features.
//!
//! A text is described by [`Features`], which are hashed into a fixed number of buckets, so a model
//! is a table of constant size and needs no dictionary. [`train`] fits a model to labelled examples
//! and [`Model::to_bytes`] stores it with a byte for each weight. Training is deterministic.

mod features;
mod train;

pub use features::{BUCKETS, Builder, Features};
pub use train::train;

use std::ops::Range;

use thiserror::Error;

/// Maximum number of classes.
pub const MAX_CLASSES: usize = 8;

/// Length of the header: the largest weight.
const HEADER: usize = 4;
/// Number of steps between zero and the largest weight.
const STEPS: f32 = 127.0;

/// A value for each class; zero for those that a model does not have.
pub(crate) type Row = [f32; MAX_CLASSES];

/// A model that distinguishes several classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    classes: usize,
    /// The weights of all classes for the first bucket, then for the next, and so on.
    weights: Vec<f32>,
}

/// Why stored bytes are not a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ModelError {
    /// A model has at least one class and at most [`MAX_CLASSES`].
    #[error("a model has 1 to {MAX_CLASSES} classes, not {0}")]
    Classes(usize),
    /// The bytes were written for another number of classes or buckets.
    #[error("a model of {expected} bytes was expected, not one of {actual} bytes")]
    Length {
        /// Number of bytes of a model with this number of classes.
        expected: usize,
        /// Number of bytes given.
        actual: usize,
    },
    /// The largest weight is not a positive number.
    #[error("the largest weight of the model is not a positive number")]
    Scale,
}

impl Model {
    /// Reads what [`Model::to_bytes`] wrote for a model with this number of classes.
    ///
    /// # Errors
    ///
    /// Fails if the number of classes, the length or the largest weight is wrong.
    pub fn from_bytes(bytes: &[u8], classes: usize) -> Result<Self, ModelError> {
        if !(1..=MAX_CLASSES).contains(&classes) {
            return Err(ModelError::Classes(classes));
        }
        let expected = HEADER + BUCKETS * classes;
        let length = ModelError::Length {
            expected,
            actual: bytes.len(),
        };
        let (largest, steps) = bytes.split_first_chunk::<HEADER>().ok_or(length)?;
        if bytes.len() != expected {
            return Err(length);
        }
        let largest = f32::from_le_bytes(*largest);
        if !(largest.is_finite() && largest > 0.0) {
            return Err(ModelError::Scale);
        }
        // Most weights are small, so the steps grow with the square of their number.
        let weight = |step: u8| {
            let share = f32::from(step.cast_signed()) / STEPS;
            share * share.abs() * largest
        };
        Ok(Self {
            classes,
            weights: steps.iter().map(|step| weight(*step)).collect(),
        })
    }

    /// Stores the model: the largest weight as a little-endian `f32`, then a signed byte for each
    /// bucket and class.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let magnitudes = self.weights.iter().map(|weight| weight.abs());
        let largest = magnitudes.fold(f32::MIN_POSITIVE, f32::max);
        let step = |weight: &f32| {
            let share = (weight.abs() / largest).sqrt().copysign(*weight);
            #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
            let step = (share * STEPS).round() as i8;
            step.cast_unsigned()
        };
        largest
            .to_le_bytes()
            .into_iter()
            .chain(self.weights.iter().map(step))
            .collect()
    }

    /// Returns the probability of each class.
    #[must_use]
    pub fn probabilities(&self, features: &Features) -> Vec<f32> {
        probabilities(&self.weights, features, self.classes)[..self.classes].to_vec()
    }
}

/// Returns where the weights of a bucket are.
fn of(bucket: usize, classes: usize) -> Range<usize> {
    bucket * classes..(bucket + 1) * classes
}

/// Returns the probability of each of the first `classes`.
fn probabilities(weights: &[f32], features: &Features, classes: usize) -> Row {
    let mut scores = Row::default();
    for (bucket, value) in features.iter() {
        for (score, weight) in scores.iter_mut().zip(&weights[of(bucket, classes)]) {
            *score += weight * value;
        }
    }
    let most = scores[..classes].iter().copied().fold(f32::MIN, f32::max);
    let mut powers = Row::default();
    for (power, score) in powers.iter_mut().zip(&scores[..classes]) {
        *power = (score - most).exp();
    }
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn features(text: &str) -> Features {
        let words: Vec<&str> = text.split(' ').collect();
        let mut builder = Builder::default();
        for word in &words {
            builder.add_chars(word);
        }
        builder.add_sequences(&words);
        builder.normalized()
    }

    /// Comments that agree, refuse and ask.
    fn model() -> Model {
        let texts = [
            ("yes please do it", 0),
            ("agreed let us do that", 0),
            ("go ahead and do it", 0),
            ("no please do not", 1),
            ("never do that", 1),
            ("not this way no", 1),
            ("who does it when", 2),
            ("when is it due", 2),
        ];
        let examples: Vec<(Features, usize)> = texts
            .iter()
            .map(|(text, class)| (features(text), *class))
            .collect();
        train(&examples, 3)
    }

    fn best(model: &Model, text: &str) -> usize {
        let found = model.probabilities(&features(text));
        (0..found.len())
            .max_by(|one, other| found[*one].total_cmp(&found[*other]))
            .unwrap()
    }

    #[test]
    fn unknown_texts_are_classified_by_what_they_share_with_the_examples() {
        let model = model();
        assert_eq!(best(&model, "agreed go ahead"), 0);
        assert_eq!(best(&model, "no never"), 1);
        assert_eq!(best(&model, "when who"), 2);
    }

    #[test]
    fn probabilities_of_the_classes_add_up_to_one() {
        let found = model().probabilities(&features("perhaps"));
        assert_eq!(found.len(), 3);
        assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn training_gives_the_same_model_each_time() {
        assert_eq!(model(), model());
    }

    #[test]
    fn a_stored_model_decides_as_before() {
        let bytes = model().to_bytes();
        assert_eq!(bytes.len(), 4 + 3 * BUCKETS);
        let stored = Model::from_bytes(&bytes, 3).unwrap();
        assert_eq!(best(&stored, "agreed go ahead"), 0);
        assert_eq!(stored.to_bytes(), bytes);
    }

    #[test]
    fn other_bytes_are_refused() {
        let error = |bytes: &[u8], classes| Model::from_bytes(bytes, classes).unwrap_err();
        assert_eq!(
            error(&[], 0).to_string(),
            "a model has 1 to 8 classes, not 0"
        );
        assert_eq!(
            error(&[1, 2, 3, 4, 5], 1).to_string(),
            "a model of 131076 bytes was expected, not one of 5 bytes"
        );
        assert_eq!(
            error(&vec![0; 4 + BUCKETS], 1).to_string(),
            "the largest weight of the model is not a positive number"
        );
    }
}
