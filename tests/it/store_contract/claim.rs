//! Which worker claims which run, and when.

use futures_util::FutureExt;
use futures_util::future::join_all;
use planwright::engine::model::run::State;
use planwright::engine::store::{ClaimLimits, Lease, RunOutcome, Store};

use super::*;

pub(crate) async fn fewest_running_repository_first_then_oldest(store: &dyn Store) {
    let mut busy = Vec::new();
    for n in 0..4 {
        busy.push(add(store, &format!("busy{n}"), n, new_run(1, n.unsigned_abs())).await);
    }
    let quiet = add(store, "quiet", 10, new_run(2, 1)).await;
    let quiet_too = add(store, "quiet too", 11, new_run(2, 2)).await;
    let mut order = Vec::new();
    while let Some(claimed) = claim(store, 20).await {
        order.push(claimed.lease.run);
    }
    let expected = [&busy[0], &quiet, &busy[1], &quiet_too, &busy[2], &busy[3]];
    assert_eq!(order.iter().collect::<Vec<_>>(), expected);
}

/// A run of another installation than 1.
fn of_installation(installation: u64, repo: u64, number: u64) -> NewRun {
    NewRun {
        installation,
        ..new_run(repo, number)
    }
}

pub(crate) async fn fewest_running_installation_before_repository_before_age(store: &dyn Store) {
    // One installation has many repositories with runs of their own, and came first.
    let mut busy = Vec::new();
    for repo in 1..=6 {
        let run = of_installation(1, repo, 1);
        busy.push(add(store, &format!("busy{repo}"), 0, run).await);
    }
    let other = add(store, "other", 50, of_installation(2, 20, 1)).await;
    let other_too = add(store, "other too", 51, of_installation(2, 20, 2)).await;
    let third = add(store, "third", 60, of_installation(3, 30, 1)).await;
    let mut order = Vec::new();
    while let Some(claimed) = claim(store, 100).await {
        order.push(claimed.lease.run);
    }
    let expected = [
        &busy[0], &other, &third, &busy[1], &other_too, &busy[2], &busy[3], &busy[4], &busy[5],
    ];
    assert_eq!(order.iter().collect::<Vec<_>>(), expected);
}

pub(crate) async fn limits_hold_for_all_workers_together(store: &dyn Store) {
    for (n, repo) in [1, 1, 1, 2, 2].into_iter().enumerate() {
        let number = n as u64;
        add(store, &format!("g{n}"), 0, of_installation(1, repo, number)).await;
    }
    add(store, "other", 9, of_installation(2, 9, 1)).await;
    let limits = ClaimLimits {
        installation: Some(3),
        repository: Some(2),
    };
    let claims = || async {
        let claims = (0..10).map(|n| async move {
            let owner = format!("w{n}");
            store.claim(&owner, at(10), LEASE, &limits).await.unwrap()
        });
        let claimed = join_all(claims).await;
        let mut repositories: Vec<_> = claimed
            .into_iter()
            .flatten()
            .map(|claimed| (claimed.trigger.place.repo.id, claimed.lease))
            .collect();
        repositories.sort_by_key(|(repo, _)| *repo);
        repositories
    };
    let mut running = claims().await;
    let of_first = |running: &[(u64, Lease)]| running.iter().filter(|(repo, _)| *repo < 9).count();
    assert_eq!(running.len(), 4, "{running:?}");
    assert_eq!(of_first(&running), 3);
    assert!(running.iter().filter(|(repo, _)| *repo == 1).count() <= 2);
    // One that ends makes room for one.
    let (_, lease) = running.remove(0);
    store
        .finish(&lease, &RunOutcome::Succeeded, at(11))
        .await
        .unwrap();
    assert_eq!(claims().await.len(), 1);
    assert_eq!(claims().await.len(), 0);
}

pub(crate) async fn waiting_runs_are_claimable_when_due(store: &dyn Store) {
    assert_eq!(store.next_due().await.unwrap(), None);
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    finish(store, &claimed, park(100, true), 2).await;
    assert_eq!(state(store, &id).await, State::Waiting);
    assert_eq!(
        store.run(&id).await.unwrap().unwrap().note.as_deref(),
        Some("not now")
    );
    assert_eq!(store.next_due().await.unwrap(), Some(at(100)));
    assert!(claim(store, 99).await.is_none());
    assert_eq!(must_claim(store, 100).await.lease.run, id);
    assert_eq!(store.next_due().await.unwrap(), None);
}

pub(crate) async fn a_place_runs_one_at_a_time(store: &dyn Store) {
    let first = add(store, "a", 0, new_run(1, 1)).await;
    let second = add(store, "b", 1, new_run(1, 1)).await;
    let claimed = must_claim(store, 2).await;
    assert_eq!(claimed.lease.run, first);
    assert!(claim(store, 3).await.is_none(), "the head is running");
    finish(store, &claimed, park(100, true), 4).await;
    assert!(claim(store, 5).await.is_none(), "the head is waiting");
    let claimed = must_claim(store, 100).await;
    assert_eq!(claimed.lease.run, first);
    finish(store, &claimed, failed(), 101).await;
    assert_eq!(must_claim(store, 102).await.lease.run, second);
}

