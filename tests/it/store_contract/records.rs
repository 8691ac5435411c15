//! Records of runs: effects, progress, and audit entries; and what pruning deletes.

use planwright::engine::model::plan_entry::PlanEntry;
use planwright::engine::store::{
    Accepted, AuditEntry, Budget, ClaimLimits, EffectState, MAX_SAVED_PLANS, RunOutcome, SavedPlan,
    Store, StoreError,
};

use super::spending::{ANYTHING, leased, scope, spent};
use super::*;

pub(crate) async fn effects_are_new_tried_done(store: &dyn Store) {
    add(store, "g", 0, new_run(1, 1)).await;
    let lease = must_claim(store, 1).await.lease;
    let begin = |ms| store.begin_effect(&lease, "issue", at(ms));
    assert_eq!(begin(2).await.unwrap(), EffectState::New);
    assert_eq!(
        begin(3).await.unwrap(),
        EffectState::Tried {
            since: at(2),
            last: at(2)
        }
    );
    store
        .end_effect(&lease, "issue", "{\"number\":7}", at(4))
        .await
        .unwrap();
    let done = EffectState::Done("{\"number\":7}".into());
    assert_eq!(begin(5).await.unwrap(), done);
    // One that was found before it was ever tried.
    store.end_effect(&lease, "found", "1", at(6)).await.unwrap();
    let found = store.begin_effect(&lease, "found", at(7)).await.unwrap();
    assert_eq!(found, EffectState::Done("1".into()));
    // Effects belong to their run.
    add(store, "h", 8, new_run(2, 1)).await;
    let other = must_claim(store, 9).await.lease;
    assert_eq!(
        store.begin_effect(&other, "issue", at(9)).await.unwrap(),
        EffectState::New
    );
    // An acknowledgement writes too.
    add(store, "i", 10, new_run(2, 1)).await;
    let ack = store
        .claim_unacknowledged("w", at(11), LEASE, at(0))
        .await
        .unwrap();
    let ack = ack.expect("the blocked one").lease;
    assert_eq!(
        store.begin_effect(&ack, "eyes", at(11)).await.unwrap(),
        EffectState::New
    );
    store.save_progress(&ack, &progress(1)).await.unwrap();
}

pub(crate) async fn progress_is_handed_to_the_next_attempt(store: &dyn Store) {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    for step in [1, 2] {
        store
            .save_progress(&claimed.lease, &progress(step))
            .await
            .unwrap();
    }
    finish(store, &claimed, park(5, true), 2).await;
    let again = must_claim(store, 5).await;
    assert_eq!(again.progress, progress(2));
    let view = store.run(&id).await.unwrap().unwrap();
    assert_eq!(view.progress, Some(progress(2)));
}

fn entry(ms: i64, run: Option<&RunId>, decision: &str) -> AuditEntry {
    AuditEntry {
        at: at(ms),
        run: run.cloned(),
        guid: Some("g".into()),
        actor: "octocat".into(),
        decision: decision.into(),
        why: "may write here".into(),
    }
}

pub(crate) async fn audit_is_kept_in_order(store: &dyn Store) {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    for (ms, decision) in [(3, "accepted"), (1, "authorised"), (2, "saved")] {
        store.audit(entry(ms, Some(&id), decision)).await.unwrap();
    }
    store.audit(entry(4, None, "refused")).await.unwrap();
    store
        .audit(entry(4, Some(&RunId::new()), "about a run not known here"))
        .await
        .unwrap();
    let entries = store.audit_of(&id).await.unwrap();
    let decisions: Vec<_> = entries.iter().map(|entry| &*entry.decision).collect();
    assert_eq!(decisions, ["accepted", "authorised", "saved"]);
    let first = &entries[0];
    assert_eq!(
        (first.at, &*first.actor, &*first.why),
        (at(3), "octocat", "may write here")
    );
    assert_eq!(
        (first.run.as_ref(), first.guid.as_deref()),
        (Some(&id), Some("g"))
    );
}

