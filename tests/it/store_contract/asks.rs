//! Commands of people without permissions: which are answered, and when their runs are claimed.

use std::time::Duration;

use planwright::engine::model::run::{RunId, State};
use planwright::engine::store::{
    ActorStanding, AnswerDecision, AnswerLimits, CommandRequest, Lease, RunOutcome, Store,
    StoreError,
};

use super::*;

const MEMBER: ActorStanding = ActorStanding {
    outsider: false,
    refused: false,
};
const OUTSIDER: ActorStanding = ActorStanding {
    outsider: true,
    refused: false,
};
const REFUSED: ActorStanding = ActorStanding {
    outsider: false,
    refused: true,
};
const MINUTE: i64 = 60_000;

const LIMITS: AnswerLimits = AnswerLimits {
    person: 2,
    place: 3,
    installation: 4,
    window: Duration::from_hours(1),
};

fn ask(actor: u64, comment: u64) -> CommandRequest {
    CommandRequest {
        installation: 1,
        place: "1#1".into(),
        actor,
        comment: Some(comment),
    }
}

/// Returns the lease of a new run that is not serial.
async fn leased(store: &dyn Store, ms: i64) -> Lease {
    let mut run = new_run(1, 1);
    run.serial = None;
    let id = RunId::new();
    add(store, &id.0, ms, run).await;
    must_claim(store, ms).await.lease
}

/// Returns the decision about the command of a new run, which is finished afterwards.
async fn decided(
    store: &dyn Store,
    ask: &CommandRequest,
    standing: ActorStanding,
    ms: i64,
) -> AnswerDecision {
    let lease = leased(store, ms).await;
    let mut heard = store
        .decide_answer(&lease, ask, None, &LIMITS, at(ms))
        .await
        .unwrap();
    if heard == AnswerDecision::Undecided {
        let decided = store
            .decide_answer(&lease, ask, Some(standing), &LIMITS, at(ms))
            .await;
        heard = decided.unwrap();
    }
    store
        .finish(&lease, &RunOutcome::Succeeded, at(ms))
        .await
        .unwrap();
    heard
}

fn why(heard: AnswerDecision) -> String {
    match heard {
        AnswerDecision::Ignore(why) => why,
        other => panic!("ignored expected: {other:?}"),
    }
}

/// Decides that an outsider's run is answered, and gives it back; it is deferred then.
async fn defer(store: &dyn Store, lease: &Lease, actor: u64) {
    let ask = ask(actor, actor);
    let heard = store
        .decide_answer(lease, &ask, Some(OUTSIDER), &LIMITS, at(5))
        .await;
    assert_eq!(heard.unwrap(), AnswerDecision::Answer);
    store
        .finish(lease, &RunOutcome::Yield, at(5))
        .await
        .unwrap();
}

pub(crate) async fn deferred_runs_come_last_and_one_at_a_time_in_an_installation(
    store: &dyn Store,
) {
    let mut deferred = Vec::new();
    for actor in [1, 2] {
        let lease = leased(store, 0).await;
        defer(store, &lease, actor).await;
        deferred.push(lease.run);
    }
    let later = add(store, "later", 10, new_run(2, 1)).await;
    assert_eq!(must_claim(store, 20).await.lease.run, later);
    let first = must_claim(store, 20).await;
    assert_eq!((&first.lease.run, first.attempt), (&deferred[0], 1));
    assert!(claim(store, 20).await.is_none(), "one of them is running");
    assert_eq!(store.next_due().await.unwrap(), None);
    // One that has waited is ready, and is claimed when none is running.
    finish(store, &first, park(30, false), 21).await;
    let second = must_claim(store, 30).await;
    assert_eq!(second.lease.run, deferred[1]);
    assert!(claim(store, 31).await.is_none());
    assert_eq!(store.next_due().await.unwrap(), None);
    finish(store, &second, RunOutcome::Succeeded, 32).await;
    assert_eq!(must_claim(store, 33).await.lease.run, deferred[0]);
}

