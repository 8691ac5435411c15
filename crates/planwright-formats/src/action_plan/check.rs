//! Checks whether a plan would work on a set of files. Its actions are applied in order to a copy
//! in memory, and everything that would fail is reported.
//!
//! The original validator checks each action against the files on disk (atte500/TeDDy, pre-flight
//! validation). This one takes earlier actions and pairs into account: a file may be created and
//! then edited, and a pair may build on the one before it. The effects of commands are unknown.
//!
//! An invalid action or pair changes nothing. `PRUNE` only forgets something that was read, which
//! need not exist any more, so it never fails. Web addresses are not checked.

use std::collections::HashSet;

mod diff;
mod find;
mod finding;
mod near;
mod overlay;
mod walk;

#[cfg(test)]
mod tests;

pub use finding::{Finding, FindingKind, NearMiss, Score, annotations, render};

use super::action::{Action, ActionPlan};
use super::path::{ProjectPath, Resource};

/// State of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathState<'a> {
    /// A file and its unchanged text.
    File(&'a str),
    /// A file that is not UTF-8 text.
    Binary,
    /// A file that is too large for the caller to load.
    TooLarge,
    /// A folder.
    Folder,
    /// The path does not exist.
    Missing,
    /// The path cannot be read, with the reason: a phrase without a full stop.
    Unreadable(&'a str),
}

impl PathState<'_> {
    fn is_file(self) -> bool {
        matches!(self, Self::File(_) | Self::Binary | Self::TooLarge)
    }
}

/// The files that a plan is checked against. They are loaded in advance; see [`required_paths`].
pub trait ProjectFiles {
    /// Returns the state of `path`.
    fn get(&self, path: &ProjectPath) -> PathState<'_>;
}

/// Returns the paths that [`check`] needs, without duplicates, in the order of their first use.
pub fn required_paths(plan: &ActionPlan) -> Vec<ProjectPath> {
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    let mut add = |path: &ProjectPath| {
        if seen.insert(path.clone()) {
            paths.push(path.clone());
        }
    };
    for step in &plan.actions {
        match &step.action {
            Action::Create(it) => {
                add(&it.path);
                it.path.ancestors().for_each(|folder| add(&folder));
            }
            Action::Edit(it) => add(&it.path),
            Action::Execute(it) => it.cwd.iter().for_each(&mut add),
            other => resource_paths(other).for_each(&mut add),
        }
    }
    paths
}

/// Applies `plan` to `files` and returns everything that would fail, in the order of the actions.
/// An empty result means that the plan would work, as far as the files show.
///
/// Work on hostile input is limited to some seconds: at most 4 GiB of text are searched for `FIND`
/// texts (then the rest is rejected with [`FindingKind::TooMuchToSearch`]), and near misses are
/// searched for the first ten only, in files up to 2 MiB, for texts up to 1,000 lines and 64 KiB.
pub fn check(plan: &ActionPlan, files: &dyn ProjectFiles) -> Vec<Finding> {
    walk::walk(plan, files).0
}

/// Returns the paths of the project that `action` reads or hands over.
fn resource_paths(action: &Action) -> impl Iterator<Item = &ProjectPath> {
    let resources = match action {
        Action::Read(it) => std::slice::from_ref(&it.resource),
        Action::Invoke(it) => &it.handoff_resources,
        Action::Return(it) => &it.handoff_resources,
        _ => &[],
    };
    resources.iter().filter_map(|resource| match resource {
        Resource::Path(path) => Some(path),
        Resource::Url(_) => None,
    })
}