pub(crate) async fn prune_deletes_only_what_ended(store: &dyn Store) {
    // More than one portion of whatever size the store works in.
    for n in 0..450 {
        store
            .accept(delivery(&format!("empty{n}"), 0, vec![]))
            .await
            .unwrap();
    }
    let ended = add(store, "ended", 1, new_run(1, 1)).await;
    let claimed = must_claim(store, 2).await;
    store
        .begin_effect(&claimed.lease, "k", at(2))
        .await
        .unwrap();
    store.audit(entry(2, Some(&ended), "saved")).await.unwrap();
    finish(store, &claimed, RunOutcome::Succeeded, 3).await;
    let recent = add(store, "recent", 4, new_run(1, 2)).await;
    let claimed = must_claim(store, 5).await;
    finish(store, &claimed, failed(), 500).await;
    let open = add(store, "open", 6, new_run(1, 3)).await;
    store
        .audit(entry(7, Some(&open), "accepted"))
        .await
        .unwrap();

    assert_eq!(store.prune(at(500)).await.unwrap(), 451);
    assert_eq!(store.prune(at(500)).await.unwrap(), 0);
    assert!(store.run(&ended).await.unwrap().is_none());
    assert!(store.audit_of(&ended).await.unwrap().is_empty());
    assert!(
        store.run(&recent).await.unwrap().is_some(),
        "ended at 500, not before"
    );
    assert!(store.run(&open).await.unwrap().is_some());
    assert_eq!(
        store.audit_of(&open).await.unwrap().len(),
        1,
        "never before its run"
    );

    // What is kept is still known; what was pruned would be new.
    let again = |guid| store.accept(delivery(guid, 600, vec![]));
    assert_eq!(again("open").await.unwrap(), Accepted::Duplicate);
    assert_eq!(again("ended").await.unwrap(), Accepted::New);
}

/// A budget that forgets with the runs would be no budget: pruning by hand, or with a short
/// retention, is no way round.
pub(crate) async fn prune_takes_messages_and_spares_the_days_spending(store: &dyn Store) {
    const DAY: i64 = 24 * 3_600_000;
    let lease = leased(store, "a").await;
    assert!(store.send_message(&lease.run, "{}", at(2)).await.unwrap());
    let begun = store
        .begin_turn(&lease, "1", scope(1, 7), &ANYTHING, at(2))
        .await;
    assert_eq!(begun.unwrap(), Ok(()));
    store.end_turn(&lease, "1", &spent(10)).await.unwrap();
    store
        .finish(&lease, &RunOutcome::Succeeded, at(3))
        .await
        .unwrap();
    let budget = Budget {
        day_runs: Some(1),
        ..ANYTHING
    };
    let other = leased(store, "b").await;
    let costs = Budget {
        repo_day_cost: Some(10),
        ..ANYTHING
    };
    for prune in [at(100), at(DAY), at(DAY + 2)] {
        store.prune(prune).await.unwrap();
        assert!(store.run(&lease.run).await.unwrap().is_none());
        assert!(store.messages(&lease.run).await.unwrap().is_empty());
        for budget in [&budget, &costs] {
            let begun = store
                .begin_turn(&other, "1", scope(1, 8), budget, at(DAY + 1))
                .await;
            assert!(begun.unwrap().is_err(), "{prune:?} {budget:?}");
        }
    }
    // Gone with the first pruning that finds it older than a day, however many there are; those of
    // kept runs stay.
    let begun = store
        .begin_turn(&other, "1", scope(1, 8), &ANYTHING, at(2))
        .await;
    assert_eq!(begun.unwrap(), Ok(()));
    store.prune(at(DAY + 3)).await.unwrap();
    let third = leased(store, "c").await;
    let begun = store
        .begin_turn(&third, "1", scope(1, 9), &budget, at(DAY + 1))
        .await;
    assert!(begun.unwrap().is_err(), "the run of {} is kept", other.run);
    let two = Budget {
        day_runs: Some(2),
        ..ANYTHING
    };
    let begun = store
        .begin_turn(&third, "1", scope(1, 9), &two, at(DAY + 1))
        .await;
    assert_eq!(begun.unwrap(), Ok(()), "the pruned one counts no more");
}

