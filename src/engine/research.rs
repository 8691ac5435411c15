//! Research: several agents side by side, one topic each, and a report that is believed only where it is.
//!
//! ```text
//! topics ─▶ first tries, side by side ─▶ retries, one after the other, in stricter words ─▶ reports in the order asked
//!                 │ overload, rate limit: waits, other topics go on                       └▶ else what the agent said, marked
//! ```
//!
//! What counts, in this order: the file at its path, a file of the agent's elsewhere, a write that its output shows and that
//! succeeded; a claimed path and words count for nothing. A topic that has its report is never worked on again.

mod judge;
mod team;
#[cfg(test)]
mod tests;

pub use team::{Desk, Team, ready, work};

/// The topics of a command: separated by `;` and line ends, list marks taken off, each once.
pub fn topics(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split([';', '\n']) {
        let part = part.trim();
        let bare = part
            .strip_prefix(['-', '*', '+', '•'])
            .filter(|rest| rest.starts_with(char::is_whitespace))
            .or_else(|| numbered(part))
            .unwrap_or(part);
        let topic = super::say::one_line(bare);
        let same = |known: &String| known.to_lowercase() == topic.to_lowercase();
        if topic.chars().any(char::is_alphanumeric) && !found.iter().any(same) {
            found.push(topic);
        }
    }
    found
}

/// What stands behind `1.` or `1)` and a blank.
fn numbered(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = (rest.len() < text.len() && text.len() - rest.len() <= 3).then_some(rest)?;
    rest.strip_prefix(['.', ')'])
        .filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}