pub(crate) async fn a_deferred_run_leaves_the_line_of_its_place(store: &dyn Store) {
    let stranger = add(store, "a", 0, new_run(1, 1)).await;
    let next = add(store, "b", 1, new_run(1, 1)).await;
    let claimed = must_claim(store, 2).await;
    assert_eq!(claimed.lease.run, stranger);
    defer(store, &claimed.lease, 1).await;
    assert_eq!(must_claim(store, 6).await.lease.run, next);
    assert_eq!(must_claim(store, 6).await.lease.run, stranger);
    // One that is acknowledged while it is blocked no longer is.
    let blocked = add(store, "c", 7, new_run(1, 1)).await;
    let acknowledging = store.claim_unacknowledged("ack", at(8), LEASE, at(0)).await;
    let lease = acknowledging.unwrap().unwrap().lease;
    assert_eq!(lease.run, blocked);
    let asked = ask(2, 2);
    let heard = store
        .decide_answer(&lease, &asked, Some(OUTSIDER), &LIMITS, at(8))
        .await;
    assert_eq!(heard.unwrap(), AnswerDecision::Answer);
    store.acknowledged(&lease).await.unwrap();
    assert_eq!(state(store, &blocked).await, State::Ready);
}

pub(crate) async fn what_was_decided_stays_decided(store: &dyn Store) {
    let lease = leased(store, 0).await;
    let asked = ask(1, 1);
    let hear = |standing, ms| {
        let (lease, asked) = (lease.clone(), asked.clone());
        async move {
            store
                .decide_answer(&lease, &asked, standing, &LIMITS, at(ms))
                .await
                .unwrap()
        }
    };
    assert_eq!(hear(None, 1).await, AnswerDecision::Undecided);
    assert_eq!(hear(Some(REFUSED), 1).await, AnswerDecision::Answer);
    assert_eq!(hear(None, 2).await, AnswerDecision::Answer);
    assert_eq!(hear(Some(OUTSIDER), 2).await, AnswerDecision::Answer);
    let second = leased(store, 3).await;
    let asked = ask(1, 2);
    let ignored = store
        .decide_answer(&second, &asked, Some(REFUSED), &LIMITS, at(3))
        .await
        .unwrap();
    assert_eq!(
        why(ignored.clone()),
        "This person was refused within the window."
    );
    let again = store
        .decide_answer(&second, &asked, None, &LIMITS, at(100 * MINUTE))
        .await
        .unwrap();
    assert_eq!(again, ignored);
}

pub(crate) async fn budgets_of_person_place_and_installation_end_with_their_window(
    store: &dyn Store,
) {
    let elsewhere = |actor, comment, place: &str| CommandRequest {
        place: place.to_owned(),
        ..ask(actor, comment)
    };
    for (asked, ms, ignored) in [
        (ask(1, 1), 0, None),
        (ask(1, 2), 1, None),
        (ask(1, 3), 2, Some("This person has had 2 answers")),
        (ask(2, 4), 3, None),
        (
            ask(3, 5),
            4,
            Some("This issue or pull request has had 3 answers"),
        ),
        (elsewhere(3, 6, "1#2"), 5, None),
        (
            elsewhere(4, 7, "1#2"),
            6,
            Some("The installation has had 4 answers"),
        ),
        // The first answer no longer counts.
        (elsewhere(5, 8, "1#3"), 60 * MINUTE, None),
    ] {
        let heard = decided(store, &asked, OUTSIDER, ms).await;
        match ignored {
            None => assert_eq!(heard, AnswerDecision::Answer, "{asked:?}"),
            Some(start) => {
                let why = why(heard);
                assert!(why.starts_with(start), "{asked:?}: {why}");
                assert!(why.ends_with("to people without permission within the window."));
            }
        }
    }
    // Nothing of it is for people with permissions.
    assert_eq!(
        decided(store, &ask(1, 9), MEMBER, 7).await,
        AnswerDecision::Answer
    );
    let other = CommandRequest {
        installation: 2,
        ..elsewhere(1, 10, "2#1")
    };
    assert_eq!(
        decided(store, &other, OUTSIDER, 8).await,
        AnswerDecision::Answer
    );
}