pub(crate) async fn ping_and_close(store: &dyn Store) {
    store.ping().await.unwrap();
    store.close().await;
    store.close().await;
    let refused = [
        store.ping().await.unwrap_err(),
        store.accept(delivery("g", 0, vec![])).await.unwrap_err(),
        store.run(&RunId::new()).await.unwrap_err(),
        store
            .claim("w", at(0), LEASE, &ClaimLimits::default())
            .await
            .unwrap_err(),
    ];
    for refusal in refused {
        assert_eq!(refusal.to_string(), "the store failed: it is closed");
    }
}

pub(crate) async fn refused_deliveries_are_deleted_sooner_than_others(store: &dyn Store) {
    let refused = || RunOutcome::Failed {
        code: Code::PermissionDenied,
        message: "no".into(),
    };
    let all = delivery("all refused", 0, vec![new_run(1, 1), new_run(2, 1)]);
    let some = delivery("some refused", 0, vec![new_run(3, 1), new_run(4, 1)]);
    let (all_runs, some_runs) = (all.runs.clone(), some.runs.clone());
    for new in [all, some] {
        assert_eq!(store.accept(new).await.unwrap(), Accepted::New);
    }
    let failed = add(store, "failed", 0, new_run(5, 1)).await;
    while let Some(claimed) = claim(store, 1).await {
        let run = &claimed.lease.run;
        let how = if *run == failed || *run == some_runs[1].id {
            super::failed()
        } else {
            refused()
        };
        finish(store, &claimed, how, 10).await;
    }
    let waiting = add(store, "waiting", 0, new_run(6, 1)).await;
    assert_eq!(store.prune_refused(at(10)).await.unwrap(), 0);
    assert_eq!(store.prune_refused(at(11)).await.unwrap(), 1);
    for gone in &all_runs {
        assert!(store.run(&gone.id).await.unwrap().is_none());
    }
    let kept = some_runs
        .iter()
        .map(|run| &run.id)
        .chain([&failed, &waiting]);
    for kept in kept {
        assert!(store.run(kept).await.unwrap().is_some());
    }
}

fn saved(run: &RunId, issue: u64) -> SavedPlan {
    SavedPlan {
        run: run.clone(),
        at: at(3),
        text: format!("text {issue}"),
        request: "request".into(),
        complete: issue != 2,
        issue,
        url: format!("https://github.com/o/r/issues/{issue}"),
        replaces: (issue > 1).then_some(1),
    }
}

pub(crate) async fn saved_plans_are_kept_by_place_and_outlive_their_runs(store: &dyn Store) {
    let most = u64::from(MAX_SAVED_PLANS) + 3;
    for issue in 1..=most {
        let run = add(store, &format!("g{issue}"), 0, new_run(1, 1)).await;
        let claimed = must_claim(store, 1).await;
        let lease = &claimed.lease;
        // Once more for the same run: the last one counts.
        for issue in [issue + 100, issue] {
            store
                .record_saved(lease, &saved(&run, issue), &PlanEntry::default())
                .await
                .unwrap();
        }
        finish(store, &claimed, RunOutcome::Succeeded, 2).await;
        let late = store
            .record_saved(lease, &saved(&run, 999), &PlanEntry::default())
            .await;
        assert!(matches!(late, Err(StoreError::Fenced(_))), "{late:?}");
    }
    store.prune(at(1_000)).await.unwrap();
    let kept = store.saved_at("1#1").await.unwrap();
    let numbers: Vec<u64> = kept.iter().map(|plan| plan.issue).collect();
    assert_eq!(numbers, (4..=most).rev().collect::<Vec<_>>());
    assert_eq!(kept[0], saved(&kept[0].run, most));
    assert!(store.saved_at("1#2").await.unwrap().is_empty());
}
