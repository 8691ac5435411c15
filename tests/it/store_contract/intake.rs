//! Decisions, GitHub's delivery log, scans, and the order of runs that are found late.

use planwright::engine::model::intake::{
    DecisionRecord, LogState, LoggedAttempt, ScanPosition, ScanState, Source, Subject, Verdict,
    Walk,
};
use planwright::engine::model::run::State;
use planwright::engine::model::trigger::Origin;
use planwright::engine::store::{Accepted, NewDelivery, NewRun, RunOutcome, Store};

use super::{add, ahead_of, at, delivery, finish, must_claim, new_run, state};

fn ignored(guid: &str, ms: i64, comment: u64, action: &str) -> DecisionRecord {
    DecisionRecord {
        at: at(ms),
        source: Source::Webhook,
        guid: guid.to_owned(),
        event: "issue_comment".to_owned(),
        subject: Subject {
            action: Some(action.to_owned()),
            repo: Some(1),
            number: Some(7),
            comment: Some(comment),
        },
        verdict: Verdict::Ignored("no command".to_owned()),
    }
}

/// A run of a command in a comment, requested at [`at`]`(ms)`.
fn requested(comment: u64, ms: i64) -> NewRun {
    let mut run = new_run(1, 7);
    run.trigger.at = at(ms);
    run.trigger.origin = Origin::Comment {
        id: comment,
        text: "/save-plan".to_owned(),
        url: String::new(),
    };
    run
}

fn found(guid: &str, ms: i64, run: NewRun) -> NewDelivery {
    NewDelivery {
        source: Source::DeliveryLog,
        dedup_key: run.trigger.dedup_key(),
        ..delivery(guid, ms, vec![run])
    }
}

pub(crate) async fn every_decision_about_a_place_is_listed(store: &dyn Store) {
    let run = requested(55, 0);
    let id = run.id.clone();
    assert_eq!(
        store.accept(found("g1", 10, run)).await.unwrap(),
        Accepted::New
    );
    let other = ignored("g2", 20, 56, "created");
    let elsewhere = DecisionRecord {
        subject: Subject {
            number: Some(70),
            ..other.subject.clone()
        },
        ..ignored("g3", 21, 57, "created")
    };
    let edited = ignored("g4", 22, 58, "edited");
    let recorded = [other.clone(), elsewhere, edited.clone()];
    store.record_decisions(&recorded).await.unwrap();
    let accepted = DecisionRecord {
        source: Source::DeliveryLog,
        verdict: Verdict::Accepted(vec![id]),
        ..ignored("g1", 10, 55, "created")
    };
    let all = store.decisions_at(1, 7, 10).await.unwrap();
    assert_eq!(all, [edited.clone(), other, accepted]);
    assert_eq!(store.decisions_at(1, 7, 1).await.unwrap(), [edited]);
    assert_eq!(store.decisions_at(1, 8, 10).await.unwrap(), []);

    let known = store
        .decided(&["g1", "g2", "g4", "g9"], at(15))
        .await
        .unwrap();
    assert_eq!(known, ["g1", "g2", "g4"].map(str::to_owned).into());
    let known = store.decided(&["g1", "g2", "g4"], at(21)).await.unwrap();
    assert_eq!(known, ["g1", "g4"].map(str::to_owned).into(), "since then");
    // An edit does not tell what was decided about the comment.
    let comments = [(7, 55), (7, 56), (7, 58), (7, 5), (8, 56), (7, 59)];
    let known = store.decided_comments(1, &comments).await.unwrap();
    assert_eq!(known, [55, 56].into());
}

pub(crate) async fn old_decisions_are_pruned(store: &dyn Store) {
    let old = ignored("g1", 0, 55, "created");
    let new = ignored("g2", 20, 56, "created");
    // What is recorded together is deleted together.
    store.record_decisions(&[old]).await.unwrap();
    store
        .record_decisions(std::slice::from_ref(&new))
        .await
        .unwrap();
    store.prune_refused(at(10)).await.unwrap();
    assert_eq!(store.decisions_at(1, 7, 10).await.unwrap().len(), 2);
    store.prune(at(10)).await.unwrap();
    assert_eq!(store.decisions_at(1, 7, 10).await.unwrap(), [new]);
}

