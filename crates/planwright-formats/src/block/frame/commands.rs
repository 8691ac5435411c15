//! Finds commands of other bots, which parse the source of a comment line by line.
//!
//! Prow looks for `(?mi)^/close\s*$` in the whole body, probot's commands for `^/(\w+)` at any
//! line, bors for `^bors`. None of them parses Markdown, so a line in a fence is a command to them
//! as well.

use super::context::MarkdownContext;

/// Commands that are neutralised in code as well, separated by blanks: those of Prow and of the
/// bots modelled on it, as far as one line has an effect. Other words stay as they are in code,
/// where `/health` is a route.
const KNOWN: &str = "\
    approve area assign auto-cc backport build cc check-cla cherry-pick cherrypick close \
    close-issue committee deploy duplicate easycla good-first-issue help help-wanted hold honk \
    joke kind label language lgtm lifecycle lock meow merge milestone needs-sig ok-to-test \
    override pipeline pony priority project rebase release-note release-note-none remove \
    remove-area remove-help remove-hold remove-kind remove-label remove-lgtm remove-lifecycle \
    remove-priority reopen rerun retest retest-required retitle run shrug sig skip spam squash \
    status test transfer transfer-issue triage unassign uncc unhold unlabel unlock unshrug \
    woof";

/// Returns whether a command begins at byte `at`.
pub(super) fn begins(text: &str, at: usize, context: &MarkdownContext) -> bool {
    if !starts_line(text, at) {
        return false;
    }
    let rest = &text[at + 1..];
    match text.as_bytes()[at] {
        b'/' => {
            let word = word(rest);
            let after = &rest[word.len()..];
            if word.is_empty() {
                false
            } else if context.is_code(at) {
                after.chars().next().is_none_or(is_blank)
                    && KNOWN
                        .split(' ')
                        .any(|known| known.eq_ignore_ascii_case(word))
            } else {
                ends_word(after)
            }
        }
        // In code `!` is a YAML tag or a shell escape.
        b'!' => !word(rest).is_empty() && !context.is_code(at),
        _ => ["ors ", "ors:", "ors\t"].iter().any(|name| {
            let start = rest.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        }),
    }
}

/// Returns whether only blanks precede byte `at` on its line, for any bot's notion of blanks and
/// line ends.
fn starts_line(text: &str, at: usize) -> bool {
    const ENDS: [char; 7] = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    let before = text[..at].trim_end_matches(is_blank);
    before.is_empty() || text[before.len()..at].contains(ENDS)
}

/// Returns the name of a command that `rest` begins with; empty when there is none.
fn word(rest: &str) -> &str {
    let more = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    match rest.as_bytes().first() {
        Some(first) if first.is_ascii_alphabetic() => {
            &rest[..rest.find(more).unwrap_or(rest.len())]
        }
        _ => "",
    }
}

/// Returns whether `after`, which follows a word, begins with a blank or the end of a sentence, so
/// that the word is not a path such as `/src/main.rs` or `/file.txt`.
fn ends_word(after: &str) -> bool {
    let rest = after.trim_start_matches(['.', ',', ';', '!', '?', ')']);
    rest.chars().next().is_none_or(is_blank)
}

/// Returns the byte offset of a slash that is the first character of `line` apart from white space
/// and a byte-order mark.
///
/// Every slash command needs one, so this alone rules out most comments.
pub(crate) fn leading_slash(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(is_blank);
    rest.starts_with('/').then(|| line.len() - rest.len())
}

/// Returns whether only white space and byte-order marks precede byte `at` of `text` on its line,
/// as [`leading_slash`] has it. Lines end with `\n` or `\r`.
pub(crate) fn leads_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c| is_blank(c) && !matches!(c, '\n' | '\r'));
    before.is_empty() || before.ends_with(['\n', '\r'])
}

/// White space as in JavaScript, which includes the byte-order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
