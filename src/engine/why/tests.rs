//! What is told about each kind of evidence.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::engine::model::intake::Subject;
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;

const COMMENT: u64 = 99;

fn at(minutes: i64) -> Millis {
    Millis(1_780_000_000_000 + minutes * 60_000)
}

fn decision(minutes: i64, source: Source, verdict: Verdict) -> DecisionRecord {
    DecisionRecord {
        at: at(minutes),
        source,
        guid: "g".to_owned(),
        event: "issue_comment".to_owned(),
        subject: Subject {
            action: Some("created".to_owned()),
            repo: Some(1),
            number: Some(7),
            comment: Some(COMMENT),
        },
        verdict,
    }
}

/// Evidence about a comment with `/save-plan` that was written at `at(0)`.
fn evidence(decisions: Vec<DecisionRecord>, runs: Vec<RunEvidence>) -> Evidence {
    Evidence {
        question: Question {
            repository: "acme/search".to_owned(),
            number: 7,
            comment: Some(COMMENT),
        },
        now: at(60),
        installed: Ok(Installed::Yes),
        comment: Ok(Some(CommentNow {
            number: 7,
            text: "/save-plan".to_owned(),
            created: at(0),
        })),
        decisions,
        runs,
        attempts: Ok(Vec::new()),
        limits: ClaimLimits::default(),
    }
}

fn run(state: State) -> RunEvidence {
    RunEvidence {
        view: RunView {
            id: RunId("RUN1".to_owned()),
            command: "save-plan".to_owned(),
            state,
            trigger: None,
            progress: None,
            attempt: 1,
            code: None,
            note: None,
            created: at(0),
            finished: None,
        },
        due: None,
        position: QueuePosition::default(),
        behind: None,
    }
}

fn accepted(minutes: i64, source: Source) -> DecisionRecord {
    let runs = vec![RunId("RUN1".to_owned())];
    decision(minutes, source, Verdict::Accepted(runs))
}

fn trigger() -> Trigger {
    serde_json::from_value(serde_json::json!({
        "command": "save-plan",
        "actor": {"id": 1, "login": "ada", "bot": false},
        "place": {
            "repo": {"installation": 1, "id": 1, "owner": "acme", "name": "search"},
            "number": 7,
            "pull_request": false,
        },
        "origin": {"kind": "comment", "id": COMMENT, "text": "/save-plan", "url": ""},
        "guidance": null,
        "inline": null,
        "at": at(0),
    }))
    .unwrap()
}

#[test]
fn states_of_runs_have_their_sentences() {
    let failed = |code| {
        let mut run = run(State::Failed);
        (run.view.code, run.view.note) = (Some(code), Some("because".to_owned()));
        run
    };
    let mut waiting = run(State::Waiting);
    (waiting.due, waiting.view.note) = (Some(at(90)), Some("GitHub's rate limit".to_owned()));
    let mut blocked = run(State::Blocked);
    (blocked.position.at_place, blocked.behind) = (2, Some("RUN0".to_owned()));
    let cases = vec![
        (
            run(State::Ready),
            "The command is about to be executed.",
            "starts as soon as a worker is free",
        ),
        (
            run(State::Running),
            "The command is being executed.",
            "is being worked on",
        ),
        (
            waiting,
            "The command has started and is waiting; the reason is below.",
            "waits until 2026-05-28T21:56:40Z: GitHub's rate limit",
        ),
        (
            blocked,
            "The command is waiting for an earlier one at the same place.",
            "is queued as number 2 behind run RUN0",
        ),
        (
            run(State::Succeeded),
            "The command was executed.",
            "succeeded",
        ),
        (
            run(State::Cancelled),
            "The command was cancelled.",
            "was cancelled",
        ),
        (
            failed(Code::PermissionDenied),
            "The command was not executed: its author may not give it.",
            "failed with permission_denied: because",
        ),
        (
            failed(Code::NoPlanFound),
            "The command failed.",
            "failed with no_plan_found: because",
        ),
    ];
    for (run, outcome, event) in cases {
        let story = explain(&evidence(vec![accepted(1, Source::Webhook)], vec![run]));
        assert_eq!(story.outcome, outcome);
        let told = &story.events[0];
        assert!(told.ends_with(event), "{told}");
        let received = "received as a webhook request: /save-plan (run RUN1) ";
        assert!(told.contains(received), "{told}");
    }
}

#[test]
fn late_and_expired_commands_have_their_times() {
    let mut late = run(State::Succeeded);
    late.view.trigger = Some(trigger());
    let decisions = vec![accepted(45, Source::DeliveryLog)];
    let story = explain(&evidence(decisions, vec![late.clone()]));
    assert_eq!(
        story.outcome,
        "The command was executed. It was picked up 45 minutes after it was written."
    );
    assert!(story.events[0].contains("picked up from GitHub's delivery log"));
    late.view.trigger.as_mut().unwrap().expired = true;
    let story = explain(&evidence(vec![accepted(45, Source::Scan)], vec![late]));
    assert_eq!(
        story.outcome,
        "The command was found too late to be executed. It was picked up 45 minutes after it was written."
    );
    assert_eq!(story.remedy.as_deref(), Some("give the command again"));
}

