//! Text that people do not see on GitHub and that a reader of the source does: taken out of Markdown before an agent
//! reads it. Whoever wants to tell an agent something behind the backs of people writes it there.
//!
//! | hidden | what becomes of it |
//! |---|---|
//! | characters without a width: zero-width, direction, tag and variation characters, soft hyphens, NUL and other controls | gone, in code too; those that join an emoji stay |
//! | the same as character references (`&#8203;`, `&shy;`) | gone |
//! | `<!-- … -->`, `<? … ?>`, `<!X … >`, `<![CDATA[ … ]]>`, also without their ends | gone |
//! | attributes of tags, but addresses and sizes | gone: `<img src="x" alt="…">` is `<img src="x">` |
//! | names of unknown tags that are sentences (`<do-this-and-that>`) | the tag is gone |
//! | `![alt](x "title")`, `[text](x "title")` | `![](x)`, `[text](x)` |
//! | link definitions: titles; those nothing refers to | gone; so a comment of the form `[//]: # (…)` goes |
//! | footnotes nothing refers to | gone |
//! | words behind the language of a fence | gone |
//!
//! Code stays as it is but for its invisible characters: `<` and `>` in a fence are somebody's program
//! (github/gh-aw#18310). Line ends become `\n`. Where a text is not read as Markdown reads it (odd nesting of quotes and
//! tags), rather too much goes than too little.
//!
//! Not hidden in this sense, and kept: addresses of links and images, the content of `<details>`, white space.

mod html;
mod invisible;
mod links;
mod seen;
#[cfg(test)]
mod tests;

pub use seen::reads_the_same;

use std::borrow::Cow;
use std::ops::Range;

use comrak::Arena;
use comrak::nodes::NodeValue;

use crate::markdown::{self, Lines};
pub(crate) use invisible::is_invisible;

/// How often a text is gone through until nothing hidden is left. Taking something out can show something else; texts
/// that need more than this were made for it.
const PASSES: usize = 4;

/// Most removed parts that [`Cleaned::parts`] keeps.
pub const MAX_PARTS: usize = 100;

/// A text without its hidden parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// What people see.
    pub text: String,
    /// How many hidden parts were taken out.
    pub removed: u32,
    /// The first [`MAX_PARTS`] of them, in the order in which they were taken out.
    pub parts: Vec<String>,
}

/// `text` as people see it. What comes out has nothing hidden: a second time changes nothing. Linear in practice.
pub fn visible(text: &str) -> Cleaned {
    let mut cleaned = Cleaned {
        text: invisible::lines(text),
        ..Cleaned::default()
    };
    for _ in 0..PASSES {
        let before = cleaned.removed;
        for pass in [invisible::pass, html::pass, html::entities, links::pass] {
            if let Some(edits) = Edits::some(pass(&cleaned.text)) {
                cleaned.removed = cleaned.removed.saturating_add(edits.count());
                let room = MAX_PARTS.saturating_sub(cleaned.parts.len());
                let parts = edits.0.iter().take(room);
                cleaned
                    .parts
                    .extend(parts.map(|(range, _)| cleaned.text[range.clone()].to_owned()));
                cleaned.text = edits.apply(&cleaned.text);
            }
        }
        if cleaned.removed == before {
            return cleaned;
        }
    }
    // Layer upon layer: without these characters nothing is HTML, a link or a reference, and what people see is there.
    cleaned.removed = cleaned.removed.saturating_add(1);
    cleaned.text = invisible::flat(&cleaned.text);
    cleaned
}

/// The hidden parts of a plan, each as text that can be seen; empty where there is nothing hidden.
///
/// The markers of metadata blocks are no hidden text: they have a fixed form that holds no
/// sentence.
pub fn in_plan(text: &str) -> Vec<String> {
    let parts = visible(text).parts.into_iter();
    parts
        .filter(|part| !is_marker(part.trim()))
        .map(|part| invisible::shown(&part))
        .collect()
}

/// Longest marker of a block. Names of blocks and ids of runs are shorter.
const MAX_MARKER: usize = 120;

/// A comment that marks a block of erk's or of this bot's.
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
    // A kind and at most one argument: no room for a sentence.
    let words = name.split(' ').collect::<Vec<_>>();
    inside == WARNING
        || (known && words.len() <= 2 && words.iter().all(|word| word.chars().all(plain)))
}

/// `text` without the characters that cannot be seen, but for line ends and those that join an emoji: for names and
/// titles, which are no Markdown.
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    match Edits::some(invisible::pass(text)) {
        Some(edits) => Cow::Owned(edits.apply(text)),
        None => Cow::Borrowed(text),
    }
}

