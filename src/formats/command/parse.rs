//! Finds commands in a comment: where they are, by the Markdown tree; what they say, by the source.

use std::ops::Range;

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use super::{Command, Given, split};
use crate::formats::markdown::{self, Lines};

/// One command in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is asked for.
    pub command: Command,
    /// The word as typed, with its slash.
    pub word: String,
    /// Line of the command, 1-based.
    pub line: usize,
    /// Options between the command and its free text, as typed; [`super::read_options`] judges them.
    pub options: Vec<Given>,
    /// Free text behind the command, trimmed; empty when there is none.
    pub guidance: String,
    /// A plan that follows in the same comment, verbatim, without blank lines at its end.
    pub inline: Option<String>,
}

/// A command word at its place in the source.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) command: Command,
    /// The word itself, slash included.
    pub(super) span: Range<usize>,
    /// First byte of its line.
    pub(super) start: usize,
    pub(super) line: usize,
}

/// Every command of `comment`, in order.
///
/// A command starts a line of a paragraph that is a direct child of the document: not in a quote, list, heading,
/// table, code, link, HTML or comment. The line's source must begin with the very word (so no escape or entity
/// makes one), followed by white space or the line's end.
///
/// Once a plan begins below a command that takes one, the rest of the comment is that plan: what
/// looks like a command there is a line of the plan. A plan in a fence ends with the fence.
pub fn parse(comment: &str) -> Vec<Invocation> {
    parts(comment)
        .into_iter()
        .map(|(word, parts)| Invocation {
            command: word.command,
            word: comment[word.span].to_owned(),
            line: word.line,
            options: parts.options,
            guidance: parts.guidance,
            inline: parts.inline,
        })
        .collect()
}

/// What remains of `comment` as conversation: command lines and their guidance removed, everything else (a plan that
/// follows a command, too) byte for byte.
pub fn without_commands(comment: &str) -> String {
    let mut kept = String::with_capacity(comment.len());
    let mut at = 0;
    for removed in parts(comment)
        .into_iter()
        .flat_map(|(_, parts)| parts.removed)
    {
        kept.push_str(&comment[at..removed.start]);
        at = removed.end;
    }
    kept.push_str(&comment[at..]);
    kept
}

fn parts(comment: &str) -> Vec<(Word, split::Parts)> {
    let words = words(comment);
    if words.is_empty() {
        return Vec::new();
    }
    let blocks = markdown::blocks(comment);
    let lines = Lines::new(comment);
    let mut found = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let end = words.peek().map_or(comment.len(), |next| next.start);
        let parts = split::split(comment, &blocks, &lines, &word, end);
        let last = parts.rest_is_plan;
        found.push((word, parts));
        if last {
            break;
        }
    }
    found
}

/// Byte offset of a slash that is the first thing on `line` but for white space and a byte-order mark.
///
/// No command is without one, so this alone tells most comments apart from commands.
pub(in crate::formats) fn slash(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    rest.starts_with('/').then(|| line.len() - rest.len())
}

fn words(comment: &str) -> Vec<Word> {
    if !comment
        .split(['\n', '\r'])
        .any(|line| slash(line).is_some())
    {
        return Vec::new();
    }
    let arena = Arena::new();
    let root = parse_document(&arena, comment, &markdown::options());
    let lines = Lines::new(comment);
    let mut found: Vec<Word> = Vec::new();
    for paragraph in root.children() {
        if !matches!(paragraph.data().value, NodeValue::Paragraph) {
            continue;
        }
        let mut line_start = true;
        for node in paragraph.children() {
            let data = node.data();
            if line_start
                && let NodeValue::Text(text) = &data.value
                && let Some(word) = word(text, &lines, data.sourcepos.start.line)
                && found.last().is_none_or(|last| last.line < word.line)
            {
                found.push(word);
            }
            line_start = matches!(data.value, NodeValue::SoftBreak | NodeValue::LineBreak);
        }
    }
    found
}

/// The command that the text node `text` on `line` begins with, when the source of that line says the same.
fn word(text: &str, lines: &Lines<'_>, line: usize) -> Option<Word> {
    if !text.starts_with('/') {
        return None;
    }
    let source = lines.text(line);
    let at = slash(source)?;
    let rest = &source[at..];
    let typed = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    if !text.starts_with(typed) {
        return None;
    }
    let command = Command::named(typed.strip_prefix('/')?)?;
    let start = lines.start(line);
    Some(Word {
        command,
        span: start + at..start + at + typed.len(),
        start,
        line,
    })
}
