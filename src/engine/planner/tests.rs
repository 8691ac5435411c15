//! Tests of the planner without GitHub.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use super::*;
use crate::engine::model::agent::{Document, Limit, Spent};
use crate::engine::model::progress::Brief;
use crate::engine::prompt::PromptContext;

const PLAN: &str = include_str!("../../../fixtures/plans/planner.md");
const ASKS: &str = r#"<!--QUESTION:{"questions":[{"question":"Where?","header":"Place"}]}-->"#;

fn came(text: &str, files: &[(&str, &str)]) -> TurnResult {
    let success = Ending::Success {
        text: text.to_owned(),
        structured: None,
        denials: 0,
    };
    let mut came = ended(success);
    came.report.texts = vec![text.to_owned()];
    came.report.session = Some("s-1".to_owned());
    came.report.files = files
        .iter()
        .map(|(path, text)| Document {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        })
        .collect();
    came
}

fn ended(ending: Ending) -> TurnResult {
    TurnResult {
        report: Report {
            ending,
            texts: Vec::new(),
            session: None,
            spent: Spent::default(),
            stderr: String::new(),
            redacted: 0,
            files: Vec::new(),
            wrote: Vec::new(),
        },
        session: Session::New("s-0".to_owned()),
    }
}

fn work() -> AgentState {
    let mut work = AgentState {
        brief: Some(Brief::default()),
        ..AgentState::default()
    };
    renew_words(&mut work);
    work
}

fn given(work: &AgentState) -> PlanPromptInput<'_> {
    PlanPromptInput {
        title: "Keep the index",
        text: "It is slow.",
        guidance: None,
        reports: &[],
        around: PromptContext {
            nonce: &work.nonce,
            canary: &work.canary,
            writes: true,
            ..PromptContext::default()
        },
        rounds: 3,
        most: 100_000,
    }
}

#[test]
fn a_plan_is_read_from_the_file_and_never_from_the_messages() {
    let mut work = work();
    assert_eq!(turn_ended(&mut work, came(PLAN, &[]), 3, 3), Step::Again);
    assert_eq!(work.corrections, 1);
    let asked = ask(&work, &given(&work), true);
    assert!(asked.starts_with("Your plan was not accepted:"), "{asked}");
    let Step::Plan { files, .. } = turn_ended(&mut work, came("Done.", &[("plan.md", PLAN)]), 3, 3)
    else {
        panic!("{work:?}");
    };
    assert_eq!(files.title, "Keep the search index between starts");
    assert_eq!(files.document.trim_end(), PLAN.trim_end());
}

/// A marker with a trailing comma.
const UNREADABLE: &str = r#"<!--QUESTION:{"questions":[{"question":"Which DB?",}]}-->"#;

#[test]
fn a_question_that_cannot_be_read_is_asked_again_or_reported_with_the_plan() {
    let mut work = work();
    assert_eq!(
        turn_ended(&mut work, came(UNREADABLE, &[]), 3, 3),
        Step::Again
    );
    let asked = ask(&work, &given(&work), true);
    assert!(
        asked.starts_with("Nobody was asked, as your questions could not be read:"),
        "{asked}"
    );
    let anew = ask(&work, &given(&work), false);
    assert!(
        anew.contains("It is slow.") && anew.contains("Nobody was asked"),
        "{anew}"
    );
    let Step::Plan { unasked, .. } =
        turn_ended(&mut work, came(UNREADABLE, &[("plan.md", PLAN)]), 3, 3)
    else {
        panic!("{work:?}");
    };
    assert_eq!(
        unasked,
        ["A question marker could not be read: trailing comma at line 1 column 39."]
    );
}

#[test]
fn questions_that_can_never_be_read_are_given_up() {
    let mut work = work();
    assert_eq!(
        turn_ended(&mut work, came(UNREADABLE, &[]), 3, 3),
        Step::Again
    );
    assert_eq!(
        turn_ended(&mut work, came(UNREADABLE, &[]), 3, 3),
        Step::Again
    );
    assert!(matches!(
        turn_ended(&mut work, came(UNREADABLE, &[]), 3, 3),
        Step::GivenUp { .. }
    ));
}

