//! What a browser has open at the end of a rendered text, so that it can be closed before the frame is.
//!
//! Not a whole HTML parser: tags, quotes and comments are read exactly, nesting by the rules for elements "in scope" of
//! the HTML standard (§ 13.2.4.2). A closing tag too many or too few does no harm: it stands right before the frame's.

use std::collections::HashMap;

use memchr::{memchr, memmem};

/// What is open.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// A comment, a declaration or a tag.
    pub(super) unsettled: bool,
    /// An element that ends with the one around it.
    pub(super) element: bool,
    /// Names of elements, in the order in which they are to be closed, that would not be closed by the end of an element around them, or would
    /// be closed in its stead.
    pub(super) names: Vec<String>,
}

/// Reads `html`. Linear.
pub(super) fn open_at_end(html: &str) -> Open {
    let mut stack = Stack::default();
    let bytes = html.as_bytes();
    let mut at = 0;
    let mut unsettled = false;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        at += found;
        let rest = &html[at + 1..];
        let closing = rest.starts_with('/');
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let end = if let Some(text) = rest.strip_prefix("!--") {
            comment(text).map(|end| 4 + end)
        } else if filtered(name) {
            Some(1)
        } else if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (length, attributes) = tag(name);
            stack.tag(name, closing, attributes);
            length.map(|length| 1 + usize::from(closing) + length)
        } else if closing || rest.starts_with(['!', '?']) {
            memchr(b'>', rest.as_bytes()).map(|end| end + 2)
        } else {
            Some(1)
        };
        let Some(end) = end else {
            unsettled = true;
            break;
        };
        at += end;
    }
    Open {
        unsettled,
        element: stack.cut_short || !stack.names.is_empty() || !stack.unknown.is_empty(),
        names: stack.unclosed(),
    }
}

/// Bytes of a comment behind its `<!--`.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with('>') {
        return Some(1);
    }
    if text.starts_with("->") {
        return Some(2);
    }
    for at in memmem::find_iter(text.as_bytes(), b"-") {
        match text.as_bytes().get(at + 1..) {
            Some([b'-', b'>', ..]) => return Some(at + 3),
            Some([b'-', b'!', b'>', ..]) => return Some(at + 4),
            _ => {}
        }
    }
    None
}

/// Bytes of a tag from its name on, and whether it has attributes; no length when it does not end.
fn tag(text: &str) -> (Option<usize>, bool) {
    #[derive(PartialEq)]
    enum At {
        Name,
        Between,
        Attribute,
        Equals,
        Bare,
        Quoted(u8),
    }
    let mut state = At::Name;
    let mut attributes = false;
    for (index, byte) in text.bytes().enumerate() {
        let blank = byte.is_ascii_whitespace();
        state = match state {
            At::Quoted(quote) if byte == quote => At::Between,
            At::Quoted(quote) => At::Quoted(quote),
            _ if byte == b'>' => return (Some(index + 1), attributes),
            At::Name | At::Between | At::Attribute if blank || byte == b'/' => At::Between,
            At::Name => At::Name,
            // Behind a name and blanks, too, `=` gives the attribute its value.
            At::Between if byte == b'=' && attributes => At::Equals,
            At::Attribute if byte == b'=' => At::Equals,
            At::Between | At::Attribute => {
                attributes = true;
                At::Attribute
            }
            At::Equals if blank => At::Equals,
            At::Equals if matches!(byte, b'"' | b'\'') => At::Quoted(byte),
            At::Bare if blank => At::Between,
            At::Equals | At::Bare => At::Bare,
        };
    }
    (None, attributes)
}

/// Tags that GitHub shows as text: <https://github.github.com/gfm/#disallowed-raw-html-extension->.
const FILTERED: &[&str] = &[
    "iframe",
    "noembed",
    "noframes",
    "plaintext",
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
];

fn filtered(name: &str) -> bool {
    FILTERED.iter().any(|filtered| {
        let found = name.get(..filtered.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(filtered))
            && name[filtered.len()..].starts_with([' ', '\t', '\n', '>', '/'])
    })
}

/// Elements whose formatting goes on behind the end of the element around them.
const FORMATTING: &[&str] = &[
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Elements that keep the closing tags of others from reaching what is around them.
const WALLS: &[&str] = &[
    "applet", "caption", "marquee", "object", "select", "table", "td", "template", "th",
];

/// Elements that end with the one around them, and end those in them.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
];

/// Parts of tables, whose tags reach through cells up to the table.
const TABLE: &[&str] = &[
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "caption",
];

