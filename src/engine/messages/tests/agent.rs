//! What the bot says about its agent, as it is shown.

use std::time::Duration;

use super::*;
use crate::engine::messages::agent;
use crate::engine::messages::failures::public;
use crate::engine::model::agent::Tokens;
use crate::engine::model::agent::{Ending, Limit, Report, Spent};
use crate::engine::model::progress::{Fault, Round};
use crate::engine::model::time::Millis;
use crate::engine::store::CommandUsage;
use crate::engine::store::Exceeded;
use crate::formats::plan::document::ErrorDocument;
use crate::formats::plan::enriched;
use crate::formats::question::answer::AnswerError;
use crate::formats::question::{Answer, Choice, Question};

fn spent() -> Spent {
    Spent {
        turns: 3,
        tools: 1,
        cost: 123_456,
        tokens: Tokens {
            input: 1_234_567,
            cached: 1_000_000,
            output: 9_950,
        },
        session_cost: 123_456,
        millis: 61_200,
    }
}

fn by_agent(total: &Spent) -> Used<'_> {
    Used {
        total: Some(total),
        turns: &[],
    }
}

fn round() -> Round {
    let choice = |label: &str, description: &str| Choice {
        label: label.into(),
        description: description.into(),
    };
    Round {
        questions: vec![
            Question {
                question: "Where does the file live? @everyone fixes #1".into(),
                header: "Place".into(),
                choice: true,
                multi: false,
                options: vec![
                    choice("Beside the data", "moves with it\n- [x] forged"),
                    choice("/cancel", ""),
                ],
            },
            Question {
                question: "How large may it grow?".into(),
                header: String::new(),
                choice: false,
                multi: false,
                options: Vec::new(),
            },
        ],
        answers: vec![None, None],
        url: "https://github.test/asked".into(),
        ..Round::default()
    }
}

const UNTIL: Millis = Millis(1_780_604_800_000);

/// Every text, named.
pub(super) fn everything() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, text: String| all.push((format!("agent_{name}"), text));
    let (save, mut round) = (trigger(Command::SavePlan), round());
    add(
        "questions",
        agent::questions(&save, &run(), 1, &round, UNTIL),
    );
    add(
        "waiting",
        agent::waiting(&save, &run(), &round, UNTIL, &spent()),
    );
    add("reminder", agent::reminder(&round, UNTIL));
    round.answers[0] = Some(Answer {
        chosen: vec![0],
        text: None,
    });
    add("partly", agent::partly_answered(&save, &round));
    add("waits", agent::waits(&round, UNTIL));
    round.hold = true;
    round.questions.truncate(1);
    add("held", agent::questions(&save, &run(), 2, &round, UNTIL));
    add(
        "held_waiting",
        agent::waiting(&save, &run(), &round, UNTIL, &Spent::default()),
    );
    add("held_waits", agent::waits(&round, UNTIL));
    add("held_reminder", agent::reminder(&round, UNTIL));
    for hold in [false, true] {
        let name = |what: &str| {
            if hold {
                format!("held_{what}")
            } else {
                what.to_owned()
            }
        };
        let mut round = super::agent::round();
        round.hold = hold;
        add(&name("concluded_late"), agent::concluded(&save, &round));
        round.by = vec!["bob".into(), "ada".into()];
        round.skipped = (0..round.questions.len()).collect();
        add(&name("concluded_left"), agent::concluded(&save, &round));
        round.answers[0] = Some(Answer {
            chosen: vec![1],
            text: Some("and @everyone fixes #1".into()),
        });
        round.whose = vec![Some("ada".into())];
        add(&name("concluded"), agent::concluded(&save, &round));
    }
    let boxes = Trigger {
        origin: Origin::Boxes {
            id: 9,
            text: String::new(),
            url: String::new(),
        },
        ..super::trigger(Command::Answer)
    };
    add("boxes_partly", agent::partly_answered(&boxes, &round));
    add(
        "boxes_unticked",
        agent::bad_answer(&boxes, &AnswerError::Unticked),
    );
    add("nothing_asked", agent::nothing_asked(&save));
    add("no_decision", agent::no_decision(&save));
    add("may_not", agent::may_not_answer(&save, false));
    add("may_not_held", agent::may_not_answer(&save, true));
    add(
        "bad_answer",
        agent::bad_answer(&save, &AnswerError::Nothing),
    );
    for (name, failure) in failures() {
        add(
            &format!("failed_{name}"),
            failed(
                &save,
                &run(),
                &failure,
                &Exists::Nothing,
                by_agent(&spent()),
            ),
        );
    }
    let mut prepared = prepared();
    prepared.enriched = Enriched::Fallback;
    prepared.warnings = vec!["questions_unanswered".into()];
    let complaints = [
        Fault::from("No title @everyone.".to_owned()),
        Fault::from(&enriched::AnswerProblem::NoTitle),
    ];
    prepared.notes = vec![
        agent::fallback(&agent::answer_rejected(&complaints), false),
        agent::fallback(&agent::held_as_found("@bob"), true),
        agent::fallback(agent::AGENT_GONE, false),
        agent::recomputed(&[
            "counted 1 question, not 3".into(),
            "listed 1 clarification, not 2".into(),
        ]),
        agent::redacted(1).unwrap(),
        agent::redacted(2).unwrap(),
        agent::unanswered(1, Duration::from_hours(24)),
        agent::unanswered(2, Duration::from_hours(168)),
    ];
    let used = spent();
    add(
        "saved_fallback",
        saved(
            &save,
            &run(),
            &prepared,
            &saved_issue(),
            &steps(),
            12.0,
            by_agent(&used),
        ),
    );
    prepared.enriched = Enriched::Yes;
    prepared.notes.clear();
    prepared.warnings.clear();
    add(
        "saved_enriched",
        saved(
            &save,
            &run(),
            &prepared,
            &saved_issue(),
            &steps(),
            12.0,
            by_agent(&used),
        ),
    );
    all
}