#[test]
fn a_session_that_begins_anew_is_told_what_was_wrong_also_where_nothing_was_written() {
    let mut work = work();
    assert_eq!(turn_ended(&mut work, came("Done.", &[]), 3, 3), Step::Again);
    assert_eq!(work.draft, None);
    let asked = ask(&work, &given(&work), false);
    assert!(asked.contains("It is slow."), "{asked}");
    assert!(asked.contains("Your plan was not accepted:"), "{asked}");
}

#[test]
fn questions_come_before_the_plan_and_a_session_that_is_lost_is_told_the_answers() {
    let mut work = work();
    assert_eq!(
        turn_ended(&mut work, came(ASKS, &[("plan.md", PLAN)]), 3, 3),
        Step::Ask
    );
    assert_eq!(rounds_left(&work, 3), 2);
    let text = Some("In src.".to_owned());
    let answer = Answer {
        text,
        ..Answer::default()
    };
    answered(&mut work, 0, Some(answer));
    let goes_on = ask(&work, &given(&work), true);
    assert!(goes_on.contains("In src.") && !goes_on.contains("It is slow."));
    let mut lost = ended(Ending::SessionLost);
    lost.session = Session::Resume("s-1".to_owned());
    assert_eq!(turn_ended(&mut work, lost, 2, 3), Step::Again);
    assert_eq!(work.session, None);
    let anew = ask(&work, &given(&work), false);
    assert!(anew.contains("In src.") && anew.contains("It is slow."));
}

#[test]
fn a_round_that_is_left_open_is_the_last_one() {
    let mut work = work();
    assert_eq!(turn_ended(&mut work, came(ASKS, &[]), 3, 3), Step::Ask);
    left_open(&mut work);
    assert_eq!((work.open_round(), rounds_left(&work, 3)), (None, 0));
    let asked = ask(&work, &given(&work), true);
    assert!(asked.contains("- Where?"), "{asked}");
    // Asked once too often: what it wrote is all there is.
    assert_eq!(turn_ended(&mut work, came(ASKS, &[]), 0, 3), Step::Again);
    assert!(matches!(work.next, Next::Correct { .. }));
}

#[test]
fn corrections_end_and_the_draft_stays() {
    let mut work = work();
    let short = "# Plan: Keep the index\n\n## Phase 1: All\n\n- [ ] Do it\n";
    for _ in 0..MAX_CORRECTIONS {
        assert_eq!(
            turn_ended(&mut work, came("x", &[("plan.md", short)]), 3, 3),
            Step::Again
        );
    }
    let step = turn_ended(&mut work, came("x", &[("plan.md", short)]), 3, 3);
    assert!(
        matches!(&step, Step::GivenUp { why } if why.contains("asked twice to correct it")),
        "{step:?}"
    );
    assert_eq!(work.draft.as_deref().map(str::trim), Some(short.trim()));
}

#[test]
fn faults_that_pass_are_counted_and_others_end_it() {
    let mut work = work();
    let silent = || ended(Ending::Limited(Limit::Silence));
    assert_eq!(turn_ended(&mut work, silent(), 3, 3), Step::Wait(1));
    assert_eq!(
        turn_ended(&mut work, ended(Ending::NoResult), 3, 3),
        Step::Wait(2)
    );
    assert!(matches!(
        turn_ended(&mut work, silent(), 3, 3),
        Step::Failed(_)
    ));
    // A success that says nothing is a fault, too.
    assert_eq!(turn_ended(&mut work, came(" ", &[]), 3, 3), Step::Wait(1));
    let step = turn_ended(&mut work, ended(Ending::Limited(Limit::Cost)), 3, 3);
    assert!(matches!(step, Step::Failed(_)), "{step:?}");
    assert_eq!(work.faults, 0);
}

#[test]
fn nothing_is_used_of_an_agent_that_obeys_data() {
    let mut work = work();
    let before = work.canary.clone();
    let plan = PLAN.replace("B-tree", &before);
    let text = format!("Done. {before}");
    assert_eq!(
        turn_ended(&mut work, came(&text, &[("plan.md", &plan)]), 3, 3),
        Step::Obeyed
    );
    assert_eq!(
        (work.session.as_deref(), work.draft.as_deref()),
        (None, None)
    );
    assert_ne!(work.canary, before);
}
