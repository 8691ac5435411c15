//! File and worktree names derived from the title of a plan by the rules of erk, so that its tools
//! find the names that they would have chosen themselves.
//!
//! | name | erk R0 | erk HEAD | this module |
//! |---|---|---|---|
//! | worktree: dots | kept | become `-` | become `-`: names such as `.git` or `v1..v2` cause trouble in paths |
//! | worktree: `…-MM-DD-HHMM` | truncated like any other | unchanged | the time is kept, the part before it is truncated to 31: existing names do not change, and names are bounded |
//! | worktree: `é` | becomes `-` | becomes `-` | becomes `-` |
//! | file: `é` | `e` | `e` | `e` |

use unicode_normalization::UnicodeNormalization;

/// Maximum length of a worktree name without the time at its end, in characters (the limit of erk).
pub const MAX_WORKTREE_CHARS: usize = 31;
/// Length of the time `-MM-DD-HHMM` that erk appends to branch names, in characters.
const TIME_CHARS: usize = 11;

/// Returns the file name of a plan, such as `add-csv-export-plan.md`; `plan.md` if the title has no
/// Latin letter or digit.
///
/// Accents are removed from letters, white space becomes `-`, and all characters except letters,
/// digits and `-` are dropped. The length is limited only by that of the title.
pub fn file_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.trim().to_lowercase().nfd() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            c if c == '-' || c.is_whitespace() => hyphen(&mut name),
            _ => {}
        }
    }
    match name.trim_end_matches('-') {
        "" => "plan.md".to_owned(),
        name => format!("{name}-plan.md"),
    }
}

/// Returns the name of a plan's worktree; `work` if the title has no Latin letter or digit.
///
/// The name is in lower case, all characters except letters and digits become `-`, and it is
/// truncated to [`MAX_WORKTREE_CHARS`], not counting a time `-MM-DD-HHMM` at its end. A name of
/// this form is returned unchanged.
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
    let end = whole.len().saturating_sub(TIME_CHARS);
    let (name, time) = match whole.get(end..) {
        Some(time) if end > 0 && is_time(time) => (&whole[..end], time),
        _ => (whole, ""),
    };
    let name = name.get(..MAX_WORKTREE_CHARS).unwrap_or(name);
    match name.trim_end_matches('-') {
        "" => "work".to_owned(),
        name => format!("{name}{time}"),
    }
}

/// Appends a `-` unless the name is empty or ends with one.
fn hyphen(name: &mut String) {
    if !name.is_empty() && !name.ends_with('-') {
        name.push('-');
    }
}

fn is_time(text: &str) -> bool {
    let digits_as_zero = |c: char| if c.is_ascii_digit() { '0' } else { c };
    text.chars().map(digits_as_zero).eq("-00-00-0000".chars())
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
