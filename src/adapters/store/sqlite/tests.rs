//! Checks the query plans of frequent statements, which must not grow slower with backlog or
//! history.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use super::*;
use crate::adapters::store::SqlStore;
use crate::adapters::store::database::Database;
use crate::adapters::store::queries::{
    accept, answers, claim, intake, lease, queue, records, spending, upkeep, views,
};
use crate::adapters::store::sql::Sql;
use crate::engine::model::time::Millis;

/// Returns SQLite's plan for a statement, without statistics (which are never gathered).
async fn plan(connection: &mut SqliteConnection, sql: &str) -> Vec<String> {
    let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")))
        .fetch_all(connection)
        .await
        .unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

async fn writer(store: &SqlStore) -> Turn<'_> {
    let Database::Sqlite(database) = store.database() else {
        panic!("not SQLite");
    };
    database.writer.turn(Flush::Now).await.unwrap()
}

#[tokio::test]
async fn frequent_statements_never_scan_a_table() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.db");
    let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), Millis(0))
        .await
        .unwrap();
    let mut turn = writer(&store).await;
    let inbox = [
        super::inbox::WRITE,
        super::inbox::FIRST,
        super::inbox::EXPAND,
    ];
    let inbox = inbox.iter().flat_map(|sql| sql.split(';')).map(str::trim);
    let inbox: Vec<_> = inbox.collect();
    assert_eq!(inbox.len(), 6);
    for sql in frequent().into_iter().chain(inbox) {
        let plan = plan(&mut turn.connection, sql).await;
        assert!(!plan.is_empty(), "no plan for{sql}");
        let scans: Vec<_> = plan
            .iter()
            .filter_map(|step| step.strip_prefix("SCAN "))
            .filter(|scan| TABLES.contains(&scan.split(' ').next().unwrap_or_default()))
            .filter(|scan| !scan.contains("INDEX runs_") || scan.contains("runs_serial"))
            .collect();
        assert!(scans.is_empty(), "{scans:?} in {plan:#?} of{sql}");
        // Claims sort what runs and the heads; the line behind each head is already in order.
        let sorts = plan
            .iter()
            .filter(|step| step.contains("TEMP B-TREE"))
            .count();
        assert!(sorts <= 2, "{plan:#?} of{sql}");
    }
}

/// Tables, and the aliases that the statements give the table of runs. The partial indexes `runs_…`
/// (except `runs_serial`) hold only the rows the query is about; walking one is not a table scan.
const TABLES: [&str; 18] = [
    "deliveries",
    "runs",
    "texts",
    "effects",
    "audit",
    "messages",
    "spending",
    "usage",
    "asks",
    "saved",
    "decisions",
    "missed",
    "earlier",
    "active",
    "next",
    "head",
    "this",
    "other",
];

fn frequent() -> Vec<&'static str> {
    macro_rules! sqlite {
        ($($sql:path,)*) => { vec![$(Sql::from($sql).sqlite),*] };
    }
    sqlite![
        accept::INSERT_DELIVERIES,
        accept::INSERT_RUNS,
        accept::INSERT_TEXTS,
        accept::REQUEUE,
        accept::CANCEL_INSTALLATION,
        accept::GIVE_WAY,
        intake::AT_PLACE,
        intake::DECIDED,
        intake::DECIDED_COMMENTS,
        intake::LABEL_ACCEPTED,
        queue::PROMOTE,
        queue::END,
        queue::PARK,
        queue::CANCEL,
        queue::REQUEUE,
        queue::YIELD,
        answers::FIND_DECISION,
        answers::OF_COMMENT,
        answers::OF_ACTOR,
        answers::AT_PLACE,
        answers::IN_INSTALLATION,
        answers::DEFER,
        views::NEXT_DUE,
        claim::PENDING,
        claim::WAKE,
        claim::ABANDON,
        claim::IDLE,
        claim::BUSY,
        claim::CLAIM,
        claim::CLAIM_DEFERRED,
        lease::CLAIM_UNACKNOWLEDGED,
        lease::ACKNOWLEDGED,
        lease::HEARTBEAT,
        lease::RELEASE,
        lease::EXPIRED,
        lease::RECOVER,
        lease::UNSETTLE,
        records::SAVE_PROGRESS,
        records::BEGIN_EFFECT,
        records::FIND_EFFECT,
        records::END_EFFECT,
        records::COUNT_MESSAGE,
        records::MESSAGES,
        records::RECORD_SAVED,
        records::PRUNE_SAVED,
        records::SAVED_AT,
        spending::FIND_TURN,
        spending::END,
        spending::ADD_USAGE,
        spending::USAGE,
        spending::ACTOR_RUNS,
        spending::REPO_RUNS,
        spending::RUNS,
        spending::REPO_COST,
        spending::COST,
        upkeep::OLD_DELIVERIES,
        upkeep::OLD_REFUSED,
        upkeep::DELETE_EFFECTS,
        upkeep::DELETE_MESSAGES,
        upkeep::DELETE_TEXTS,
        upkeep::DELETE_RUNS,
        views::POSITION,
        views::COUNTS,
        views::OLDEST_READY,
    ]
}
