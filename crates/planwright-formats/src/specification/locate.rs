//! Resolves a name or a path to a specification or a plan.

use std::path::{Component, Path, PathBuf};

/// Name of the file that makes a folder a plan.
const PLAN_FILE: &str = "plan.md";

/// Kind of document to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// A file with a specification.
    Specification,
    /// A folder with a `plan.md`.
    Plan,
}

impl DocumentKind {
    /// Returns the default folder in the project.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Specification => ".planwright/specs",
            Self::Plan => ".planwright/plans",
        }
    }

    /// Returns the folder of Spektacular, whose projects are supported.
    fn spektacular_folder(self) -> &'static str {
        match self {
            Self::Specification => ".spektacular/specs",
            Self::Plan => ".spektacular/plans",
        }
    }
}

/// The document does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} not found: tried {}; {remedy}", list_paths(tried))]
pub struct NotFound {
    what: &'static str,
    remedy: &'static str,
    /// Paths that were tried, in order.
    pub tried: Vec<PathBuf>,
}

fn list_paths(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

/// Returns the paths that `arg` may mean, best first, relative to the project: `arg` itself, in
/// `folder`, and in the folder of Spektacular; for a specification also with `.md` in each folder.
/// A path that leads out of a folder is not tried in it.
pub fn candidates(arg: &str, kind: DocumentKind, folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from(arg)];
    let path = Path::new(arg);
    let below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if arg.is_empty() || !below {
        return found;
    }
    for folder in [folder, Path::new(kind.spektacular_folder())] {
        found.push(folder.join(arg));
        let ends = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("md"));
        if kind == DocumentKind::Specification && !ends {
            found.push(folder.join(format!("{arg}.md")));
        }
    }
    found
}

/// Returns the first of [`candidates`] that is a file, or a folder with a `plan.md`.
///
/// # Errors
/// [`NotFound`], with all paths that were tried.
pub fn resolve(
    arg: &str,
    kind: DocumentKind,
    folder: &Path,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<PathBuf, NotFound> {
    let tried = candidates(arg, kind, folder);
    let there = |path: &&PathBuf| match kind {
        DocumentKind::Specification => is_file(path),
        DocumentKind::Plan => is_file(&path.join(PLAN_FILE)),
    };
    if let Some(found) = tried.iter().find(there) {
        return Ok(found.clone());
    }
    let (what, remedy) = match kind {
        DocumentKind::Specification => (
            "specification",
            "give the path of a file, or create one with `planwright new NAME`",
        ),
        DocumentKind::Plan => (PLAN_FILE, "give the folder that contains it"),
    };
    Err(NotFound {
        what,
        remedy,
        tried,
    })
}
