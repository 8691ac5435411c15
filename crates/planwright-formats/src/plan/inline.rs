//! Plain text written as one line of Markdown, such that the tree gives the same text back.
//!
//! The plain form is tried first; only when Markdown would read it differently are characters escaped, first the ones
//! that usually matter, then all ASCII punctuation, last as character references. A line end inside the text is always
//! written `&#10;`, so that every value stays on its line.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use crate::{hidden, markdown};

/// How much of a text is escaped. In the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Only white space that Markdown would change.
    Plain,
    /// A backslash before the characters that usually mean something inline.
    Usual,
    /// A backslash before every ASCII punctuation character.
    All,
    /// A character reference for every ASCII punctuation character.
    References,
}

impl Escape {
    const LADDER: [Self; 4] = [Self::Plain, Self::Usual, Self::All, Self::References];

    /// `text` with this much escaping. NUL, which Markdown cannot hold, becomes U+FFFD.
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
                // A byte-order mark at the start of a text is dropped.
                '\u{feff}' => reference(&mut out, c),
                c if c.is_whitespace() || c.is_control() => reference(&mut out, c),
                // Neither means anything to Markdown, and an escaped one would hide a mention or a command from
                // whoever makes it harmless.
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
    out.push_str("&#");
    out.push_str(&u32::from(c).to_string());
    out.push(';');
}

/// The first of the escaped forms of a line that `reads_back`; the last one when none does.
pub(crate) fn line(write: impl Fn(Escape) -> String, reads_back: impl Fn(&str) -> bool) -> String {
    Escape::LADDER
        .into_iter()
        .map(&write)
        .find(|line| reads_back(&format!("{line}\n")))
        .unwrap_or_else(|| write(Escape::References))
}

/// One line: white space collapsed to single blanks, control characters and those that cannot be seen gone, trimmed.
pub(crate) fn one_line(text: &str) -> String {
    let text = &*hidden::without_invisible(text);
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if !word.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// A list item: the text of the bold words it starts with, and the text behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Text of a leading `**…**`; `None` when the item starts otherwise.
    pub(crate) label: Option<String>,
    /// All other text of the item's first paragraph.
    pub(crate) text: String,
}

impl Item {
    /// The value behind `**label**: `.
    pub(super) fn value(&self) -> &str {
        self.text
            .strip_prefix(": ")
            .or_else(|| self.text.strip_prefix(':'))
            .unwrap_or(&self.text)
    }
}

/// One piece of a head: a heading or the items of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Level and text.
    Heading(u8, String),
    /// Items in order.
    List(Vec<Item>),
}

/// Headings and lists at the top level of `source`.
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
    let mut found = Item {
        label: None,
        text: String::new(),
    };
    let Some(paragraph) = node
        .first_child()
        .filter(|child| matches!(child.data().value, NodeValue::Paragraph))
    else {
        return found;
    };
    for (index, child) in paragraph.children().enumerate() {
        let strong = matches!(child.data().value, NodeValue::Strong);
        if index == 0 && strong {
            found.label = Some(child.collect_text());
        } else {
            child.collect_text_append(&mut found.text);
        }
    }
    found
}

/// Plain text of one line as Markdown that shows exactly that, as a paragraph and as an item of a list.
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

/// Text of a Markdown fragment without markup, as one line.
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
    fn lines_collapse() {
        assert_eq!(one_line("  a\t b\r\n\u{7}c  "), "a b c");
        assert_eq!(plain("**Add** `x`\nto [y](z)"), "Add x to y");
    }
}
