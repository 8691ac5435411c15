//! Linear classification of short texts: multinomial logistic regression over hashed features.
//!
//! A text is described by [`Features`], which are hashed into a fixed number of buckets, so a model
//! is a table of constant size and needs no dictionary. [`train`] fits a model to labelled examples.
//! A [`Model`] has a byte for each weight. Training is deterministic.

mod features;
mod train;

pub use features::{BUCKETS, Builder, Features};
pub use train::train;

use std::borrow::Cow;
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
    /// The weight for each byte.
    weights: [f32; 256],
    /// What [`Model::as_bytes`] returns.
    bytes: Cow<'static, [u8]>,
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
    /// Reads what [`Model::as_bytes`] returned for a model with this number of classes. Static bytes
    /// are not copied.
    ///
    /// # Errors
    ///
    /// Fails if the number of classes, the length or the largest weight is wrong.
    pub fn from_bytes(
        bytes: impl Into<Cow<'static, [u8]>>,
        classes: usize,
    ) -> Result<Self, ModelError> {
        let bytes = bytes.into();
        if !(1..=MAX_CLASSES).contains(&classes) {
            return Err(ModelError::Classes(classes));
        }
        let expected = HEADER + BUCKETS * classes;
        let largest = bytes
            .first_chunk::<HEADER>()
            .filter(|_| bytes.len() == expected)
            .ok_or(ModelError::Length {
                expected,
                actual: bytes.len(),
            })?;
        let largest = f32::from_le_bytes(*largest);
        if !(largest.is_finite() && largest > 0.0) {
            return Err(ModelError::Scale);
        }
        Ok(Self::new(classes, largest, bytes))
    }

    /// Creates a model with these weights, rounded: those of all classes for the first bucket, then
    /// for the next, and so on.
    fn of_weights(weights: &[f32], classes: usize) -> Self {
        let magnitudes = weights.iter().map(|weight| weight.abs());
        let largest = magnitudes.fold(f32::MIN_POSITIVE, f32::max);
        let step = |weight: &f32| {
            let share = (weight.abs() / largest).sqrt().copysign(*weight);
            #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
            let step = (share * STEPS).round() as i8;
            step.cast_unsigned()
        };
        let header = largest.to_le_bytes().into_iter();
        let bytes: Vec<u8> = header.chain(weights.iter().map(step)).collect();
        Self::new(classes, largest, bytes.into())
    }

    fn new(classes: usize, largest: f32, bytes: Cow<'static, [u8]>) -> Self {
        // Most weights are small, so the steps grow with the square of their number.
        let mut weights = [0.0; 256];
        for (weight, step) in weights.iter_mut().zip(0..=u8::MAX) {
            let share = f32::from(step.cast_signed()) / STEPS;
            *weight = share * share.abs() * largest;
        }
        Self {
            classes,
            weights,
            bytes,
        }
    }

    /// Returns the model: the largest weight as a little-endian `f32`, then a signed byte for each
    /// bucket and class.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the probability of each class.
    #[must_use]
    pub fn probabilities(&self, features: &Features) -> Vec<f32> {
        let steps = &self.bytes[HEADER..];
        let weight = |at: usize| self.weights[usize::from(steps[at])];
        probabilities(weight, features, self.classes)[..self.classes].to_vec()
    }
}

/// Returns where the weights of a bucket are.
fn of(bucket: usize, classes: usize) -> Range<usize> {
    bucket * classes..(bucket + 1) * classes
}

/// Returns the probability of each of the first `classes`, given the weights.
fn probabilities(weight: impl Fn(usize) -> f32, features: &Features, classes: usize) -> Row {
    let mut scores = Row::default();
    for (bucket, value) in features.iter() {
        for (score, at) in scores.iter_mut().zip(of(bucket, classes)) {
            *score += weight(at) * value;
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
    fn a_stored_model_is_read_as_it_was() {
        let trained = model();
        assert_eq!(trained.as_bytes().len(), 4 + 3 * BUCKETS);
        let stored = Model::from_bytes(trained.as_bytes().to_vec(), 3).unwrap();
        assert_eq!(stored, trained);
    }

    #[test]
    fn other_bytes_are_refused() {
        let error = |bytes: &[u8], classes| Model::from_bytes(bytes.to_vec(), classes).unwrap_err();
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
