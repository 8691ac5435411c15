//! The commands of a part of a comment against those of the whole comment.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// Lines that begin, continue or end blocks, and commands.
const LINES: &[&str] = &[
    "/save-plan",
    "/save-plan keep it",
    "/save-plan from=opening [a]",
    "/save-raw-plan",
    "/check-plan",
    "/plan a topic",
    "/plan-help",
    "  /answer 1: a",
    "    /cancel",
    "> /retry",
    "- /retry",
    "  /retry",
    "",
    "",
    "",
    " \t",
    "\u{b}",
    "\u{a0}",
    "\u{a0}\u{2028}/cancel",
    "\u{a0}a\u{2028}/cancel",
    "# Plan: a",
    "## Steps ##",
    "#hashtag",
    "   # Indented",
    "Plan: a *title*",
    "[Plan: b]",
    "Implementation&nbsp;plan: c",
    "Planned: not yet",
    "pl&#97;n: d",
    "*pl*an: e",
    "[](x)plan: f",
    "<b>plan: g</b>",
    "1. Plan: h",
    "- <!-- erk:plan-content -->",
    "text, `code` and &#47;plan",
    "introduction:",
    "1. one",
    "3) three",
    "- a",
    "- [ ] task",
    "  - nested",
    "  more",
    "    indented",
    "\tcode",
    "===",
    "---",
    "* * *",
    "> quote",
    ">",
    "| a | b |",
    "|---|---|",
    "a | /plan | c",
    "```",
    "```md",
    "~~~ plan",
    "~~~~",
    "`open",
    "close`",
    "<!-- open",
    "-->",
    "<!-- erk:plan-content -->",
    "<!-- erk:metadata-block:plan-body -->",
    crate::block::WARNING,
    "<details>",
    "</details>",
    "<pre>",
    "</pre>",
    "<?x",
    "?>",
    "<b>",
    "[a]: https://x.test/a",
    "[a",
    "/plan]: b",
    "b]",
    "[^1]: note",
    "text[^1]",
    "[Plan: b]: c",
    "https://x.test/a",
    "*open",
    "close*",
    "\\",
    "\u{feff}",
];

fn comments() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(&["\n", "\n", "\n", "\r\n", "\r"][..]);
    let line = (prop::sample::select(LINES), ends).prop_map(|(line, end)| format!("{line}{end}"));
    prop::collection::vec(line, 1..20).prop_map(|lines| lines.concat())
}

/// The whole of `comment`, with the text above its first command.
fn whole(comment: &str) -> Text<'_> {
    Text {
        bounded: Bounded::new(comment),
        candidates: candidates(comment).collect(),
    }
}

/// Everything about the commands that [`parse`] and [`without_commands`] use.
fn said(found: &[(Word, split::Parts)]) -> Vec<String> {
    let said = |(word, parts): &(Word, split::Parts)| {
        let mut removed = parts.removed.clone();
        removed.retain(|range| !range.is_empty());
        format!(
            "{word:?} {:?} {:?} {:?} {removed:?}",
            parts.options, parts.guidance, parts.inline
        )
    };
    found.iter().map(said).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(60_128),
        ..ProptestConfig::with_cases(20_000)
    })]

    #[test]
    fn a_part_determines_the_same_commands_as_the_whole(comment in comments()) {
        let text = whole(&comment);
        let expected = said(&text.parts(comment.len()).unwrap());
        prop_assert_eq!(said(&parts(&comment)), &expected[..]);
        for line in 1..text.lines().count() {
            let end = text.lines().start(line + 1);
            if text.is_separate(end)
                && let Some(found) = text.parts(end)
            {
                prop_assert_eq!(said(&found), &expected[..], "{}", end);
            }
        }
    }

    #[test]
    fn each_line_is_searched_for_a_command_at_its_start(comment in comments()) {
        let lines = Lines::new(&comment);
        let at_start = |line: &str| leading_slash(line).and_then(|at| typed(&line[at..]).1);
        let expected: Vec<Command> = lines.texts(1).filter_map(at_start).collect();
        prop_assert_eq!(at_line_starts(&comment), expected);
    }
}

/// A carriage return alone ends a line, and the line after it is not the plan's first.
#[test]
fn a_lone_carriage_return_before_a_plan_is_no_blank_line() {
    for comment in [
        "/save-plan\n\rPlan: a\n\nb\n",
        "/save-plan\n\r# Plan: a\n\nb\n",
    ] {
        let rest = "\n\nmore text".repeat(50);
        let comment = format!("{comment}{rest}");
        let text = whole(&comment);
        let expected = said(&text.parts(comment.len()).unwrap());
        assert_eq!(said(&parts(&comment)), expected);
    }
}
