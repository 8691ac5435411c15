//! Tests of `engine::messages`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::engine::commands;
use crate::engine::forge::ForgeError;
use crate::engine::model::failure::Code;
use crate::engine::model::intake::{DecisionRecord, Source, Subject, Verdict};
use crate::engine::model::progress::{Known, PlanIssue, Progress};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef, Repo};
use crate::engine::settings::Settings;
use crate::engine::store::RunView;

mod agent;
mod checks;
mod grounding;
mod research;
mod sources;
mod steps;

use crate::formats::command::{self, Command, Permission};

fn trigger(command: Command) -> Trigger {
    let repo = Repo {
        installation: 1,
        id: 42,
        owner: "acme".into(),
        name: "search".into(),
    };
    Trigger {
        command,
        actor: Actor {
            id: 7,
            login: "ada".into(),
            bot: false,
        },
        place: IssueRef {
            repo,
            number: 12,
            pull_request: false,
        },
        origin: Origin::Comment {
            id: 5,
            text: String::new(),
            url: "https://github.test/c5".into(),
        },
        options: Vec::new(),
        guidance: None,
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: None,
        at: Millis(1_780_000_000_000),
    }
}

fn by_label() -> Trigger {
    Trigger {
        origin: Origin::Label {
            name: "save-plan".into(),
        },
        ..trigger(Command::SavePlan)
    }
}

fn run() -> RunId {
    RunId("01K00000000000000000000000".into())
}

fn prepared() -> Prepared {
    Prepared {
        issue_title: "Cache the index".into(),
        title: "Cache the index".into(),
        document: "# Plan: Cache the index".into(),
        found: "found in a comment by ada".into(),
        sentence: "Keep the index on disk, as @bob asked; fixes #3.".into(),
        steps: vec!["Write it".into(), "Read it".into(), "Test it".into()],
        notes: vec!["No agent is configured, so the plan was saved as found.".into()],
        source_title: "Search is slow @everyone".into(),
        log: None,
        enriched: Enriched::No,
        warnings: Vec::new(),
        attached: Vec::new(),
        hidden: None,
        replaces: None,
        base: None,
        files: None,
    }
}

fn saved_issue() -> Saved {
    Saved {
        number: 14,
        url: "https://github.test/acme/search/issues/14".into(),
        comments: vec![31],
    }
}

/// The next steps of that issue, by default.
fn steps() -> String {
    let place = trigger(Command::SavePlan).place;
    next_steps(&Settings::default(), &place, &saved_issue())
}

/// Every text the bot can post, by name.
fn everything() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let save = trigger(Command::SavePlan);
    add("queued_next", queued(&save, &run(), 0, None));
    add("queued_one", queued(&save, &run(), 1, None));
    add("queued_many", queued(&by_label(), &run(), 3, None));
    let waits = "waiting for answers to 2 questions until 2026-06-04T20:26:40Z";
    add("queued_behind", queued(&save, &run(), 1, Some(waits)));
    add(
        "working",
        working(&save, &run(), "reading the conversation"),
    );
    add("paused", paused(&run()));
    add(
        "saved",
        saved(
            &save,
            &run(),
            &prepared(),
            &saved_issue(),
            &steps(),
            1.25,
            Used::default(),
        ),
    );
    let raw = trigger(Command::SaveRawPlan);
    add(
        "saved_raw",
        saved(
            &raw,
            &run(),
            &prepared(),
            &saved_issue(),
            &steps(),
            1.25,
            Used::default(),
        ),
    );
    let earlier = |number: u64| PlanIssue {
        number,
        url: format!("https://github.test/acme/search/issues/{number}"),
    };
    let known = Known {
        issue: earlier(12),
        replaced_by: None,
    };
    add("known", known::already_saved(&by_label(), &run(), &known));
    let replaced = Known {
        replaced_by: Some(earlier(14)),
        ..known
    };
    let mut guided = trigger(Command::SavePlan);
    guided.guidance = Some("Keep it small.".into());
    add(
        "known_replaced",
        known::already_saved(&guided, &run(), &replaced),
    );
    add("replaced", known::replaced(&save, &run(), &saved_issue()));
    let replacing = Prepared {
        replaces: Some(earlier(12)),
        ..prepared()
    };
    add(
        "saved_replacing",
        saved(
            &save,
            &run(),
            &replacing,
            &saved_issue(),
            &steps(),
            1.25,
            Used::default(),
        ),
    );
    let header = "<!-- header block -->";
    add(
        "plan_issue_replacing",
        plan_issue_begun(&save, &run(), &replacing, header),
    );
    add(
        "plan_issue_new",
        plan_issue_begun(&save, &run(), &prepared(), header),
    );
    add(
        "plan_issue_done",
        plan_issue_done(
            &by_label(),
            &run(),
            &prepared(),
            header,
            &saved_issue(),
            &steps(),
        ),
    );
    let with_guidance = Trigger {
        guidance: Some("use `redis` @all\n/save-plan".to_owned()),
        ..save.clone()
    };
    let place = &save.place;
    let what = || "creating an issue".to_owned();
    let message = || "Resource not accessible by integration".to_owned();
    let failures = [
        (
            "no_plan",
            failures::no_plan_found(&save, vec!["Searched: 3 posts; none is a plan".into()]),
        ),
        ("guidance", failures::no_plan_found(&with_guidance, vec![])),
        (
            "validation",
            failures::validation_failed("Plan too short (12 characters, minimum 100)", "Say more."),
        ),
        ("too_large", failures::plan_too_large(31, 20)),
        ("cancelled", failures::cancelled("grace")),
        (
            "internal",
            failures::internal("The run was started 5 times and never finished."),
        ),
        (
            "gave_up",
            failures::gave_up(
                &ForgeError::Unknown {
                    what: what(),
                    message: "502".into(),
                },
                6,
            ),
        ),
        (
            "disabled",
            failures::refused(
                &ForgeError::Gone {
                    what: what(),
                    message: message(),
                },
                place,
            ),
        ),
        (
            "forbidden",
            failures::refused(
                &ForgeError::Forbidden {
                    what: what(),
                    message: message(),
                },
                place,
            ),
        ),
        (
            "credentials",
            failures::refused(
                &ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                place,
            ),
        ),
        (
            "locked",
            failures::refused(
                &ForgeError::Locked {
                    what: what(),
                    message: "Unable to create comment because issue is locked.".into(),
                },
                place,
            ),
        ),
        (
            "refused",
            failures::refused(
                &ForgeError::Rejected {
                    what: what(),
                    status: 422,
                    message: message(),
                },
                place,
            ),
        ),
    ];
    for (name, failure) in &failures {
        add(
            &format!("failed_{name}"),
            failed(&save, &run(), failure, &Exists::Nothing, Used::default()),
        );
    }
    add(
        "failed_with_issue",
        failed(
            &save,
            &run(),
            &failures[7].1,
            &Exists::Issue(saved_issue()),
            Used::default(),
        ),
    );
    add(
        "failed_perhaps",
        failed(
            &save,
            &run(),
            &failures[6].1,
            &Exists::Perhaps,
            Used::default(),
        ),
    );
    add("refusal", replies::refusal(&save, Some(Permission::Triage)));
    add("refusal_none", replies::refusal(&by_label(), None));
    add(
        "help",
        commands::help::text(&[(Command::SavePlan, "save-plan".into())]),
    );
    add("status_none", commands::status::text(&[]));
    let view = RunView {
        id: run(),
        command: "save-plan".into(),
        state: State::Failed,
        trigger: None,
        progress: None,
        attempt: 1,
        code: Some(Code::NoPlanFound),
        note: Some("nothing | @bob\n/save-plan".into()),
        created: Millis(1_780_000_000_000),
        finished: None,
    };
    add("status_one", commands::status::text(&[view]));
    add(
        "status_ignored",
        commands::status::ignored(&ignored(), Millis(1_780_000_000_000)),
    );
    add("cancel_none", commands::cancel::text(&[]));
    add("cancel_two", commands::cancel::text(&[run(), run()]));
    add("retry_none", commands::retry::text(None));
    add("retry_one", commands::retry::text(Some(&run())));
    all.extend(sources::everything());
    all.extend(agent::everything());
    all.extend(research::everything());
    all.extend(grounding::everything());
    all
}

