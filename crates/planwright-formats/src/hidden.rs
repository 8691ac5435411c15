//! Removes text from Markdown that people do not see on GitHub but that a reader of the source
//! does, before an agent reads it. Hidden text is a common place for prompt injection.
//!
//! | hidden | what happens to it |
//! |---|---|
//! | characters without a width: zero-width, direction, tag and variation characters, soft hyphens, NUL and other controls | removed, in code as well; those that join an emoji stay |
//! | the same as character references (`&#8203;`, `&shy;`) | removed |
//! | `<!-- … -->`, `<? … ?>`, `<!X … >`, `<![CDATA[ … ]]>`, also unclosed | removed |
//! | attributes of tags, except URLs and sizes | removed: `<img src="x" alt="…">` becomes `<img src="x">` |
//! | unknown tags whose names are sentences (`<do-this-and-that>`) | the tag is removed |
//! | `![alt](x "title")`, `[text](x "title")` | `![](x)`, `[text](x)` |
//! | link reference definitions: titles, and unused definitions | removed, and with them comments of the form `[//]: # (…)` |
//! | unused footnotes | removed |
//! | words after the language of a fence | removed |
//!
//! Code stays as it is except for its invisible characters: `<` and `>` in a fence belong to a
//! program (github/gh-aw#18310). Line ends become `\n`. Where this module and GitHub parse a text
//! differently (odd nesting of quotes and tags), too much is removed rather than too little.
//!
//! Not hidden in this sense, and kept: URLs of links and images, the content of `<details>`, white
//! space.

mod html;
mod invisible;
mod links;
mod seen;
#[cfg(test)]
mod tests;

pub use seen::reads_the_same;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use comrak::Arena;
use comrak::nodes::NodeValue;

use crate::markdown::{self, Lines};
pub use invisible::{InvisibleKind, invisible_kind, is_invisible};

/// Maximum number of rounds until nothing hidden is left. Removing something can uncover something
/// else; texts that need more rounds were made for it.
const MAX_ROUNDS: usize = 4;

/// Maximum number of removed parts that [`Cleaned::parts`] keeps.
pub const MAX_PARTS: usize = 100;

/// A text without its hidden parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The text that people see.
    pub text: String,
    /// Number of hidden parts that were removed.
    pub removed: u32,
    /// The first [`MAX_PARTS`] hidden parts, in the order in which they were removed.
    pub parts: Vec<String>,
}

/// Returns `text` as people see it. The result has no hidden parts: cleaning it again changes
/// nothing. Linear in practice.
pub fn visible(text: &str) -> Cleaned {
    let mut cleaned = Cleaned {
        text: invisible::lines(text),
        ..Cleaned::default()
    };
    for _ in 0..MAX_ROUNDS {
        let before = cleaned.removed;
        for pass in [invisible::pass, html::pass, html::references, links::pass] {
            let edits = pass(&cleaned.text);
            if edits.0.is_empty() {
                continue;
            }
            let count = u32::try_from(edits.0.len()).unwrap_or(u32::MAX);
            cleaned.removed = cleaned.removed.saturating_add(count);
            let room = MAX_PARTS.saturating_sub(cleaned.parts.len());
            let parts = edits.0.iter().take(room);
            cleaned
                .parts
                .extend(parts.map(|(range, _)| cleaned.text[range.clone()].to_owned()));
            cleaned.text = edits.apply(&cleaned.text);
        }
        if cleaned.removed == before {
            return cleaned;
        }
    }
    // Layers upon layers: without the characters of markup nothing is HTML, a link or a reference.
    cleaned.removed = cleaned.removed.saturating_add(1);
    cleaned.text = invisible::without_markup(&cleaned.text);
    cleaned
}

/// Returns the hidden parts of a plan with their invisible characters made visible; empty if
/// nothing is hidden.
///
/// The markers of metadata blocks do not count: their fixed form has no room for a sentence.
pub fn in_plan(text: &str) -> Vec<String> {
    let parts = visible(text).parts.into_iter();
    parts
        .filter(|part| !is_marker(part.trim()))
        .map(|part| invisible::shown(&part))
        .collect()
}

/// Maximum length of a block's marker, in bytes. Names of blocks and ids of runs are shorter.
const MAX_MARKER: usize = 120;

/// Returns whether `comment` is a marker of erk or of this bot.
fn is_marker(comment: &str) -> bool {
    const WARNING: &str = "WARNING: Machine-generated. Manual edits may break erk tooling.";
    let inside = comment
        .strip_prefix("<!--")
        .and_then(|rest| rest.strip_suffix("-->"));
    let Some(inside) = inside.map(str::trim).filter(|it| it.len() <= MAX_MARKER) else {
        return false;
    };
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let known = ["erk:metadata-block:", "erk:plan-content", "planwright:"]
        .iter()
        .any(|start| name.starts_with(start));
    let plain = |c: char| c.is_ascii_alphanumeric() || ":-_/.".contains(c);
    // A name and at most one argument leave no room for a sentence.
    let words = name.split(' ').collect::<Vec<_>>();
    inside == WARNING
        || (known && words.len() <= 2 && words.iter().all(|word| word.chars().all(plain)))
}

