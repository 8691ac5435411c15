//! Rendering of plain text as one line of Markdown that parses back to the same text.
//!
//! The unescaped form is tried first. If Markdown would parse it differently, the usual markup
//! characters are escaped, then all ASCII punctuation, finally with character references. A line
//! end in the text is always written `&#10;`, so that every value stays on its line.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use crate::markdown;
use crate::text::one_line;

/// Level of escaping, in the order in which the levels are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Character references for white space that Markdown would change.
    Plain,
    /// A backslash before the usual inline markup characters.
    Usual,
    /// A backslash before every ASCII punctuation character.
    All,
    /// A character reference for every ASCII punctuation character.
    References,
}

impl Escape {
    const LADDER: [Self; 4] = [Self::Plain, Self::Usual, Self::All, Self::References];

    /// Escapes `text`. NUL, which Markdown cannot represent, becomes U+FFFD.
    pub(crate) fn apply(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut before = ' ';
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let edge =
                before.is_whitespace() || rest.peek().is_none_or(|next| next.is_whitespace());
            match c {
                '\0' => out.push('\u{FFFD}'),
                ' ' if !edge => out.push(' '),
                // Parsers drop a byte-order mark at the start of a text.
                '\u{feff}' => reference(&mut out, c),
                c if c.is_whitespace() || c.is_control() => reference(&mut out, c),
                // Not Markdown, and escaping would hide mentions and commands from the code that
                // neutralises them.
                '@' | '/' => out.push(c),
                c if c.is_ascii_punctuation() => match self {
                    Self::Usual if "\\`*_[]<>&~#|!".contains(c) => out.extend(['\\', c]),
                    Self::All => out.extend(['\\', c]),
                    Self::References => reference(&mut out, c),
                    Self::Plain | Self::Usual => out.push(c),
                },
                c => out.push(c),
            }
            before = c;
        }
        out
    }
}

fn reference(out: &mut String, c: char) {
    out.push_str(&format!("&#{};", u32::from(c)));
}

/// Returns the first escaped form of a line that `reads_back`, or the last form if none does.
pub(crate) fn line(write: impl Fn(Escape) -> String, reads_back: impl Fn(&str) -> bool) -> String {
    Escape::LADDER
        .into_iter()
        .map(&write)
        .find(|line| reads_back(&format!("{line}\n")))
        .unwrap_or_else(|| write(Escape::References))
}

/// A list item, split into its leading bold words and the text after them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Item {
    /// Text of a leading `**…**`, if there is one.
    pub(crate) label: Option<String>,
    /// The other text of the item's first paragraph.
    pub(crate) text: String,
}

impl Item {
    /// Returns the value after `**label**: `.
    pub(super) fn value(&self) -> &str {
        self.text
            .strip_prefix(": ")
            .or_else(|| self.text.strip_prefix(':'))
            .unwrap_or(&self.text)
    }
}

/// A heading or a list at the top level of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Level and text.
    Heading(u8, String),
    /// Items in order.
    List(Vec<Item>),
}

/// Parses the headings and lists at the top level of `source`.
pub(crate) fn pieces(source: &str) -> Vec<Piece> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, source);
    root.children()
        .filter_map(|node| match &node.data().value {
            NodeValue::Heading(heading) => Some(Piece::Heading(heading.level, node.collect_text())),
            NodeValue::List(_) => Some(Piece::List(node.children().map(item).collect())),
            _ => None,
        })
        .collect()
}

fn item<'a>(node: &'a AstNode<'a>) -> Item {
    let mut found = Item::default();
    let Some(paragraph) = node
        .first_child()
        .filter(|child| matches!(child.data().value, NodeValue::Paragraph))
    else {
        return found;
    };
    for (index, child) in paragraph.children().enumerate() {
        if index == 0 && matches!(child.data().value, NodeValue::Strong) {
            found.label = Some(child.collect_text());
        } else {
            child.collect_text_append(&mut found.text);
        }
    }
    found
}

/// Renders a line of plain text as Markdown that displays exactly that text, as a paragraph and as
/// a list item.
pub(crate) fn shown(text: &str) -> String {
    let item = Item {
        label: None,
        text: text.to_owned(),
    };
    line(
        |escape| escape.apply(text),
        |line| {
            plain(line) == text
                && pieces(line).is_empty()
                && pieces(&format!("- {line}")) == [Piece::List(vec![item.clone()])]
        },
    )
}

/// Returns the text of a Markdown fragment without markup, on one line.
pub(super) fn plain(source: &str) -> String {
    let arena = Arena::new();
    let root = markdown::parse(&arena, source);
    let texts: Vec<String> = root.children().map(AstNode::collect_text).collect();
    one_line(&texts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain() {
        for text in [
            "Add CSV export",
            "Fix a_b_c in src/a_b.rs (#12)",
            "Is 3 < 4?",
            "Über-Plan: é",
        ] {
            let written = line(
                |e| format!("# {}", e.apply(text)),
                |l| pieces(l) == [Piece::Heading(1, text.to_owned())],
            );
            assert_eq!(written, format!("# {text}"));
        }
    }

    #[test]
    fn markup_is_escaped_only_when_it_would_be_read() {
        let text = "Use Vec<String> and *stars*";
        let written = line(
            |e| format!("# {}", e.apply(text)),
            |l| pieces(l) == [Piece::Heading(1, text.to_owned())],
        );
        assert_eq!(written, "# Use Vec\\<String\\> and \\*stars\\*");
    }

    #[test]
    fn text_is_shown_as_it_is_wherever_it_stands() {
        for (text, written) in [
            (
                "Keep it simple, e.g. a_b (#4)",
                "Keep it simple, e.g. a_b (#4)",
            ),
            ("Close <details> early", "Close \\<details\\> early"),
            ("1. is not a list", "1\\. is not a list"),
            ("> said **she**", "\\> said \\*\\*she\\*\\*"),
            ("[ ] is a box", "\\[ \\] is a box"),
            ("**all of it**", "\\*\\*all of it\\*\\*"),
            ("@mira, see <b> 1.", "@mira, see \\<b\\> 1."),
        ] {
            assert_eq!(shown(text), written);
        }
    }

    #[test]
    fn markup_is_removed() {
        assert_eq!(plain("**Add** `x`\nto [y](z)"), "Add x to y");
    }
}
