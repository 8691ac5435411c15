//! Numbers that the models consider.

/// Returns 1 if it is so, 0 otherwise.
pub(super) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Returns a number of things.
#[expect(clippy::cast_precision_loss, reason = "a rough number suffices")]
pub(super) fn count(number: usize) -> f32 {
    number as f32
}

/// Returns the share of `part` in `all`, 0 if there are none.
pub(super) fn ratio(part: usize, all: usize) -> f32 {
    count(part) / count(all).max(1.0)
}
