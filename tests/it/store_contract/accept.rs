//! Deliveries are accepted once.

use futures_util::future::join_all;
use planwright::engine::model::run::State;
use planwright::engine::store::{Accepted, EffectState, RunOutcome, Store, StoreError};

use super::*;

pub(crate) async fn new_then_duplicate(store: &dyn Store) {
    let first = delivery("g", 0, vec![new_run(1, 1)]);
    assert_eq!(store.accept(first).await.unwrap(), Accepted::New);
    let again = delivery("g", 5, vec![new_run(1, 1)]);
    assert_eq!(store.accept(again).await.unwrap(), Accepted::Duplicate);
    assert_eq!(store.recent_runs(10).await.unwrap().len(), 1);

    // A delivery that asks for nothing is known all the same.
    let empty = || delivery("empty", 0, vec![]);
    assert_eq!(store.accept(empty()).await.unwrap(), Accepted::New);
    assert_eq!(store.accept(empty()).await.unwrap(), Accepted::Duplicate);

    // Done work stays done.
    let claimed = must_claim(store, 10).await;
    finish(store, &claimed, RunOutcome::Succeeded, 11).await;
    let late = delivery("g", 20, vec![new_run(1, 1)]);
    assert_eq!(store.accept(late).await.unwrap(), Accepted::Duplicate);
    assert!(claim(store, 21).await.is_none());
}

pub(crate) async fn identical_at_once_make_one_run(store: &dyn Store) {
    let outcomes = join_all((0..100).map(|_| store.accept(delivery("g", 0, vec![new_run(1, 1)]))));
    let outcomes: Vec<_> = outcomes.await.into_iter().map(Result::unwrap).collect();
    let new = outcomes.iter().filter(|o| **o == Accepted::New).count();
    assert_eq!(new, 1);
    assert_eq!(store.recent_runs(10).await.unwrap().len(), 1);
}

pub(crate) async fn a_failed_delivery_is_requeued(store: &dyn Store) {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    store
        .save_progress(&claimed.lease, &progress(2))
        .await
        .unwrap();
    store
        .begin_effect(&claimed.lease, "issue", at(2))
        .await
        .unwrap();
    let mut cancel = new_run(2, 1);
    cancel.serial = None;
    let cancel = add(store, "cancel", 2, cancel).await;
    let asked = store
        .request_cancel("1#1", &cancel, "octocat")
        .await
        .unwrap();
    assert_eq!(asked, std::slice::from_ref(&id));
    let other = must_claim(store, 2).await;
    finish(store, &other, RunOutcome::Succeeded, 2).await;
    finish(store, &claimed, failed(), 3).await;
    let later = add(store, "later", 4, new_run(1, 1)).await;

    let outcomes = join_all((0..3).map(|_| store.accept(delivery("g", 5, vec![new_run(1, 1)]))));
    let outcomes: Vec<_> = outcomes.await.into_iter().map(Result::unwrap).collect();
    let requeued = outcomes
        .iter()
        .filter(|o| **o == Accepted::Requeued)
        .count();
    assert_eq!(requeued, 1, "{outcomes:?}");
    assert!(!outcomes.contains(&Accepted::New));

    // The later run is ahead now: it was ready first, and a place runs one at a time.
    assert_eq!(state(store, &id).await, State::Blocked);
    let ahead = must_claim(store, 6).await;
    assert_eq!(ahead.lease.run, later);
    finish(store, &ahead, RunOutcome::Succeeded, 7).await;
    let again = must_claim(store, 8).await;
    assert_eq!(again.lease.run, id);
    assert_eq!(again.attempt, 1);
    assert_eq!(again.progress, progress(2));
    assert_eq!(again.cancel_requested, None);
    let effect = store
        .begin_effect(&again.lease, "issue", at(9))
        .await
        .unwrap();
    assert_eq!(
        effect,
        EffectState::Tried {
            since: at(2),
            last: at(2)
        }
    );
}

