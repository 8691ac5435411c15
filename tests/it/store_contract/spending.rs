//! Budgets of agents: per actor, per repository, and in total.

use planwright::adapters::store::SqlStore;
use planwright::engine::model::agent::{Spent, Tokens};
use planwright::engine::store::{
    Budget, BudgetScope, CommandUsage, Exceeded, Lease, RunOutcome, Store, StoreError, USAGE_DAYS,
};

use super::*;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

pub(crate) const ANYTHING: Budget = Budget {
    actor_hour_runs: None,
    repo_day_runs: None,
    repo_day_cost: None,
    day_runs: None,
    day_cost: None,
};

/// The lease of a new run that holds for ever.
pub(crate) async fn leased(store: &dyn Store, guid: &str) -> Lease {
    let mut run = new_run(1, 1);
    run.serial = None;
    add(store, guid, 0, run).await;
    must_claim(store, 1).await.lease
}

pub(crate) fn scope(repo: u64, actor: u64) -> BudgetScope {
    BudgetScope { repo, actor }
}

pub(crate) fn spent(cost: u64) -> Spent {
    Spent {
        turns: 3,
        tools: 5,
        cost,
        ..Spent::default()
    }
}

async fn begin(
    store: &dyn Store,
    lease: &Lease,
    key: &str,
    scope: BudgetScope,
    budget: &Budget,
    ms: i64,
) -> Result<(), Exceeded> {
    store
        .begin_turn(lease, key, scope, budget, at(ms))
        .await
        .unwrap()
}

pub(crate) async fn a_run_counts_once_for_its_actor(store: &dyn Store) {
    let budget = Budget {
        actor_hour_runs: Some(2),
        ..ANYTHING
    };
    let runs = [
        leased(store, "a").await,
        leased(store, "b").await,
        leased(store, "c").await,
    ];
    let ask = |run: usize, key, actor, ms| {
        let lease = &runs[run];
        async move { begin(store, lease, key, scope(1, actor), &budget, ms).await }
    };
    assert_eq!(ask(0, "1", 7, 100).await, Ok(()));
    assert_eq!(ask(0, "1", 7, 150).await, Ok(()), "again, after a crash");
    assert_eq!(ask(0, "2", 7, 160).await, Ok(()));
    assert_eq!(ask(1, "1", 7, 200).await, Ok(()));
    let full = Err(Exceeded::ActorHourRuns {
        limit: 2,
        until: at(100 + HOUR),
    });
    assert_eq!(ask(2, "1", 7, 300).await, full);
    assert_eq!(ask(2, "1", 7, 100 + HOUR - 1).await, full);
    // Runs that were allowed go on, also over the limit and for days.
    assert_eq!(ask(0, "3", 7, 300).await, Ok(()));
    assert_eq!(ask(1, "2", 7, 3 * DAY).await, Ok(()));
    // What was refused did not count; the first one no longer does; the later turns of a run never
    // did.
    assert_eq!(ask(2, "1", 7, 100 + HOUR).await, Ok(()));
    // Somebody else has an hour of his own.
    let other = leased(store, "d").await;
    let asked = begin(store, &other, "1", scope(1, 8), &budget, 100 + HOUR).await;
    assert_eq!(asked, Ok(()));
}

pub(crate) async fn runs_of_a_day_count_by_repository_and_in_all(store: &dyn Store) {
    let one_a_repo = Budget {
        repo_day_runs: Some(1),
        ..ANYTHING
    };
    let two_in_all = Budget {
        day_runs: Some(2),
        ..one_a_repo
    };
    let mut runs = Vec::new();
    for guid in ["a", "b", "c", "d", "e"] {
        runs.push(leased(store, guid).await);
    }
    let first = begin(store, &runs[0], "1", scope(1, 7), &two_in_all, 10).await;
    assert_eq!(first, Ok(()));
    let until = at(10 + DAY);
    assert_eq!(
        begin(store, &runs[1], "1", scope(1, 8), &two_in_all, 20).await,
        Err(Exceeded::RepoDayRuns { limit: 1, until })
    );
    let elsewhere = begin(store, &runs[1], "1", scope(2, 8), &two_in_all, 30).await;
    assert_eq!(elsewhere, Ok(()));
    assert_eq!(
        begin(store, &runs[2], "1", scope(3, 9), &two_in_all, 40).await,
        Err(Exceeded::DayRuns { limit: 2, until })
    );
    let lifted = begin(store, &runs[2], "1", scope(3, 9), &one_a_repo, 50).await;
    assert_eq!(lifted, Ok(()));
    // A day later, to the millisecond.
    let again = begin(store, &runs[3], "1", scope(1, 7), &one_a_repo, 10 + DAY - 1).await;
    assert_eq!(again, Err(Exceeded::RepoDayRuns { limit: 1, until }));
    let again = begin(store, &runs[3], "1", scope(1, 7), &one_a_repo, 10 + DAY).await;
    assert_eq!(again, Ok(()));
    // Nothing allowed at all: never before a day has passed.
    let none = Budget {
        day_runs: Some(0),
        ..ANYTHING
    };
    assert_eq!(
        begin(store, &runs[4], "1", scope(9, 9), &none, 5 * DAY).await,
        Err(Exceeded::DayRuns {
            limit: 0,
            until: at(6 * DAY)
        })
    );
}