struct Formatting {
    name: &'static str,
    /// How many of [`Stack::cells`] it is in.
    level: usize,
    count: usize,
}

/// Elements without an end.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
    "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
];

#[derive(Default)]
struct Stack {
    names: Vec<&'static str>,
    /// Where in `names` each of them is.
    places: HashMap<&'static str, Vec<usize>>,
    walls: Vec<usize>,
    formatting: Vec<Formatting>,
    /// How many elements are open that keep formatting in: where each is in `names`.
    cells: Vec<usize>,
    /// The frame itself has been closed.
    outside: bool,
    /// Elements were open when it was.
    cut_short: bool,
    /// Names of open elements that HTML does not know. Inside the frame its end closes them.
    unknown: Vec<String>,
}

impl Stack {
    fn tag(&mut self, text: &str, closing: bool, attributes: bool) {
        let length = text
            .bytes()
            .take(12)
            .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/'))
            .count();
        let is = |name: &&&'static str| name.eq_ignore_ascii_case(&text[..length]);
        if !text.is_char_boundary(length) {
            return;
        }
        if let Some(name) = FORMATTING.iter().find(is) {
            self.format(name, closing, attributes);
        } else if let Some(name) = WALLS.iter().chain(BLOCKS).find(is) {
            if closing {
                self.close(name);
            } else {
                self.open(name);
            }
        } else if self.outside {
            self.pass(text, closing);
        }
    }

    /// An element that HTML does not know, outside the frame.
    fn pass(&mut self, text: &str, closing: bool) {
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/' | '\0');
        let name = text[..text.find(ends).unwrap_or(text.len())].to_ascii_lowercase();
        if VOID.contains(&&*name) {
            return;
        }
        if !closing {
            self.unknown.push(name);
        } else if self.unknown.last() == Some(&name) {
            self.unknown.pop();
        }
    }

    fn format(&mut self, name: &'static str, closing: bool, attributes: bool) {
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
            (false, _) if attributes => *count + 1,
            // "Noah's Ark": no more than three of the same go on.
            (false, _) if *count < 3 => *count + 1,
            (false, _) => *count,
        };
    }

    fn last(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.last().copied()
    }

    fn open(&mut self, name: &'static str) {
        let wall = self.walls.last().and_then(|wall| self.names.get(*wall));
        // Outside a table its parts are nothing.
        if TABLE.contains(&name)
            && name != "table"
            && !wall.is_some_and(|wall| TABLE.contains(wall))
        {
            return;
        }
        if name != "p" && !WALLS.contains(&name) || matches!(name, "p" | "table") {
            self.close("p");
        }
        if WALLS.contains(&name) {
            self.walls.push(self.names.len());
            if !matches!(name, "table" | "select") {
                self.cells.push(self.names.len());
            }
        }
        self.places.entry(name).or_default().push(self.names.len());
        self.names.push(name);
    }

    fn close(&mut self, name: &'static str) {
        let Some(place) = self.last(name) else {
            if name == "details" && self.walls.is_empty() && !self.outside {
                self.outside = true;
                self.cut_short = !self.names.is_empty();
                self.names.clear();
                self.places.clear();
            }
            return;
        };
        let wall = if name == "table" {
            None
        } else if TABLE.contains(&name) {
            self.last("table")
        } else {
            self.walls.last().copied()
        };
        if wall.is_some_and(|wall| wall > place) {
            return;
        }
        while self.names.len() > place {
            if let Some(name) = self.names.pop() {
                self.places.entry(name).or_default().pop();
            }
            if self.walls.last() == Some(&self.names.len()) {
                self.walls.pop();
            }
            if self.cells.last() == Some(&self.names.len()) {
                self.cells.pop();
                let level = self.cells.len();
                while self
                    .formatting
                    .pop_if(|inner| inner.level > level)
                    .is_some()
                {}
            }
        }
    }

    fn unclosed(self) -> Vec<String> {
        // What is in a cell ends with it.
        let formatting = self.formatting.into_iter().filter(|open| open.level == 0);
        let formatting = formatting.flat_map(|open| std::iter::repeat_n(open.name, open.count));
        let closes = |name: &&str| match *name {
            // Another paragraph ends it, and its closing tag would make one.
            "p" | "caption" | "td" | "th" => false,
            name => self.outside || name == "details" || WALLS.contains(&name),
        };
        let elements = self.names.into_iter().rev().filter(closes);
        let known = elements.chain(formatting).map(str::to_owned);
        self.unknown.into_iter().rev().chain(known).collect()
    }
}
