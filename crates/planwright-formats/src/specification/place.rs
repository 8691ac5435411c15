//! Where a specification or a plan is looked for, when a name or a path is given.

use std::path::{Component, Path, PathBuf};

/// The file that makes a folder a plan.
const PLAN: &str = "plan.md";

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file with a specification.
    Specification,
    /// A folder with a `plan.md`.
    Plan,
}

impl Kind {
    /// Folder of the project where they are when nothing else is set.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Specification => ".planwright/specs",
            Self::Plan => ".planwright/plans",
        }
    }

    /// Folder of the program that was used before.
    fn old_folder(self) -> &'static str {
        match self {
            Self::Specification => ".spektacular/specs",
            Self::Plan => ".spektacular/plans",
        }
    }
}

/// Nothing is where it was looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} not found: tried {}; {remedy}", shown(tried))]
pub struct NotFound {
    what: &'static str,
    remedy: &'static str,
    /// Where, in this order.
    pub tried: Vec<PathBuf>,
}

fn shown(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

/// Where `arg` may be, best first, as paths from the project's folder: as it is given, in `folder`, in the folder of old;
/// a specification in each folder also with `.md`. A path that leads out of a folder is not looked for in it.
pub fn candidates(arg: &str, kind: Kind, folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from(arg)];
    let path = Path::new(arg);
    let below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if arg.is_empty() || !below {
        return found;
    }
    for folder in [folder, Path::new(kind.old_folder())] {
        found.push(folder.join(arg));
        let ends = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("md"));
        if kind == Kind::Specification && !ends {
            found.push(folder.join(format!("{arg}.md")));
        }
    }
    found
}

/// The first of [`candidates`] that `is_file` knows, or the folder of the first that holds a `plan.md`.
///
/// # Errors
/// [`NotFound`], with all that was tried.
pub fn resolve(
    arg: &str,
    kind: Kind,
    folder: &Path,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<PathBuf, NotFound> {
    let tried = candidates(arg, kind, folder);
    let there = |path: &&PathBuf| match kind {
        Kind::Specification => is_file(path),
        Kind::Plan => is_file(&path.join(PLAN)),
    };
    if let Some(found) = tried.iter().find(there) {
        return Ok(found.clone());
    }
    let (what, remedy) = match kind {
        Kind::Specification => (
            "specification",
            "give the path of a file, or make one with `planwright new NAME`",
        ),
        Kind::Plan => (PLAN, "give the folder that holds it"),
    };
    Err(NotFound {
        what,
        remedy,
        tried,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn our_own_folders_come_before_those_of_old() {
        let shown = |arg: &str, kind: Kind| -> Vec<String> {
            let found = candidates(arg, kind, Path::new(kind.folder()));
            found
                .iter()
                .map(|path| path.display().to_string())
                .collect()
        };
        assert_eq!(
            shown("x", Kind::Specification),
            [
                "x",
                ".planwright/specs/x",
                ".planwright/specs/x.md",
                ".spektacular/specs/x",
                ".spektacular/specs/x.md"
            ]
        );
        assert_eq!(
            shown("x.md", Kind::Specification),
            ["x.md", ".planwright/specs/x.md", ".spektacular/specs/x.md"]
        );
        assert_eq!(
            shown("x", Kind::Plan),
            ["x", ".planwright/plans/x", ".spektacular/plans/x"]
        );
        for arg in ["../x", "/etc/x", "a/../../x", ""] {
            assert_eq!(shown(arg, Kind::Specification), [arg]);
        }
    }

    #[test]
    fn what_is_not_found_says_where_it_was_looked_for() {
        let none = |_: &Path| false;
        let folder = Path::new("docs");
        assert_eq!(
            resolve("x.md", Kind::Specification, folder, &none)
                .unwrap_err()
                .to_string(),
            "specification not found: tried x.md, docs/x.md, .spektacular/specs/x.md; give the path of a file, or make one with `planwright new NAME`"
        );
        assert_eq!(
            resolve("x", Kind::Plan, folder, &none)
                .unwrap_err()
                .to_string(),
            "plan.md not found: tried x, docs/x, .spektacular/plans/x; give the folder that holds it"
        );
        let there = |path: &Path| path == Path::new("docs/x/plan.md");
        assert_eq!(
            resolve("x", Kind::Plan, folder, &there),
            Ok(PathBuf::from("docs/x"))
        );
    }
}
