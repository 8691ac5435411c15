//! Compares what people read of two texts on GitHub.

use comrak::Arena;
use comrak::arena_tree::NodeEdge;
use comrak::nodes::NodeValue;

use super::{is_invisible, markdown};

/// Returns whether people read the same letters in `a` and `b`, below the same headings and in the
/// same code blocks.
///
/// White space, markup and whatever [`visible`](super::visible) removes do not count.
pub fn reads_the_same(a: &str, b: &str) -> bool {
    letters(a) == letters(b)
}

/// Returns the letters that people read, with a mark at each heading and code block.
fn letters(text: &str) -> String {
    let arena = Arena::new();
    let root = markdown::parse(&arena, text);
    let mut out = String::new();
    // Number of open nodes whose content is not read: images, whose text is shown only when the
    // picture is missing, and footnotes, which are at the end of the page or nowhere.
    let mut unread = 0_usize;
    for edge in root.traverse() {
        let (node, begins) = match edge {
            NodeEdge::Start(node) => (node, true),
            NodeEdge::End(node) => (node, false),
        };
        let value = &node.data().value;
        if matches!(
            value,
            NodeValue::Image(_) | NodeValue::FootnoteDefinition(_)
        ) {
            unread = if begins { unread + 1 } else { unread - 1 };
        }
        if !begins || unread > 0 {
            continue;
        }
        match value {
            NodeValue::Heading(heading) => {
                out.push(char::from(b'0' + heading.level));
                out.push('#');
            }
            NodeValue::Text(literal) => push(&mut out, literal),
            NodeValue::Code(code) => push(&mut out, &code.literal),
            NodeValue::CodeBlock(code) => {
                out.push_str("```");
                push(&mut out, &code.literal);
            }
            NodeValue::HtmlBlock(html) => push(&mut out, &without_tags(&html.literal)),
            _ => {}
        }
    }
    out
}

fn push(out: &mut String, text: &str) {
    let read = |c: &char| !c.is_whitespace() && !is_invisible(*c);
    out.extend(text.chars().filter(read));
}

/// Returns raw HTML without comments and tags.
fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let close = if rest[at..].starts_with("<!--") {
            "-->"
        } else {
            ">"
        };
        match rest[at..].find(close) {
            Some(end) => rest = &rest[at + end + close.len()..],
            None => return out,
        }
    }
    out.push_str(rest);
    out
}
