//! Converts properties of texts into numbers for the models.

/// Returns 1 for true and 0 for false.
pub(super) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Converts a count.
#[expect(clippy::cast_precision_loss, reason = "a rough number suffices")]
pub(super) fn count(number: usize) -> f32 {
    number as f32
}

/// Returns the share of `part` in `all`, and 0 if `all` is 0 and `part` too.
pub(super) fn ratio(part: usize, all: usize) -> f32 {
    count(part) / count(all).max(1.0)
}
