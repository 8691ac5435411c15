//! Text for messages: error chains and truncation.

use std::error::Error;

/// Iterates over an error and its causes.
pub(super) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Joins the messages of an error and its causes, each once: the useful part of hyper's errors is
/// in their sources.
pub(super) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let message = cause.to_string();
        if text.is_empty() {
            text = message;
        } else if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
    }
    text
}

/// Truncates `text` to `max` characters. When something is cut off, the last one is an ellipsis.
pub(super) fn truncate_chars(text: &str, max: usize) -> String {
    let offset = |index: usize| text.char_indices().nth(index).map(|(at, _)| at);
    match offset(max).and_then(|_| offset(max.saturating_sub(1))) {
        None => text.to_owned(),
        Some(end) => format!("{}…", &text[..end]),
    }
}

/// Truncates `text` to `max` bytes. When something is cut off, it ends with an ellipsis.
pub(super) fn truncate_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max.saturating_sub('…'.len_utf8()));
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_keeps_characters_whole() {
        assert_eq!(truncate_chars("über", 4), "über");
        assert_eq!(truncate_chars("über alles", 4), "übe…");
        assert_eq!(truncate_bytes("über", 5), "über");
        assert_eq!(truncate_bytes("über alles", 6), "üb…");
    }
}
