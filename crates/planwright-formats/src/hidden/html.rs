//! Hidden comments, tags and character references.

use memchr::memmem;

use super::{Edits, Regions, is_invisible};
use crate::markdown::html::{self, Attribute, Syntax, TagEnd};
use crate::markdown::is_escaped;

/// Attributes whose effect people see and that hold no sentences.
const VISIBLE_ATTRIBUTES: [&str; 13] = [
    "align", "checked", "colspan", "disabled", "height", "href", "open", "reversed", "rowspan",
    "src", "start", "type", "width",
];

/// Maximum length of an unknown tag's name, in bytes. Tags such as `<String>`, where backticks were
/// forgotten, stay.
const MAX_TAG_NAME: usize = 24;

/// Finds what is hidden in the HTML of `text`.
pub(super) fn pass(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains('<') {
        return edits;
    }
    let regions = Regions::new(text);
    let ends = Ends::new(text);
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let here = at + found;
        if let Some(end) = regions.code_at(here) {
            at = end;
            continue;
        }
        let raw = regions.raw_at(here);
        // A backslash has no effect in raw HTML.
        if raw.is_none() && is_escaped(text, here) {
            at = here + 1;
            continue;
        }
        at = match construct(text, here, raw, (&regions, &ends)) {
            Some(end) => {
                edits.remove_between(text, here..end);
                end
            }
            None => tag(text, here, raw, &regions, &mut edits).unwrap_or(here + 1),
        };
    }
    edits
}

/// The places where a construct can end, each list in order.
struct Ends {
    /// `-->`, `]]>`, `?>`, `>`.
    closers: [(&'static str, Vec<usize>); 4],
    /// Ends of paragraphs.
    blanks: Vec<usize>,
}

impl Ends {
    fn new(text: &str) -> Self {
        let places =
            |what: &str| memmem::find_iter(text.as_bytes(), what.as_bytes()).collect::<Vec<_>>();
        Self {
            closers: ["-->", "]]>", "?>", ">"].map(|close| (close, places(close))),
            blanks: places("\n\n"),
        }
    }

    /// Returns the end of the next `closers[kind]` from byte `from` on in the same paragraph.
    fn in_paragraph(&self, kind: usize, from: usize) -> Option<usize> {
        let next = |places: &[usize]| places.get(places.partition_point(|at| *at < from)).copied();
        let (close, places) = &self.closers[kind];
        let end = next(places)?;
        next(&self.blanks)
            .is_none_or(|blank| end < blank)
            .then_some(end + close.len())
    }
}

/// Returns the end of the comment or other construct that begins at `at`. In raw HTML it need not
/// be closed.
fn construct(
    text: &str,
    at: usize,
    raw: Option<usize>,
    (regions, ends): (&Regions, &Ends),
) -> Option<usize> {
    let rest = &text[at..];
    let letter = rest.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic);
    let (open, kind) = if rest.starts_with("<!--") {
        // These are whole comments.
        for whole in ["<!-->", "<!--->"] {
            if rest.starts_with(whole) {
                return Some(at + whole.len());
            }
        }
        (4, 0)
    } else if rest.starts_with("<![CDATA[") {
        (9, 1)
    } else if rest.starts_with("<?") {
        (2, 2)
    } else if rest.starts_with("<!") && (letter || raw.is_some()) {
        (2, 3)
    } else {
        return None;
    };
    match raw {
        // The bracket of an unclosed one is visible.
        None => ends.in_paragraph(kind, at + open),
        Some(_) => Some(end_in_page(text, at + open, ends.closers[kind].0, regions)),
    }
}

/// Maximum distance, in bytes, at which a `<` that lets raw HTML into a paragraph is searched for.
const MAX_LOOK_BACK: usize = 2_000;

/// Returns the end of a construct that began in raw HTML, as a browser finds it in the page: in raw
/// HTML, or after a `<` in a paragraph. Elsewhere in a paragraph, Markdown escapes `close`, so it
/// ends nothing.
fn end_in_page(text: &str, from: usize, close: &str, regions: &Regions) -> usize {
    for found in memmem::find_iter(&text.as_bytes()[from..], close) {
        let at = from + found;
        let before = &text.as_bytes()[from.max(at.saturating_sub(MAX_LOOK_BACK))..at];
        let paragraph = memmem::rfind(before, b"\n\n").unwrap_or(0);
        if regions.raw_at(at).is_some()
            || regions.code_at(at).is_none() && memchr::memchr(b'<', &before[paragraph..]).is_some()
        {
            return at + close.len();
        }
    }
    text.len()
}

/// Removes the hidden attributes of the tag at `at`, or all of it where its name is hidden text.
/// Returns where it ends; `None` when there is no tag.
fn tag(
    text: &str,
    at: usize,
    raw: Option<usize>,
    regions: &Regions,
    edits: &mut Edits,
) -> Option<usize> {
    let limit = raw.unwrap_or(text.len());
    let syntax = if raw.is_some() {
        Syntax::Browser
    } else {
        Syntax::CommonMark
    };
    let tag = html::tag(&text.as_bytes()[..limit], at, syntax)?;
    let space = match tag.end {
        TagEnd::Closed(space) => space,
        // Never closed: a browser swallows the rest.
        TagEnd::Unclosed => {
            edits.remove_between(text, at..limit);
            return Some(limit);
        }
        // On the page the attribute continues up to the next quotation mark in raw HTML.
        TagEnd::UnclosedQuote(quote) => {
            let end = end_in_page(text, limit, &char::from(quote).to_string(), regions);
            edits.remove_between(text, at..end);
            return Some(end);
        }
    };
    let end = space.end + 1;
    let name = &text[tag.name];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if name.len() > MAX_TAG_NAME || name.matches('-').count() > 1 || !name.bytes().all(plain) {
        edits.remove_between(text, at..end);
        return Some(end);
    }
    let is_visible = |attribute: &Attribute| {
        let name = &text[attribute.name.clone()];
        !tag.closing
            && VISIBLE_ATTRIBUTES
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    };
    let attributes = tag.attributes.iter();
    let hidden = attributes.filter(|attribute| !is_visible(attribute));
    let mut hidden: Vec<_> = hidden.map(|attribute| attribute.span.clone()).collect();
    if !hidden.is_empty() {
        hidden.push(space);
    }
    for range in hidden {
        edits.remove(range);
    }
    Some(end)
}

/// Named character references to invisible characters.
const NAMED: [&str; 18] = [
    "&shy;",
    "&shy",
    "&ZeroWidthSpace;",
    "&zwj;",
    "&zwnj;",
    "&lrm;",
    "&rlm;",
    "&NoBreak;",
    "&it;",
    "&InvisibleTimes;",
    "&ic;",
    "&InvisibleComma;",
    "&af;",
    "&ApplyFunction;",
    "&NegativeVeryThinSpace;",
    "&NegativeThinSpace;",
    "&NegativeMediumSpace;",
    "&NegativeThickSpace;",
];

/// Finds character references to invisible characters.
pub(super) fn references(text: &str) -> Edits {
    let mut edits = Edits::default();
    if !text.contains('&') {
        return edits;
    }
    let regions = Regions::new(text);
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if regions.code_at(at).is_some() {
            continue;
        }
        // The semicolon may be missing in raw HTML.
        let numeric = html::numeric_reference(&text[at..])
            .filter(|reference| is_invisible(reference.character))
            .map(|reference| reference.length);
        let named = || NAMED.iter().find(|name| text[at..].starts_with(**name));
        if let Some(length) = numeric.or_else(|| named().map(|name| name.len())) {
            edits.remove(at..at + length);
        }
    }
    edits
}
