//! Names derived from a plan's title.

/// Longest worktree name, in characters (erk's limit).
const WORKTREE_MAX: usize = 31;

/// The worktree name erk derives from a title: lower case, everything but letters, digits and `-` becomes `-`, at most 31
/// characters; `work` when nothing is left.
pub fn worktree_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.trim().to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
    }
    name.truncate(WORKTREE_MAX);
    let name = name.trim_end_matches('-');
    if name.is_empty() {
        "work".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::worktree_name;

    #[test]
    fn names_are_short_plain_and_never_empty() {
        for (title, name) in [
            ("Cache the search index", "cache-the-search-index"),
            ("  Fix: Bug #123!  ", "fix-bug-123"),
            ("a_b__c", "a-b-c"),
            ("🚀🎉", "work"),
            ("", "work"),
            (
                "Convert plan-extractor from JSON to Markdown",
                "convert-plan-extractor-from-jso",
            ),
            (
                "Thirty characters and a blank x y",
                "thirty-characters-and-a-blank-x",
            ),
        ] {
            assert_eq!(worktree_name(title), name, "{title}");
        }
    }
}
