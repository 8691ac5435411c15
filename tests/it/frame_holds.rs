//! The frame is closed whatever it contains: text after it is outside of it, and the plan is read
//! back unchanged.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use planwright::formats::block::{
    Block, Content, neutralise, parse, plan_body, quiet, render_content, restore,
};
use proptest::prelude::*;

use crate::frame_support::{config, html, page, text};

/// The paragraph `last` is in no other element of the page, which is well-formed.
fn stands_alone(page: &str, last: &str) -> bool {
    let Some(at) = page.rfind(&format!("<p>{last}</p>")) else {
        return false;
    };
    let mut depth = 0;
    for tag in page[..at].split('<').skip(1) {
        let empty = ["br", "hr", "img", "input", "wbr", "col"];
        let name: String = tag
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if tag.starts_with('/') {
            depth -= 1;
        } else if !empty.contains(&name.as_str()) {
            depth += 1;
        }
    }
    depth == 0
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn undoing_gives_the_original(text in text()) {
        prop_assert_eq!(restore(&neutralise(&text)), text);
    }

    #[test]
    fn what_is_neutralised_twice_is_restored_twice(text in text()) {
        let twice = neutralise(&neutralise(&text));
        prop_assert_eq!(restore(&restore(&twice)), text);
    }

    /// Somebody edited it on GitHub's page.
    #[test]
    fn undoing_with_other_line_ends_gives_the_original_with_them(text in text()) {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let text = text.replace('\r', "\n");
        prop_assert_eq!(restore(&crlf(&neutralise(&text))), crlf(&text));
    }

    #[test]
    fn undoing_changes_nothing_else(text in text()) {
        let text = text.replace(":made-safe", ":other");
        prop_assert_eq!(restore(&text), text);
    }

    #[test]
    fn what_is_rendered_is_parsed(text in text(), open in any::<bool>()) {
        let rendered = render_content("plan-body", "x", &text, open);
        let parsed = parse(&rendered);
        prop_assert_eq!(&parsed.diagnostics, &[]);
        prop_assert_eq!(&parsed.blocks, &[Block {
            key: "plan-body".to_owned(),
            span: 0..rendered.len(),
            inner: parsed.blocks[0].inner.clone(),
            content: Content::Text(text),
        }]);
    }

    #[test]
    fn any_characters_at_all_are_parsed(text in "\\PC{0,12}|[\0-\u{10ffff}]{0,12}") {
        let parsed = parse(&plan_body(&text));
        prop_assert_eq!(parsed.blocks.len(), 1);
        prop_assert_eq!(&parsed.blocks[0].content, &Content::Text(text));
    }

    #[test]
    fn what_follows_the_frame_is_outside(text in text()) {
        let whole = format!("{}\n\nAfterwards\n", plan_body(&text));
        let page = page(&html(&whole));
        prop_assert!(stands_alone(&page, "Afterwards"), "{whole}\n=> {page}");
    }

    #[test]
    fn what_follows_a_quoted_text_is_outside(text in text()) {
        let whole = format!("{}\n\nAfterwards\n", quiet(&text));
        let page = page(&html(&whole));
        prop_assert!(stands_alone(&page, "Afterwards"), "{whole}\n=> {page}");
    }
}

#[test]
fn every_way_to_leave_something_open_is_closed() {
    for text in [
        "```\nx",
        "- ```\n  x",
        "> ~~~\n> x",
        "1. a\n\n       ```\n       x",
        "<!-- x",
        "> <!-- x",
        "- <!-- x\n\ny",
        "<?x",
        "<?x a > b",
        "<!DOCTYPE",
        "<![CDATA[ x",
        "<![CDATA[ x > y",
        "<pre>x",
        "<script>x",
        "<script>\n<!-- x",
        "<style>\n<div title=\"",
        "<textarea>",
        "<div title=\"x",
        "<div title='x",
        "<div title=x",
        "<div title=",
        "<div ",
        "<div title=\"x\n\n[a](b)\n\ny",
        "<details>",
        "<details>\n<details>\n\nx\n</details>",
        "</details><g",
        "</details><g>",
        "</details><g-h x><i>",
        "<details><table><tr><td>\n\nx",
        "<table><tr><td><details>",
        "<select><option>x",
        "<template>\n\nx",
        "x <b>bold",
        "x <b><i>\n\n<a href='x'>y",
        "<p><b>x</p>",
        "- <details>\n\nx",
    ] {
        let whole = format!("{}\n\nAfterwards\n", plan_body(text));
        let page = page(&html(&whole));
        assert!(stands_alone(&page, "Afterwards"), "{whole}\n=> {page}");
    }
}