pub(crate) async fn costs_count_when_they_are_known(store: &dyn Store) {
    let repo_cost = Budget {
        repo_day_cost: Some(1_000),
        ..ANYTHING
    };
    let day_cost = Budget {
        day_cost: Some(1_500),
        ..ANYTHING
    };
    let (a, b) = (leased(store, "a").await, leased(store, "b").await);
    let ask = |lease, key, repo, budget, ms| async move {
        begin(store, lease, key, scope(repo, 7), budget, ms).await
    };
    assert_eq!(ask(&a, "free", 1, &repo_cost, 5).await, Ok(()));
    store.end_turn(&a, "free", &spent(0)).await.unwrap();
    assert_eq!(ask(&a, "1", 1, &repo_cost, 10).await, Ok(()));
    assert_eq!(ask(&a, "2", 1, &repo_cost, 20).await, Ok(()));
    store.end_turn(&a, "2", &spent(999)).await.unwrap();
    assert_eq!(ask(&b, "1", 1, &repo_cost, 30).await, Ok(()), "just under");
    store.end_turn(&a, "1", &spent(1)).await.unwrap();
    // Known again is recorded in place of what was known before.
    store.end_turn(&a, "1", &spent(1)).await.unwrap();
    let full = |until: i64| {
        Err(Exceeded::RepoDayCost {
            limit: 1_000,
            until: at(until),
        })
    };
    assert_eq!(ask(&b, "2", 1, &repo_cost, 40).await, full(10 + DAY));
    assert_eq!(
        ask(&a, "3", 1, &repo_cost, 40).await,
        full(10 + DAY),
        "also for a run that had turns"
    );
    assert_eq!(
        ask(&b, "1", 1, &repo_cost, 40).await,
        Ok(()),
        "begun before"
    );
    assert_eq!(ask(&b, "2", 2, &repo_cost, 40).await, Ok(()), "elsewhere");
    store.end_turn(&b, "2", &spent(500)).await.unwrap();
    assert_eq!(
        ask(&b, "3", 3, &day_cost, 50).await,
        Err(Exceeded::DayCost {
            limit: 1_500,
            until: at(10 + DAY)
        })
    );
    assert_eq!(ask(&b, "3", 1, &repo_cost, 10 + DAY).await, Ok(()));
    assert_eq!(ask(&b, "4", 3, &day_cost, 10 + DAY).await, Ok(()));
    // A client that reports nonsense closes the budget, not the store.
    for key in ["3", "4"] {
        store.end_turn(&b, key, &spent(u64::MAX)).await.unwrap();
    }
    let closed = ask(&b, "5", 3, &day_cost, 11 + DAY).await;
    assert!(
        matches!(closed, Err(Exceeded::DayCost { .. })),
        "{closed:?}"
    );
}

pub(crate) async fn turns_that_meet_do_not_pass_a_limit_together(store: &dyn Store) {
    let budget = Budget {
        day_runs: Some(3),
        ..ANYTHING
    };
    let mut leases = Vec::new();
    for n in 0..20 {
        leases.push(leased(store, &format!("g{n}")).await);
    }
    let asked = leases
        .iter()
        .map(|lease| begin(store, lease, "1", scope(1, 7), &budget, 10));
    let allowed = futures_util::future::join_all(asked).await;
    assert_eq!(allowed.iter().filter(|asked| asked.is_ok()).count(), 3);
}