fn failures() -> Vec<(String, Failure)> {
    let error = |subtype: &str, message: &str, status| Ending::AgentError {
        subtype: subtype.into(),
        message: message.into(),
        status,
    };
    let endings = [
        (
            "not_started",
            Ending::NotStarted("there is no program /opt/claude; set agent.path".into()),
        ),
        (
            "credentials",
            error("success", "Invalid API key", Some(401)),
        ),
        (
            "own_limit",
            error(
                "error_max_turns",
                "Reached maximum number of turns (1)",
                None,
            ),
        ),
        (
            "overloaded",
            error("success", "Overloaded. @everyone", Some(529)),
        ),
        (
            "error",
            error("error_during_execution", "it broke\n/cancel", None),
        ),
        (
            "code",
            Ending::ProcessError {
                code: Some(7),
                signal: None,
            },
        ),
        (
            "signal",
            Ending::ProcessError {
                code: None,
                signal: Some(9),
            },
        ),
        ("no_result", Ending::NoResult),
        (
            "nothing_said",
            Ending::Success {
                text: String::new(),
                structured: None,
                denials: 0,
            },
        ),
        ("deadline", Ending::Limited(Limit::Deadline)),
        ("silence", Ending::Limited(Limit::Silence)),
        ("turns", Ending::Limited(Limit::Turns)),
        ("cost", Ending::Limited(Limit::Cost)),
        ("output", Ending::Limited(Limit::Output)),
        ("memory", Ending::Limited(Limit::Memory(4 << 30))),
        ("processes", Ending::Limited(Limit::Processes(512))),
        ("open_files", Ending::Limited(Limit::OpenFiles(4096))),
        ("file_size", Ending::Limited(Limit::FileSize(1 << 30))),
        ("disk", Ending::Limited(Limit::Disk(1500 << 20))),
        (
            "leaked",
            Ending::Leaked {
                kind: "configured-secret".into(),
            },
        ),
    ];
    let mut all: Vec<(String, Failure)> = Vec::new();
    for (name, ending) in endings {
        let report = Report {
            ending,
            texts: Vec::new(),
            session: None,
            spent: spent(),
            stderr: "warning: something\n/cancel @bob\n".into(),
            redacted: 0,
            files: Vec::new(),
            wrote: Vec::new(),
        };
        let failure = agent::failed(Command::SavePlan, &report, &spent());
        let looked = vec!["Searched: 2 posts".to_owned()];
        all.push((name.to_owned(), agent::and_no_plan(failure, looked)));
    }
    let (limit, until) = (3, UNTIL);
    let dollars = 5_000_000;
    let limits = [
        ("actor_hour", Exceeded::ActorHourRuns { limit, until }),
        ("repo_day", Exceeded::RepoDayRuns { limit, until }),
        (
            "repo_cost",
            Exceeded::RepoDayCost {
                limit: dollars,
                until,
            },
        ),
        ("day", Exceeded::DayRuns { limit: 1, until }),
        (
            "day_cost",
            Exceeded::DayCost {
                limit: dollars,
                until,
            },
        ),
    ];
    for (name, limit) in limits {
        all.push((
            format!("limit_{name}"),
            agent::and_no_plan(
                agent::exceeded(Command::SavePlan, &limit, "acme/search"),
                Vec::new(),
            ),
        ));
    }
    let none = ErrorDocument {
        code: "no_plan_found".into(),
        message: "Nobody proposes anything, @all.".into(),
        details: None,
    };
    let save = trigger(Command::SavePlan);
    all.push((
        "run_cost".into(),
        agent::run_cost(Command::SavePlan, dollars),
    ));
    all.push((
        "no_plan".into(),
        agent::no_plan(&save, &none, vec!["Looked".into()]),
    ));
    all.push((
        "no_valid_answer".into(),
        agent::no_valid_answer("No steps."),
    ));
    all.push((
        "held_for_good".into(),
        agent::held_for_good(Command::SavePlan, "https://github.test/asked"),
    ));
    all
}

