//! `[check]`: how action plans are checked.

use serde::Deserialize;

use super::list;
use crate::engine::settings::CheckSettings;

/// `[check]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Names of plan files.
    #[serde(deserialize_with = "list")]
    pub files: Vec<String>,
    /// Look at the files of the repository.
    pub repository: bool,
    /// Most of them for one plan.
    pub most_looks: usize,
    /// Most requests for files that one run may cost.
    pub most_requests: usize,
}

impl Check {
    pub(super) fn engine(&self) -> CheckSettings {
        CheckSettings {
            files: self.files.clone(),
            repository: self.repository,
            most_looks: self.most_looks,
            most_requests: self.most_requests,
        }
    }
}

/// What is wrong with the names of plan files.
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
