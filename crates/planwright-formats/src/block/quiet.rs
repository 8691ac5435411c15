//! User text inside the bot's own messages: it must not notify, close, command, or pass for the bot's own markers.

use super::frame;
use crate::command;

/// `text` for quoting in a message of the bot: looks the same on GitHub, but mentions nobody,
/// closes nothing, holds no slash command, no block and no open fence. Where it leaves HTML open,
/// its tags are shown instead of followed, as they would swallow the rest of the message. A text of
/// one line stays one line, wherever in a line it is put: a fence in it is shown, and only in a
/// longer text closed. Cannot be undone.
pub fn quiet(text: &str) -> String {
    let one_line = !text.contains(['\n', '\r']);
    // Before anything else: mentions in the code that a fence opens are not marked.
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
    // The summary that makes a `<details>` element a plan.
    let marked = marked.replace("original-plan</", "original-plan\u{200b}</");
    let mut quiet = String::with_capacity(marked.len());
    // At the start of a message a byte-order mark would vanish, and the first line would be another one.
    if marked.starts_with('\u{feff}') {
        quiet.push('\u{200b}');
    }
    for line in marked.split_inclusive(['\n', '\r']) {
        match command::slash(line) {
            Some(at) => {
                quiet.push_str(&line[..at]);
                quiet.push('\u{200b}');
                quiet.push_str(&line[at..]);
            }
            None => quiet.push_str(line),
        }
    }
    if let Some(fence) = frame::open_fence(&quiet) {
        quiet.push('\n');
        quiet.push_str(&fence);
    }
    quiet
}

/// `line` with a zero width space before the back-ticks or tildes that would open a fence.
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