/// What a pass takes out, in order: byte range and what takes its place.
#[derive(Debug, Default)]
struct Edits(Vec<(Range<usize>, &'static str)>);

impl Edits {
    fn some(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Takes `range` out; nothing for an empty one.
    fn cut(&mut self, range: Range<usize>) {
        self.swap(range, "");
    }

    /// Puts `instead` in the place of `range`.
    fn swap(&mut self, range: Range<usize>, instead: &'static str) {
        if !range.is_empty() {
            self.0.push((range, instead));
        }
    }

    /// Takes out what stands between other text: a blank keeps its neighbours apart.
    fn gap(&mut self, text: &str, range: Range<usize>) {
        let apart = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let bytes = text.as_bytes();
        let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
        let instead = if apart(before) || apart(bytes.get(range.end)) {
            ""
        } else {
            " "
        };
        self.swap(range, instead);
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, instead) in self.0 {
            // One within another went with it.
            if range.end <= at {
                continue;
            }
            if range.start > at {
                out.push_str(&text[at..range.start]);
            }
            out.push_str(instead);
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}

/// What the parser says of a text.
struct Map {
    /// Code: blocks by whole lines, spans with their back-ticks; in order, not overlapping.
    code: Vec<Range<usize>>,
    /// Blocks of raw HTML, whole lines.
    raw: Vec<Range<usize>>,
    /// Words behind the language of fences.
    infos: Vec<Range<usize>>,
    /// Footnotes nothing refers to, whole lines.
    footnotes: Vec<Range<usize>>,
}

impl Map {
    fn of(text: &str) -> Self {
        let arena = Arena::new();
        let root = markdown::parse(&arena, text);
        let lines = Lines::new(text);
        let mut map = Self {
            code: Vec::new(),
            raw: Vec::new(),
            infos: Vec::new(),
            footnotes: Vec::new(),
        };
        let mut named = Vec::new();
        let mut used = std::collections::HashSet::new();
        for node in root.descendants() {
            let data = node.data();
            let (start, end) = (data.sourcepos.start, data.sourcepos.end);
            let whole = || {
                let first = lines.start(start.line);
                first..lines.span(end.line).end.max(first)
            };
            match &data.value {
                NodeValue::CodeBlock(code) => {
                    let mut range = whole();
                    if code.fenced {
                        let line = lines.span(start.line);
                        let fence: String =
                            std::iter::repeat_n(char::from(code.fence_char), code.fence_length)
                                .collect();
                        if let Some(at) = text[line.clone()].find(&fence) {
                            let info = line.start + at + fence.len()..line.end;
                            map.infos.extend(surplus(text, info));
                            range.start = line.start + at;
                        }
                    }
                    map.code.push(range);
                }
                NodeValue::Code(code) => {
                    let first = lines.start(start.line) + start.column.saturating_sub(1);
                    let last = lines.start(end.line) + end.column;
                    // The parser's position is off after a link definition. What is shown elsewhere as code is not
                    // hidden.
                    if text
                        .get(first..last)
                        .is_some_and(|span| shows(span, code.num_backticks, &code.literal))
                    {
                        map.code.push(first..last);
                    }
                }
                NodeValue::HtmlBlock(_) => map.raw.push(whole()),
                NodeValue::FootnoteDefinition(note) => named.push((note.name.clone(), whole())),
                NodeValue::FootnoteReference(note) => {
                    used.insert(note.name.clone());
                }
                _ => {}
            }
        }
        map.footnotes = named
            .into_iter()
            .filter(|(name, _)| !used.contains(name))
            .map(|(_, range)| range)
            .collect();
        map.code = markdown::united(map.code);
        map.raw.sort_by_key(|range| range.start);
        map
    }

    /// The end of the code that byte `at` is in.
    fn code_at(&self, at: usize) -> Option<usize> {
        within(&self.code, at)
    }

    /// The end of the raw HTML that byte `at` is in.
    fn raw_at(&self, at: usize) -> Option<usize> {
        within(&self.raw, at)
    }
}

fn within(ranges: &[Range<usize>], at: usize) -> Option<usize> {
    let next = ranges.partition_point(|range| range.start <= at);
    let range = ranges.get(next.checked_sub(1)?)?;
    (at < range.end).then_some(range.end)
}

/// The source of a code span shows `literal`; line ends, and what stands at the start of lines in a quote, aside.
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

/// What stands behind the first word of a fence's info string.
fn surplus(text: &str, info: Range<usize>) -> Option<Range<usize>> {
    let words = &text[info.clone()];
    let start = words.len() - words.trim_start().len();
    let first = words[start..]
        .find(char::is_whitespace)
        .map_or(words.len(), |length| start + length);
    // A language has a short name.
    let first = if first - start > 40 { start } else { first };
    let end = words.trim_end().len();
    (first < end).then(|| info.start + first..info.start + end)
}