/// Returns `text` without its invisible characters, except line ends and those that join an emoji:
/// for names and titles, which are not Markdown.
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    let edits = invisible::pass(text);
    if edits.0.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(edits.apply(text))
    }
}

/// The parts of a text that a pass removes or replaces: byte range and replacement.
#[derive(Debug, Default)]
struct Edits(Vec<(Range<usize>, &'static str)>);

impl Edits {
    /// Removes `range` unless it is empty.
    fn remove(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    fn replace(&mut self, range: Range<usize>, replacement: &'static str) {
        if !range.is_empty() {
            self.0.push((range, replacement));
        }
    }

    /// Removes `range` and leaves a blank where its neighbours would otherwise join.
    fn remove_between(&mut self, text: &str, range: Range<usize>) {
        let apart = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let bytes = text.as_bytes();
        let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
        let joins = !apart(before) && !apart(bytes.get(range.end));
        self.replace(range, if joins { " " } else { "" });
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, replacement) in self.0 {
            // A range inside another one was removed with it.
            if range.end <= at {
                continue;
            }
            if range.start > at {
                out.push_str(&text[at..range.start]);
            }
            out.push_str(replacement);
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}

/// The parts of a text that the Markdown parser treats specially.
#[derive(Default)]
struct Regions {
    /// Code: blocks from their fence on, spans with their backticks; in order, not overlapping.
    code: Vec<Range<usize>>,
    /// Blocks of raw HTML, whole lines, in order.
    raw: Vec<Range<usize>>,
    /// Words after the language of fences.
    infos: Vec<Range<usize>>,
    /// Unused footnotes, whole lines.
    footnotes: Vec<Range<usize>>,
}

impl Regions {
    fn new(text: &str) -> Self {
        let arena = Arena::new();
        let root = markdown::parse(&arena, text);
        let lines = Lines::new(text);
        let mut regions = Self::default();
        let mut definitions = Vec::new();
        let mut used = HashSet::new();
        for node in root.descendants() {
            let data = node.data();
            match &data.value {
                NodeValue::CodeBlock(code) => {
                    let mut range = lines.whole(data.sourcepos);
                    if code.fenced {
                        let line = lines.span(data.sourcepos.start.line);
                        let fence = char::from(code.fence_char)
                            .to_string()
                            .repeat(code.fence_length);
                        if let Some(at) = text[line.clone()].find(&fence) {
                            range.start = line.start + at;
                            let info = range.start + fence.len()..line.end;
                            regions.infos.extend(after_language(text, info));
                        }
                    }
                    regions.code.push(range);
                }
                NodeValue::Code(code) => {
                    let range = lines.exact(data.sourcepos);
                    // The parser's position is wrong after a link reference definition. A span that
                    // is not found is shown as code elsewhere, so it is not hidden.
                    if text
                        .get(range.clone())
                        .is_some_and(|span| shows(span, code.num_backticks, &code.literal))
                    {
                        regions.code.push(range);
                    }
                }
                NodeValue::HtmlBlock(_) => regions.raw.push(lines.whole(data.sourcepos)),
                NodeValue::FootnoteDefinition(note) => {
                    definitions.push((note.name.clone(), lines.whole(data.sourcepos)));
                }
                NodeValue::FootnoteReference(note) => {
                    used.insert(note.name.clone());
                }
                _ => {}
            }
        }
        definitions.retain(|(name, _)| !used.contains(name));
        regions.footnotes = definitions.into_iter().map(|(_, range)| range).collect();
        regions.code = markdown::merged(regions.code);
        regions.raw.sort_by_key(|range| range.start);
        regions
    }

    /// Returns the end of the code that contains byte `at`.
    fn code_at(&self, at: usize) -> Option<usize> {
        markdown::range_at(&self.code, at).map(|range| range.end)
    }

    /// Returns the end of the raw HTML that contains byte `at`.
    fn raw_at(&self, at: usize) -> Option<usize> {
        markdown::range_at(&self.raw, at).map(|range| range.end)
    }
}

/// Returns whether `span` is the source of a code span that shows `literal`, apart from white space
/// and the marks of block quotes.
fn shows(span: &str, ticks: usize, literal: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace() && *c != '>')
            .collect::<String>()
    };
    let fence = "`".repeat(ticks);
    span.strip_prefix(&fence)
        .and_then(|rest| rest.strip_suffix(&fence))
        .is_some_and(|inside| letters(inside) == letters(literal))
}

/// Maximum length of a fence's language, in bytes; a longer first word is hidden text.
const MAX_LANGUAGE: usize = 40;

/// Returns the range after the language in a fence's info string.
fn after_language(text: &str, info: Range<usize>) -> Option<Range<usize>> {
    let words = &text[info.clone()];
    let start = words.len() - words.trim_start().len();
    let length = words[start..]
        .find(char::is_whitespace)
        .unwrap_or(words.len() - start);
    let first = if length > MAX_LANGUAGE {
        start
    } else {
        start + length
    };
    let end = words.trim_end().len();
    (first < end).then(|| info.start + first..info.start + end)
}
