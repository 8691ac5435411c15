//! HTML as CommonMark and as browsers read it: tags, comments, character references, and the seven
//! kinds of HTML blocks.

use std::ops::Range;

use memchr::memmem;

/// Rules by which a tag is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Inline HTML in Markdown, which is strict: <https://spec.commonmark.org/0.31.2/#raw-html>. A
    /// line break inside a tag may be followed by the `>` of a block quote.
    CommonMark,
    /// The tokenizer of browsers, which accepts almost anything:
    /// <https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state>.
    Browser,
}

/// A tag. All ranges are byte ranges of the parsed text.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) closing: bool,
    pub(crate) name: Range<usize>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) end: TagEnd,
}

/// An attribute of a tag.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) name: Range<usize>,
    /// The whole attribute, including the white space before it.
    pub(crate) span: Range<usize>,
}

/// How a tag ends. Only [`Syntax::Browser`] yields tags that are not closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TagEnd {
    /// With a `>`, which directly follows this range of white space.
    Closed(Range<usize>),
    /// The text ends inside the tag.
    Unclosed,
    /// The text ends inside an attribute value that is quoted with this byte.
    UnclosedQuote(u8),
}

impl TagEnd {
    /// Returns the offset after the `>`.
    pub(crate) fn offset(&self) -> Option<usize> {
        match self {
            Self::Closed(space) => Some(space.end + 1),
            Self::Unclosed | Self::UnclosedQuote(_) => None,
        }
    }
}

/// Parses the tag whose `<` is at byte `at`.
pub(crate) fn tag(text: &[u8], at: usize, syntax: Syntax) -> Option<Tag> {
    let strict = syntax == Syntax::CommonMark;
    let closing = text.get(at + 1) == Some(&b'/');
    let start = at + 1 + usize::from(closing);
    if !text.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let name = start..skip(text, start, |byte| match syntax {
        Syntax::CommonMark => byte.is_ascii_alphanumeric() || byte == b'-',
        Syntax::Browser => !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>'),
    });
    let mut attributes = Vec::new();
    let mut next = name.end;
    let end = loop {
        let gap = next;
        next = skip_space(text, gap, syntax);
        match text.get(next) {
            Some(b'>') => break TagEnd::Closed(gap..next),
            None if strict => return None,
            None => break TagEnd::Unclosed,
            Some(b'/') => {
                next += 1;
                if strict && (closing || text.get(next) != Some(&b'>')) {
                    return None;
                }
            }
            Some(_) if strict && (closing || gap == next) => return None,
            Some(_) => match attribute(text, next, syntax) {
                Ok((name, end)) => {
                    let span = gap..end;
                    attributes.push(Attribute { name, span });
                    next = end;
                }
                Err(Some(quote)) if !strict => break TagEnd::UnclosedQuote(quote),
                Err(_) => return None,
            },
        }
    };
    Some(Tag {
        closing,
        name,
        attributes,
        end,
    })
}

/// Parses the attribute at byte `at`: the range of its name, and where it ends.
///
/// Fails with the quotation mark that is not closed, or `None` where CommonMark allows no
/// attribute.
fn attribute(text: &[u8], at: usize, syntax: Syntax) -> Result<(Range<usize>, usize), Option<u8>> {
    let strict = syntax == Syntax::CommonMark;
    let starts_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':');
    if strict && !text.get(at).is_some_and(starts_name) {
        return Err(None);
    }
    let end = skip(text, at + 1, |byte| match syntax {
        Syntax::CommonMark => {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-')
        }
        Syntax::Browser => !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'='),
    });
    let name = at..end;
    let equals = skip_space(text, end, syntax);
    if text.get(equals) != Some(&b'=') {
        return Ok((name, end));
    }
    let value = skip_space(text, equals + 1, syntax);
    if let Some(quote @ (b'"' | b'\'')) = text.get(value) {
        let close = memchr::memchr(*quote, &text[value + 1..]).ok_or(Some(*quote))?;
        return Ok((name, value + 1 + close + 1));
    }
    let end = skip(text, value, |byte| match syntax {
        Syntax::CommonMark => {
            !is_space(byte) && !matches!(byte, b'"' | b'\'' | b'=' | b'<' | b'>' | b'`')
        }
        Syntax::Browser => !byte.is_ascii_whitespace() && byte != b'>',
    });
    if strict && end == value {
        return Err(None);
    }
    Ok((name, end))
}

/// Returns the offset of the first byte from `from` on that does not match.
fn skip(text: &[u8], from: usize, matches: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| matches(**byte)).count()
}