#[test]
fn repeated_deliveries_are_listed_in_order() {
    let decisions = vec![
        decision(9, Source::Webhook, Verdict::Requeued),
        decision(5, Source::DeliveryLog, Verdict::Duplicate),
        accepted(1, Source::Webhook),
    ];
    let story = explain(&evidence(decisions, vec![run(State::Succeeded)]));
    assert_eq!(story.outcome, "The command was executed.");
    assert_eq!(story.events.len(), 3);
    assert!(story.events[1].ends_with("known already, so nothing was done"));
    assert!(story.events[2].ends_with("redelivered: its failed runs were queued again"));
}

#[test]
fn a_repetition_alone_shows_that_it_was_received_before() {
    let decisions = vec![decision(5, Source::Webhook, Verdict::Duplicate)];
    let story = explain(&evidence(decisions, Vec::new()));
    assert_eq!(
        story.outcome,
        "It was received again; what its first delivery led to is no longer in the database."
    );
}

#[test]
fn what_was_ignored_has_its_remedy() {
    let cases = [
        (
            "`x[bot]` (id 5) is a bot that is not in `github.allowed_bots`",
            "add the account id to github.allowed_bots, or let a person give the command",
        ),
        (
            "it was found 30 hours after it was written; commands are executed up to 24 hours later (late.max_age_hours)",
            "give the command again in a new comment",
        ),
        (
            "the comment was edited ten minutes or more after it was written; commands in such edits do not count",
            "give the command in a new comment",
        ),
        ("the label `bug` is not a command", ""),
    ];
    for (why, remedy) in cases {
        let ignored = Verdict::Ignored(why.to_owned());
        let decisions = vec![decision(1, Source::Webhook, ignored)];
        let story = explain(&evidence(decisions, Vec::new()));
        assert_eq!(
            story.outcome,
            format!("It was received and ignored: {why}.")
        );
        assert_eq!(story.remedy.unwrap_or_default(), remedy);
    }
    let refused = Verdict::Refused("missing field".to_owned());
    let decisions = vec![decision(1, Source::Webhook, refused)];
    let story = explain(&evidence(decisions, Vec::new()));
    assert_eq!(story.outcome, "It was received and refused: missing field.");
}

#[test]
fn what_could_not_be_checked_is_told_once() {
    let mut evidence = evidence(Vec::new(), Vec::new());
    let why = "GitHub cannot be reached".to_owned();
    evidence.installed = Err(why.clone());
    evidence.comment = Err(why.clone());
    evidence.attempts = Err(why);
    assert_eq!(
        explain(&evidence).lines(),
        "Nothing about this comment was received, as far as the database knows.\n\
         To do: try again when GitHub can be reached\n\
         Not checked: GitHub cannot be reached\n"
    );
}

#[test]
fn an_installation_that_is_gone_now_is_told_besides() {
    let decisions = vec![accepted(1, Source::Webhook)];
    let mut evidence = evidence(decisions, vec![run(State::Succeeded)]);
    evidence.installed = Ok(Installed::Suspended);
    let story = explain(&evidence);
    assert_eq!(story.outcome, "The command was executed.");
    assert_eq!(
        story.events[1],
        "Now: The installation of the App for acme/search is suspended."
    );
}

#[test]
fn ready_runs_say_what_they_wait_for() {
    let position = |in_repository, running_in_repository, running_in_installation| QueuePosition {
        at_place: 0,
        in_repository,
        running_in_repository,
        running_in_installation,
    };
    let limits = ClaimLimits {
        installation: Some(8),
        repository: Some(2),
    };
    let none = ClaimLimits::default();
    for (position, limits, text) in [
        (
            position(0, 0, 0),
            limits,
            "starts as soon as a worker is free",
        ),
        (
            position(3, 2, 8),
            limits,
            "waits until one of the 8 running commands of this installation ends (worker.per_installation)",
        ),
        (
            position(3, 2, 7),
            limits,
            "waits until one of the 2 running commands of this repository ends (worker.per_repository)",
        ),
        (
            position(3, 2, 8),
            none,
            "waits for a free worker; 3 earlier commands of this repository are ahead of it",
        ),
        (
            position(1, 0, 0),
            none,
            "waits for a free worker; 1 earlier command of this repository is ahead of it",
        ),
        (
            position(0, 0, 2),
            none,
            "waits for a free worker; this installation has 2 running commands, and installations with fewer go first",
        ),
    ] {
        assert_eq!(position.explain(&limits), text);
    }
}
