//! The seven kinds of HTML blocks of CommonMark: how a line begins one, and what ends it.
//! <https://spec.commonmark.org/0.31.2/#html-blocks>

use memchr::memmem;

/// A kind of HTML block; in the order of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<script>`, `<pre>`, `<style>`, `<textarea>`.
    Verbatim,
    /// `<!--`.
    Comment,
    /// `<?`.
    Instruction,
    /// `<!` and a letter.
    Declaration,
    /// `<![CDATA[`.
    Data,
    /// A tag of a block element.
    Block,
    /// Any other tag, alone on its line.
    Tag,
}

impl Kind {
    pub(super) fn ends_at_blank(self) -> bool {
        matches!(self, Self::Block | Self::Tag)
    }

    /// `line`, the first one included, is the last one of the block.
    pub(super) fn ends_in(self, line: &[u8]) -> bool {
        match self {
            Self::Verbatim => memmem::find_iter(line, b"</").any(|at| {
                let rest = &line[at + 2..];
                let name = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count();
                listed(&rest[..name], VERBATIM) && rest.get(name) == Some(&b'>')
            }),
            Self::Comment => memchr::memchr_iter(b'>', line).any(|at| line[..at].ends_with(b"--")),
            Self::Instruction => memmem::find(line, b"?>").is_some(),
            Self::Declaration => line.contains(&b'>'),
            Self::Data => memmem::find(line, b"]]>").is_some(),
            Self::Block | Self::Tag => false,
        }
    }
}

const VERBATIM: &[&str] = &["script", "pre", "textarea", "style"];

const BLOCK: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
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
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "title",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "track",
    "ul",
];

fn listed(name: &[u8], names: &[&str]) -> bool {
    names
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

fn space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c')
}

/// The kind of block that begins with the line `rest` (from its first character that is not white space on, without its
/// line end). [`Kind::Tag`] does not begin one in a paragraph.
pub(super) fn starts(rest: &[u8]) -> Option<Kind> {
    let after = rest.strip_prefix(b"<")?;
    match after.first()? {
        b'!' if after.starts_with(b"!--") => Some(Kind::Comment),
        b'!' if after.get(1).is_some_and(u8::is_ascii_alphabetic) => Some(Kind::Declaration),
        b'!' => after
            .get(1..8)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"[CDATA["))
            .then_some(Kind::Data),
        b'?' => Some(Kind::Instruction),
        _ => {
            let (closing, name) = match after.strip_prefix(b"/") {
                Some(name) => (true, name),
                None => (false, after),
            };
            let length = name
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
            let (name, tail) = name.split_at(length);
            let ends = tail
                .first()
                .is_none_or(|byte| space(*byte) || *byte == b'>');
            if !closing && ends && listed(name, VERBATIM) {
                Some(Kind::Verbatim)
            } else if (ends || tail.starts_with(b"/>")) && listed(name, BLOCK) {
                Some(Kind::Block)
            } else {
                tag(after).then_some(Kind::Tag)
            }
        }
    }
}

/// `after`, what follows a `<`, is a whole tag and then white space only.
fn tag(after: &[u8]) -> bool {
    let closing = after.first() == Some(&b'/');
    let mut rest = after.strip_prefix(b"/").unwrap_or(after);
    if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    rest = skip(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !closing {
        while let Some(next) = attribute(rest) {
            rest = next;
        }
    }
    rest = skip(rest, space);
    if !closing {
        rest = rest.strip_prefix(b"/").unwrap_or(rest);
    }
    rest.strip_prefix(b">").is_some_and(|tail| {
        tail.iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\x0c'))
    })
}

/// What follows the attribute that `rest` begins with, white space before it included.
#[expect(
    clippy::single_match_else,
    reason = "quoted or not: two cases of equal rank"
)]
fn attribute(rest: &[u8]) -> Option<&[u8]> {
    let name = skip(rest, space);
    let begins = name.len() < rest.len()
        && name
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':'));
    if !begins {
        return None;
    }
    let end = skip(name, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'.' | b'_' | b'-')
    });
    let Some(value) = skip(end, space).strip_prefix(b"=") else {
        return Some(end);
    };
    let value = skip(value, space);
    match value.first() {
        Some(quote @ (b'\'' | b'"')) => {
            let close = memchr::memchr(*quote, &value[1..]);
            close.map_or(Some(end), |at| Some(&value[at + 2..]))
        }
        _ => {
            let tail = skip(value, |byte| {
                !space(byte) && !matches!(byte, b'"' | b'\'' | b'=' | b'<' | b'>' | b'`')
            });
            Some(if tail.len() < value.len() { tail } else { end })
        }
    }
}

fn skip(bytes: &[u8], while_: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes
        .iter()
        .position(|byte| !while_(*byte))
        .unwrap_or(bytes.len());
    &bytes[end..]
}
