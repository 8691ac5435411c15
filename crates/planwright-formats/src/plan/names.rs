//! Names derived from a plan's title, by erk's rules, so that its tools find what they would have made themselves.
//!
//! | name | erk R0 | erk HEAD | ours |
//! |---|---|---|---|
//! | worktree: dots | kept | become `-` | become `-`: a name such as `.git` or `v1..v2` is trouble in a path |
//! | worktree: `…-MM-DD-HHMM` | cut like any other | returned as it is | the part before it is cut to 31, the time is kept: what already is such a name stays the same, and no name grows without end |
//! | worktree: `é` | becomes `-` | becomes `-` | becomes `-` |
//! | file: `é` | `e` | `e` | `e` |

use unicode_normalization::UnicodeNormalization;

/// Longest worktree name without the time at its end, in characters (erk's limit).
pub const WORKTREE_MAX: usize = 31;
/// `-MM-DD-HHMM`, the time that erk puts behind the name of a branch, in characters.
const TIME: usize = 11;

/// The name of a plan's file: `add-csv-export-plan.md`; `plan.md` when the title has no Latin letter or digit.
///
/// Accents are taken off letters; everything but letters, digits, blanks and `-` is left out; blanks become `-`. There
/// is no limit: a title has one.
pub fn file_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.trim().to_lowercase().nfd() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            '-' => hyphen(&mut name),
            c if c.is_whitespace() => hyphen(&mut name),
            _ => {}
        }
    }
    match name.trim_end_matches('-') {
        "" => "plan.md".to_owned(),
        name => format!("{name}-plan.md"),
    }
}

/// The name of a plan's worktree: lower case, everything but letters, digits and `-` becomes `-`, at most
/// [`WORKTREE_MAX`] characters and a time `-MM-DD-HHMM` where there is one; `work` when nothing is left.
///
/// A name that has this form already is returned unchanged.
pub fn worktree_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.trim().to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            hyphen(&mut name);
        }
    }
    let whole = name.trim_end_matches('-');
    let end = whole.len().saturating_sub(TIME);
    let (name, time) = match whole.get(end..) {
        Some(time) if end > 0 && is_time(time) => (&whole[..end], time),
        _ => (whole, ""),
    };
    let name = name.get(..WORKTREE_MAX).unwrap_or(name);
    match name.trim_end_matches('-') {
        "" => "work".to_owned(),
        name => format!("{name}{time}"),
    }
}

/// One `-`, and none at the start.
fn hyphen(name: &mut String) {
    if !name.is_empty() && !name.ends_with('-') {
        name.push('-');
    }
}

fn is_time(text: &str) -> bool {
    let form = "-00-00-0000".bytes();
    text.len() == TIME
        && text.bytes().zip(form).all(|(byte, wanted)| match wanted {
            b'-' => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::{file_name, worktree_name};

    #[test]
    fn names_are_short_plain_and_never_empty() {
        for (title, name) in [
            ("Cache the search index", "cache-the-search-index"),
            ("  Fix: Bug #123!  ", "fix-bug-123"),
            ("a_b__c", "a-b-c"),
            ("Read .env in v1..v2", "read-env-in-v1-v2"),
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
            assert_eq!(worktree_name(name), name, "twice");
        }
    }

    #[test]
    fn a_time_at_the_end_is_kept() {
        for (title, name) in [
            ("csv-export-11-21-0930", "csv-export-11-21-0930"),
            ("CSV export 11-21-0930", "csv-export-11-21-0930"),
            (
                "thirty-characters-and-a-blank-x-11-21-0930",
                "thirty-characters-and-a-blank-x-11-21-0930",
            ),
            (
                "Thirty characters and a blank x y 11-21-0930",
                "thirty-characters-and-a-blank-x-11-21-0930",
            ),
            ("11-21-0930", "11-21-0930"),
            (
                "twenty-nine-characters-here-x-1-2-0930",
                "twenty-nine-characters-here-x-1",
            ),
        ] {
            assert_eq!(worktree_name(title), name, "{title}");
            assert_eq!(worktree_name(name), name, "twice");
        }
    }

    #[test]
    fn file_names() {
        for (title, name) in [
            ("Add CSV export", "add-csv-export-plan.md"),
            ("Crème brûlée: 2nd try!", "creme-brulee-2nd-try-plan.md"),
            ("a_b\tc - d", "ab-c-d-plan.md"),
            ("../../etc/passwd", "etcpasswd-plan.md"),
            ("計画", "plan.md"),
            (" -- ", "plan.md"),
        ] {
            assert_eq!(file_name(title), name, "{title}");
        }
    }
}
