//! Whatever the files and the plan: no panic, and the simulation is what applying the pairs one by
//! one gives.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::overlay::normalize_line_breaks;
use super::super::walk::walk;
use super::*;
use crate::markdown::{self, BlockKind};

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Where `find` starts in `text`, those that overlap included.
fn places(text: &str, find: &str) -> usize {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(|at| text[*at..].starts_with(find)).count()
}

/// Text that has a lot in common with other such text.
fn dense() -> impl Strategy<Value = String> {
    "([abé ]{0,3}(\n|\r\n)?){0,12}"
}

/// Any text, with what ends fences and lines more often than by chance.
fn hostile() -> impl Strategy<Value = String> {
    "([`~]{1,7}|\n|\r\n|\t| |</details>|@me|\\PC|[\u{0}-\u{1f}]|ab|a b){0,30}"
}

proptest! {
    #[test]
    fn simulated_edits_are_those_applied_one_by_one(
        text in dense(),
        pairs in prop::collection::vec((any::<Index>(), 1..6_usize, dense(), any::<bool>()), 0..6),
    ) {
        let mut model = text.replace("\r\n", "\n");
        let mut refused = 0;
        let mut list = Vec::new();
        for (from, length, other, of_the_text) in pairs {
            let chars: Vec<char> = model.chars().collect();
            let find: String = if of_the_text && !chars.is_empty() {
                chars.iter().skip(from.index(chars.len())).take(length).collect()
            } else {
                other.chars().rev().filter(|c| *c != '\r').collect()
            };
            let replace = other.replace("\r\n", "\n");
            if find.is_empty() || find == replace || places(&model, &find) != 1 {
                refused += 1;
            } else {
                model = model.replacen(&find, &replace, 1);
            }
            list.push((find, other));
        }
        let list: Vec<_> = list.iter().map(|(find, replace)| (find.as_str(), replace.as_str())).collect();
        let plan = plan(vec![edit("a", &list)]);
        let files = Tree::default().with("a", PathState::File(leak(text)));
        let (findings, state) = walk(&plan, &files);
        prop_assert_eq!(findings.len(), refused, "{:?}", findings);
        let PathState::File(after) = state.get(&path("a")) else { panic!("no file") };
        prop_assert_eq!(normalize_line_breaks(after), model);
    }

    #[test]
    fn hostile_texts_stay_in_their_fences(text in hostile(), find in hostile(), replace in hostile()) {
        let mut near = find.clone();
        near.push('x');
        let plan = plan(vec![
            edit("a", &[(&find, &replace), (&near, "")]),
            create("b`c``d", &text),
            edit("b`c``d", &[(&near, &find)]),
            read("e`<!--`"),
        ]);
        let files = Tree::default().with("a", PathState::File(leak(text)));
        let findings = check(&plan, &files);
        serde_json::to_string(&findings).unwrap();
        for finding in &findings {
            let text = finding.to_string();
            let code = usize::from(finding.find.is_some());
            let blocks = markdown::blocks(&text);
            let fences = blocks.iter().filter(|block| matches!(block.kind, BlockKind::Code { .. }));
            prop_assert_eq!(fences.count(), code, "{}", text);
            prop_assert_eq!(blocks.len(), 2 + 2 * code, "{}", text);
            prop_assert!(text.lines().last().unwrap().starts_with("- "), "{}", text);
        }
        for note in annotations(&findings) {
            prop_assert!(note.line <= note.end_line && note.title.len() <= 255);
        }
        text_is_short_enough(&findings);
    }
}

fn text_is_short_enough(findings: &[Finding]) {
    let text = super::render(findings);
    assert!(text.len() <= findings.len() * 40_000, "{}", text.len());
}
