//! Messages reach their run, and none is missed.

use futures_util::FutureExt;
use planwright::engine::model::run::State;
use planwright::engine::store::{RunOutcome, Store};

use super::*;

async fn tell(store: &dyn Store, run: &RunId, message: &str, ms: i64) -> bool {
    store.send_message(run, message, at(ms)).await.unwrap()
}

pub(crate) async fn unfinished_runs_take_messages_in_order(store: &dyn Store) {
    let first = add(store, "a", 0, new_run(1, 1)).await;
    let blocked = add(store, "b", 1, new_run(1, 1)).await;
    assert!(tell(store, &first, "{\"ready\":1}", 9).await);
    assert!(tell(store, &blocked, "{\"blocked\":\"naïve \u{0} 🚀\"}", 9).await);
    assert_eq!(state(store, &first).await, State::Ready);
    assert_eq!(state(store, &blocked).await, State::Blocked);
    let claimed = must_claim(store, 10).await;
    assert!(tell(store, &first, "{\"running\":2}", 3).await);
    assert!(tell(store, &first, "{\"running\":2}", 4).await);
    assert_eq!(state(store, &first).await, State::Running);
    assert_eq!(
        store.messages(&first).await.unwrap(),
        ["{\"ready\":1}", "{\"running\":2}", "{\"running\":2}"],
        "in the order of arrival, equal ones too"
    );
    assert_eq!(
        store.messages(&blocked).await.unwrap(),
        ["{\"blocked\":\"naïve \u{0} 🚀\"}"]
    );

    // Ended runs and unknown ones take none.
    finish(store, &claimed, RunOutcome::Succeeded, 11).await;
    assert!(!tell(store, &first, "{}", 12).await);
    assert_eq!(store.messages(&first).await.unwrap().len(), 3);
    for how in [failed(), RunOutcome::Cancelled] {
        let id = add(store, &format!("{how:?}"), 13, new_run(2, 1)).await;
        let mut claimed = must_claim(store, 14).await;
        while claimed.lease.run != id {
            claimed = must_claim(store, 14).await;
        }
        finish(store, &claimed, how, 15).await;
        assert!(!tell(store, &id, "{}", 16).await);
        assert!(store.messages(&id).await.unwrap().is_empty());
    }
    assert!(!tell(store, &RunId::new(), "{}", 17).await);
    assert!(store.messages(&RunId::new()).await.unwrap().is_empty());
}

pub(crate) async fn a_message_wakes_a_waiting_run(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    finish(store, &claimed, park(3_600_000, false), 2).await;
    while store.work_arrived().now_or_never().is_some() {}
    assert!(claim(store, 3).await.is_none());
    assert!(tell(store, &id, "{}", 4).await);
    assert!(
        store.work_arrived().now_or_never().is_some(),
        "workers hear of it"
    );
    let again = must_claim(store, 4).await;
    assert_eq!(again.lease.run, id);
    // It was told before this claim: now it sleeps as long as it likes.
    finish(store, &again, park(3_600_000, false), 5).await;
    assert!(claim(store, 3_599_999).await.is_none());
    assert!(claim(store, 3_600_000).await.is_some());
}

pub(crate) async fn a_run_told_after_its_claim_does_not_sleep(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    assert!(tell(store, &id, "{\"before\":1}", 1).await);
    let claimed = must_claim(store, 2).await;
    assert!(tell(store, &id, "{\"after\":2}", 3).await);
    finish(store, &claimed, park(3_600_000, false), 4).await;
    assert_eq!(
        store.run(&id).await.unwrap().unwrap().note.as_deref(),
        Some("not now")
    );
    let again = must_claim(store, 5).await;
    assert_eq!(again.lease.run, id);
    assert_eq!(store.messages(&id).await.unwrap().len(), 2);
    finish(store, &again, park(3_600_000, false), 6).await;
    assert!(claim(store, 7).await.is_none(), "nothing new: no spinning");

    // Also with an acknowledgement in between, which hears nothing.
    let unheard = add(store, "b", 8, new_run(2, 1)).await;
    let running = must_claim(store, 9).await;
    assert!(tell(store, &unheard, "{}", 10).await);
    store.acknowledged(&running.lease).await.unwrap();
    finish(store, &running, park(3_600_000, true), 11).await;
    assert_eq!(must_claim(store, 12).await.lease.run, unheard);
}

/// The clock stands long before every park ends: only messages make the run claimable again.
pub(crate) async fn parks_and_messages_at_the_same_time_lose_nothing(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let later = park(3_600_000, false);
    for n in 0..200_usize {
        let claimed = must_claim(store, 1).await;
        let message = n.to_string();
        let parking = store.finish(&claimed.lease, &later, at(1));
        let telling = store.send_message(&id, &message, at(1));
        let (parked, told) = if n % 2 == 0 {
            tokio::join!(parking, telling)
        } else {
            let (told, parked) = tokio::join!(telling, parking);
            (parked, told)
        };
        parked.unwrap();
        assert!(told.unwrap());
    }
    must_claim(store, 1).await;
    let messages = store.messages(&id).await.unwrap();
    let expected: Vec<_> = (0..200).map(|n| n.to_string()).collect();
    assert_eq!(messages, expected);
}

pub(crate) async fn a_run_put_back_in_line_keeps_its_messages(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    assert!(tell(store, &id, "{\"answer\":1}", 2).await);
    finish(store, &claimed, failed(), 3).await;
    assert_eq!(
        store.requeue_failed("1#1").await.unwrap().as_ref(),
        Some(&id)
    );
    assert_eq!(store.messages(&id).await.unwrap(), ["{\"answer\":1}"]);
    let again = must_claim(store, 4).await;
    finish(store, &again, park(3_600_000, true), 5).await;
    assert!(claim(store, 6).await.is_none(), "heard at the second claim");
    assert!(tell(store, &id, "{\"answer\":2}", 7).await);
    assert!(claim(store, 8).await.is_some());
}
