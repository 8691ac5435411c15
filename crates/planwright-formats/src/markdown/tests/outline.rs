//! The line-by-line answer about code against the parser's.

use proptest::prelude::*;

use super::super::code::in_parsed_code;
use super::super::{in_code, outline};

/// Starts of lines, and pieces inside them, that decide what is code.
const PIECES: &[&str] = &[
    "```",
    "````",
    "~~~",
    "~~~~",
    "``` rust",
    "```yaml",
    "``` a`b",
    "`",
    "``",
    "- ",
    "-",
    "* ",
    "+ ",
    "1. ",
    "2. ",
    "10) ",
    "-     ",
    "- -",
    "-\t",
    "> ",
    ">",
    "[^1]: ",
    "[a]: b",
    "    ",
    "  ",
    " ",
    "\t",
    " \t",
    "#",
    "# h",
    "### ",
    "---",
    "***",
    "* * *",
    "===",
    "- - -",
    "_ _ _",
    "text",
    "more text",
    "x `",
    "| a | b |",
    "|---|---|",
    "a | b",
    "--- | ---",
    "<details>",
    "</details>",
    "<details open>",
    "<summary>x</summary>",
    "<div",
    "<b>",
    "</b>",
    "<b> x",
    "<a href='x'>",
    "<a href=x y>",
    "<br/>",
    "<pre>",
    "</pre>",
    "<script>",
    "</script> x",
    "<style",
    "</style>",
    "<!--",
    "-->",
    "<!-- x -->",
    "<?",
    "?>",
    "<!X",
    ">",
    "<![CDATA[",
    "]]>",
    "\u{b}",
    "\u{c}",
    "é",
    "\0",
    "<",
    "</",
    "\\",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "\r\n",
    "\r\n",
    "\r\n\r\n",
    "\r",
    "\n```\n",
    "\n~~~\n",
    "\n- x\n  ```\n",
    "\n  ```\n",
    "\n1. x\n   ```\n   y\n   ```\n",
    "\ntext\n",
];

const MARKERS: &[&str] = &[
    "\n<!-- erk:x -->\n",
    "<!-- erk:x -->",
    "\n<!-- erk:x -->",
    "\n</details>\n",
    "\n <!-- erk:x -->",
    " <!-- erk:x --> y\n",
];

fn source() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES),
        3 => prop::sample::select(MARKERS),
    ];
    prop::collection::vec(piece, 1..24).prop_map(|pieces| pieces.concat())
}

fn places(source: &str) -> Vec<usize> {
    let mut places: Vec<usize> = ["<!-- erk", "</details>", "text", "x"]
        .iter()
        .flat_map(|needle| source.match_indices(needle).map(|(at, _)| at))
        .collect();
    places.sort_unstable();
    places
}

/// How often the hand-made comparison runs: `PLANWRIGHT_CASES`, else a number that takes a second.
fn cases() -> u32 {
    let given = std::env::var("PLANWRIGHT_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(3_000)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 50_000, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn lines_alone_give_the_parser_s_answer(source in source()) {
        for place in places(&source) {
            if let Some(found) = outline::in_code(&source, &[place]) {
                prop_assert_eq!(&found, &in_parsed_code(&source, &[place]), "{} in {:?}", place, &source);
            }
        }
        let all = places(&source);
        prop_assert_eq!(in_code(&source, &all), in_parsed_code(&source, &all));
    }
}

/// Answers without the parser; the performance rests on these.
#[test]
fn common_texts_need_no_parser() {
    let marker = "<!-- erk:x -->";
    for (source, code) in [
        (format!("text\n\n{marker}"), false),
        (format!("text\n{marker}"), false),
        (format!("see {marker} there"), false),
        (format!("```\n{marker}\n```"), true),
        (format!("```\n```\n{marker}"), false),
        (
            format!(
                "- a\n  ```\n  b\n  ```\n\n1. c\n   ```\n   d\n   ```\n2. e\n\n   ```sh\n   x\n   ```\n\n{marker}"
            ),
            false,
        ),
        (
            format!("- a\n  - b\n    ```\n    c\n    ```\n- d\n{marker}"),
            false,
        ),
        (format!("> ```\n> a\n\n{marker}"), false),
        (
            format!("<details>\n<summary>x</summary>\n```yaml\na: 1\n```\n</details>\n{marker}"),
            false,
        ),
        (format!("<details>\n\n```\n</details>\n{marker}"), true),
        (format!("| a |\n|---|\n| b |\n\n{marker}"), false),
        (format!("a\r\n\r\n```\r\nb\r\n```\r\n{marker}"), false),
    ] {
        let at = source.find(marker).unwrap();
        assert_eq!(
            outline::in_code(&source, &[at]),
            Some(vec![code]),
            "{source}"
        );
        assert_eq!(in_parsed_code(&source, &[at]), [code], "{source}");
    }
}
