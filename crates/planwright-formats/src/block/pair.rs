//! Determines which closing marker belongs to an opening one.

use std::collections::HashMap;
use std::ops::Range;

use super::marker::{Marker, Markers, Name, Tag};

/// The end of a block.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// Byte range of the closing marker or tag.
    pub(super) span: Range<usize>,
    /// Whether it is in code that began inside the block.
    pub(super) code: bool,
    /// Whether it is the closing marker for any key.
    pub(super) any: bool,
}

/// The closing markers and closing tags of a text.
pub(super) struct Closers<'a> {
    text: &'a str,
    /// Closing markers outside code, by name.
    visible: HashMap<Name<'a>, Vec<&'a Marker<'a>>>,
    /// The same with those in code that are not quotations.
    all: HashMap<Name<'a>, Vec<&'a Marker<'a>>>,
    /// Starts of the closing markers in code that no `</details>` precedes.
    bare: Vec<usize>,
    tags: Tags<'a>,
    /// Starts of the opening markers, except those inside a line of code.
    openers: Vec<usize>,
    /// Starts of the opening markers outside code.
    starts: Vec<usize>,
}

impl<'a> Closers<'a> {
    pub(super) fn new(text: &'a str, markers: &'a Markers<'a>) -> Self {
        let openers = || markers.openers.iter();
        let mut found = Self {
            text,
            visible: HashMap::new(),
            all: HashMap::new(),
            bare: Vec::new(),
            tags: Tags::new(text, &markers.tags),
            openers: openers()
                .filter(|opener| !opener.code || begins_line(text, opener.span.start))
                .map(|opener| opener.span.start)
                .collect(),
            starts: openers()
                .filter(|opener| !opener.code)
                .map(|opener| opener.span.start)
                .collect(),
        };
        let mut openers = openers().peekable();
        // Blocks that are quoted, and not yet closed, in code.
        let mut quoted: Vec<Name<'_>> = Vec::new();
        for closer in &markers.closers {
            while let Some(opener) = openers.next_if(|one| one.span.start < closer.span.start) {
                if !opener.code {
                    quoted.clear();
                } else if opener.name != Name::OriginalPlan && begins_line(text, opener.span.start)
                {
                    quoted.push(opener.name);
                }
            }
            if !closer.code {
                found.visible.entry(closer.name).or_default().push(closer);
            } else if !begins_line(text, closer.span.start)
                || quoted
                    .pop_if(|name| closer.name == Name::Any || *name == closer.name)
                    .is_some()
            {
                continue;
            } else if !text[..closer.span.start].trim_end().ends_with(DETAILS_END) {
                found.bare.push(closer.span.start);
            }
            found.all.entry(closer.name).or_default().push(closer);
        }
        found
    }

    /// Returns the end of the block that `opener` begins.
    ///
    /// This is the first closing marker outside code, because a plan may quote a marker in a fence.
    /// If there is none, or if another block opens before it, a fence was left open inside the
    /// block and the end is the first closing marker in code that is not a quotation: one that
    /// closes a block quoted there, or one inside a line, is.
    pub(super) fn after(&self, opener: &Marker<'_>) -> Option<End> {
        let from = opener.span.end;
        let next = |starts: &[usize], at: usize| {
            let next = starts.partition_point(|start| *start < at);
            starts.get(next).copied()
        };
        let (first, visible) = if opener.name == Name::OriginalPlan {
            let limit = next(&self.openers, from);
            (
                self.tags.hidden(self.text, from, limit),
                self.tags
                    .closing(opener.span.start, next(&self.starts, from)),
            )
        } else {
            (
                self.hidden(opener.name, from),
                self.framed(opener.name, from),
            )
        };
        let Some(visible) = visible else {
            return first;
        };
        let Some(first) = first.filter(|first| first.code) else {
            return Some(visible);
        };
        let between =
            next(&self.openers, first.span.start).is_some_and(|other| other < visible.span.start);
        Some(if between { first } else { visible })
    }

    /// Returns the first closing marker, in code or not. If the block has a frame, a marker in code
    /// must follow the frame's `</details>`.
    fn hidden(&self, name: Name<'_>, from: usize) -> Option<End> {
        let first = first(&self.all, name, from)?;
        if !first.code || !self.opens_frame(from) {
            return Some(first);
        }
        Self::tries(&self.all, name, first)
            .find(|end| !end.code || self.bare.binary_search(&end.span.start).is_err())
    }

    fn opens_frame(&self, from: usize) -> bool {
        self.text[from..].trim_start().starts_with("<details")
    }

    /// Returns `end` and the closing markers after it.
    fn tries<'b>(
        by_name: &'b HashMap<Name<'a>, Vec<&'a Marker<'a>>>,
        name: Name<'b>,
        end: End,
    ) -> impl Iterator<Item = End> + use<'a, 'b> {
        std::iter::successors(Some(end), move |end| first(by_name, name, end.span.end))
            .take(MAX_TRIES)
    }

    /// Returns the first closing marker outside code. If one of the next ones follows the frame's
    /// `</details>`, that one is preferred, because the text inside may quote a marker.
    fn framed(&self, name: Name<'_>, from: usize) -> Option<End> {
        let plain = first(&self.visible, name, from)?;
        let rival = self
            .starts
            .get(self.starts.partition_point(|start| *start < from));
        let alone = |end: &End| rival.is_none_or(|rival| end.span.start < *rival);
        let closes = |end: &End| {
            self.text[from..end.span.start]
                .trim_end()
                .ends_with(DETAILS_END)
        };
        if !alone(&plain) || !self.opens_frame(from) {
            return Some(plain);
        }
        Self::tries(&self.visible, name, plain.clone())
            .take_while(|end| alone(end))
            .find(closes)
            .or(Some(plain))
    }
}

