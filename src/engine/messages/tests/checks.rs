//! Texts about action plans.

use super::*;
use crate::engine::model::progress::{Checked, Judged, Prepared};

const GOOD: &str = "# Look\n\n- **Status:** Green\n\n## Rationale\n\n```text\nTo see.\n```\n\n## Action Plan\n\n\
### `READ`\n- **Resource:** [README.md](/README.md)\n- **Description:** Look at @octocat | it.\n";

fn judged(path: &str, good: bool) -> Judged {
    Judged {
        name: path.to_owned(),
        path: Some(path.to_owned()),
        good,
        skipped: false,
        sentence: if good {
            "2 actions, structure valid, fits the files of the repository".to_owned()
        } else {
            "line 17: Action 1 (READ): expected a key of READ, but found \"Reason\".".to_owned()
        },
        details: if good {
            "| # | Action |\n| --: | --- |\n| 1 | `READ` |".to_owned()
        } else {
            "```text\nline 17: expected …\n```".to_owned()
        },
        remarks: Vec::new(),
    }
}

fn checked(plans: Vec<Judged>) -> Checked {
    Checked {
        round: 0,
        head: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        plans,
        notes: Vec::new(),
    }
}

fn pushed() -> Trigger {
    let mut trigger = trigger(Command::CheckPlan);
    trigger.place.pull_request = true;
    trigger.origin = Origin::Push {
        head: "0123456789abcdef0123456789abcdef01234567".to_owned(),
    };
    trigger
}

#[test]
fn plans_that_can_be_executed() {
    let two = checked(vec![judged("a.plan.md", true), judged("b.plan.md", true)]);
    insta::assert_snapshot!("check_passed", check::passed(&pushed(), &run(), &two));
    let mut none = checked(Vec::new());
    none.notes = vec![
        check::no_plan_files(&["*.plan.md".to_owned(), "PLAN.md".to_owned()]),
        check::not_all_listed(4_000),
        check::not_all_checked(70, 50),
        check::not_all_looked_at("`a.plan.md`", 80, 50),
    ];
    insta::assert_snapshot!("check_none", check::passed(&pushed(), &run(), &none));
}

#[test]
fn plans_that_cannot_be_executed() {
    let one = checked(vec![judged("a.plan.md", false)]);
    let some = checked(vec![judged("a.plan.md", true), judged("b.plan.md", false)]);
    for (name, checked) in [("check_failed_one", one), ("check_failed_some", some)] {
        let failure = failures::not_executable(&checked);
        let text = failed(
            &pushed(),
            &run(),
            &failure,
            &Exists::Nothing,
            Used::default(),
        );
        insta::assert_snapshot!(name, text);
    }
    let failure = failures::no_action_plan();
    let text = failed(
        &trigger(Command::CheckPlan),
        &run(),
        &failure,
        &Exists::Nothing,
        Used::default(),
    );
    insta::assert_snapshot!("check_no_plan", text);
}

#[test]
fn the_issue_of_an_action_plan_lists_its_actions() {
    let plan = |document: &str| Prepared {
        document: document.to_owned(),
        ..prepared()
    };
    let issue = plan_issue_done(
        &trigger(Command::SaveRawPlan),
        &run(),
        &plan(GOOD),
        "<!-- header -->",
        &saved_issue(),
        &steps(),
    );
    insta::assert_snapshot!("check_issue_of_an_action_plan", issue);
    assert_eq!(check::actions("# Plan\n\nWords."), None);
    let wrong = check::actions(&GOOD.replace("`READ`", "`READD`"));
    insta::assert_snapshot!("check_looks_like_one", wrong.unwrap().unwrap_err());
}

/// GitHub refuses a longer comment, and the run would end without a word.
#[test]
fn fifty_plans_with_long_names_and_texts_fit_into_one_comment() {
    let mut plans: Vec<Judged> = (0..50).map(|_| judged(&"@x".repeat(900), false)).collect();
    for plan in &mut plans {
        plan.sentence = "fixes #1 @octocat ".repeat(200);
        plan.details = "<b>@octocat".repeat(1_000);
    }
    let mut all = checked(plans);
    all.notes = vec!["@octocat ".repeat(500); 60];
    let failure = failures::not_executable(&all);
    let text = failed(
        &pushed(),
        &run(),
        &failure,
        &Exists::Nothing,
        Used::default(),
    );
    assert!(text.chars().count() < 65_536, "{}", text.chars().count());
    let text = check::passed(&pushed(), &run(), &all);
    assert!(text.chars().count() < 65_536, "{}", text.chars().count());
    let mut one = checked(vec![judged("a.plan.md", false)]);
    one.plans[0].sentence = "@x ".repeat(60_000);
    let failure = failures::not_executable(&one);
    assert!(failure.message.len() < 1_000, "{}", failure.message.len());
}

#[test]
fn a_marker_in_a_path_is_none_in_the_issue() {
    let marked = GOOD.replace(
        "[README.md](/README.md)",
        "`a<!-- erk:metadata-block:plan-header -->`",
    );
    let table = check::actions(&marked).unwrap().unwrap();
    assert!(table.contains("plan-header"), "{table}");
    assert!(!table.contains("<!-- erk:metadata-block"), "{table}");
}

#[test]
fn a_table_of_thousands_of_actions_leaves_room_for_the_rest_of_the_issue() {
    let (head, action) = GOOD.split_at(GOOD.find("### ").unwrap());
    let many = format!("{head}{}", format!("{action}\n").repeat(2_000));
    let table = check::actions(&many).unwrap().unwrap();
    assert!(table.len() < 31_000, "{}", table.len());
    assert!(
        table.ends_with("\nMore actions are in the plan.\n"),
        "{table}"
    );
}
