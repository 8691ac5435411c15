//! Results that were paid for are not lost, and files written by people are not overwritten.

use super::{GOOD, Shop, exit_and_output};

/// A plan, and then the client's own limit.
const LIMIT: &str = r#"cp "$here/plan.good" plan.md
echo '{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s","num_turns":40,"total_cost_usd":4.2}'"#;

#[test]
fn a_plan_that_was_written_before_a_limit_is_there() {
    let shop = Shop::new(LIMIT);
    let (code, written, said) = shop.plan(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(written.contains("plan.md"), "{written}");
    assert!(
        said.contains("the agent was stopped after it had written this plan"),
        "{said}"
    );
    assert!(shop.holds(".planwright/plans/index/plan.md"));
}

#[test]
fn a_draft_that_was_edited_is_kept() {
    let shop = Shop::new("say chat; printf '# Plan: Half\\n\\nNot yet.\\n' > plan.md");
    for _ in 0..2 {
        let (code, _, said) = shop.plan(&[]);
        assert_eq!(code, 1, "{said}");
        shop.write(".planwright/plans/index/plan.draft.md", "my edited draft\n");
    }
    let (_, _, said) = shop.plan(&[]);
    assert!(said.contains("plan.draft.md.bak"), "{said}");
    let kept = shop.text(".planwright/plans/index/plan.draft.md.bak");
    assert_eq!(kept, "my edited draft\n");
}

#[test]
fn a_context_of_ones_own_is_not_moved_away_unasked() {
    let shop = Shop::new(GOOD);
    shop.write("docs/context.md", "mine\n");
    let (code, _, said) = shop.plan(&["--output", "docs"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("docs/context.md already exists"), "{said}");
    assert_eq!(shop.text("docs/context.md"), "mine\n");
    let (code, _, said) = shop.plan(&["--output", "docs", "--again"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(shop.text("docs/context.md.bak"), "mine\n");
}

#[test]
fn an_answer_to_one_question_is_none_to_another_with_the_same_header() {
    let question = |words: &str| {
        super::events(&format!(
            r#"<!--QUESTION:{{"questions":[{{"question":"{words}","header":"Format","type":"choice","options":[{{"label":"One"}},{{"label":"Two"}}]}}]}}-->"#
        ))
    };
    let shop = Shop::new(
        "if asked 'Which format'; then say second; elif asked 'Delete'; then cp \"$here/plan.good\" plan.md; say done; else say \
         first; fi",
    );
    shop.write("say/first", &question("Which format?"));
    shop.write("say/second", &question("Delete the old ones?"));
    shop.write("answers.json", r#"{"Format": "1"}"#);
    let (code, _, said) = shop.plan(&["--answers", "answers.json"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("Delete the old ones?"), "{said}");
}

#[test]
fn the_end_of_whoever_reads_standard_error_ends_nothing() {
    use std::os::fd::OwnedFd;
    let shop = Shop::new(GOOD);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = shop.command(&["plan", "index", "--trust"]);
    let output = command.stderr(OwnedFd::from(writer)).output().unwrap();
    assert_eq!(exit_and_output(&output).0, 0);
    assert!(shop.holds(".planwright/plans/index/plan.md"));
}

#[test]
fn programs_are_told_whether_the_same_command_goes_on() {
    let shop = Shop::new("say chat");
    for (more, resumable) in [
        (&["--json"][..], true),
        (&["--json", "--answers", "none.json"], false),
    ] {
        let (code, printed, _) = shop.plan(more);
        assert_ne!(code, 0);
        let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(printed["resumable"], resumable, "{printed}");
    }
}