pub(super) const DETAILS_END: &str = "</details>";

/// Returns whether only blanks precede byte `at` on its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '\r'])
}

/// Maximum number of closing markers that are tried for one that closes the frame. Keeps the work
/// linear.
const MAX_TRIES: usize = 8;

/// Returns the first closing marker for `name`, or for any key, from byte `from` on.
fn first(
    by_name: &HashMap<Name<'_>, Vec<&Marker<'_>>>,
    name: Name<'_>,
    from: usize,
) -> Option<End> {
    let any = matches!(name, Name::Key(_)).then_some(Name::Any);
    [Some(name), any]
        .into_iter()
        .flatten()
        .filter_map(|name| {
            let closers = by_name.get(&name)?;
            let next = closers.partition_point(|closer| closer.span.start < from);
            closers.get(next)
        })
        .min_by_key(|closer| closer.span.start)
        .map(|closer| End {
            span: closer.span.clone(),
            code: closer.code,
            any: closer.name == Name::Any,
        })
}

/// The `<details>` elements of a text, and which tag closes which.
struct Tags<'a> {
    found: &'a [Tag],
    /// The index of the closing tag of each opening tag outside code.
    closed_by: HashMap<usize, usize>,
    /// Closing tags outside code, and those in code that begin a line and close nothing that is
    /// quoted there.
    all: Vec<usize>,
    /// Closing tags outside code.
    closing: Vec<usize>,
    /// Closing tags outside code that close nothing.
    stray: Vec<usize>,
}

impl<'a> Tags<'a> {
    fn new(text: &str, tags: &'a [Tag]) -> Self {
        let mut open = Vec::new();
        let mut found = Self {
            found: tags,
            closed_by: HashMap::new(),
            all: Vec::new(),
            closing: Vec::new(),
            stray: Vec::new(),
        };
        let mut quoted: usize = 0;
        for (index, tag) in tags.iter().enumerate() {
            if tag.code {
                match (begins_line(text, tag.at), tag.opens) {
                    (false, _) => {}
                    (true, true) => quoted += 1,
                    (true, false) if quoted > 0 => quoted -= 1,
                    (true, false) => found.all.push(index),
                }
                continue;
            }
            if tag.opens {
                quoted = 0;
                open.push(tag.at);
                continue;
            }
            found.all.push(index);
            found.closing.push(index);
            match open.pop() {
                Some(at) => {
                    found.closed_by.insert(at, index);
                }
                None => found.stray.push(index),
            }
        }
        found
    }

    fn end(&self, index: usize) -> Option<End> {
        let tag = self.found.get(index)?;
        Some(End {
            span: tag.at..tag.at + DETAILS_END.len(),
            code: tag.code,
            any: false,
        })
    }

    /// Returns the closing tag between `from` and `limit` that ends a plan in which a fence was
    /// left open.
    ///
    /// This is the last one with a blank line above it, as in a frame; those above it are quoted in
    /// the fence.
    fn hidden(&self, text: &str, from: usize, limit: Option<usize>) -> Option<End> {
        let start = self
            .all
            .partition_point(|index| self.found[*index].at < from);
        let end = limit.map_or(self.all.len(), |limit| {
            self.all
                .partition_point(|index| self.found[*index].at < limit)
        });
        let tags = self.all.get(start..end)?;
        let framed = tags.iter().rev().take(MAX_TRIES).find(|index| {
            let above = &text[from..self.found[**index].at];
            above.ends_with("\n\n") || above.ends_with("\n\r\n")
        });
        let first = *tags.first()?;
        // One outside code takes precedence over those in code below it.
        if !self.found[first].code {
            return self.end(first);
        }
        self.end(*framed.unwrap_or(&first))
    }

    /// Returns the tag outside code that closes the element opened at `at`.
    ///
    /// Unbalanced tags belong to the plan: then it is the last closing tag before `next`, where
    /// another block begins. If there is none before `next`, that block is quoted in the plan,
    /// provided that the element is closed after it.
    fn closing(&self, at: usize, next: Option<usize>) -> Option<End> {
        let ends = |index: usize| next.is_none_or(|next| self.found[index].at < next);
        let closing = self.closed_by.get(&at).copied();
        let last = |tags: &[usize]| {
            let after = tags.partition_point(|index| ends(*index));
            after
                .checked_sub(1)
                .and_then(|last| tags.get(last).copied())
        };
        let Some(matching) = closing.filter(|index| ends(*index)) else {
            return last(&self.closing)
                .and_then(|index| self.end(index))
                .filter(|end| end.span.start > at)
                .or_else(|| self.end(closing?));
        };
        self.end(
            last(&self.stray)
                .filter(|stray| *stray > matching)
                .unwrap_or(matching),
        )
    }
}
