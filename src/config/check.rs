//! The `[check]` section: how action plans are checked.

use serde::Deserialize;

use super::list;
use crate::engine::settings::CheckSettings;

/// The `[check]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Name patterns of plan files.
    #[serde(deserialize_with = "list")]
    pub files: Vec<String>,
    /// Whether plans are compared with the files of the repository.
    pub repository: bool,
    /// Maximum number of repository files that one plan is compared with.
    pub max_compared_files: usize,
    /// Maximum number of file requests of one run.
    pub max_requests: usize,
}

impl Check {
    pub(super) fn engine(&self) -> CheckSettings {
        CheckSettings {
            files: self.files.clone(),
            repository: self.repository,
            max_compared_files: self.max_compared_files,
            max_requests: self.max_requests,
        }
    }
}

/// Returns an error text if the name patterns of plan files are invalid.
pub(super) fn wrong_names(text: &str) -> Option<String> {
    let names = || {
        text.split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
    };
    if names().next().is_none() {
        return Some("it must name at least one file, e.g. *.plan.md".to_owned());
    }
    let good = |name: &str| {
        let rest = name.strip_prefix('*').unwrap_or(name);
        !rest.is_empty() && !rest.contains(['*', '/', '\\']) && name.chars().count() <= 100
    };
    let wrong = names().find(|name| !good(name));
    wrong.map(|name| {
        format!("{name:?} is no name of a file; it must be names such as PLAN.md or *.plan.md, between commas")
    })
}