/// Skips white space; in Markdown up to an empty line, and including the marks of block quotes.
fn skip_space(text: &[u8], from: usize, syntax: Syntax) -> usize {
    if syntax == Syntax::Browser {
        return skip(text, from, |byte| byte.is_ascii_whitespace());
    }
    let mut at = from;
    while let Some(byte) = text.get(at) {
        if *byte == b'\n' {
            at += 1;
            if text.get(at) == Some(&b'\n') {
                return at;
            }
            let marks = &text[at..skip(text, at, |byte| matches!(byte, b' ' | b'>'))];
            at += marks
                .iter()
                .rposition(|byte| *byte == b'>')
                .map_or(0, |last| last + 1);
        } else if is_space(*byte) {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// White space inside a line, as CommonMark's grammar of tags has it.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// Returns the length of the comment that begins `text`, which starts with `<!--`, as browsers find
/// its end.
pub(crate) fn comment(text: &str) -> Option<usize> {
    let text = text.as_bytes();
    let ends = |at: &usize| {
        // `<!-->` and `<!--->` are whole comments, but `<!--!>` and `<!---!>` are not.
        text[..*at].ends_with(b"--") || *at >= "<!----!".len() && text[..*at].ends_with(b"--!")
    };
    memchr::memchr_iter(b'>', text).find(ends).map(|at| at + 1)
}

/// A numeric character reference such as `&#64;` or `&#x40`.
#[derive(Debug)]
pub(crate) struct NumericReference {
    pub(crate) character: char,
    /// Length of the reference in bytes, including the semicolon.
    pub(crate) length: usize,
    /// Whether it ends with a semicolon. Markdown requires one, a browser does not.
    pub(crate) terminated: bool,
}

/// Parses the numeric character reference at the start of `text`, with any number of leading zeros:
/// <https://html.spec.whatwg.org/multipage/parsing.html#numeric-character-reference-state>.
pub(crate) fn numeric_reference(text: &str) -> Option<NumericReference> {
    let number = text.strip_prefix("&#")?;
    let hex = number.strip_prefix(['x', 'X']);
    let (digits, radix) = hex.map_or((number, 10), |digits| (digits, 16));
    let after = digits.trim_start_matches(|c: char| c.is_digit(radix));
    if after.len() == digits.len() {
        return None;
    }
    let code = digits[..digits.len() - after.len()]
        .chars()
        .filter_map(|c| c.to_digit(radix))
        .fold(0_u32, |code, digit| {
            code.saturating_mul(radix).saturating_add(digit)
        });
    let terminated = after.starts_with(';');
    Some(NumericReference {
        character: char::from_u32(code)?,
        length: text.len() - after.len() + usize::from(terminated),
        terminated,
    })
}

/// A kind of HTML block, in the order in which CommonMark numbers them:
/// <https://spec.commonmark.org/0.31.2/#html-blocks>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HtmlBlock {
    /// `<script>`, `<pre>`, `<style>`, `<textarea>`.
    Verbatim,
    /// `<!--`.
    Comment,
    /// `<?`.
    Instruction,
    /// `<!` and a letter.
    Declaration,
    /// `<![CDATA[`.
    CData,
    /// A tag of a block element.
    Block,
    /// Any other tag, alone on its line.
    Tag,
}

impl HtmlBlock {
    /// Returns the kind with this CommonMark number if its blocks may contain empty lines and do
    /// not end where a comment ends.
    pub(crate) fn multiline(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Verbatim),
            3 => Some(Self::Instruction),
            5 => Some(Self::CData),
            _ => None,
        }
    }

    /// Whether an empty line ends the block.
    pub(super) fn ends_at_blank(self) -> bool {
        matches!(self, Self::Block | Self::Tag)
    }

    /// Whether the block ends with `line`, which may be its first one.
    pub(crate) fn ends_in(self, line: &[u8]) -> bool {
        match self {
            Self::Verbatim => memmem::find_iter(line, b"</").any(|at| {
                let name = at + 2..skip(line, at + 2, |byte| byte.is_ascii_alphabetic());
                line.get(name.end) == Some(&b'>') && contains(VERBATIM, &line[name])
            }),
            Self::Comment => memchr::memchr_iter(b'>', line).any(|at| line[..at].ends_with(b"--")),
            Self::Instruction => memmem::find(line, b"?>").is_some(),
            Self::Declaration => line.contains(&b'>'),
            Self::CData => memmem::find(line, b"]]>").is_some(),
            Self::Block | Self::Tag => false,
        }
    }
}

/// Elements of [`HtmlBlock::Verbatim`].
const VERBATIM: &str = "script pre textarea style";

/// Elements of [`HtmlBlock::Block`].
const BLOCK: &str = "\
    address article aside base basefont blockquote body caption center col colgroup dd details \
    dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 \
    h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup \
    option p param search section title summary table tbody td tfoot th thead tr track ul";

/// Whether `name` is one of `names`, which are separated by blanks; case does not matter.
fn contains(names: &str, name: &[u8]) -> bool {
    names
        .split_ascii_whitespace()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns the kind of block that the line `rest` begins. `rest` has neither leading white space
/// nor a line end.
///
/// An [`HtmlBlock::Tag`] does not interrupt a paragraph.
pub(super) fn starts(rest: &[u8]) -> Option<HtmlBlock> {
    let after = rest.strip_prefix(b"<")?;
    match after.first()? {
        b'!' if after.starts_with(b"!--") => Some(HtmlBlock::Comment),
        b'!' if after.get(1).is_some_and(u8::is_ascii_alphabetic) => Some(HtmlBlock::Declaration),
        b'!' => after
            .get(1..8)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"[CDATA["))
            .then_some(HtmlBlock::CData),
        b'?' => Some(HtmlBlock::Instruction),
        _ => {
            let closing = after.starts_with(b"/");
            let start = usize::from(closing);
            let end = skip(after, start, |byte| byte.is_ascii_alphanumeric());
            let (name, tail) = (&after[start..end], &after[end..]);
            let ends = tail
                .first()
                .is_none_or(|byte| is_space(*byte) || *byte == b'>');
            if !closing && ends && contains(VERBATIM, name) {
                Some(HtmlBlock::Verbatim)
            } else if (ends || tail.starts_with(b"/>")) && contains(BLOCK, name) {
                Some(HtmlBlock::Block)
            } else {
                let end = tag(rest, 0, Syntax::CommonMark)?.end.offset()?;
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c');
                rest[end..].iter().all(blank).then_some(HtmlBlock::Tag)
            }
        }
    }
}
