//! Determines what a browser has open at the end of a rendered text, so that it can be closed
//! before the frame is.
//!
//! This is not a whole HTML parser: tags, quotes and comments are parsed exactly, nesting by the
//! rules for elements "in scope" of the HTML standard (§ 13.2.4.2). A closing tag too many or too
//! few does no harm: it comes right before the frame's.

use std::collections::HashMap;

use memchr::memchr;

use crate::markdown::html::{self, Syntax, TagEnd};

/// What is open at the end of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OpenHtml {
    /// Whether a comment, a declaration or a tag is open.
    pub(super) in_markup: bool,
    /// Whether an element is open that ends with the one around it.
    pub(super) in_element: bool,
    /// Names of open elements, innermost first, that the end of an element around them would not
    /// close, or that it would close instead of that element.
    pub(super) names: Vec<String>,
}

/// Returns what is open at the end of `html`. Linear.
pub(super) fn open_at_end(html: &str) -> OpenHtml {
    let html = html.to_ascii_lowercase();
    let mut stack = Stack::default();
    let mut at = 0;
    let mut in_markup = false;
    while let Some(found) = memchr(b'<', &html.as_bytes()[at..]) {
        at += found;
        let rest = &html[at..];
        let end = if rest.starts_with("<!--") {
            html::comment(rest).map(|length| at + length)
        } else if is_filtered(&rest[1..]) {
            Some(at + 1)
        } else if let Some(tag) = html::tag(html.as_bytes(), at, Syntax::Browser) {
            let attributes =
                !tag.attributes.is_empty() || matches!(tag.end, TagEnd::UnclosedQuote(_));
            stack.tag(&html[tag.name], tag.closing, attributes);
            tag.end.offset()
        } else if rest[1..].starts_with(['/', '!', '?']) {
            memchr(b'>', rest.as_bytes()).map(|end| at + end + 1)
        } else {
            Some(at + 1)
        };
        let Some(end) = end else {
            in_markup = true;
            break;
        };
        at = end;
    }
    OpenHtml {
        in_markup,
        in_element: stack.cut_short || !stack.names.is_empty() || !stack.unknown.is_empty(),
        names: stack.unclosed(),
    }
}

/// Tags, separated by blanks, that GitHub shows as text:
/// <https://github.github.com/gfm/#disallowed-raw-html-extension->.
const FILTERED: &str = "iframe noembed noframes plaintext script style textarea title xmp";

/// Returns whether GitHub shows the tag, of which `text` is what follows the `<`, as text.
fn is_filtered(text: &str) -> bool {
    let name = text.strip_prefix('/').unwrap_or(text);
    FILTERED.split(' ').any(|filtered| {
        let rest = name.strip_prefix(filtered);
        rest.is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '>', '/']))
    })
}

/// How an element interacts with those around it.
enum ElementKind {
    /// Its formatting continues after the end of the element around it.
    Formatting,
    /// A scope: keeps the closing tags of others from reaching what is around it.
    Scope,
    /// Ends with the element around it, and ends those inside it.
    Block,
    /// Has no end.
    Void,
    Unknown,
}

impl ElementKind {
    fn new(name: &str) -> Self {
        match name {
            "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small"
            | "strike" | "strong" | "tt" | "u" => Self::Formatting,
            "applet" | "caption" | "marquee" | "object" | "select" | "table" | "td"
            | "template" | "th" => Self::Scope,
            "address" | "article" | "aside" | "blockquote" | "center" | "dd" | "details"
            | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure"
            | "footer" | "form" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup"
            | "li" | "main" | "menu" | "nav" | "ol" | "p" | "pre" | "search" | "section"
            | "summary" | "tbody" | "tfoot" | "thead" | "tr" | "ul" => Self::Block,
            "area" | "base" | "basefont" | "bgsound" | "br" | "col" | "embed" | "frame" | "hr"
            | "image" | "img" | "input" | "keygen" | "link" | "meta" | "param" | "source"
            | "track" | "wbr" => Self::Void,
            _ => Self::Unknown,
        }
    }
}

/// Parts of tables, whose tags reach through cells up to the table.
const TABLE: &[&str] = &[
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "caption",
];

/// Open formatting elements of one name.
struct Formatting<'a> {
    name: &'a str,
    /// The number of [`Stack::cells`] around it.
    level: usize,
    count: usize,
}

