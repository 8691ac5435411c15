//! The queue of a place: ends, cancellations, retries, and the queue position that people see.

use planwright::engine::model::run::State;
use planwright::engine::store::{QueueCounts, QueuePosition, RunOutcome, Store};

use super::*;

pub(crate) async fn ends_promote_the_next(store: &dyn Store) {
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(add(store, &format!("g{n}"), n, new_run(1, 1)).await);
    }
    let ends = [
        (RunOutcome::Succeeded, State::Succeeded),
        (failed(), State::Failed),
        (RunOutcome::Cancelled, State::Cancelled),
    ];
    for (n, (how, end)) in ends.into_iter().enumerate() {
        let claimed = must_claim(store, 10).await;
        assert_eq!(claimed.lease.run, ids[n]);
        finish(store, &claimed, how, 11).await;
        assert_eq!(state(store, &ids[n]).await, end);
        assert_eq!(state(store, &ids[n + 1]).await, State::Ready);
    }
    let failed = store.run(&ids[1]).await.unwrap().unwrap();
    assert_eq!(failed.code.map(Code::name), Some("internal"));
    assert_eq!(failed.note.as_deref(), Some("it broke"));
    assert_eq!(failed.finished, Some(at(11)));
}

pub(crate) async fn cancel_reaches_every_earlier_run(store: &dyn Store) {
    let waiting = add(store, "a", 0, new_run(1, 1)).await;
    let blocked = add(store, "b", 1, new_run(1, 1)).await;
    let elsewhere = add(store, "c", 2, new_run(1, 2)).await;
    let claimed = must_claim(store, 3).await;
    finish(store, &claimed, park(99_999, true), 4).await;
    let mut cancel = new_run(1, 1);
    cancel.serial = None;
    let cancel = add(store, "cancel", 5, cancel).await;
    let later = add(store, "later", 6, new_run(1, 1)).await;

    let asked = store
        .request_cancel("1#1", &cancel, "octocat")
        .await
        .unwrap();
    assert_eq!(asked, [waiting.clone(), blocked.clone()]);
    assert_eq!(
        state(store, &waiting).await,
        State::Ready,
        "claimable at once, to report"
    );
    let mut seen = Vec::new();
    while let Some(claimed) = claim(store, 7).await {
        finish(store, &claimed, RunOutcome::Cancelled, 8).await;
        seen.push((claimed.lease.run, claimed.cancel_requested));
    }
    let by = Some("octocat".to_owned());
    let expected = [
        (waiting, by.clone()),
        (blocked, by),
        (elsewhere, None),
        (cancel, None),
        (later, None),
    ];
    seen.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(seen, expected);
    assert!(
        store
            .request_cancel("1#1", &RunId::new(), "x")
            .await
            .unwrap()
            .is_empty()
    );
}

pub(crate) async fn a_cancel_that_meets_a_park_is_not_lost(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let after = add(store, "b", 1, new_run(1, 1)).await;
    let claimed = must_claim(store, 2).await;
    assert_eq!(
        store
            .request_cancel("1#1", &after, "octocat")
            .await
            .unwrap(),
        std::slice::from_ref(&id)
    );
    // The worker was not told: it parks for an hour, but the run comes back at once.
    finish(store, &claimed, park(3_600_000, true), 3).await;
    let told = must_claim(store, 4).await;
    assert_eq!(told.cancel_requested.as_deref(), Some("octocat"));
    // Now it knows, and cannot report before 5000: that is respected.
    finish(store, &told, park(5_000, false), 5).await;
    assert!(claim(store, 4_999).await.is_none());
    let told = must_claim(store, 5_000).await;
    assert_eq!(
        (&told.lease.run, told.cancel_requested.as_deref()),
        (&id, Some("octocat"))
    );
}