pub(crate) async fn a_comment_is_answered_once_to_an_outsider_and_counts_for_eight_commands(
    store: &dyn Store,
) {
    assert_eq!(
        decided(store, &ask(1, 1), OUTSIDER, 0).await,
        AnswerDecision::Answer
    );
    let again = decided(store, &ask(1, 1), OUTSIDER, 1).await;
    assert_eq!(why(again), "The comment was answered before.");
    for ms in 10..18 {
        assert_eq!(
            decided(store, &ask(9, 2), MEMBER, ms).await,
            AnswerDecision::Answer
        );
    }
    let ninth = decided(store, &ask(9, 2), MEMBER, 18).await;
    assert_eq!(why(ninth), "The comment has asked for 8 commands already.");
    // Whoever edits a comment too often is no outsider for that.
    for ms in 20..50 {
        why(decided(store, &ask(9, 2), MEMBER, ms).await);
    }
    assert_eq!(
        decided(store, &ask(9, 3), MEMBER, 50).await,
        AnswerDecision::Answer
    );
}

pub(crate) async fn a_refusal_is_posted_once_in_a_window(store: &dyn Store) {
    assert_eq!(
        decided(store, &ask(1, 1), REFUSED, 0).await,
        AnswerDecision::Answer
    );
    let again = decided(store, &ask(1, 2), REFUSED, 59 * MINUTE).await;
    assert_eq!(why(again), "This person was refused within the window.");
    assert_eq!(
        decided(store, &ask(1, 3), MEMBER, 59 * MINUTE).await,
        AnswerDecision::Answer
    );
    assert_eq!(
        decided(store, &ask(2, 4), REFUSED, 59 * MINUTE).await,
        AnswerDecision::Answer
    );
    assert_eq!(
        decided(store, &ask(1, 5), REFUSED, 60 * MINUTE).await,
        AnswerDecision::Answer
    );
    // GitHub is not asked for the role of somebody who asks without end.
    for comment in 100..119 {
        decided(store, &ask(1, comment), REFUSED, 61 * MINUTE).await;
    }
    let lease = leased(store, 62 * MINUTE).await;
    let now = at(62 * MINUTE);
    let last = store
        .decide_answer(&lease, &ask(1, 200), None, &LIMITS, now)
        .await
        .unwrap();
    assert_eq!(
        why(last),
        "This person without permission has given 21 commands within the window."
    );
}

pub(crate) async fn deciding_needs_the_lease(store: &dyn Store) {
    let lease = Lease {
        fence: 7,
        ..leased(store, 0).await
    };
    let heard = store
        .decide_answer(&lease, &ask(1, 1), Some(OUTSIDER), &LIMITS, at(1))
        .await;
    assert!(matches!(heard, Err(StoreError::Fenced(_))), "{heard:?}");
}

/// A run of the installation with this id, whose answer to an outsider is deferred, claimed at
/// [`at`]`(ms)`.
async fn deferred_in(store: &dyn Store, installation: u64, ms: i64) -> Lease {
    let run = NewRun {
        installation,
        ..new_run(installation, 1)
    };
    let place = run.place.clone();
    add(store, &format!("g{installation}"), ms, run).await;
    let lease = must_claim(store, ms).await.lease;
    let request = CommandRequest {
        installation,
        place,
        actor: 7,
        comment: Some(installation),
    };
    let decision = store
        .decide_answer(&lease, &request, Some(OUTSIDER), &LIMITS, at(ms))
        .await;
    assert_eq!(decision.unwrap(), AnswerDecision::Answer);
    lease
}

/// A worker that waits for the time of the next due run would miss it, although it may be claimed.
pub(crate) async fn a_deferred_run_is_due_while_one_of_another_installation_is_running(
    store: &dyn Store,
) {
    let waiting = deferred_in(store, 1, 0).await;
    store
        .finish(&waiting, &park(50, true), at(1))
        .await
        .unwrap();
    deferred_in(store, 2, 2).await;
    let due = store.next_due().await.unwrap();
    assert_eq!(must_claim(store, 60).await.lease.run, waiting.run);
    assert_eq!(due, Some(at(50)));
}
