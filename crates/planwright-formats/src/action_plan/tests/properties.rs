//! What holds for every text.

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};
use proptest::prelude::*;

use super::{example, plan};
use crate::action_plan::render::one_line;
use crate::action_plan::{Action, ActionPlan, Span, fences, is_action_plan, parse, render, table};
use crate::markdown;

/// The plan with all places the same.
pub(super) fn without_places(plan: &ActionPlan) -> ActionPlan {
    let mut plan = plan.clone();
    let nowhere = Span::line(1);
    for step in &mut plan.actions {
        step.span = nowhere;
        match &mut step.action {
            Action::Create(it) => it.content_span = nowhere,
            Action::Execute(it) => it.command_span = nowhere,
            Action::Edit(it) => {
                for pair in &mut it.edits {
                    pair.find_span = nowhere;
                    pair.replace_span = nowhere;
                }
            }
            _ => {}
        }
    }
    plan
}

/// Every row of the table shows the target of its action as code, to the letter.
fn table_shows(plan: &ActionPlan) {
    let text = table(plan);
    let arena = Arena::new();
    let root = parse_document(&arena, &text, &markdown::options());
    assert_eq!(root.children().count(), 1, "{text}");
    let rows: Vec<_> = root.first_child().unwrap().children().skip(1).collect();
    assert_eq!(rows.len(), plan.actions.len(), "{text}");
    for (row, step) in rows.iter().zip(&plan.actions) {
        let cell = row.children().nth(2).unwrap();
        let want = step.action.target().map(one_line);
        if want.as_ref().is_some_and(|want| want.contains("\\|")) {
            continue;
        }
        let shown: Vec<String> = cell
            .children()
            .map(|node| match &node.data().value {
                NodeValue::Code(code) => code.literal.clone(),
                other => panic!("{other:?} in {text}"),
            })
            .collect();
        assert_eq!(shown, want.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

/// What must be true of `text`, whatever it is.
fn holds(text: &str) {
    let lines = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    let _ = is_action_plan(text);
    match parse(text) {
        Ok(plan) => {
            let mut line = 0;
            for (index, step) in plan.actions.iter().enumerate() {
                assert_eq!(step.number, index + 1);
                assert!(step.span.start > line && step.span.end >= step.span.start);
                line = step.span.end;
            }
            assert!(line <= lines && !plan.actions.is_empty());
            table_shows(&plan);
            let again = parse(&render(&plan))
                .unwrap_or_else(|it| panic!("{text:?}\n{}\n{}", render(&plan), it.diff()));
            assert_eq!(without_places(&again), without_places(&plan), "{text:?}");
        }
        Err(rejected) => {
            assert!(!rejected.errors.is_empty());
            let end = rejected.rows.len();
            for error in &rejected.errors {
                assert!(error.span.start >= 1 && error.span.start <= error.span.end);
                assert!(error.span.end <= lines, "{text:?} {error:?}");
                assert!(error.index.is_none_or(|index| index <= end), "{error:?}");
                assert!(!error.message().contains('\n'));
            }
            let diff = rejected.diff();
            assert!(diff.to_string().starts_with("line "));
            if let Some(mended) = fences::repair(text) {
                assert!(parse(&mended).is_ok());
            }
        }
    }
}

/// Pieces that plans are made of, and pieces that break them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "### `CREATE`\n",
            "### EDIT\n",
            "### READ\n",
            "### PRUNE\n",
            "### `EXECUTE`\n",
            "### RESEARCH\n",
            "### CHAT_WITH_USER\n",
            "### PROMPT\n",
            "### INVOKE\n",
            "### RETURN\n",
            "### Notes\n",
            "### `NOPE`\n",
            "- **File Path:** [a.rs](/a.rs)\n",
            "- **File Path:** `a b`\n",
            "- Resource: a/b\n",
            "- Resource: https://x.test/a\n",
            "- **Description:** Do it @you `x`\n",
            "- **Agent:** Architect\n",
            "- **Expected Outcome:** a: b\n",
            "- **cwd:** src\n",
            "- **env:**\n  - A: \"b c\"\n  - `C`: 'd'\n",
            "- **Handoff Resources:**\n  - [a](/a)\n  - https://x.test\n",
            "* **Agent:** A\n",
            "1. Agent: B\n",
            "```\n",
            "````\n",
            "````\n",
            "~~~~~~\n",
            "~~~~~~\n",
            "```sh\n",
            "````markdown\n",
            "#### `FIND:`\n",
            "#### `REPLACE:`\n",
            "cd src\n",
            "export A=1\n",
            "cargo test\n",
            "    code\n",
            "- item\n",
            "* item\n",
            "> quote\n",
            "---\n",
            "[x]: /y\n",
            "<!-- c -->\n",
            "|a|b|\n|-|-|\n",
            "text\n",
            "\n",
            "\n",
            "\n",
            "  indented\n",
            "\ttab\n",
            "\r\n",
            "\r",
            "&amp; <b> \\* ![x](y)\n",
            "\\\n",
        ])
        .prop_map(str::to_owned),
        "[ -~\u{e4}\u{2028}\u{a0}\u{b}\u{c}]{0,12}\n?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("CI").is_some() { 20_000 } else { 1_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn plans_from_pieces(pieces in prop::collection::vec(piece(), 0..16)) {
        holds(&plan(&pieces.concat()));
    }

    #[test]
    fn heads_from_pieces(
        title in "[ -~\u{e4}\u{2028}\u{a0}\u{c}]{0,20}",
        pieces in prop::collection::vec(piece(), 0..6),
        value in "[ -~\u{e4}]{0,20}",
    ) {
        let actions = plan(&format!("### READ\n- Resource: a\n- Description: {value}\n"));
        let rest = &actions[actions.find("\n## Rationale").unwrap()..];
        holds(&format!("# {title}\n- **Goal:** {value}\n- {value}: x\n{}{rest}", pieces.concat()));
        holds(&format!("# {title}\n- **Goal:** {value}\n{rest}"));
    }

    #[test]
    fn the_example_damaged(at in 0usize..4000, length in 0usize..40, piece in piece()) {
        let text = example();
        let floor = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (floor(at), floor(at + length));
        holds(&format!("{}{piece}{}", &text[..from], &text[to..]));
    }

    #[test]
    fn nothing_in_a_fence_becomes_an_action(pieces in prop::collection::vec(piece(), 0..16)) {
        let content = pieces.concat().replace("\r\n", "\n").replace('\r', "\n");
        let fence = fences::around(&content);
        let text = plan(&format!("### CREATE\n- File Path: a.rs\n\n{fence}\n{content}\n{fence}\n\n### READ\n- Resource: a\n"));
        let plan = parse(&text).unwrap_or_else(|it| panic!("{}\n{text}", it.diff()));
        assert_eq!(plan.actions.len(), 2);
        let Action::Create(create) = &plan.actions[0].action else {
            panic!("{plan:?}");
        };
        assert_eq!(create.content, content.trim_end_matches('\n'));
    }

    #[test]
    fn paths_and_names_read_back(path in "[ -~\u{e4}\u{a0}/.]{1,24}") {
        holds(&plan(&format!("### READ\n- Resource: {path}\n")));
        holds(&plan(&format!("### READ\n- Resource: `{path}`\n")));
        holds(&plan(&format!("### READ\n- Resource: [x]({path})\n")));
        holds(&plan(&format!("### READ\n- Resource: [x](<{path}>)\n")));
        holds(&plan(&format!("### INVOKE\n- Agent: {path}\n\n{path}\n")));
        holds(&plan(&format!("### EXECUTE\n- cwd: a\n- env:\n  - A: {path}\n```\ncd {path}\n```\n")));
        holds(&plan(&format!("### EXECUTE\n- Description: a\n```\ncd {path}\nexport A={path}\n{path}\n```\n")));
    }
}