pub(crate) async fn a_failed_run_goes_back_in_line(store: &dyn Store) {
    assert_eq!(store.requeue_failed("1#1").await.unwrap(), None);
    let old = add(store, "a", 0, new_run(1, 1)).await;
    let newest = add(store, "b", 1, new_run(1, 1)).await;
    for how in [failed(), RunOutcome::Cancelled] {
        let claimed = must_claim(store, 2).await;
        store
            .save_progress(&claimed.lease, &progress(3))
            .await
            .unwrap();
        finish(store, &claimed, how, 3).await;
    }
    let head = add(store, "c", 4, new_run(1, 1)).await;
    let last = add(store, "d", 5, new_run(1, 1)).await;

    assert_eq!(
        store.requeue_failed("1#1").await.unwrap(),
        Some(newest.clone())
    );
    assert_eq!(state(store, &newest).await, State::Blocked);
    assert_eq!(state(store, &old).await, State::Failed);
    let mut order = Vec::new();
    while let Some(claimed) = claim(store, 6).await {
        if claimed.lease.run == newest {
            assert_eq!((claimed.attempt, &claimed.progress), (1, &progress(3)));
        }
        finish(store, &claimed, RunOutcome::Succeeded, 7).await;
        order.push(claimed.lease.run);
    }
    assert_eq!(order, [head, newest, last]);
    assert_eq!(
        store.requeue_failed("1#1").await.unwrap(),
        Some(old.clone())
    );
    assert_eq!(state(store, &old).await, State::Ready, "nobody is ahead");
}

pub(crate) async fn runs_are_listed_and_counted(store: &dyn Store) {
    assert_eq!(store.counts().await.unwrap(), QueueCounts::default());
    assert!(store.run(&RunId::new()).await.unwrap().is_none());
    assert_eq!(ahead_of(store, &RunId::new()).await, 0);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(add(store, &format!("g{n}"), n, new_run(1, 1)).await);
    }
    let other = add(store, "other", 5, new_run(2, 1)).await;
    let mut status = new_run(1, 1);
    status.serial = None;
    let status = add(store, "status", 6, status).await;
    let claimed = must_claim(store, 7).await;

    let at_place = store.runs_at("1#1", 2).await.unwrap();
    let at_place: Vec<_> = at_place.iter().map(|run| &run.id).collect();
    assert_eq!(at_place, [&ids[2], &ids[1]], "serial ones, newest first");
    let recent = store.recent_runs(2).await.unwrap();
    let recent: Vec<_> = recent.iter().map(|run| &run.id).collect();
    assert_eq!(recent, [&status, &other]);
    assert_eq!(ahead_of(store, &ids[2]).await, 2);
    finish(store, &claimed, RunOutcome::Succeeded, 8).await;
    assert_eq!(ahead_of(store, &ids[2]).await, 1);

    let view = store.run(&ids[0]).await.unwrap().unwrap();
    assert_eq!(
        (&*view.command, view.created, view.attempt),
        ("save-plan", at(0), 1)
    );
    assert_eq!(view.finished, Some(at(8)));
    let counts = store.counts().await.unwrap();
    let mut by_state: Vec<_> = counts
        .by_state
        .iter()
        .map(|(s, n)| (s.name(), *n))
        .collect();
    by_state.sort_unstable();
    assert_eq!(by_state, [("blocked", 1), ("ready", 3), ("succeeded", 1)]);
    assert_eq!(counts.oldest_ready, Some(at(1)));
}

pub(crate) async fn positions_count_what_precedes_a_run_and_what_runs(store: &dyn Store) {
    let running = add(store, "running", 0, new_run(1, 1)).await;
    let mut ready = Vec::new();
    for n in 2..4 {
        ready.push(add(store, &format!("g{n}"), n, new_run(1, n.unsigned_abs())).await);
    }
    let other = add(store, "other", 5, new_run(2, 1)).await;
    let blocked = add(store, "blocked", 6, new_run(1, 1)).await;
    assert_eq!(must_claim(store, 7).await.lease.run, running);
    let position = |at_place, in_repository, running_in_repository| QueuePosition {
        at_place,
        in_repository,
        running_in_repository,
        running_in_installation: 1,
    };
    for (run, expected) in [
        (&ready[0], position(0, 0, 1)),
        (&ready[1], position(0, 1, 1)),
        (&other, position(0, 0, 0)),
        (&blocked, position(1, 0, 1)),
        (&running, position(0, 0, 1)),
    ] {
        assert_eq!(store.queue_position(run).await.unwrap(), expected, "{run}");
    }
}
