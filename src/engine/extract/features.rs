//! Converts properties of texts into numbers for the models.

use super::series::Form;

/// Returns 1 for true and 0 for false.
pub(super) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Converts a count.
#[expect(clippy::cast_precision_loss, reason = "a rough number suffices")]
pub(super) fn count(number: usize) -> f32 {
    number as f32
}

/// Converts points.
#[expect(clippy::cast_precision_loss, reason = "a rough number suffices")]
pub(super) fn number(number: i32) -> f32 {
    number as f32
}

/// Returns a number for the notation of steps; the clearer it is, the greater.
pub(super) fn form(form: Form) -> f32 {
    match form {
        Form::Numbered => 7.0,
        Form::Tasks => 6.0,
        Form::Table => 5.0,
        Form::Headings => 4.0,
        Form::Bold => 3.0,
        Form::Lines => 2.0,
        Form::Bullets => 1.0,
        Form::Sentences => 0.0,
    }
}

/// Returns the share of `part` in `all`, and 0 if `all` is 0 and `part` too.
pub(super) fn ratio(part: usize, all: usize) -> f32 {
    count(part) / count(all).max(1.0)
}
