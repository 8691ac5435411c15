//! Parses commands in a comment: the Markdown tree determines where they are, the source what they
//! say.

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::{Command, RawOption, split};
use crate::block::{leading_slash, leads_line};
use crate::markdown::{self, Bounded, Lines};

/// A part of a comment is parsed first only if the comment is at least so many times as long.
const MIN_REST: usize = 4;

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
    let candidates = candidates(comment);
    candidates.map(|candidate| candidate.command).collect()
}

/// A command that begins a line, but not necessarily one of a paragraph.
struct Candidate {
    command: Command,
    /// The offset of its slash.
    at: usize,
}

fn candidates(comment: &str) -> impl Iterator<Item = Candidate> {
    memchr::memchr_iter(b'/', comment.as_bytes())
        .filter(|at| leads_line(comment, *at))
        .filter_map(|at| {
            let command = typed(&comment[at..]).1?;
            Some(Candidate { command, at })
        })
}

fn parts(comment: &str) -> Vec<(Word, split::Parts)> {
    let candidates: Vec<Candidate> = candidates(comment).collect();
    let Some(first) = candidates.first().map(|first| first.at) else {
        return Vec::new();
    };
    let bounded = Bounded::new(comment);
    if first == 0 || !bounded.is_independent_below(first) {
        return Text {
            bounded,
            candidates,
        }
        .all_parts();
    }
    // The text above the first command does not matter.
    let of_below = |candidate: Candidate| Candidate {
        at: candidate.at - first,
        ..candidate
    };
    let candidates = candidates.into_iter().map(of_below).collect();
    let line = bounded.lines().at(first);
    let below = Text {
        bounded: bounded.below(line),
        candidates,
    };
    let mut found = below.all_parts();
    for (word, parts) in &mut found {
        word.line += line - 1;
        word.start += first;
        for range in parts.removed.iter_mut().chain([&mut word.span]) {
            *range = range.start + first..range.end + first;
        }
    }
    found
}

/// A comment in which lines begin with commands, or its end that holds all of them.
struct Text<'a> {
    bounded: Bounded<'a>,
    candidates: Vec<Candidate>,
}

impl<'a> Text<'a> {
    fn lines(&self) -> &Lines<'a> {
        self.bounded.lines()
    }

    fn comment(&self) -> &'a str {
        self.lines().source()
    }

    /// Parses the comment, or only a part of it if that determines all commands.
    fn all_parts(&self) -> Vec<(Word, split::Parts)> {
        let found = self
            .sufficient_part()
            .filter(|end| self.is_separate(*end))
            .and_then(|end| self.parts(end));
        found.unwrap_or_else(|| self.parts(self.comment().len()).unwrap_or_default())
    }

    /// Returns the end of a part of the comment that is much shorter than the comment and that
    /// probably determines all commands. It ends below the last command or, if a plan may follow
    /// one, where the plan has begun: below its heading, or in its list or its second paragraph.
    fn sufficient_part(&self) -> Option<usize> {
        let takes_plan = |one: &&Candidate| one.command.spec().takes_plan;
        let plan = self.candidates.iter().find(takes_plan);
        let candidate = plan.or(self.candidates.last())?;
        let max = self.comment().len() / MIN_REST;
        let mut lines = (self.lines().at(candidate.at)..self.lines().count())
            .take_while(|line| self.lines().start(*line) <= max);
        let is_heading = |line: &usize| self.lines().text(*line).trim_start().starts_with('#');
        let mut blank_lines = 0;
        let last = if plan.is_none() || lines.clone().any(|line| is_heading(&line)) {
            if plan.is_some() {
                lines.find(is_heading)?;
            }
            lines.find(|line| self.is_blank(*line))?
        } else {
            lines.find(|line| {
                blank_lines += usize::from(self.is_blank(*line));
                blank_lines == 3 || self.begins_item(*line)
            })?
        };
        Some(self.lines().start(last + 1))
    }

    /// Returns whether `line` begins an item of a list at the top level, where the text is neither
    /// code nor HTML.
    fn begins_item(&self, line: usize) -> bool {
        let text = self.lines().text(line);
        let markers = ["- ", "* ", "+ ", "1. ", "1) "];
        let content = markers.iter().find_map(|marker| text.strip_prefix(marker));
        content.is_some_and(|content| !content.trim().is_empty())
    }

    /// Returns whether `line` is blank as CommonMark has it.
    fn is_blank(&self, line: usize) -> bool {
        let text = self.lines().text(line).bytes();
        text.into_iter().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// Returns whether the blocks of the comment up to byte `end`, which begins a line, are parsed
    /// alike without the rest of the comment, apart from the end of the last one.
    fn is_separate(&self, end: usize) -> bool {
        let last = self.lines().at(end) - 1;
        (self.is_blank(last) || self.begins_item(last)) && self.bounded.is_independent(end)
    }

    /// Parses the comment up to byte `end` for the commands of the whole comment. Returns `None` if
    /// they may depend on the rest.
    fn parts(&self, end: usize) -> Option<Vec<(Word, split::Parts)>> {
        let arena = Arena::new();
        let root = self.bounded.parse(&arena, end);
        let mut words = words(root, self.lines()).into_iter().peekable();
        let blocks = match words.peek() {
            Some(_) => markdown::blocks_on(root, self.lines()),
            None => Vec::new(),
        };
        let is_last = self.candidates.last().is_none_or(|last| last.at < end);
        let mut found = Vec::new();
        let mut known = is_last;
        while let Some(word) = words.next() {
            let end = match words.peek() {
                Some(next) => next.start,
                None if is_last && !word.command.spec().takes_plan => self.comment().len(),
                None => end,
            };
            let parts = split::split(self.comment(), &blocks, self.lines(), &word, end);
            let rest_is_plan = parts.rest_is_plan;
            known = parts.is_final && (rest_is_plan || is_last);
            found.push((word, parts));
            if rest_is_plan {
                break;
            }
        }
        (known || end == self.comment().len()).then_some(found)
    }
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

#[cfg(test)]
mod tests;
