//! Finds blocks: markers, pairs of markers, and what is left over.

use std::collections::HashMap;
use std::ops::Range;

use super::{Block, Diagnostic, Parsed, TEXT_KEYS, WARNING, body};
use crate::formats::markdown::{self, Lines};

const OPENS: &str = "<!-- erk:metadata-block:";
const CLOSES: &str = "<!-- /erk:metadata-block";

/// A fence that is open inside a block hides what follows; for so many blocks the rest is parsed afresh, then
/// everything counts as visible. Keeps the work linear.
const FRESH_STARTS: usize = 8;

#[derive(Debug, Clone)]
struct Marker<'a> {
    /// `None` for a closing marker of the first era.
    key: Option<&'a str>,
    span: Range<usize>,
    code: bool,
}

/// Reads every block of `text`. Never fails: what cannot be read is a [`Diagnostic`]. Linear in the text's size.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    if !text.contains(OPENS) && !text.contains(CLOSES) {
        return parsed;
    }
    let lines = Lines::new(text);
    let mut from = 0;
    for left in (0..=FRESH_STARTS).rev() {
        match pass(text, &lines, from, left > 0, &mut parsed) {
            Some(next) => from = next,
            None => break,
        }
    }
    parsed
}

/// Reads from byte `from`. Returns where to start afresh when a block ends in code that began inside it.
fn pass(
    text: &str,
    lines: &Lines<'_>,
    from: usize,
    heed_code: bool,
    parsed: &mut Parsed,
) -> Option<usize> {
    let code = if heed_code {
        markdown::code(&text[from..])
    } else {
        Vec::new()
    };
    let in_code = |at: usize| {
        let next = code.partition_point(|range| range.start <= at - from);
        next > 0
            && code
                .get(next - 1)
                .is_some_and(|range| at - from < range.end)
    };
    let mut complain = |key: &str, at: usize, message: &str| {
        parsed.diagnostics.push(Diagnostic {
            key: key.to_owned(),
            line: lines.at(at),
            message: message.to_owned(),
        });
    };
    let mut openers = Vec::new();
    for (at, _) in text[from..].match_indices(OPENS) {
        let at = from + at;
        let code = in_code(at);
        match marker(text, at, at + OPENS.len(), code) {
            Some(found) => openers.push(found),
            None if code => {}
            None => complain(
                "",
                at,
                "the opening marker is not complete: write `<!-- erk:metadata-block:KEY -->` on one line",
            ),
        }
    }
    let closers: Vec<Marker<'_>> = text[from..]
        .match_indices(CLOSES)
        .filter_map(|(at, _)| closer(text, from + at, in_code(from + at)))
        .collect();
    let pairs = Closers::new(&closers);
    let visible: Vec<&Marker<'_>> = openers.iter().filter(|opener| !opener.code).collect();
    let mut next_same: Vec<Option<usize>> = vec![None; visible.len()];
    let mut seen: HashMap<Option<&str>, usize> = HashMap::new();
    for (index, opener) in visible.iter().enumerate().rev() {
        next_same[index] = seen.insert(opener.key, opener.span.start);
    }
    let mut at = from;
    let mut used = 0;
    let mut again = None;
    for (index, opener) in visible.iter().enumerate() {
        if opener.span.start < at {
            continue;
        }
        let key = opener.key.unwrap_or_default();
        let is_text = TEXT_KEYS.contains(&key);
        let other = visible.get(index + 1).map(|next| next.span.start);
        let found = pairs
            .after(key, opener.span.end, &openers)
            .filter(|closer| {
                let rival = if closer.key.is_none() {
                    other
                } else {
                    next_same[index]
                };
                is_text || rival.is_none_or(|rival| rival > closer.span.start)
            });
        let Some(closer) = found else {
            complain(key, opener.span.start, "the block has no closing marker");
            continue;
        };
        for stray in closers[used..]
            .iter()
            .take_while(|stray| stray.span.start < opener.span.start)
        {
            if !stray.code && stray.span.start >= at {
                complain(stray.key.unwrap_or_default(), stray.span.start, STRAY);
            }
        }
        used = closers.partition_point(|other| other.span.start < closer.span.end);
        let start = warnings(text, at, opener.span.start);
        let (content, problem) = body::read(key, &text[opener.span.end..closer.span.start]);
        if let Some(problem) = problem {
            complain(key, opener.span.start, &problem);
        }
        parsed.blocks.push(Block {
            key: key.trim().to_owned(),
            span: start..closer.span.end,
            content,
        });
        at = closer.span.end;
        if closer.code {
            again = Some(at);
            break;
        }
    }
    if again.is_none() {
        for stray in &closers[used..] {
            if !stray.code && stray.span.start >= at {
                complain(stray.key.unwrap_or_default(), stray.span.start, STRAY);
            }
        }
    }
    again
}

