//! Which places of a text are in code.

use crate::formats::markdown;

/// Sets the mark of each of `places` (byte offset in the whole text, in order; `text` is its part from `from` on).
pub(super) fn mark(text: &str, from: usize, places: &mut [(usize, &mut bool)]) {
    let code = markdown::code(text);
    for (at, mark) in places {
        let at = *at - from;
        let next = code.partition_point(|range| range.start <= at);
        **mark = next > 0 && code.get(next - 1).is_some_and(|range| at < range.end);
    }
}