/// The open elements.
#[derive(Default)]
struct Stack<'a> {
    /// Names of scopes and blocks, outermost first.
    names: Vec<&'a str>,
    /// The indices of each name in `names`.
    places: HashMap<&'a str, Vec<usize>>,
    /// Indices of the scopes in `names`.
    scopes: Vec<usize>,
    formatting: Vec<Formatting<'a>>,
    /// Indices in `names` of the elements that formatting does not leave.
    cells: Vec<usize>,
    /// Whether the frame itself has been closed.
    outside: bool,
    /// Whether elements were open when the frame was closed.
    cut_short: bool,
    /// Names of unknown elements outside the frame; inside it, its end closes them.
    unknown: Vec<&'a str>,
}

impl<'a> Stack<'a> {
    fn tag(&mut self, name: &'a str, closing: bool, attributes: bool) {
        match ElementKind::new(name) {
            ElementKind::Formatting => self.format(name, closing, attributes),
            ElementKind::Scope | ElementKind::Block if closing => self.close(name),
            ElementKind::Scope | ElementKind::Block => self.open(name),
            ElementKind::Unknown if self.outside && closing => {
                self.unknown.pop_if(|last| *last == name);
            }
            ElementKind::Unknown if self.outside => self.unknown.push(name),
            ElementKind::Unknown | ElementKind::Void => {}
        }
    }

    fn format(&mut self, name: &'a str, closing: bool, attributes: bool) {
        let level = self.cells.len();
        let here = self.formatting.iter_mut().rev();
        let found = here
            .take_while(|other| other.level == level)
            .find(|other| other.name == name);
        let Some(Formatting { count, .. }) = found else {
            if !closing {
                let count = 1;
                self.formatting.push(Formatting { name, level, count });
            }
            return;
        };
        *count = match (closing, name) {
            (true, _) => count.saturating_sub(1),
            // The second one closes the first.
            (false, "a" | "nobr") => 1,
            // "Noah's Ark clause": at most three of the same continue.
            (false, _) if attributes || *count < 3 => *count + 1,
            (false, _) => *count,
        };
    }

    fn last(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.last().copied()
    }

    fn open(&mut self, name: &'a str) {
        let scope = self.scopes.last().map(|scope| self.names[*scope]);
        let is_scope = matches!(ElementKind::new(name), ElementKind::Scope);
        // Parts of a table have no effect outside one.
        if TABLE.contains(&name)
            && name != "table"
            && !scope.is_some_and(|scope| TABLE.contains(&scope))
        {
            return;
        }
        if !is_scope || name == "table" {
            self.close("p");
        }
        if is_scope {
            self.scopes.push(self.names.len());
            if !matches!(name, "table" | "select") {
                self.cells.push(self.names.len());
            }
        }
        self.places.entry(name).or_default().push(self.names.len());
        self.names.push(name);
    }

    fn close(&mut self, name: &str) {
        let Some(place) = self.last(name) else {
            if name == "details" && self.scopes.is_empty() && !self.outside {
                self.outside = true;
                self.cut_short = !self.names.is_empty();
                self.names.clear();
                self.places.clear();
            }
            return;
        };
        let scope = if name == "table" {
            None
        } else if TABLE.contains(&name) {
            self.last("table")
        } else {
            self.scopes.last().copied()
        };
        if scope.is_some_and(|scope| scope > place) {
            return;
        }
        for name in self.names.drain(place..) {
            self.places.entry(name).or_default().pop();
        }
        while self.scopes.pop_if(|scope| *scope >= place).is_some() {}
        while self.cells.pop_if(|cell| *cell >= place).is_some() {}
        let level = self.cells.len();
        let inside = |formatting: &mut Formatting<'_>| formatting.level > level;
        while self.formatting.pop_if(inside).is_some() {}
    }

    fn unclosed(self) -> Vec<String> {
        // Formatting in a cell ends with it.
        let formatting = self.formatting.into_iter().filter(|open| open.level == 0);
        let formatting = formatting.flat_map(|open| std::iter::repeat_n(open.name, open.count));
        let closes = |name: &&str| match *name {
            // Another paragraph ends it, and its closing tag would open one.
            "p" | "caption" | "td" | "th" => false,
            "details" => true,
            name => self.outside || matches!(ElementKind::new(name), ElementKind::Scope),
        };
        let elements = self.names.into_iter().rev().filter(closes);
        let unknown = self.unknown.into_iter().rev();
        unknown
            .chain(elements)
            .chain(formatting)
            .map(str::to_owned)
            .collect()
    }
}