pub(crate) async fn turns_need_the_lease_and_a_beginning(store: &dyn Store) {
    let id = add(store, "a", 0, new_run(1, 1)).await;
    let old = must_claim(store, 1).await;
    let begun = begin(store, &old.lease, "1", scope(1, 7), &ANYTHING, 2).await;
    assert_eq!(begun, Ok(()));
    finish(store, &old, park(5, true), 3).await;
    let new = must_claim(store, 5).await.lease;
    let none = Budget {
        day_runs: Some(0),
        day_cost: Some(0),
        ..ANYTHING
    };
    for key in ["1", "2"] {
        let begun = store
            .begin_turn(&old.lease, key, scope(1, 7), &none, at(6))
            .await;
        assert!(matches!(begun, Err(StoreError::Fenced(run)) if run == id));
        let ended = store.end_turn(&old.lease, key, &spent(1)).await;
        assert!(matches!(ended, Err(StoreError::Fenced(run)) if run == id));
    }
    let ended = store.end_turn(&new, "2", &spent(1)).await.unwrap_err();
    assert_eq!(
        ended.to_string(),
        format!("the store failed: turn `2` of run {id} ends but never began; please report this")
    );
    store.end_turn(&new, "1", &spent(1)).await.unwrap();
    store
        .finish(&new, &RunOutcome::Succeeded, at(7))
        .await
        .unwrap();
    let late = store.end_turn(&new, "1", &spent(2)).await;
    assert!(matches!(late, Err(StoreError::Fenced(_))));
}

fn used(cost: u64, input: u64) -> Spent {
    Spent {
        tokens: Tokens {
            input,
            cached: input / 2,
            output: 10,
        },
        ..spent(cost)
    }
}

fn usage(runs: u64, turns: u64, cost: u64, input: u64) -> CommandUsage {
    CommandUsage {
        command: "save-plan".to_owned(),
        runs,
        turns,
        cost,
        tokens: Tokens {
            input,
            cached: input / 2,
            output: turns / 3 * 10,
        },
    }
}

pub(crate) async fn usage_is_summed_up_by_day_and_outlives_its_runs(store: &dyn Store) {
    let (a, b) = (leased(store, "a").await, leased(store, "b").await);
    let allow = |lease, key, repo, ms| async move {
        begin(store, lease, key, scope(repo, 7), &ANYTHING, ms)
            .await
            .unwrap();
    };
    let sum = |repo, ms| async move { store.usage(repo, at(ms)).await.unwrap() };
    allow(&a, "1", 1, 10).await;
    assert_eq!(sum(1, 0).await, [], "a turn counts when it has ended");
    // Recorded twice, and counted once.
    for cost in [100, 300, 300] {
        store.end_turn(&a, "1", &used(cost, 2_000)).await.unwrap();
    }
    assert_eq!(sum(1, 0).await, [usage(1, 3, 300, 2_000)]);
    allow(&a, "2", 1, DAY + 10).await;
    store.end_turn(&a, "2", &used(5, 10)).await.unwrap();
    assert_eq!(sum(1, 0).await, [usage(1, 6, 305, 2_010)]);
    // A day counts as a whole; a run counts on the day of its first turn.
    assert_eq!(sum(1, HOUR).await, [usage(1, 6, 305, 2_010)]);
    assert_eq!(sum(1, DAY + 20).await, [usage(0, 3, 5, 10)]);
    assert_eq!(sum(1, 2 * DAY).await, []);
    allow(&b, "1", 2, 20).await;
    store
        .end_turn(&b, "1", &used(u64::MAX, u64::MAX))
        .await
        .unwrap();
    allow(&b, "2", 2, 30).await;
    store
        .end_turn(&b, "2", &used(u64::MAX, u64::MAX))
        .await
        .unwrap();
    let capped = sum(2, 0).await;
    assert!(capped[0].cost >= 2_000_000_000_000_000, "{capped:?}");
    assert_eq!(sum(3, 0).await, []);
    for lease in [&a, &b] {
        let finished = store.finish(lease, &RunOutcome::Succeeded, at(40)).await;
        finished.unwrap();
    }
    store.prune(at(20 * DAY)).await.unwrap();
    assert_eq!(sum(1, 0).await, [usage(1, 6, 305, 2_010)]);
    let later = (i64::from(USAGE_DAYS) + 5) * DAY;
    store.prune(at(later)).await.unwrap();
    assert_eq!(sum(1, 0).await, []);
}

pub(crate) async fn what_a_fast_clock_spent_is_forgotten_in_time(store: &SqlStore) {
    let budget = Budget {
        actor_hour_runs: Some(1),
        ..ANYTHING
    };
    let first = leased(store, "a").await;
    let fast = 30 * DAY;
    begin(store, &first, "t", scope(1, 7), &budget, fast)
        .await
        .unwrap();
    store.recover_all(at(0)).await.unwrap();
    must_claim(store, 0).await;
    let second = leased(store, "b").await;
    let full = begin(store, &second, "t", scope(1, 7), &budget, HOUR - 1).await;
    assert!(full.is_err());
    begin(store, &second, "t", scope(1, 7), &budget, HOUR)
        .await
        .unwrap();
}
