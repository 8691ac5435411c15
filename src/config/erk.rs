//! The `[erk]` and `[report]` sections: the version of erk that plans are written for, and the next
//! steps below a saved plan.

use serde::Deserialize;

use super::error::ConfigError;
use super::layers::Merged;
use crate::engine::settings::{ErkSettings, NextSteps};
use crate::formats::erk::Version;
use crate::formats::markdown::{self, BlockKind};

/// Maximum length of a next-steps template, in characters. It is part of every plan issue and every
/// report.
const MAX_TEMPLATE: usize = 4_000;

/// The `[erk]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erk {
    /// `latest`, or the month of a release.
    pub version: String,
    /// Whether plans are shown unfolded.
    pub details_open: bool,
}

impl Erk {
    pub(super) fn engine(&self) -> ErkSettings {
        ErkSettings {
            // [`wrong_version`] has refused all other names.
            version: Version::from_name(&self.version).unwrap_or_default(),
            details_open: self.details_open,
        }
    }
}

/// The `[report]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// `erk`, `none`, or a template.
    pub next_steps: String,
}

impl Report {
    pub(super) fn engine(&self) -> NextSteps {
        NextSteps::of(&self.next_steps)
    }
}

/// Returns an error text if `name` is not a valid version.
pub(super) fn wrong_version(name: &str) -> Option<String> {
    Version::from_name(name).is_none().then(|| {
        "it must be latest, or the month of your erk as YYYY-MM, 2025-11 or later".to_owned()
    })
}

/// Returns an error text if the next steps are invalid.
pub(super) fn wrong_next_steps(text: &str) -> Option<String> {
    let NextSteps::Template(template) = NextSteps::of(text) else {
        return None;
    };
    if template.trim().is_empty() {
        return Some("it must be erk, none, or Markdown of your own".to_owned());
    }
    if template.chars().count() > MAX_TEMPLATE {
        return Some(format!("it must be at most {MAX_TEMPLATE} characters"));
    }
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if template.contains(control) {
        return Some("it must not hold control characters".to_owned());
    }
    let last = markdown::blocks(&template).pop().map(|block| block.kind);
    if let Some(BlockKind::Code { closed: false, .. }) = last {
        return Some("its last code fence must be closed".to_owned());
    }
    let unknown = braced(&template).find(|name| !NextSteps::PLACEHOLDERS.contains(name))?;
    let known = NextSteps::PLACEHOLDERS.join(", ");
    Some(format!(
        "{unknown} is no placeholder; there are {known}, and erk and none stand for the built-in texts"
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
            "it must be false with an `erk.version` before 2026-02, which finds no plan in an unfolded element",
        )),
        _ => Ok(()),
    }
}
