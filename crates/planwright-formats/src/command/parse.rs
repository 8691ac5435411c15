//! Parses commands in a comment: the Markdown tree determines where they are, the source what they
//! say.

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::{Command, RawOption, split};
use crate::block::leading_slash;
use crate::markdown::{self, Lines};

/// One command in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The command.
    pub command: Command,
    /// The word as typed, with its slash.
    pub word: String,
    /// Line of the command, 1-based.
    pub line: usize,
    /// Options between the command and its free text, as typed; [`super::read_options`] checks
    /// them.
    pub options: Vec<RawOption>,
    /// Free text after the command, trimmed; `None` if there is none.
    pub guidance: Option<String>,
    /// A plan that follows in the same comment, verbatim, without blank lines at its end.
    pub inline: Option<String>,
}

/// A command word and its position in the source.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) command: Command,
    /// The word itself, slash included.
    pub(super) span: Range<usize>,
    /// The first byte of its line.
    pub(super) start: usize,
    pub(super) line: usize,
}

/// Parses every command of `comment`, in order.
///
/// A command starts a line of a paragraph that is a direct child of the document: not in a quote,
/// list, heading, table, code, link, HTML or comment. The line's source must begin with the word
/// itself, so that escapes and entities do not count, followed by white space or the end of the
/// line.
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

/// Removes command lines and their guidance from `comment`. Everything else, including a plan that
/// follows a command, stays byte for byte.
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

/// Returns the commands that begin a line of `comment`, whether that line is text, code or the
/// continuation of a quote.
///
/// Linear and without the Markdown parser. Every command that [`parse`] finds is included.
pub fn at_line_starts(comment: &str) -> Vec<Command> {
    let lines = comment.split(['\n', '\r']);
    lines
        .filter_map(|line| typed(&line[leading_slash(line)?..]).1)
        .collect()
}

fn parts(comment: &str) -> Vec<(Word, split::Parts)> {
    if at_line_starts(comment).is_empty() {
        return Vec::new();
    }
    let arena = Arena::new();
    let root = markdown::parse(&arena, comment);
    let lines = Lines::new(comment);
    let words = words(root, &lines);
    if words.is_empty() {
        return Vec::new();
    }
    let blocks = markdown::blocks_of(root, comment);
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

fn words<'a>(root: &'a AstNode<'a>, lines: &Lines<'_>) -> Vec<Word> {
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
                && let Some(word) = word(text, lines, data.sourcepos.start.line)
                && found.last().is_none_or(|last| last.line < word.line)
            {
                found.push(word);
            }
            line_start = matches!(data.value, NodeValue::SoftBreak | NodeValue::LineBreak);
        }
    }
    found
}

/// Returns the command that the text node `text` on `line` begins with, if the source of that line
/// begins with it too.
fn word(text: &str, lines: &Lines<'_>, line: usize) -> Option<Word> {
    if !text.starts_with('/') {
        return None;
    }
    let source = lines.text(line);
    let at = leading_slash(source)?;
    let rest = &source[at..];
    let (typed, command) = typed(rest);
    if !text.starts_with(typed) {
        return None;
    }
    let command = command?;
    let start = lines.start(line);
    Some(Word {
        command,
        span: start + at..start + at + typed.len(),
        start,
        line,
    })
}

/// Returns the word at the start of `rest`, and the command that it names.
fn typed(rest: &str) -> (&str, Option<Command>) {
    let typed = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    (typed, typed.strip_prefix('/').and_then(Command::named))
}