/// Decisions of which two are told: what is ordinary or old is left out.
fn ignored() -> Vec<DecisionRecord> {
    let at = |ms: i64, comment, why: &str| DecisionRecord {
        at: Millis(1_780_000_000_000 + ms),
        source: Source::Webhook,
        guid: String::new(),
        event: "issue_comment".to_owned(),
        subject: Subject {
            comment,
            ..Subject::default()
        },
        verdict: Verdict::Ignored(why.to_owned()),
    };
    vec![
        at(
            5000,
            Some(99),
            "`a|b[bot]` (id 5) is a bot that is not in `github.allowed_bots`",
        ),
        at(4000, None, "the installation is suspended; @ada"),
        at(3000, Some(98), crate::engine::decide::NO_COMMAND),
        at(2000, None, "the label `bug` is not a command"),
        at(1000, Some(97), "this App did that itself"),
        at(-1, Some(96), "the edit adds no command"),
    ]
}

#[test]
fn the_status_links_the_plan_issue_of_a_run() {
    let progress = Progress {
        saved: Some(saved_issue()),
        ..Progress::default()
    };
    let view = RunView {
        id: run(),
        command: "save-plan".into(),
        state: State::Succeeded,
        trigger: None,
        progress: Some(progress),
        attempt: 1,
        code: None,
        note: None,
        created: Millis(1_780_000_000_000),
        finished: None,
    };
    let text = commands::status::text(&[view]);
    let link = " | [#14](https://github.test/acme/search/issues/14) |\n";
    assert!(text.ends_with(link), "{text}");
}

#[test]
fn every_text_is_as_reviewed() {
    for (name, text) in everything() {
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn no_text_carries_a_live_command_or_pings_anybody() {
    for (name, text) in everything() {
        assert!(
            command::parse(&text).is_empty(),
            "{name} carries a live command:\n{text}"
        );
        for word in ["@bob", "@all", "@everyone"] {
            assert!(!text.contains(word), "{name} pings {word}:\n{text}");
        }
        assert!(
            !text.contains("fixes #3"),
            "{name} closes an issue:\n{text}"
        );
    }
}

#[test]
fn every_failure_code_has_a_text() {
    let all = everything();
    for code in crate::engine::model::failure::Code::ALL {
        let shown = all.iter().any(|(_, text)| text.contains(code.name()));
        // A refusal is one line for people; its code is in the run and the audit.
        let one_line = code == crate::engine::model::failure::Code::PermissionDenied;
        assert!(shown || one_line, "{}", code.name());
    }
}

#[test]
fn code_spans_hold_any_text() {
    assert_eq!(code_span("a"), "`a`");
    assert_eq!(code_span("a`b"), "`` a`b ``");
    assert_eq!(code_span("a\nb"), "`a b`");
}
