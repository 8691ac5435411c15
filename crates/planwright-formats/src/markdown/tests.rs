//! Tests of `formats::markdown`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

mod outline;

fn kinds(source: &str) -> Vec<BlockKind> {
    blocks(source).into_iter().map(|block| block.kind).collect()
}

fn code_texts(source: &str) -> Vec<&str> {
    code(source)
        .into_iter()
        .map(|range| &source[range])
        .collect()
}

#[test]
fn blocks_are_source_slices() {
    let source = "# One *two*\r\n\r\npara `x`\r\nmore\r\n\r\n- [ ] a\r\n- [x] b\r\n- c\r\n";
    let found = blocks(source);
    let slices: Vec<&str> = found
        .iter()
        .map(|block| &source[block.span.clone()])
        .collect();
    assert_eq!(
        slices,
        [
            "# One *two*",
            "para `x`\r\nmore",
            "- [ ] a\r\n- [x] b\r\n- c"
        ]
    );
    assert_eq!(
        kinds(source),
        [
            BlockKind::Heading {
                level: 1,
                text: "One two".to_owned(),
                setext: false
            },
            BlockKind::Paragraph {
                text: "para x\nmore".to_owned()
            },
            BlockKind::List {
                ordered: false,
                items: 3,
                tasks: 2
            },
        ]
    );
}

#[test]
fn footnote_definitions_stay_where_they_are() {
    let source = "a[^1]\n\n[^1]: note\n\n[^2]: unused\n\nend\n";
    let lines: Vec<usize> = blocks(source).iter().map(|block| block.line).collect();
    assert_eq!(lines, [1, 3, 5, 7]);
}

#[test]
fn an_open_fence_is_not_closed_and_a_closed_one_is() {
    for (source, want) in [
        ("```\nx", false),
        ("```\nx\n", false),
        ("```", false),
        ("~~~ md\nx\n~~", false),
        ("```\nx\n```", true),
        ("```\nx\n```  \n", true),
        ("```\nx\r```", true),
        ("    indented", true),
    ] {
        let found = blocks(source);
        let Some(BlockKind::Code { closed, .. }) = found.first().map(|block| &block.kind) else {
            panic!("{source:?}: {found:?}");
        };
        assert_eq!(*closed, want, "{source:?}");
    }
}

#[test]
fn lines_are_found_wherever_their_ends_lie_in_a_word() {
    // Bytes beside `\n` that a search by words could take for it, at every place of a word.
    for length in 0..24 {
        for odd in ["\u{b}", "\t", "\n", "\u{8a}", "x"] {
            let text = format!("{}\n{odd}\n\n{odd}a\n", "x".repeat(length));
            let lines = Lines::new(&text);
            let naive: Vec<&str> = text.split('\n').collect();
            assert_eq!(lines.count(), naive.len(), "{text:?}");
            for (index, want) in naive.iter().enumerate() {
                assert_eq!(lines.text(index + 1), *want, "{text:?}");
            }
        }
    }
}

#[test]
fn lines_end_at_every_line_end_of_commonmark() {
    let lines = Lines::new("a\r\nb\rc\nd");
    let texts: Vec<&str> = lines.texts(1).collect();
    assert_eq!(texts, ["a", "b", "c", "d"]);
    assert_eq!((lines.at(0), lines.at(3), lines.at(7)), (1, 2, 4));
    for (first, rest) in [(1, "a\r\nb\rc\nd"), (2, "b\rc\nd"), (4, "d"), (5, "")] {
        let below = lines.below(first);
        assert_eq!(below.source(), rest);
        assert!(below.texts(1).eq(texts[first - 1..].iter().copied()));
        assert_eq!(below.start(2), Lines::new(rest).start(2));
    }
    assert_eq!(
        blocks("a\r\rb\r\r# c\r")
            .iter()
            .map(|block| block.line)
            .collect::<Vec<_>>(),
        [1, 3, 5]
    );
}

#[test]
fn sections_nest_and_ignore_headings_in_fences() {
    let source = "# A\n\nx\n\n## B\n\n```\n# no\n```\n\n# C\n";
    let found: Vec<(String, &str)> = sections(source)
        .into_iter()
        .map(|found| (found.title, &source[found.span]))
        .collect();
    assert_eq!(
        found[0],
        ("A".to_owned(), "# A\n\nx\n\n## B\n\n```\n# no\n```")
    );
    assert_eq!(found[1], ("B".to_owned(), "## B\n\n```\n# no\n```"));
    assert_eq!(found[2], ("C".to_owned(), "# C"));
}

#[test]
fn code_is_found_at_every_depth() {
    assert_eq!(code_texts("a `b` c ``d`e`` f"), ["`b`", "``d`e``"]);
    assert_eq!(code_texts("> - `x` @y\n>   `z`"), ["`x`", "`z`"]);
    assert_eq!(
        code_texts("- a\n  ```\n  @b\n  ```\n- c"),
        ["  ```\n  @b\n  ```"]
    );
    assert_eq!(code_texts("    ind\n\nx"), ["    ind"]);
    assert_eq!(code_texts("é `ü` and `a\nb` end"), ["`ü`", "`a\nb`"]);
    assert_eq!(
        code_texts("# `h`\n\n| `a` | b |\n|---|---|\n| c | `d` |"),
        ["`h`", "`a`", "`d`"]
    );
    assert_eq!(code_texts("no ` code"), Vec::<&str>::new());
}

proptest! {
    #[test]
    fn spans_lie_inside_the_source(source in "[ -~\n\r\t`#>*é\u{200b}]{0,80}") {
        for range in blocks(&source).into_iter().map(|block| block.span).chain(code(&source)) {
            prop_assert!(source.get(range).is_some());
        }
        let starts: Vec<usize> = blocks(&source).iter().map(|block| block.span.start).collect();
        prop_assert!(starts.is_sorted());
    }
}
