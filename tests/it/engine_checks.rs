//! Check runs as effects: whatever happens to the requests, there is one check run, and each
//! annotation exists once.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::effects::{Effects, StepError};
use planwright::engine::forge::{
    Annotation, CheckReport, CheckState, Conclusion, Content, ForgeError, Level, NewCheckRun,
    NotAFile, ReadError, content,
};
use planwright::engine::model::trigger::Repo;
use planwright::engine::store::{ClaimLimits, Store};
use planwright::formats::command::Command;

use crate::support::fake_forge::{Check, Fault};
use crate::support::rig::{HERE, Rig};

const SHA: &str = "0123456789012345678901234567890123456789";

fn repo() -> Repo {
    Rig::place(HERE).repo
}

/// Effects of a run that is leased for an hour.
async fn effects(rig: &Rig) -> Effects {
    rig.say(Command::SavePlan).await;
    let lease = Duration::from_hours(1);
    let claimed = rig
        .store
        .claim("tests", rig.clock.now(), lease, &ClaimLimits::default())
        .await;
    Effects {
        store: rig.store.clone(),
        forge: rig.parts.forge.clone(),
        clock: rig.clock.clone(),
        lease: claimed.unwrap().unwrap().lease,
        adopt_delay: Duration::from_secs(12),
        since: rig.clock.now(),
        search_first: false,
    }
}

fn remark(line: usize) -> Annotation {
    let line = line as u64 + 1;
    Annotation {
        path: "plans/search.md".into(),
        start_line: line,
        end_line: line,
        level: Level::Warning,
        title: None,
        message: format!("remark {line}"),
        raw_details: None,
    }
}

fn plan_check(remarks: usize) -> NewCheckRun {
    NewCheckRun {
        name: "Plan check".into(),
        head_sha: SHA.into(),
        details_url: None,
        report: CheckReport {
            state: CheckState::Completed(Conclusion::Failure),
            title: format!("{remarks} remarks"),
            summary: "Look at the lines.".into(),
            text: None,
            annotations: (0..remarks).map(remark).collect(),
        },
    }
}

