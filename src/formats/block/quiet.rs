//! User text inside the bot's own messages: it must not notify, close, command, or pass for the bot's own markers.

use super::frame;
use crate::formats::command;

/// `text` for quoting in a message of the bot: looks the same on GitHub, but mentions nobody, closes nothing, holds no
/// slash command, no block and no open fence. Where it leaves HTML open, its tags are shown instead of followed,
/// as they would swallow the rest of the message. Cannot be undone.
pub fn quiet(text: &str) -> String {
    // At the start of a message a byte-order mark is none.
    let start = text.trim_start_matches('\u{feff}');
    let html_open = frame::leaves_html_open(text) || frame::leaves_html_open(start);
    let marked = if html_open {
        frame::mark(&text.replace('<', "<\u{200b}"))
    } else {
        frame::mark(text)
    };
    // The summary that makes a `<details>` element a plan.
    let marked = marked.replace("original-plan</", "original-plan\u{200b}</");
    let mut quiet = String::with_capacity(marked.len());
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
    let fence = frame::open_fence(&quiet);
    if let Some(fence) = fence.or_else(|| frame::open_fence(quiet.trim_start_matches('\u{feff}'))) {
        quiet.push('\n');
        quiet.push_str(&fence);
    }
    quiet
}