const STRAY: &str = "the closing marker has no opening marker";

/// The marker at `at` whose key begins at `from`: one line, ended by ` -->`.
fn marker(text: &str, at: usize, from: usize, code: bool) -> Option<Marker<'_>> {
    let rest = text.get(from..)?;
    let end = rest.find(['\n', '\r', '<', '>'])?;
    let key = rest[..end].strip_suffix(" --")?;
    (rest[end..].starts_with('>') && !key.trim().is_empty()).then(|| Marker {
        key: Some(key),
        span: at..from + end + 1,
        code,
    })
}

fn closer(text: &str, at: usize, code: bool) -> Option<Marker<'_>> {
    let rest = &text[at + CLOSES.len()..];
    if rest.starts_with(" -->") {
        let end = at + CLOSES.len() + " -->".len();
        return Some(Marker {
            key: None,
            span: at..end,
            code,
        });
    }
    rest.starts_with(':')
        .then(|| marker(text, at, at + CLOSES.len() + 1, code))?
}

/// Start of the stack of warning lines right above `opener`, not before `floor`.
fn warnings(text: &str, floor: usize, opener: usize) -> usize {
    let mut start = opener;
    loop {
        let above = text[floor..start].trim_end_matches([' ', '\t']);
        let Some(above) = above.strip_suffix('\n') else {
            return start;
        };
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let Some(indent) = above[line..].find(WARNING) else {
            return start;
        };
        if above[line..].trim() != WARNING {
            return start;
        }
        start = floor + line + indent;
    }
}

/// Closing markers by key, those outside code apart.
struct Closers<'a> {
    visible: Keyed<'a>,
    all: Keyed<'a>,
}

type Keyed<'a> = HashMap<Option<&'a str>, Vec<&'a Marker<'a>>>;

impl<'a> Closers<'a> {
    fn new(closers: &'a [Marker<'a>]) -> Self {
        let mut found = Self {
            visible: HashMap::new(),
            all: HashMap::new(),
        };
        for closer in closers {
            if !closer.code {
                found.visible.entry(closer.key).or_default().push(closer);
            }
            found.all.entry(closer.key).or_default().push(closer);
        }
        found
    }

    /// The closing marker for `key` from byte `from` on.
    ///
    /// That is the first one outside code, as a plan may quote a marker in a fence. When there is none, or another
    /// block opens before it, the fence was left open inside the block and the first one of all is meant.
    fn after(&self, key: &str, from: usize, openers: &[Marker<'_>]) -> Option<&'a Marker<'a>> {
        let first = Self::first(&self.all, key, from)?;
        let Some(visible) = Self::first(&self.visible, key, from) else {
            return Some(first);
        };
        let next = openers.partition_point(|opener| opener.span.start < first.span.start);
        let between = openers
            .get(next)
            .is_some_and(|opener| opener.span.start < visible.span.start);
        Some(if between { first } else { visible })
    }

    fn first(by_key: &Keyed<'a>, key: &str, from: usize) -> Option<&'a Marker<'a>> {
        [Some(key), None]
            .into_iter()
            .filter_map(|key| {
                let closers = by_key.get(&key)?;
                let next = closers.partition_point(|closer| closer.span.start < from);
                closers.get(next).copied()
            })
            .min_by_key(|closer| closer.span.start)
    }
}