/// Creates the check run as a worker would: again after each fault, later when told to wait.
async fn create(rig: &Rig, effects: &Effects, new: &NewCheckRun) -> u64 {
    let here = repo();
    for _ in 0..20 {
        let outcome = tokio::select! {
            outcome = effects.create_check("check", &here, new) => outcome,
            () = rig.forge.died.notified() => continue,
        };
        match outcome {
            Ok(posted) => return posted.id(),
            Err(
                StepError::Settling { until } | StepError::Forge(ForgeError::Limited { until, .. }),
            ) => {
                rig.clock.advance_to(until);
            }
            Err(StepError::Forge(ForgeError::Unknown { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    panic!("never done");
}

fn only_check(rig: &Rig) -> Check {
    let world = rig.forge.world.lock().unwrap();
    assert_eq!(world.checks.len(), 1, "{:?}", world.checks);
    world.checks[0].clone()
}

#[tokio::test]
async fn annotations_are_sent_in_pieces_of_fifty() {
    for (remarks, requests) in [(0, 1), (50, 1), (51, 2), (100, 2), (120, 3)] {
        let rig = Rig::new().await;
        let effects = effects(&rig).await;
        let new = plan_check(remarks);
        let id = create(&rig, &effects, &new).await;
        let check = only_check(&rig);
        assert_eq!((check.id, check.requests), (id, requests), "{remarks}");
        assert_eq!(check.report, new.report, "{remarks}");
        assert_eq!(
            check.external_id,
            format!("{}/check", effects.lease.run),
            "{remarks}"
        );
    }
}

#[tokio::test]
async fn any_fault_at_any_request_adds_nothing_twice_and_loses_nothing() {
    let new = plan_check(120);
    for at in 1..=3 {
        for fault in [
            Fault::LostBefore,
            Fault::LostAfter,
            Fault::DieBefore,
            Fault::DieAfter,
            Fault::Limited(Duration::from_mins(10)),
        ] {
            let rig = Rig::new().await;
            let effects = effects(&rig).await;
            rig.forge.fail(at, fault);
            let id = create(&rig, &effects, &new).await;
            let check = only_check(&rig);
            assert_eq!(check.id, id, "{fault:?} at {at}");
            assert_eq!(check.report, new.report, "{fault:?} at {at}");
            // And once it is done it stays done.
            let requests = check.requests;
            assert_eq!(create(&rig, &effects, &new).await, id);
            assert_eq!(only_check(&rig).requests, requests, "{fault:?} at {at}");
        }
    }
}

#[tokio::test]
async fn two_lost_answers_in_a_row_add_nothing_twice() {
    for at in 1..=3 {
        let rig = Rig::new().await;
        let effects = effects(&rig).await;
        rig.forge.fail(at, Fault::LostAfter);
        rig.forge.fail(at + 1, Fault::LostAfter);
        let new = plan_check(120);
        create(&rig, &effects, &new).await;
        assert_eq!(only_check(&rig).report, new.report, "at {at}");
    }
}

#[tokio::test]
async fn a_lost_request_is_not_looked_for_before_it_has_settled() {
    let rig = Rig::new().await;
    let effects = effects(&rig).await;
    rig.forge.fail(2, Fault::LostAfter);
    let new = plan_check(60);
    let lost = effects.create_check("check", &repo(), &new).await;
    assert!(
        matches!(lost, Err(StepError::Forge(ForgeError::Unknown { .. }))),
        "{lost:?}"
    );
    let until = rig.clock.now().plus(Duration::from_secs(12));
    let early = effects.create_check("check", &repo(), &new).await;
    assert!(
        matches!(early, Err(StepError::Settling { until: then }) if then == until),
        "{early:?}"
    );
}

#[tokio::test]
async fn a_check_that_is_at_work_is_completed_with_its_annotations() {
    let rig = Rig::new().await;
    let effects = effects(&rig).await;
    let mut begun = plan_check(0);
    begun.report.state = CheckState::InProgress;
    let id = create(&rig, &effects, &begun).await;
    assert_eq!(only_check(&rig).report.state, CheckState::InProgress);
    let done = plan_check(70).report;
    for lost in [true, false] {
        if lost {
            rig.forge.fail(2, Fault::LostAfter);
        }
        let said = effects.report_check("report", &repo(), id, 0, &done).await;
        assert_eq!(said.is_err(), lost, "{said:?}");
        rig.clock
            .advance_to(rig.clock.now().plus(Duration::from_secs(12)));
    }
    assert_eq!(only_check(&rig).report, done);
}

#[tokio::test]
async fn a_refused_check_is_told_and_leaves_nothing() {
    let rig = Rig::new().await;
    let effects = effects(&rig).await;
    rig.forge.fail(1, Fault::Forbidden);
    let refused = effects.create_check("check", &repo(), &plan_check(1)).await;
    assert!(
        matches!(refused, Err(StepError::Forge(ForgeError::Forbidden { .. }))),
        "{refused:?}"
    );
    assert!(rig.forge.world.lock().unwrap().checks.is_empty());
}

#[tokio::test]
async fn what_stands_at_a_path_of_a_commit_is_told_apart() {
    let rig = Rig::new().await;
    let text = "# Plan\r\n\u{1f680}\n".repeat(30);
    let most = 1_000;
    let not_a_file = |kind| Err(ReadError::NotAFile { kind });
    let table = [
        (
            "a.md",
            Some(Ok(text.clone().into_bytes())),
            Content::Text(text),
        ),
        ("empty", Some(Ok(Vec::new())), Content::Text(String::new())),
        ("latin1", Some(Ok(b"caf\xe9".to_vec())), Content::Binary),
        ("nul", Some(Ok(b"a\0b".to_vec())), Content::Binary),
        (
            "long",
            Some(Ok(vec![b'a'; 1_001])),
            Content::TooLarge { most },
        ),
        (
            "docs",
            Some(not_a_file(NotAFile::Directory)),
            Content::NotAFile(NotAFile::Directory),
        ),
        ("nothing", None, Content::Missing),
    ];
    for (path, there, expected) in table {
        if let Some(there) = there {
            let name = format!("{path}@{SHA}");
            rig.forge.world.lock().unwrap().files.insert(name, there);
        }
        let found = content(&rig.forge, &repo(), path, SHA, most).await;
        assert_eq!(found.as_ref(), Ok(&expected), "{path}");
    }
    rig.forge.world.lock().unwrap().down = true;
    let down = content(&rig.forge, &repo(), "a.md", SHA, most).await;
    assert!(
        matches!(down, Err(ReadError::Forge(ForgeError::Unreachable { .. }))),
        "{down:?}"
    );
}