pub(crate) async fn a_partly_failed_delivery_is_a_duplicate(store: &dyn Store) {
    let runs = || vec![new_run(1, 1), new_run(1, 2)];
    store.accept(delivery("g", 0, runs())).await.unwrap();
    let one = must_claim(store, 1).await;
    finish(store, &one, failed(), 2).await;
    let outcome = store.accept(delivery("g", 3, runs())).await.unwrap();
    assert_eq!(outcome, Accepted::Duplicate);
    let other = must_claim(store, 4).await;
    finish(store, &other, RunOutcome::Succeeded, 5).await;
    let outcome = store.accept(delivery("g", 6, runs())).await.unwrap();
    assert_eq!(outcome, Accepted::Duplicate);
    assert!(claim(store, 7).await.is_none());
}

pub(crate) async fn runs_of_one_delivery_keep_their_order(store: &dyn Store) {
    let runs: Vec<_> = (0..12).map(|_| new_run(1, 1)).collect();
    let ids: Vec<_> = runs.iter().map(|run| run.id.clone()).collect();
    store.accept(delivery("g", 0, runs)).await.unwrap();
    assert_eq!(state(store, &ids[0]).await, State::Ready);
    assert_eq!(state(store, &ids[1]).await, State::Blocked);
    for (n, id) in (0_u64..).zip(&ids) {
        assert_eq!(ahead_of(store, id).await, n);
    }
    for id in &ids {
        let claimed = must_claim(store, 1).await;
        assert_eq!(&claimed.lease.run, id);
        finish(store, &claimed, RunOutcome::Succeeded, 2).await;
    }
}

pub(crate) async fn runs_without_serial_are_never_blocked(store: &dyn Store) {
    add(store, "head", 0, new_run(1, 1)).await;
    let mut cancel = new_run(1, 1);
    cancel.serial = None;
    let mut status = cancel.clone();
    status.id = RunId::new();
    let ids = [cancel.id.clone(), status.id.clone()];
    store
        .accept(delivery("g", 1, vec![cancel, status]))
        .await
        .unwrap();
    for id in &ids {
        assert_eq!(state(store, id).await, State::Ready);
        assert_eq!(ahead_of(store, id).await, 0);
    }
    for _ in 0..3 {
        must_claim(store, 2).await;
    }
}

pub(crate) async fn a_gone_installation_cancels_its_runs_once(store: &dyn Store) {
    let running = add(store, "a", 0, new_run(1, 1)).await;
    let blocked = add(store, "b", 1, new_run(1, 1)).await;
    let mut elsewhere = new_run(2, 1);
    elsewhere.installation = 2;
    let elsewhere = add(store, "c", 2, elsewhere).await;
    let claimed = must_claim(store, 3).await;
    assert_eq!(claimed.lease.run, running);

    let gone = || {
        let mut gone = delivery("gone", 4, vec![]);
        gone.installation_gone = true;
        gone
    };
    assert_eq!(store.accept(gone()).await.unwrap(), Accepted::New);
    assert_eq!(state(store, &running).await, State::Cancelled);
    assert_eq!(state(store, &blocked).await, State::Cancelled);
    assert_eq!(state(store, &elsewhere).await, State::Ready);
    let refused = store
        .finish(&claimed.lease, &RunOutcome::Succeeded, at(5))
        .await;
    assert!(matches!(refused, Err(StoreError::Fenced(_))));

    // It came back; the old notice, redelivered, changes nothing.
    let back = add(store, "d", 6, new_run(1, 1)).await;
    assert_eq!(store.accept(gone()).await.unwrap(), Accepted::Duplicate);
    assert_eq!(state(store, &back).await, State::Ready);
}

pub(crate) async fn payloads_and_texts_survive_unchanged(store: &dyn Store) {
    let texts = [
        "",
        "{}",
        "naïve \u{0} \"quoted\" \\ 🚀 \u{2028}",
        "{\"a\":\"\\u0000\"}",
    ];
    let deliveries = texts.iter().enumerate().map(|(n, text)| {
        let mut run = new_run(1, n as u64);
        run.trigger.guidance = Some((*text).into());
        let mut delivery = delivery(&format!("g{n}"), 0, vec![run]);
        delivery.payload = (n % 2 == 0).then(|| vec![0, 255, 34, b'\\']);
        store.accept(delivery)
    });
    for outcome in join_all(deliveries).await {
        assert_eq!(outcome.unwrap(), Accepted::New);
    }
    let mut stored: Vec<_> = store.recent_runs(10).await.unwrap();
    stored.reverse();
    let stored: Vec<_> = stored
        .into_iter()
        .map(|run| run.trigger.unwrap().guidance)
        .collect();
    assert_eq!(
        stored,
        texts.map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()))
    );
}

