//! Which symbolic links of a repository stay inside it.

use std::collections::HashMap;

/// Maximum number of links that the resolution of one link goes through, as in Linux.
const MAX_HOPS: usize = 40;

/// Maximum number of names that the resolution of one link takes. It bounds the work for links that
/// are made to be slow.
const MAX_NAMES: usize = 256;

/// Returns whether the target of `link`, resolved through other links, is inside the repository or
/// does not exist there. `links` holds the targets of all links by path.
pub(super) fn stays_inside(links: &HashMap<&str, &str>, link: &str) -> bool {
    let Some(target) = links.get(link) else {
        return false;
    };
    let mut resolved = parent(link).to_owned();
    let mut pending = Vec::new();
    let (mut hops, mut names) = (0, 0);
    if !follow(target, &mut pending, &mut hops) {
        return false;
    }
    while let Some(name) = pending.pop() {
        names += 1;
        if names > MAX_NAMES {
            return false;
        }
        match name {
            "" | "." => {}
            ".." if resolved.is_empty() => return false,
            ".." => resolved.truncate(parent(&resolved).len()),
            _ => {
                let folder = resolved.len();
                if folder > 0 {
                    resolved.push('/');
                }
                resolved.push_str(name);
                if let Some(target) = links.get(resolved.as_str()) {
                    resolved.truncate(folder);
                    if !follow(target, &mut pending, &mut hops) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Adds the names of a target to those that are still to be resolved. Returns false if it leads out
/// of the repository or there are too many links.
fn follow<'a>(target: &'a str, pending: &mut Vec<&'a str>, hops: &mut usize) -> bool {
    *hops += 1;
    pending.extend(target.rsplit('/'));
    *hops <= MAX_HOPS && pending.len() <= MAX_NAMES && !target.starts_with('/')
}

/// Returns the path of the folder that contains `path`; empty for the root.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_out_are_told_from_those_that_stay() {
        let deep = "x/".repeat(300);
        let links = HashMap::from([
            ("file", "README.md"),
            ("docs/up", "../README.md"),
            ("docs/self", "."),
            ("root", "."),
            ("missing", "no/such/file"),
            ("chain", "docs/up"),
            ("absolute", "/etc/passwd"),
            ("out", "../other"),
            ("docs/out", "../../other"),
            ("docs/out-and-in", "../../repository/README.md"),
            ("a", "docs"),
            // `a` is `docs`, so these are `docs/../..` and `docs/..`.
            ("through", "a/../../x"),
            ("through-inside", "a/../x"),
            // `d` leads two levels up from where it seems to be.
            ("deep/er/d", "../../flat"),
            ("flat", "."),
            ("deep/trick", "er/d/../x"),
            ("to-out", "out/x"),
            ("loop", "loop2"),
            ("loop2", "loop"),
            ("growing", "growing/x"),
            ("long", deep.as_str()),
            ("above-root", "root/../x"),
        ]);
        for (link, stays) in [
            ("file", true),
            ("docs/up", true),
            ("docs/self", true),
            ("root", true),
            ("missing", true),
            ("chain", true),
            ("through-inside", true),
            ("deep/er/d", true),
            ("flat", true),
            ("absolute", false),
            ("out", false),
            ("docs/out", false),
            ("docs/out-and-in", false),
            ("through", false),
            ("deep/trick", false),
            ("to-out", false),
            ("loop", false),
            ("loop2", false),
            ("growing", false),
            ("long", false),
            ("above-root", false),
            ("not-a-link", false),
        ] {
            assert_eq!(stays_inside(&links, link), stays, "{link}");
        }
    }
}
