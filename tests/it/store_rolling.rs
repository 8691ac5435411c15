//! Updates without a pause: processes of the previous version go on while one of this version
//! changes the schema, and work side by side with it.

use std::collections::BTreeMap;
use std::path::Path;

use planwright::engine::model::run::RunId;
use planwright::engine::store::{NewRun, RunOutcome, Store};
use sqlx::migrate::Migrator;
use sqlx::{Connection as _, PgConnection, Row as _};

use crate::store_contract::{add, at, claim, new_run};
use crate::support::postgres::{database, open, raw};

const DIRECTORY: &str = "src/adapters/store/migrations/postgres";

const CLAIM: &str = include_str!("store_rolling/claim_of_schema_1.sql");

const END: &str = "
UPDATE runs
SET state = $4, finished_ms = $5, code = NULL, note = NULL, lease_owner = NULL, lease_until_ms = NULL
WHERE id = $1 AND lease_owner = $2 AND fence = $3 AND state = 'running'";

/// Adds a run with the statements of schema 1.
async fn add_before(connection: &mut PgConnection, guid: &str, ms: i64, run: &NewRun) {
    let NewRun { id, place, .. } = run;
    let sql = "
WITH delivery AS (
    INSERT INTO deliveries (guid, event, installation, received_ms, source) VALUES ($1, 'issues', $2, $3, 'webhook')
    RETURNING id
),
run AS (
    INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, state)
    SELECT id, 0, $3, $3, $4, 'save-plan', $5, $5, $6, $2, 'ready' FROM delivery
    RETURNING seq
)
INSERT INTO texts (run, trigger) SELECT seq, $7 FROM run";
    sqlx::query(sql)
        .bind(guid)
        .bind(run.installation.cast_signed())
        .bind(at(ms).0)
        .bind(&id.0)
        .bind(place)
        .bind(run.repo_id.cast_signed())
        .bind(serde_json::to_vec(&run.trigger).unwrap())
        .execute(connection)
        .await
        .unwrap();
}

/// Claims a run with the statement of schema 1. Returns its id and its fence.
async fn claim_before(connection: &mut PgConnection, ms: i64) -> Option<(RunId, i64)> {
    let row = sqlx::query(CLAIM)
        .bind("before")
        .bind(at(ms).0)
        .bind(at(ms + 60_000).0)
        .bind(i64::MAX)
        .bind(i64::MAX)
        .fetch_optional(connection)
        .await
        .unwrap()?;
    Some((RunId(row.get("id")), row.get("fence")))
}

async fn end_before(connection: &mut PgConnection, (run, fence): &(RunId, i64), ms: i64) {
    let ended = sqlx::query(END)
        .bind(&run.0)
        .bind("before")
        .bind(fence)
        .bind("succeeded")
        .bind(at(ms).0)
        .execute(connection)
        .await;
    assert_eq!(ended.unwrap().rows_affected(), 1, "{run}");
}

#[tokio::test]
async fn processes_of_the_previous_schema_go_on_beside_one_of_this() {
    let Some(url) = database().await else { return };
    let mut before = raw(&url).await;
    let migrations = Migrator::new(Path::new(DIRECTORY)).await.unwrap();
    migrations.run_to(1, &mut before).await.unwrap();
    let mut executed = BTreeMap::new();
    // Four repositories with three runs each, two of them by each version.
    for n in 0..8_i64 {
        let run = new_run(1 + n.unsigned_abs() % 4, n.unsigned_abs());
        executed.insert(run.id.clone(), 0);
        add_before(&mut before, &format!("before {n}"), n, &run).await;
    }
    let held = claim_before(&mut before, 10).await.unwrap();

    let store = open(&url).await;
    for n in 8..12_i64 {
        let run = new_run(1 + n.unsigned_abs() % 4, n.unsigned_abs());
        executed.insert(run.id.clone(), 0);
        if n % 2 == 0 {
            add(&store, &format!("after {n}"), n, run).await;
        } else {
            add_before(&mut before, &format!("before {n}"), n, &run).await;
        }
    }
    end_before(&mut before, &held, 11).await;
    *executed.get_mut(&held.0).unwrap() += 1;
    // Both take runs, several at the same time, until none is left.
    for ms in (100..).step_by(10) {
        let mut of_before = Vec::new();
        for _ in 0..2 {
            of_before.extend(claim_before(&mut before, ms).await);
        }
        let of_this = [claim(&store, ms).await, claim(&store, ms).await];
        let of_this: Vec<_> = of_this.into_iter().flatten().collect();
        if of_before.is_empty() && of_this.is_empty() {
            break;
        }
        for held in of_before {
            end_before(&mut before, &held, ms + 1).await;
            *executed.get_mut(&held.0).unwrap() += 1;
        }
        for claimed in of_this {
            let ended = store.finish(&claimed.lease, &RunOutcome::Succeeded, at(ms + 1));
            ended.await.unwrap();
            *executed.get_mut(&claimed.lease.run).unwrap() += 1;
        }
    }
    assert!(executed.values().all(|times| *times == 1), "{executed:?}");
    // Nothing is left where claims look, either.
    claim(&store, 1_000).await.ok_or(()).unwrap_err();
    let left: i64 = sqlx::query_scalar(
        "SELECT (SELECT count(*) FROM repository_heads) + (SELECT count(*) FROM installation_heads)",
    )
    .fetch_one(&mut before)
    .await
    .unwrap();
    assert_eq!(left, 0);
    before.close().await.unwrap();
}