#[test]
fn what_was_used_in_words() {
    assert_eq!(
        agent::spent(&spent()),
        "3 turns, 1 tool call, 1.2 M tokens in, 10.0 k out, $0.13, 62 s"
    );
    assert_eq!(agent::spent(&Spent::default()), "");
    assert_eq!(agent::dollars(1), "$0.01", "never nothing");
    assert_eq!(agent::dollars(5_000_000), "$5.00");
    assert_eq!(
        agent::at_work(Command::SavePlan, "Claude Code", &Spent::default()),
        "Claude Code is reading the conversation"
    );
    assert_eq!(
        agent::at_work(Command::SavePlan, "Claude Code", &spent()),
        "Claude Code is working (3 turns, 1 tool call, 1.2 M tokens in, 10.0 k out, $0.13, 62 s so far)"
    );
}

#[test]
fn open_questions_are_a_part_of_the_plan() {
    let round = round();
    let open: Vec<(&Question, bool)> = round.questions.iter().zip([false, true]).collect();
    assert_eq!(
        agent::open_questions(&open),
        "\n\n## Open Questions\n\n- Where does the file live? @everyone fixes #1 (considered: Beside the data, /cancel)\n- How \
         large may it grow? – left to the agent\n"
    );
    assert_eq!(agent::decided_by_agent(&[]), None);
    assert_eq!(
        agent::decided_by_agent(&open[1..]).unwrap(),
        "Nobody answered, so the agent decided: “How large may it grow?”."
    );
}

#[test]
fn nothing_about_the_computer_that_the_agent_runs_on_is_told_in_public() {
    for (name, failure) in failures() {
        let told = [vec![failure.message, failure.remedy], failure.details]
            .concat()
            .join("\n");
        for private in ["/opt/claude", "agent.path", "warning: something"] {
            assert!(!told.contains(private), "{name}: {told}");
        }
    }
}

#[test]
fn a_path_on_the_bots_computer_is_told_by_its_name_alone() {
    for (path, told) in [
        ("/var/lib/planwright/agents/01K/work/notes.md", "notes.md"),
        ("~/notes.md", "notes.md"),
        ("C:\\agents\\notes.md", "notes.md"),
        ("/var/lib/planwright/", "planwright"),
        ("/", "a folder"),
        ("docs/notes.md", "docs/notes.md"),
        ("notes.md", "notes.md"),
        ("", ""),
    ] {
        assert_eq!(public(path), told, "{path}");
    }
}

#[test]
fn tokens_are_rounded_to_three_digits() {
    for (input, said) in [
        (0, "0 tokens in, 1 out"),
        (999, "999 tokens in, 1 out"),
        (1_000, "1.0 k tokens in, 1 out"),
        (12_449, "12.4 k tokens in, 1 out"),
        (99_960, "100 k tokens in, 1 out"),
        (999_499, "999 k tokens in, 1 out"),
        (999_500, "1.0 M tokens in, 1 out"),
        (1_234_567, "1.2 M tokens in, 1 out"),
        (u64::MAX, "18446744073709 M tokens in, 1 out"),
    ] {
        let tokens = Tokens {
            input,
            cached: 0,
            output: 1,
        };
        assert_eq!(agent::tokens(&tokens).as_deref(), Some(said));
    }
    assert_eq!(agent::tokens(&Tokens::default()), None);
}

#[test]
fn each_of_several_turns_is_listed_with_what_it_used() {
    assert_eq!(agent::turns(&[spent()]), "");
    insta::assert_snapshot!(agent::turns(&[spent(), Spent::default(), spent()]));
    let many = agent::turns(&[spent(); 25]);
    assert_eq!(many.matches("\n| ").count(), 21, "{many}");
    assert!(many.contains("| 25 | "));
}

#[test]
fn a_month_is_summed_up_by_command() {
    let one = |command: &str, runs, cost, input| CommandUsage {
        command: command.to_owned(),
        runs,
        turns: 9,
        cost,
        tokens: Tokens {
            input,
            cached: 0,
            output: 1_000,
        },
    };
    let usage = [
        one("save-plan", 3, 1_230_000, 2_000_000),
        one("plan", 1, 0, 0),
    ];
    assert_eq!(
        agent::month(&usage, "2026-11").as_deref(),
        Some(
            "Agents in this repository in 2026-11: 4 runs, 2.0 M tokens in, 2.0 k out, $1.23 \
             (`/save-plan` 3 runs, $1.23; `/plan` 1 run)."
        )
    );
    assert_eq!(agent::month(&[], "2026-11"), None);
}
