//! The lease of a run, and how it is lost.

use planwright::engine::model::run::State;
use planwright::engine::store::{ClaimLimits, Lease, RunOutcome, Store, StoreError};

use super::*;

pub(crate) async fn attempts_and_fences_are_counted(store: &dyn Store) {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    let first = must_claim(store, 1).await;
    assert_eq!((first.attempt, first.lease.fence), (1, 1));
    assert_eq!((first.created, &*first.guid), (at(0), "g"));
    assert_eq!(first.trigger, new_run(1, 1).trigger);
    assert_eq!(first.progress, Progress::default());
    finish(store, &first, park(10, true), 2).await;
    let second = must_claim(store, 10).await;
    assert_eq!((second.attempt, second.lease.fence), (2, 2));
    finish(store, &second, park(20, false), 11).await;
    assert_eq!(store.run(&id).await.unwrap().unwrap().attempt, 1);
    let third = must_claim(store, 20).await;
    assert_eq!((third.attempt, third.lease.fence), (2, 3));
}

pub(crate) async fn writes_without_the_lease_are_refused(store: &dyn Store) {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    let lost = must_claim(store, 0).await.lease;
    assert_eq!(store.recover_expired(at(1_000)).await.unwrap(), 1);
    let mut forged = must_claim(store, 1_001).await.lease;
    forged.owner = "somebody else".into();
    for lease in [lost, forged] {
        let refusals = [
            store
                .finish(&lease, &RunOutcome::Succeeded, at(1_002))
                .await,
            store.finish(&lease, &park(5, true), at(1_002)).await,
            store.save_progress(&lease, &progress(1)).await,
            store.acknowledged(&lease).await,
            store.begin_effect(&lease, "k", at(1_002)).await.map(drop),
            store.end_effect(&lease, "k", "{}", at(1_002)).await,
        ];
        for refusal in refusals {
            let Err(StoreError::Fenced(run)) = &refusal else {
                panic!("not refused: {refusal:?}");
            };
            assert_eq!(run, &id);
        }
    }
    assert_eq!(state(store, &id).await, State::Running);
    assert_eq!(store.run(&id).await.unwrap().unwrap().progress, None);
    let text = StoreError::Fenced(RunId("01J".into())).to_string();
    assert_eq!(text, "run 01J is no longer leased by this worker");
}

pub(crate) async fn heartbeats_extend_leases_and_report_their_status(store: &dyn Store) {
    add(store, "a", 0, new_run(1, 1)).await;
    add(store, "b", 1, new_run(1, 1)).await;
    let after = add(store, "c", 2, new_run(1, 1)).await;
    let running = must_claim(store, 3).await.lease;
    let ack = store
        .claim_unacknowledged("w", at(3), LEASE, at(0))
        .await
        .unwrap();
    let ack = ack.expect("the blocked one").lease;
    let lost = Lease {
        fence: 7,
        ..running.clone()
    };
    store
        .request_cancel("1#1", &after, "octocat")
        .await
        .unwrap();

    let leases = [lost, running.clone(), ack.clone()];
    let beats = store.heartbeat(&leases, at(900), LEASE).await.unwrap();
    let held: Vec<_> = beats.iter().map(|beat| (&beat.run, beat.held)).collect();
    assert_eq!(
        held,
        [
            (&running.run, false),
            (&running.run, true),
            (&ack.run, true)
        ]
    );
    assert_eq!(beats[0].cancel_requested, None);
    assert_eq!(beats[1].cancel_requested.as_deref(), Some("octocat"));

    // Without the beat both would have expired at 1003.
    assert_eq!(store.recover_expired(at(1_899)).await.unwrap(), 0);
    assert_eq!(store.recover_expired(at(1_900)).await.unwrap(), 2);
    let beats = store
        .heartbeat(&[running, ack], at(1_901), LEASE)
        .await
        .unwrap();
    assert!(beats.iter().all(|beat| !beat.held));
    assert!(store.heartbeat(&[], at(0), LEASE).await.unwrap().is_empty());
}

pub(crate) async fn expired_leases_are_recovered(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let next = add(store, "b", 0, new_run(1, 1)).await;
    must_claim(store, 0).await;
    store
        .claim_unacknowledged("ack", at(500), LEASE, at(0))
        .await
        .unwrap()
        .expect("blocked");
    assert_eq!(store.recover_expired(at(999)).await.unwrap(), 0);
    assert_eq!(store.recover_expired(at(1_000)).await.unwrap(), 1);
    assert_eq!(state(store, &id).await, State::Ready);
    let again = must_claim(store, 1_001).await;
    assert_eq!(
        (&again.lease.run, again.attempt),
        (&id, 2),
        "a crash counts as an attempt"
    );
    assert_eq!(store.recover_expired(at(1_500)).await.unwrap(), 1);
    assert_eq!(state(store, &next).await, State::Blocked);
    let ack = store
        .claim_unacknowledged("ack", at(1_501), LEASE, at(0))
        .await
        .unwrap();
    assert_eq!(ack.expect("free again").lease.run, next);
}

pub(crate) async fn release_gives_the_attempt_back(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    add(store, "b", 0, new_run(1, 1)).await;
    add(store, "c", 0, new_run(2, 1)).await;
    let mine = must_claim(store, 1).await;
    let other = store
        .claim("other", at(1), LEASE, &ClaimLimits::default())
        .await
        .unwrap()
        .expect("the other repository");
    store
        .claim_unacknowledged("w", at(1), LEASE, at(0))
        .await
        .unwrap()
        .expect("blocked");
    assert_eq!(store.release("w").await.unwrap(), 2);
    assert_eq!(store.release("w").await.unwrap(), 0);
    assert_eq!(state(store, &id).await, State::Ready);
    assert!(
        store
            .save_progress(&mine.lease, &progress(1))
            .await
            .is_err()
    );
    store
        .save_progress(&other.lease, &progress(1))
        .await
        .unwrap();
    let again = must_claim(store, 2).await;
    assert_eq!((again.lease.run, again.attempt), (id, 1));
}

pub(crate) async fn a_forged_lease_does_not_take_the_status_of_the_current_one(store: &dyn Store) {
    add(store, "g", 0, new_run(1, 1)).await;
    let current = must_claim(store, 0).await.lease;
    let forged = Lease {
        owner: "somebody else".to_owned(),
        ..current.clone()
    };
    let statuses = store.heartbeat(&[forged, current], at(1), LEASE).await;
    let held = statuses.unwrap().into_iter().map(|status| status.held);
    assert_eq!(held.collect::<Vec<_>>(), [false, true]);
}

pub(crate) async fn a_run_is_claimed_as_soon_as_nobody_acknowledges_it(store: &dyn Store) {
    let run = add(store, "g", 0, new_run(1, 1)).await;
    let long = Duration::from_secs(10);
    let acknowledging = store.claim_unacknowledged("ack", at(1), long, at(1)).await;
    let lease = acknowledging.unwrap().unwrap().lease;
    // The last heartbeat decides, also where it ends the lease earlier.
    let beat = store.heartbeat(std::slice::from_ref(&lease), at(100), LEASE);
    assert!(beat.await.unwrap()[0].held);
    let end = at(100).plus(LEASE).0 - at(0).0;
    assert!(claim(store, end - 1).await.is_none());
    assert_eq!(must_claim(store, end).await.lease.run, run);
    let late = store.acknowledged(&lease).await;
    assert!(matches!(late, Err(StoreError::Fenced(_))), "{late:?}");
}
