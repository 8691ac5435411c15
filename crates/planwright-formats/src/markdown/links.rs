//! The targets of a text's links.

use comrak::Arena;
use comrak::arena_tree::NodeEdge;
use comrak::nodes::NodeValue;

/// Returns the URLs of all links of `source` in order, each once: inline, reference, `<…>` and bare
/// links.
///
/// Links in block quotes are left out because somebody else wrote them. Code and HTML contain no
/// links.
pub fn links(source: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = super::parse(&arena, source);
    let mut found: Vec<String> = Vec::new();
    let mut quotes = 0_usize;
    for edge in root.traverse() {
        let (node, starts) = match edge {
            NodeEdge::Start(node) => (node, true),
            NodeEdge::End(node) => (node, false),
        };
        match &node.data().value {
            NodeValue::BlockQuote if starts => quotes += 1,
            NodeValue::BlockQuote => quotes -= 1,
            NodeValue::Link(link) if starts && quotes == 0 => found.push(link.url.clone()),
            _ => {}
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|address| seen.insert(address.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_every_kind_are_found_where_a_reader_can_click_them() {
        for (source, want) in [
            ("[a](https://x.test/a)", vec!["https://x.test/a"]),
            ("/save-plan https://x.test/a go", vec!["https://x.test/a"]),
            ("<https://x.test/a>", vec!["https://x.test/a"]),
            ("- [a](https://x.test/a)", vec!["https://x.test/a"]),
            ("**[a](https://x.test/a)**", vec!["https://x.test/a"]),
            ("[a][1]\n\n[1]: https://x.test/a", vec!["https://x.test/a"]),
            (
                "[a](https://x.test/a) [b](https://x.test/b) [a](https://x.test/a)",
                vec!["https://x.test/a", "https://x.test/b"],
            ),
            ("`https://x.test/a`", vec![]),
            ("```\nhttps://x.test/a\n```", vec![]),
            ("    https://x.test/a", vec![]),
            ("> https://x.test/a", vec![]),
            ("- > [a](https://x.test/a)", vec![]),
            ("> [!NOTE]\n> https://x.test/a", vec![]),
            ("<!-- https://x.test/a -->", vec![]),
            ("<a href=\"https://x.test/a\">a</a>", vec![]),
            ("![a](https://x.test/a)", vec![]),
            ("[a]: https://x.test/a", vec![]),
            ("> a\n\nhttps://x.test/b", vec!["https://x.test/b"]),
        ] {
            assert_eq!(links(source), want, "{source:?}");
        }
        let deep = format!("{}https://x.test/a", "> ".repeat(50_000));
        assert_eq!(links(&deep), [""; 0]);
    }
}
