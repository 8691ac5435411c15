//! Makes user text safe for quoting in the bot's own messages.

use super::frame::{self, leading_slash};

/// Returns `text` for quoting in a message of the bot: it looks the same on GitHub, but mentions
/// nobody, closes nothing, and contains no slash command, no block and no open fence.
///
/// Where `text` leaves HTML open, its tags are shown as text, because they would swallow the rest
/// of the message. One line stays one line, wherever in a line it is put: a fence in it is shown as
/// text, whereas in a longer text it is closed. This cannot be undone.
pub fn quiet(text: &str) -> String {
    let one_line = !text.contains(['\n', '\r']);
    // This comes first because mentions in fenced code are not marked.
    let text = if one_line && frame::open_fence(text).is_some() {
        &without_fence(text.to_owned())
    } else {
        text
    };
    let marked = if frame::leaves_html_open(text) {
        frame::mark(&text.replace('<', "<\u{200b}"))
    } else {
        frame::mark(text)
    };
    // This summary would make a `<details>` element a plan.
    let marked = marked.replace("original-plan</", "original-plan\u{200b}</");
    let mut quiet = String::with_capacity(marked.len());
    // At the start of a message a byte-order mark would vanish and expose what follows as the first
    // line's start.
    if marked.starts_with('\u{feff}') {
        quiet.push('\u{200b}');
    }
    for line in marked.split_inclusive(['\n', '\r']) {
        let start = quiet.len();
        quiet.push_str(line);
        if let Some(at) = leading_slash(line) {
            quiet.insert(start + at, '\u{200b}');
        }
    }
    if let Some(fence) = frame::open_fence(&quiet) {
        quiet.push('\n');
        quiet.push_str(&fence);
    }
    quiet
}

/// Returns `line` with a zero width space before the backticks or tildes that would open a fence.
fn without_fence(mut line: String) -> String {
    let mut at = 0;
    while frame::open_fence(&line).is_some()
        && let Some(found) = ["```", "~~~"]
            .iter()
            .filter_map(|fence| line[at..].find(fence))
            .min()
    {
        line.insert(at + found, '\u{200b}');
        at += found + "\u{200b}~~~".len();
    }
    line
}
