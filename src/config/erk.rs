//! The rules of the `[erk]` and `[report]` sections that are more than a range.

use super::error::ConfigError;
use super::layers::Merged;
use crate::engine::settings::NextSteps;
use crate::formats::erk::Version;
use crate::formats::markdown::{self, BlockKind};

/// Maximum length of a next-steps template, in characters. It is part of every plan issue and every
/// report.
const MAX_TEMPLATE: usize = 4_000;

/// Returns an error text if the next steps are invalid.
pub(super) fn wrong_next_steps(text: &str) -> Option<String> {
    let NextSteps::Template(template) = NextSteps::from(text.to_owned()) else {
        return None;
    };
    if template.chars().count() > MAX_TEMPLATE {
        return Some(format!("it must be at most {MAX_TEMPLATE} characters"));
    }
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if template.contains(control) {
        return Some("it must not contain control characters".to_owned());
    }
    let last = markdown::blocks(&template).pop().map(|block| block.kind);
    if let Some(BlockKind::Code { closed: false, .. }) = last {
        return Some("its last code fence must be closed".to_owned());
    }
    let unknown = braced(&template).find(|name| !NextSteps::PLACEHOLDERS.contains(name))?;
    let known = NextSteps::PLACEHOLDERS.join(", ");
    Some(format!(
        "{unknown} is not a placeholder; the placeholders are {known}"
    ))
}

/// Returns words in braces, such as `{number}`.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(at, _)| {
        let end = at + 1 + text[at + 1..].find('}')?;
        let word = &text[at + 1..end];
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        (!word.is_empty() && word.chars().all(plain)).then(|| &text[at..=end])
    })
}

/// Refuses unfolded plans for a version of erk that does not find them.
pub(super) fn check(merged: &Merged) -> Result<(), ConfigError> {
    const OPEN: &str = "erk.details_open";
    let value = |key| merged.get(key).map(|entry| &entry.value);
    let open = value(OPEN)
        .and_then(toml::Value::as_bool)
        .unwrap_or_default();
    let version = value("erk.version").and_then(toml::Value::as_str);
    match version.and_then(Version::from_name) {
        Some(version) if open && !version.reads_open_details() => Err(merged.impossible(OPEN,
            "it must be false with an `erk.version` before 2026-02, which does not find an unfolded plan",
        )),
        _ => Ok(()),
    }
}