pub(crate) async fn acknowledgement_and_claim_exclude_each_other(store: &dyn Store) {
    let head = add(store, "a", 0, new_run(1, 1)).await;
    let next = add(store, "b", 10, new_run(1, 1)).await;
    let ack = |now, before| store.claim_unacknowledged("ack", at(now), LEASE, at(before));

    // The head is ready since 0: too young for one that asks for older than 0. The blocked one
    // cannot start.
    let blocked = ack(20, 0).await.unwrap().expect("the blocked one");
    assert_eq!(blocked.lease.run, next);
    assert_eq!(blocked.guid, "b");
    assert_eq!(blocked.attempt, 0);
    assert_eq!(state(store, &next).await, State::Blocked);
    assert!(
        ack(20, 0).await.unwrap().is_none(),
        "both are taken or young"
    );

    let ready = ack(20, 1).await.unwrap().expect("ready for long enough");
    assert_eq!(ready.lease.run, head);
    assert_eq!(state(store, &head).await, State::Ready);
    assert!(claim(store, 21).await.is_none(), "being acknowledged");
    store.acknowledged(&ready.lease).await.unwrap();
    let running = must_claim(store, 22).await;
    assert_eq!((running.lease.run.clone(), running.attempt), (head, 1));

    // A lease that ran out excludes nobody.
    store.acknowledged(&blocked.lease).await.unwrap();
    finish(store, &running, RunOutcome::Succeeded, 23).await;
    let third = add(store, "c", 24, new_run(2, 1)).await;
    let old = ack(25, 100).await.unwrap().expect("not yet acknowledged");
    assert_eq!(old.lease.run, third);
    assert!(ack(26, 100).await.unwrap().is_none());
    let mut claimed = vec![
        must_claim(store, 1_025).await,
        must_claim(store, 1_025).await,
    ];
    claimed.retain(|claimed| claimed.lease.run == third);
    assert_eq!(claimed.len(), 1);
    assert!(
        store.acknowledged(&old.lease).await.is_err(),
        "fenced by the claim"
    );
    assert!(
        ack(1_026, 2_000).await.unwrap().is_none(),
        "running runs acknowledge themselves"
    );
}

pub(crate) async fn acknowledgement_survives_promotion(store: &dyn Store) {
    add(store, "a", 0, new_run(1, 1)).await;
    let next = add(store, "b", 1, new_run(1, 1)).await;
    let head = must_claim(store, 2).await;
    let ack = store
        .claim_unacknowledged("ack", at(3), LEASE, at(0))
        .await
        .unwrap();
    let ack = ack.expect("the blocked one");
    finish(store, &head, RunOutcome::Succeeded, 4).await;
    assert_eq!(state(store, &next).await, State::Ready);
    assert!(claim(store, 5).await.is_none(), "still being acknowledged");
    store.acknowledged(&ack.lease).await.unwrap();
    assert_eq!(must_claim(store, 6).await.lease.run, next);
}

pub(crate) async fn acknowledged_while_running(store: &dyn Store) {
    add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    store.acknowledged(&claimed.lease).await.unwrap();
    finish(store, &claimed, park(50, true), 2).await;
    let claimed = must_claim(store, 50).await;
    store.release("w").await.unwrap();
    let again = store
        .claim_unacknowledged("ack", at(60), LEASE, at(60))
        .await
        .unwrap();
    assert!(again.is_none(), "acknowledged for good");
    assert!(store.acknowledged(&claimed.lease).await.is_err());
}

pub(crate) async fn arrivals_are_not_lost(store: &dyn Store) {
    assert!(claim(store, 0).await.is_none());
    while store.work_arrived().now_or_never().is_some() {}
    // Two runs arrive between the fruitless claim and the wait: both of two workers are woken.
    add(store, "a", 1, new_run(1, 1)).await;
    add(store, "b", 1, new_run(1, 2)).await;
    assert!(store.work_arrived().now_or_never().is_some());
    let first = must_claim(store, 2).await;
    assert!(store.work_arrived().now_or_never().is_some());
    let second = must_claim(store, 2).await;
    assert!(store.work_arrived().now_or_never().is_some());
    assert!(claim(store, 2).await.is_none());

    finish(store, &first, park(9, true), 3).await;
    finish(store, &second, failed(), 4).await;
    assert!(
        store.work_arrived().now_or_never().is_none(),
        "a worker that has finished a run claims the next"
    );
    store.requeue_failed("1#2").await.unwrap();
    assert!(store.work_arrived().now_or_never().is_some());
    store.recover_expired(at(5)).await.unwrap();
    assert!(store.work_arrived().now_or_never().is_some());
}

pub(crate) async fn a_run_that_is_being_acknowledged_hides_no_other(store: &dyn Store) {
    // Ten installations whose first runs are being acknowledged, before one in whose second
    // repository another run is ready.
    let mut runs = Vec::new();
    for n in 1..=10 {
        let mut run = new_run(n, 1);
        run.installation = n;
        runs.push(add(store, &format!("g{n}"), n.cast_signed(), run).await);
    }
    let mut second = new_run(11, 1);
    second.installation = 10;
    let second = add(store, "second", 20, second).await;
    for run in &runs {
        let lease = store.claim_unacknowledged("ack", at(30), LEASE, at(19));
        assert_eq!(lease.await.unwrap().unwrap().lease.run, *run);
    }
    assert_eq!(must_claim(store, 30).await.lease.run, second);
    assert!(claim(store, 30).await.is_none());
    // The installation is busy now; a third repository of it is not hidden, either.
    let mut third = new_run(12, 1);
    third.installation = 10;
    let third = add(store, "third", 31, third).await;
    assert_eq!(must_claim(store, 32).await.lease.run, third);
}