pub(crate) async fn a_dedup_key_is_accepted_once_whatever_the_delivery_id(store: &dyn Store) {
    let with_key = |guid: &str, key: &str| NewDelivery {
        dedup_key: Some(key.into()),
        ..delivery(guid, 0, vec![new_run(1, 1)])
    };
    let outcomes = join_all((0..20).map(|n| store.accept(with_key(&format!("g{n}"), "a"))));
    let outcomes: Vec<_> = outcomes.await.into_iter().map(Result::unwrap).collect();
    let new = outcomes.iter().filter(|o| **o == Accepted::New).count();
    assert_eq!((new, outcomes.len()), (1, 20));
    assert_eq!(
        store.accept(with_key("other", "b")).await.unwrap(),
        Accepted::New
    );
    assert_eq!(store.recent_runs(10).await.unwrap().len(), 2);

    // A failed run goes again for its own delivery, not for a copy of it.
    let claimed = must_claim(store, 1).await;
    let guid = claimed.guid.clone();
    finish(store, &claimed, failed(), 2).await;
    let copy = with_key("copy", "a");
    assert_eq!(store.accept(copy).await.unwrap(), Accepted::Duplicate);
    assert_eq!(state(store, &claimed.lease.run).await, State::Failed);
    let again = with_key(&guid, "a");
    assert_eq!(store.accept(again).await.unwrap(), Accepted::Requeued);
}

pub(crate) async fn a_text_is_kept_once_and_handed_out_with_every_run(store: &dyn Store) {
    let text = "/save-plan\n\n\u{0}\u{1} \"quoted\" \\ \u{1F680} \u{2028}";
    let runs: Vec<_> = (0..3)
        .map(|number| {
            let mut run = new_run(1, number);
            run.trigger.origin = Origin::Comment {
                id: 7,
                text: text.into(),
                url: "https://github.com/o/r/issues/1#c7".into(),
            };
            run
        })
        .collect();
    let expected: Vec<_> = runs.iter().map(|run| run.trigger.clone()).collect();
    let outcome = store.accept(delivery("g", 0, runs)).await.unwrap();
    assert_eq!(outcome, Accepted::New);
    let stored = store.recent_runs(10).await.unwrap().into_iter().rev();
    let stored: Vec<_> = stored.map(|run| run.trigger.unwrap()).collect();
    assert_eq!(stored, expected);
    for _ in 0..3 {
        let claimed = must_claim(store, 1).await;
        assert!(expected.contains(&claimed.trigger));
    }

    // Runs whose texts differ keep their own.
    let mut runs = vec![new_run(1, 8), new_run(1, 9)];
    for (run, text) in runs.iter_mut().zip(["a", "b"]) {
        run.trigger.origin = Origin::Comment {
            id: 7,
            text: text.into(),
            url: String::new(),
        };
    }
    let expected: Vec<_> = runs.iter().map(|run| run.trigger.clone()).collect();
    store.accept(delivery("h", 0, runs)).await.unwrap();
    let stored = store.recent_runs(2).await.unwrap().into_iter().rev();
    let stored: Vec<_> = stored.map(|run| run.trigger.unwrap()).collect();
    assert_eq!(stored, expected);
}

/// An App that is installed again has another installation id.
pub(crate) async fn a_removed_installation_does_not_block_the_runs_of_another(store: &dyn Store) {
    add(store, "old", 0, new_run(1, 1)).await;
    let new = NewRun {
        installation: 2,
        ..new_run(1, 1)
    };
    let new = add(store, "new", 1, new).await;
    let mut gone = delivery("gone", 2, vec![]);
    gone.installation_gone = true;
    store.accept(gone).await.unwrap();
    assert_eq!(state(store, &new).await, State::Ready);
}
