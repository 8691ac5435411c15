//! Would a plan work on these files? Its actions are played through in order, on a copy that nobody sees; everything that
//! would go wrong is told, and nothing is done.
//!
//! Unlike the original's validator, which looks at the files as they are (atte500/TeDDy, pre-flight validation), this one
//! sees what earlier actions and earlier pairs leave: a file may be created and then edited, and a pair may build on the
//! pair before it. What commands do cannot be foreseen and is not.
//!
//! A refused action or pair changes nothing. `PRUNE` forgets something that was read; it removes no file, and what it
//! names need not exist any more, so it is never wrong. Addresses are not looked at.

use std::collections::HashSet;

mod diff;
mod find;
mod finding;
mod near;
mod overlay;
mod text;
mod walk;

#[cfg(test)]
mod tests;

pub use finding::{Finding, FindingKind, NearMiss, Score};
pub use text::{annotations, text};

use super::action::{Action, ActionPlan};
use super::path::{ProjectPath, Resource};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A file and its text, line ends as they are.
    File(&'a str),
    /// A file that is no UTF-8 text.
    Binary,
    /// A file that is longer than the caller wants to load.
    TooLarge,
    /// A folder.
    Folder,
    /// Nothing.
    Missing,
    /// It cannot be told, and why: half a sentence without a full stop.
    Unreadable(&'a str),
}

/// The files that a plan is checked against, loaded beforehand: [`wanted`] says which.
pub trait Files {
    /// What is at `path`.
    fn look(&self, path: &ProjectPath) -> Found<'_>;
}

/// The paths that [`check`] will look at, each once, in the order of their first use.
pub fn wanted(plan: &ActionPlan) -> Vec<ProjectPath> {
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    let mut want = |path: &ProjectPath| {
        if seen.insert(path.clone()) {
            paths.push(path.clone());
        }
    };
    for step in &plan.actions {
        match &step.action {
            Action::Create(it) => {
                want(&it.path);
                it.path.ancestors().for_each(|folder| want(&folder));
            }
            Action::Edit(it) => want(&it.path),
            Action::Execute(it) => it.cwd.iter().for_each(&mut want),
            other => local(other).for_each(&mut want),
        }
    }
    paths
}

/// Plays `plan` through on `files` and tells everything that would go wrong, in the order of the actions. Empty: the plan
/// would work, as far as files can show it.
///
/// Bounds for hostile input: at most 4 GiB of text are looked through for `FIND` texts (then the rest is refused with
/// [`FindingKind::TooMuchToSearch`]), and near misses are searched for the first ten only, in files up to 2 MiB, for texts
/// up to 1,000 lines and 64 KiB. Seconds at worst.
pub fn check(plan: &ActionPlan, files: &dyn Files) -> Vec<Finding> {
    walk::walk(plan, files).0
}

/// What of the project `action` wants to be read, by whomever.
fn local(action: &Action) -> impl Iterator<Item = &ProjectPath> {
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
