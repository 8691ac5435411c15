//! Research: several agents work in parallel, each on one topic. A report counts only if it
//! actually exists and passes its checks.
//!
//! ```text
//! topics ─▶ first tries, in parallel ─▶ retries, one at a time ─▶ report or degraded report
//! ```
//!
//! Retries use stricter instructions. After an overload or a rate limit, a topic backs off while
//! the others continue.
//!
//! The report is taken from, in this order: the file at the requested path, another file that the
//! agent wrote, or a successful write found in the agent's output. A claim that a file was written
//! is ignored. The text of the answer is used only for a degraded report. A topic that has its
//! report is never worked on again.

mod judge;
mod team;
#[cfg(test)]
mod tests;

pub use team::{ResearchDeps, ResearchHost, ready, work};

/// Parses the topics of a command. They are separated by `;` and line ends; list markers and
/// duplicates are removed.
pub fn topics(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split([';', '\n']) {
        let part = part.trim();
        let bare = part
            .strip_prefix(['-', '*', '+', '•'])
            .filter(|rest| rest.starts_with(char::is_whitespace))
            .or_else(|| numbered(part))
            .unwrap_or(part);
        let topic = super::messages::one_line(bare);
        let same = |known: &String| known.to_lowercase() == topic.to_lowercase();
        if topic.chars().any(char::is_alphanumeric) && !found.iter().any(same) {
            found.push(topic);
        }
    }
    found
}

/// Returns the text after a list marker such as `1.` or `1)`.
fn numbered(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = (rest.len() < text.len() && text.len() - rest.len() <= 3).then_some(rest)?;
    rest.strip_prefix(['.', ')'])
        .filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}
