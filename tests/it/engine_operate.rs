//! What operators and maintainers do to runs is done and recorded in the audit log.

use planwright::engine::model::intake::{Source, Verdict};
use planwright::engine::model::run::{RunId, State};
use planwright::engine::operate::{Action, Outcome, act};
use planwright::engine::store::{Change, RunOutcome, Store};

use crate::store_contract::{add, at, claim, failed, finish, must_claim, new_run, state};
use crate::store_sqlite::fresh;

/// Acts at [`at`]`(100)` for `ada`.
async fn change(store: &dyn Store, action: Action, run: &RunId) -> Outcome {
    act(store, action, run, "ada", at(100)).await.unwrap()
}

/// Returns the audit entries of a run, as actor, decision and reason.
async fn audited(store: &dyn Store, run: &RunId) -> Vec<[String; 3]> {
    let entries = store.audit_of(run).await.unwrap();
    entries
        .into_iter()
        .map(|entry| {
            assert_eq!((entry.at, entry.guid), (at(100), None));
            [entry.actor, entry.decision, entry.why]
        })
        .collect()
}

#[tokio::test]
async fn cancelling_and_retrying_are_recorded() {
    let (_folder, store) = fresh().await;
    let id = add(&store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(&store, 1).await;
    let done = Outcome {
        change: Change::Done,
        run: id.clone(),
    };
    assert_eq!(change(&store, Action::Cancel, &id).await, done);
    finish(&store, &claimed, RunOutcome::Cancelled, 2).await;
    assert_eq!(change(&store, Action::Retry, &id).await, done);
    assert_eq!(state(&store, &id).await, State::Ready);
    let entry = |decision: &str| {
        let why = "requested by an operator or maintainer";
        ["ada", decision, why].map(str::to_owned)
    };
    assert_eq!(
        audited(&store, &id).await,
        [entry("cancel"), entry("retry")]
    );
}

#[tokio::test]
async fn what_is_not_possible_changes_nothing_and_is_not_recorded() {
    let (_folder, store) = fresh().await;
    let mut runs = Vec::new();
    for (number, outcome) in [
        (1, None),
        (2, Some(RunOutcome::Succeeded)),
        (3, Some(failed())),
    ] {
        let id = add(&store, &format!("g{number}"), 0, new_run(number, 1)).await;
        let claimed = must_claim(&store, 1).await;
        if let Some(outcome) = outcome {
            finish(&store, &claimed, outcome, 2).await;
        }
        runs.push(id);
    }
    runs.push(RunId::new());
    for (action, possible) in [
        (Action::Cancel, [true, false, false, false]),
        (Action::Retry, [false, false, true, false]),
        (Action::RunAgain, [false, true, true, false]),
    ] {
        for (id, possible) in runs.iter().zip(possible) {
            let view = store.run(id).await.unwrap();
            let told = view
                .as_ref()
                .is_some_and(|run| action.is_possible(run.state, run.code));
            let before = view.map(|run| run.state);
            assert_eq!(told, possible, "{action:?} {before:?}");
            if possible {
                continue;
            }
            let change = change(&store, action, id).await;
            let expected = match before {
                Some(_) => Change::NotNow,
                None => Change::Unknown,
            };
            assert_eq!((change.change, &change.run), (expected, id));
            let after = store.run(id).await.unwrap().map(|run| run.state);
            assert_eq!(after, before);
            assert!(audited(&store, id).await.is_empty());
        }
    }
}

#[tokio::test]
async fn running_again_makes_a_new_run_of_the_same_command() {
    let (_folder, store) = fresh().await;
    let mut run = new_run(1, 7);
    run.trigger.guidance = Some("keep the sessions".to_owned());
    let id = add(&store, "a", 0, run.clone()).await;
    let claimed = must_claim(&store, 1).await;
    finish(&store, &claimed, RunOutcome::Succeeded, 2).await;

    let mut repetitions = Vec::new();
    // Once a repetition has ended, the command can be given once more.
    for _ in 0..2 {
        let again = change(&store, Action::RunAgain, &id).await;
        assert_eq!(again.change, Change::Done);
        let new = again.run;
        assert_ne!(new, id);
        // A second click, before and after the run is claimed.
        let second = change(&store, Action::RunAgain, &id).await;
        assert_eq!((second.change, &second.run), (Change::NotNow, &new));
        let claimed = must_claim(&store, 101).await;
        assert_eq!(claimed.lease.run, new);
        let second = change(&store, Action::RunAgain, &id).await;
        assert_eq!((second.change, &second.run), (Change::NotNow, &new));
        let mut expected = run.trigger.clone();
        expected.at = at(100);
        expected.repeated = true;
        assert_eq!(claimed.trigger, expected);
        assert_eq!(
            (claimed.created, claimed.round, claimed.attempt),
            (at(100), 0, 1)
        );
        assert_eq!(claimed.guid, format!("run-again-{id}-{new}"));
        finish(&store, &claimed, RunOutcome::Succeeded, 102).await;
        assert!(audited(&store, &new).await.is_empty());
        repetitions.push(new);
    }
    assert!(claim(&store, 103).await.is_none());
    assert_eq!(state(&store, &id).await, State::Succeeded);
    let entry = |new: &RunId| {
        let why = format!("run {new} executes the command of this run again");
        ["ada".to_owned(), "run-again".to_owned(), why]
    };
    let entries: Vec<_> = repetitions.iter().map(entry).collect();
    assert_eq!(audited(&store, &id).await, entries);
    let decisions = store.decisions_at(1, 7, 10).await.unwrap();
    // In whatever order: both were made at the same time.
    for new in &repetitions {
        let accepted = Verdict::Accepted(vec![new.clone()]);
        let ours = decisions.iter().filter(|one| one.verdict == accepted);
        let sources: Vec<Source> = ours.map(|one| one.source).collect();
        assert_eq!(sources, [Source::Operator]);
    }
}

#[test]
fn names_of_actions_are_unambiguous() {
    for action in Action::ALL {
        assert_eq!(Action::from_name(action.name()), Some(action));
    }
    for other in ["", "Cancel", "run_again", "delete"] {
        assert_eq!(Action::from_name(other), None);
    }
}
