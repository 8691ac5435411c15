//! Commands of other bots, which read the source of a comment line by line.
//!
//! Prow looks for `(?mi)^/close\s*$` in the whole body, probot's commands for `^/(\w+)` at any
//! line, bors for `^bors`. None of them knows Markdown, so a line in a fence is a command to them
//! as well.

use super::look::Look;

/// Commands that are neutralised in code, too: those of Prow and of the bots that were modelled on
/// it, as far as they do something with one line. Other words stay as they are in code, where
/// `/health` is a route.
pub(super) const KNOWN: &[&str] = &[
    "approve",
    "area",
    "assign",
    "auto-cc",
    "backport",
    "build",
    "cc",
    "check-cla",
    "cherry-pick",
    "cherrypick",
    "close",
    "close-issue",
    "committee",
    "deploy",
    "duplicate",
    "easycla",
    "good-first-issue",
    "help",
    "help-wanted",
    "hold",
    "honk",
    "joke",
    "kind",
    "label",
    "language",
    "lgtm",
    "lifecycle",
    "lock",
    "meow",
    "merge",
    "milestone",
    "needs-sig",
    "ok-to-test",
    "override",
    "pipeline",
    "pony",
    "priority",
    "project",
    "rebase",
    "release-note",
    "release-note-none",
    "remove",
    "remove-area",
    "remove-help",
    "remove-hold",
    "remove-kind",
    "remove-label",
    "remove-lgtm",
    "remove-lifecycle",
    "remove-priority",
    "reopen",
    "rerun",
    "retest",
    "retest-required",
    "retitle",
    "run",
    "shrug",
    "sig",
    "skip",
    "spam",
    "squash",
    "status",
    "test",
    "transfer",
    "transfer-issue",
    "triage",
    "unassign",
    "uncc",
    "unhold",
    "unlabel",
    "unlock",
    "unshrug",
    "woof",
];

/// A command begins at byte `at`.
pub(super) fn begins(text: &str, at: usize, look: &Look) -> bool {
    if !starts_line(text, at) {
        return false;
    }
    let rest = &text[at + 1..];
    match text.as_bytes()[at] {
        b'/' => {
            let word = word(rest);
            let behind = &rest[word.len()..];
            if word.is_empty() {
                false
            } else if look.is_code(at) {
                behind.chars().next().is_none_or(blank)
                    && KNOWN.iter().any(|known| known.eq_ignore_ascii_case(word))
            } else {
                ends_word(behind)
            }
        }
        // In code `!` is a tag of YAML or a call of a shell.
        b'!' => !word(rest).is_empty() && !look.is_code(at),
        _ => ["ors ", "ors:", "ors\t"].iter().any(|name| {
            let start = rest.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        }),
    }
}

/// Only blanks stand before byte `at` on its line, whatever is a blank or ends a line to a bot.
fn starts_line(text: &str, at: usize) -> bool {
    const ENDS: [char; 7] = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    let before = text[..at].trim_end_matches(blank);
    before.is_empty() || text[before.len()..at].contains(ENDS)
}

/// The name of a command that `rest` begins with.
fn word(rest: &str) -> &str {
    let more = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    match rest.as_bytes().first() {
        Some(first) if first.is_ascii_alphabetic() => {
            &rest[..rest.find(more).unwrap_or(rest.len())]
        }
        _ => "",
    }
}

/// A blank or the end of a sentence stands behind the word: it is no path such as `/src/main.rs` or
/// `/file.txt`.
fn ends_word(behind: &str) -> bool {
    let rest = behind.trim_start_matches(['.', ',', ';', '!', '?', ')']);
    rest.chars().next().is_none_or(blank)
}

/// White space as JavaScript counts it, with the byte order mark.
fn blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
