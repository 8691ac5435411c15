//! The trained models of the search. Tests train them anew, and replace them to measure how well
//! models do on conversations that they were not trained with.

use std::sync::LazyLock;

use text_classifier::Features;

/// Number of meanings that a comment can have.
pub(super) const STANCES: usize = 5;
/// Number of classes of blocks and texts: not a plan or part of one, and a plan or part of one.
pub(crate) const MEMBERSHIPS: usize = 2;

/// The models. One that cannot be read is missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Models {
    /// What a comment means for a plan (`talk/stance.rs`).
    pub(crate) comments: Option<text_classifier::Model>,
    /// Whether a block belongs to a plan by its words (`extent.rs`).
    pub(crate) words_of_blocks: Option<text_classifier::Model>,
    /// Whether a block belongs to a plan (`extent.rs`).
    pub(crate) extents: Option<gradient_boosting::Model>,
    /// Whether a text is a plan by its words (`plausibility.rs`).
    pub(crate) words_of_texts: Option<text_classifier::Model>,
    /// Whether a text is a plan (`plausibility.rs`).
    pub(crate) texts: Option<gradient_boosting::Model>,
    /// How likely a candidate is to be the plan (`likelihood.rs`).
    pub(crate) candidates: Option<gradient_boosting::Model>,
}

static TRAINED: LazyLock<Models> = LazyLock::new(|| {
    let classifier =
        |bytes: &'static [u8], classes| text_classifier::Model::from_bytes(bytes, classes).ok();
    let trees = |bytes| gradient_boosting::Model::from_bytes(bytes).ok();
    Models {
        comments: classifier(include_bytes!("talk/stance.weights"), STANCES),
        words_of_blocks: classifier(include_bytes!("extent.weights"), MEMBERSHIPS),
        words_of_texts: classifier(include_bytes!("plausibility.weights"), MEMBERSHIPS),
        extents: trees(include_bytes!("extent.trees")),
        texts: trees(include_bytes!("plausibility.trees")),
        candidates: trees(include_bytes!("likelihood.trees")),
    }
});

#[cfg(test)]
thread_local! {
    /// Models that are used instead of the trained ones in this thread.
    static REPLACED: std::cell::RefCell<Models> = std::cell::RefCell::new(Models::default());
}

/// Uses these models instead of the trained ones in this thread, except those that are missing.
#[cfg(test)]
pub(crate) fn replace(models: Models) {
    REPLACED.set(models);
}

fn with<M, T>(which: fn(&Models) -> &Option<M>, apply: impl Fn(&M) -> T) -> Option<T> {
    #[cfg(test)]
    if let Some(found) = REPLACED.with_borrow(|models| which(models).as_ref().map(&apply)) {
        return Some(found);
    }
    which(&TRAINED).as_ref().map(apply)
}

/// Returns the probability of each class of a text according to a model, or `None` if the model is
/// missing.
pub(super) fn probabilities(
    which: fn(&Models) -> &Option<text_classifier::Model>,
    features: &Features,
) -> Option<Vec<f32>> {
    with(which, |model| model.probabilities(features))
}

/// Returns a probability according to a model, or `None` if the model is missing or was trained with
/// another number of values.
pub(super) fn probability(
    which: fn(&Models) -> &Option<gradient_boosting::Model>,
    values: &[f32],
) -> Option<f32> {
    with(which, |model| {
        (model.values() == values.len()).then(|| model.probability(values))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_can_be_read() {
        let models = &*TRAINED;
        assert!(models.comments.is_some() && models.words_of_blocks.is_some());
        assert!(models.extents.is_some() && models.words_of_texts.is_some());
        assert!(models.texts.is_some() && models.candidates.is_some());
    }
}
