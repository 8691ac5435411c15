//! The words of a piece of the tree, on one line.

use comrak::nodes::{AstNode, NodeValue};

use crate::plan::inline;

/// The text below `node` as a reader sees it, on one line: markup and HTML gone, code spans in back-ticks.
pub(super) fn line<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for part in node.descendants() {
        match &part.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Code(code) => {
                text.push('`');
                text.push_str(&code.literal);
                text.push('`');
            }
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    inline::one_line(&text)
}

/// A block that holds words itself: a paragraph, a heading, a cell of a table.
pub(super) fn is_leaf(value: &NodeValue) -> bool {
    matches!(
        value,
        NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::TableCell
    )
}

/// The items of a list, in order.
pub(super) fn items<'a>(list: &'a AstNode<'a>) -> impl Iterator<Item = &'a AstNode<'a>> {
    list.children().filter(|node| {
        matches!(
            node.data().value,
            NodeValue::Item(_) | NodeValue::TaskItem(_)
        )
    })
}

/// The first paragraph of an item.
pub(super) fn lead<'a>(item: &'a AstNode<'a>) -> Option<&'a AstNode<'a>> {
    item.first_child()
        .filter(|first| matches!(first.data().value, NodeValue::Paragraph))
}