pub(crate) async fn missed_deliveries_wait_oldest_first(store: &dyn Store) {
    assert_eq!(store.log_state().await.unwrap(), None);
    let attempt = |id: u64, guid: &str, ms: i64| LoggedAttempt {
        id,
        guid: guid.to_owned(),
        event: "issue_comment".to_owned(),
        action: Some("created".to_owned()),
        delivered: at(ms),
        status_code: 502,
        repo: Some(1),
    };
    let newest = attempt(3_804_004_623_172_239_366, "g2", 50);
    let oldest = attempt(3_804_004_623_172_239_000, "g1", 40);
    let halfway = LogState {
        watermark: at(0),
        walk: Some(Walk {
            began: at(60),
            cursor: Some("v1_1".to_owned()),
        }),
    };
    let both = [newest.clone(), oldest.clone()];
    store.save_log_state(&halfway, &both).await.unwrap();
    assert_eq!(store.log_state().await.unwrap(), Some(halfway));
    assert_eq!(
        store.missed(10).await.unwrap(),
        [oldest.clone(), newest.clone()]
    );
    assert_eq!(
        store.missed(1).await.unwrap(),
        std::slice::from_ref(&oldest)
    );
    // An earlier attempt of a known delivery moves it forward.
    let end = LogState {
        watermark: at(60),
        walk: None,
    };
    let first = attempt(3_804_004_623_172_238_000, "g2", 30);
    store.save_log_state(&end, &[first]).await.unwrap();
    assert_eq!(store.log_state().await.unwrap(), Some(end));
    let moved = LoggedAttempt {
        delivered: at(30),
        ..newest.clone()
    };
    assert_eq!(store.missed(10).await.unwrap(), [moved, oldest.clone()]);
    store.drop_missed(newest.id).await.unwrap();
    assert_eq!(store.missed(10).await.unwrap(), [oldest]);
}

pub(crate) async fn scans_are_remembered_by_repository(store: &dyn Store) {
    assert_eq!(store.scan_state(1).await.unwrap(), None);
    let position = |ms| ScanPosition {
        since: at(ms),
        etag: Some("W/\"1\"".to_owned()),
    };
    for ms in [1, 2] {
        let state = ScanState {
            comments: position(ms),
            issues: ScanPosition::default(),
        };
        store.save_scan_state(1, &state).await.unwrap();
        assert_eq!(store.scan_state(1).await.unwrap(), Some(state));
    }
    assert_eq!(store.scan_state(2).await.unwrap(), None);
}

pub(crate) async fn a_late_delivery_precedes_what_was_requested_later(store: &dyn Store) {
    let second = add(store, "g2", 20, requested(52, 2)).await;
    let third = add(store, "g3", 30, requested(53, 3)).await;
    let first = requested(51, 1);
    let id = first.id.clone();
    store.accept(found("g1", 40, first)).await.unwrap();
    let mut order = Vec::new();
    while let Some(claimed) = super::claim(store, 50).await {
        assert_eq!(ahead_of(store, &claimed.lease.run).await, 0);
        order.push(claimed.lease.run.clone());
        finish(store, &claimed, RunOutcome::Succeeded, 51).await;
    }
    assert_eq!(order, [id, second, third]);
}

pub(crate) async fn a_late_delivery_does_not_interrupt_a_run(store: &dyn Store) {
    let second = add(store, "g2", 20, requested(52, 2)).await;
    let claimed = must_claim(store, 21).await;
    finish(store, &claimed, RunOutcome::Yield, 22).await;
    let third = add(store, "g3", 30, requested(53, 3)).await;
    let first = requested(51, 1);
    let id = first.id.clone();
    store.accept(found("g1", 40, first)).await.unwrap();
    assert_eq!(state(store, &second).await, State::Ready, "it was started");
    let mut order = Vec::new();
    while let Some(claimed) = super::claim(store, 50).await {
        order.push(claimed.lease.run.clone());
        finish(store, &claimed, RunOutcome::Succeeded, 51).await;
    }
    assert_eq!(order, [second, id, third]);
}

pub(crate) async fn a_late_cancel_spares_what_was_requested_later(store: &dyn Store) {
    let first = add(store, "g1", 10, requested(51, 1)).await;
    let third = add(store, "g3", 30, requested(53, 3)).await;
    let mut cancel = requested(52, 2);
    cancel.serial = None;
    let id = cancel.id.clone();
    store.accept(found("g2", 40, cancel)).await.unwrap();
    let cancelled = store.request_cancel("1#7", &id, "ada").await.unwrap();
    assert_eq!(cancelled, [first]);
    assert_eq!(state(store, &third).await, State::Blocked);
}
