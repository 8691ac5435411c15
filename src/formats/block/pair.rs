//! Which closing marker belongs to an opening one.

use std::collections::HashMap;
use std::ops::Range;

use super::marker::{Marker, Markers, Name, Tag};

/// The end of a block.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// Of the closing marker or tag.
    pub(super) span: Range<usize>,
    /// It stands in code that began inside the block.
    pub(super) code: bool,
    /// It is the closing marker for any key.
    pub(super) any: bool,
}

/// Closing markers by name, those outside code apart; and the closing tags.
pub(super) struct Closers<'a> {
    text: &'a str,
    visible: HashMap<Name<'a>, Vec<&'a Marker<'a>>>,
    all: HashMap<Name<'a>, Vec<&'a Marker<'a>>>,
    tags: Tags<'a>,
    openers: &'a [Marker<'a>],
    /// Where the openers outside code stand.
    starts: Vec<usize>,
}

impl<'a> Closers<'a> {
    pub(super) fn new(text: &'a str, markers: &'a Markers<'a>) -> Self {
        let mut found = Self {
            text,
            visible: HashMap::new(),
            all: HashMap::new(),
            tags: Tags::new(&markers.tags),
            openers: &markers.openers,
            starts: markers
                .openers
                .iter()
                .filter(|opener| !opener.code)
                .map(|opener| opener.span.start)
                .collect(),
        };
        for closer in &markers.closers {
            if !closer.code {
                found.visible.entry(closer.name).or_default().push(closer);
            }
            found.all.entry(closer.name).or_default().push(closer);
        }
        found
    }

    /// Where the block that `opener` begins ends.
    ///
    /// That is at the first closing marker outside code, as a plan may quote a marker in a fence. When there is none,
    /// or another block opens before it, the fence was left open inside the block and the first one of all is meant.
    pub(super) fn after(&self, opener: &Marker<'_>) -> Option<End> {
        let from = opener.span.end;
        let (first, visible) = if opener.name == Name::OriginalPlan {
            let next = self.starts.partition_point(|start| *start < from);
            (
                self.tags.first(from),
                self.tags
                    .closing(opener.span.start, self.starts.get(next).copied()),
            )
        } else {
            (
                first(&self.all, opener.name, from),
                self.framed(opener.name, from),
            )
        };
        let first = first?;
        let Some(visible) = visible else {
            return Some(first);
        };
        let next = self
            .openers
            .partition_point(|other| other.span.start < first.span.start);
        let between = self
            .openers
            .get(next)
            .is_some_and(|other| other.span.start < visible.span.start);
        Some(if between { first } else { visible })
    }

    /// The first closing marker outside code, but one that the frame's `</details>` stands before, where there is one:
    /// the text inside may quote a marker.
    fn framed(&self, name: Name<'_>, from: usize) -> Option<End> {
        let plain = first(&self.visible, name, from)?;
        let rival = self
            .starts
            .get(self.starts.partition_point(|start| *start < from));
        let alone = |end: &End| rival.is_none_or(|rival| end.span.start < *rival);
        let closes = |end: &End| {
            self.text[from..end.span.start]
                .trim_end()
                .ends_with("</details>")
        };
        if !alone(&plain) || !self.text[from..].trim_start().starts_with("<details") {
            return Some(plain);
        }
        std::iter::successors(Some(plain.clone()), |end| {
            first(&self.visible, name, end.span.end)
        })
        .take(TRIES)
        .take_while(|end| alone(end))
        .find(closes)
        .or(Some(plain))
    }
}

/// So many closing markers are looked at for one that closes the frame. Keeps the work linear.
const TRIES: usize = 8;

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

/// `<details>` elements: which tag closes which.
struct Tags<'a> {
    tags: &'a [Tag],
    /// For each opening tag outside code the index of its closing tag.
    closed_by: HashMap<usize, usize>,
    /// Closing tags outside code.
    closing: Vec<usize>,
    /// Those of them that close nothing.
    stray: Vec<usize>,
}

impl<'a> Tags<'a> {
    fn new(tags: &'a [Tag]) -> Self {
        let mut open = Vec::new();
        let mut found = Self {
            tags,
            closed_by: HashMap::new(),
            closing: Vec::new(),
            stray: Vec::new(),
        };
        for (index, tag) in tags.iter().enumerate().filter(|(_, tag)| !tag.code) {
            if tag.opens {
                open.push(tag.at);
                continue;
            }
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
        let tag = self.tags.get(index)?;
        Some(End {
            span: tag.at..tag.at + "</details>".len(),
            code: tag.code,
            any: false,
        })
    }

    /// The first closing tag of all from byte `from` on.
    fn first(&self, from: usize) -> Option<End> {
        let next = self.tags.partition_point(|tag| tag.at < from);
        let closing = self.tags[next..].iter().position(|tag| !tag.opens)?;
        self.end(next + closing)
    }

    /// The tag outside code that closes the element opened at `at`. Tags that do not match are the plan's own: then the
    /// last closing tag before `next`, where another block begins, is the one.
    fn closing(&self, at: usize, next: Option<usize>) -> Option<End> {
        let ends = |index: usize| next.is_none_or(|next| self.tags[index].at < next);
        let matching = self
            .closed_by
            .get(&at)
            .copied()
            .filter(|index| ends(*index));
        let last = |tags: &[usize]| {
            let after = tags.partition_point(|index| ends(*index));
            after
                .checked_sub(1)
                .and_then(|last| tags.get(last).copied())
        };
        let Some(matching) = matching else {
            return self
                .end(last(&self.closing)?)
                .filter(|end| end.span.start > at);
        };
        self.end(
            last(&self.stray)
                .filter(|stray| *stray > matching)
                .unwrap_or(matching),
        )
    }
}
