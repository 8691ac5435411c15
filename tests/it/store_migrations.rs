//! Old databases: every released schema opens with its rows, and a newer schema is refused and left
//! unchanged.

use std::path::Path;

use planwright::engine::model::run::{RunId, State};
use planwright::engine::store::{
    Accepted, Budget, BudgetScope, ClaimLimits, EffectState, Lease, Store,
};
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::store_contract::{LEASE, at, delivery, park, progress, state};
use crate::store_sqlite::open;

const DIRECTORY: &str = "src/adapters/store/migrations/sqlite";

/// Rows of a run that another program held when it stopped, and of one behind it. Columns that
/// later schemas added keep their defaults.
macro_rules! two_runs {
    () => {
        "INSERT INTO deliveries (id, guid, event, action, installation, received_ms, payload)
         VALUES (1, 'g1', 'issue_comment', 'created', 5, 1700000000000, x'7b7d');
         INSERT INTO deliveries (id, guid, event, action, installation, received_ms, payload)
         VALUES (2, 'g2', 'issues', NULL, 5, 1700000000001, NULL);
         INSERT INTO runs (seq, id, delivery, idx, command, serial, place, repo_id, installation, state, run_at_ms,
                           attempt, fence, lease_owner, lease_until_ms, created_ms, started_ms)
         VALUES (1, 'RUN1', 1, 0, 'save-plan', '1#1', '1#1', 1, 5, 'running', 1700000000000, 2, 2, 'old', 1700000000500,
                 1700000000000, 1700000000000);
         INSERT INTO runs (seq, id, delivery, idx, command, serial, place, repo_id, installation, state, run_at_ms,
                           created_ms)
         VALUES (2, 'RUN2', 2, 0, 'plan', '1#1', '1#1', 1, 5, 'blocked', 1700000000001, 1700000000001);
         INSERT INTO texts VALUES
         (1, '{\"command\":\"save-plan\",\"actor\":{\"id\":7,\"login\":\"octocat\",\"bot\":false},
          \"place\":{\"repo\":{\"installation\":5,\"id\":1,\"owner\":\"acme\",\"name\":\"search\"},\"number\":1,\"pull_request\":false},
          \"origin\":{\"kind\":\"label\",\"name\":\"save-plan\"},\"guidance\":\"one\",\"inline\":null,\"at\":5}', '{\"status_lost\":1}'),
         (2, '{\"command\":\"save-plan\",\"actor\":{\"id\":7,\"login\":\"octocat\",\"bot\":false},
          \"place\":{\"repo\":{\"installation\":5,\"id\":1,\"owner\":\"acme\",\"name\":\"search\"},\"number\":1,\"pull_request\":false},
          \"origin\":{\"kind\":\"label\",\"name\":\"save-plan\"},\"guidance\":\"two\",\"inline\":null,\"at\":5}', NULL);
         INSERT INTO effects VALUES ('RUN1', 'issue', 1700000000000, 1700000000000, 1700000000001, '7');
         INSERT INTO audit VALUES (1, 1700000000000, 'RUN1', 'g1', 'octocat', 'accepted', 'may write');"
    };
}

/// What agents have left.
macro_rules! with_agents {
    () => {
        "UPDATE runs SET told = 2, heard = 1 WHERE id = 'RUN1';
         INSERT INTO messages VALUES (1, 'RUN1', 1700000000000, '{\"m\":1}'), (2, 'RUN1', 1700000000001, '{\"m\":2}');
         INSERT INTO spending VALUES ('RUN1', 'plan/1', 1, 7, 1700000000000, 1, 30, 2, 1);
         INSERT INTO spending VALUES ('RUN1', 'plan/2', 1, 7, 1700000000001, 0, NULL, NULL, NULL);"
    };
}

/// The deduplication key of a delivery.
macro_rules! with_dedup_key {
    () => {
        "UPDATE deliveries SET said = 'comment 1#1 7' WHERE id = 2;"
    };
}

/// What was asked for.
macro_rules! with_asks {
    () => {
        "INSERT INTO asks VALUES ('RUN1', 1700000000000, 5, '1#1', 7, 99, 0, 0, NULL);"
    };
}

/// A plan that was saved.
macro_rules! with_saved {
    () => {
        "INSERT INTO saved VALUES (1, 'RUN0', '1#1', 1700000000000, 'aa', 'bb', 1, 9, 'https://github.com/o/r/issues/9', 8);"
    };
}

macro_rules! with_usage {
    () => {
        "UPDATE runs SET told = 2, heard = 1 WHERE id = 'RUN1';
             INSERT INTO messages VALUES (1, 'RUN1', 1700000000000, '{\"m\":1}'), (2, 'RUN1', 1700000000001, '{\"m\":2}');
             INSERT INTO spending VALUES ('RUN1', 'plan/1', 1, 7, 1700000000000, 1, 30, 2, 1, 500, 400, 20);
             INSERT INTO spending VALUES ('RUN1', 'plan/2', 1, 7, 1700000000001, 0, NULL, NULL, NULL, 0, 0, 0);
             INSERT INTO usage VALUES (1, 19675, 7, 'save-plan', 1, 2, 30, 500, 400, 20);"
    };
}

macro_rules! with_missed {
    () => {
        "UPDATE runs SET said_ms = created_ms;
         INSERT INTO missed VALUES (3804004623172239366, 'g6', 'issue_comment', 'created', 1700000000000, 502, 1);"
    };
}

macro_rules! with_decisions {
    () => {
        "INSERT INTO decisions VALUES (1, 1700000000000, 1, 1,
             '[[1700000000000,\"webhook\",\"g5\",\"issue_comment\",\"created\",99,\"ignored\",\"no\"]]');"
    };
}

/// A delivery that was acknowledged and not stored yet.
macro_rules! with_inbox {
    () => {
        "INSERT INTO inbox VALUES (1, CAST('{}/save-plan one' AS BLOB),
             '[[\"g7\",\"issue_comment\",\"created\",5,1700000000002,1,2,\"comment 1#1 8\",3,14,\"webhook\"]]',
             '[[0,0,1700000000002,\"RUN3\",\"save-plan\",\"1#1\",\"1#1\",1,5,true,1700000000002]]',
             CAST('{\"command\":\"save-plan\",\"actor\":{\"id\":7,\"login\":\"octocat\",\"bot\":false},
          \"place\":{\"repo\":{\"installation\":5,\"id\":1,\"owner\":\"acme\",\"name\":\"search\"},\"number\":1,\"pull_request\":false},
          \"origin\":{\"kind\":\"label\",\"name\":\"save-plan\"},\"guidance\":\"three\",\"inline\":null,\"at\":5}' AS BLOB),
             '[[0,1,999]]', NULL);"
    };
}

/// Rows as the program of that schema would have left them, one script per schema that can still be
/// met.
const ROWS: [(i64, &str); 12] = [
    (1, two_runs!()),
    (2, concat!(two_runs!(), with_agents!())),
    (3, concat!(two_runs!(), with_agents!(), with_dedup_key!())),
    (
        4,
        concat!(two_runs!(), with_agents!(), with_dedup_key!(), with_asks!()),
    ),
    (
        5,
        concat!(
            two_runs!(),
            with_agents!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
        ),
    ),
    (
        6,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
        ),
    ),
    (
        7,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
            with_missed!(),
            "INSERT INTO decisions VALUES (1, 1700000000000, 'webhook', 'g5', 'issue_comment', 'created', 1, 1, 99, 'ignored', 'no');",
        ),
    ),
    (
        8,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
            with_missed!(),
            with_decisions!(),
        ),
    ),
    (
        9,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
            with_missed!(),
            with_decisions!(),
        ),
    ),
    (
        10,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
            with_missed!(),
            with_decisions!(),
            with_inbox!(),
        ),
    ),
    (
        11,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            with_saved!(),
            with_missed!(),
            with_decisions!(),
            with_inbox!(),
        ),
    ),
    (
        12,
        concat!(
            two_runs!(),
            with_usage!(),
            with_dedup_key!(),
            with_asks!(),
            "INSERT INTO saved VALUES (1, 'RUN0', '1#1', 1700000000000, 'aa', 'bb', 1, 9, 'https://github.com/o/r/issues/9', 8,
                                       'octocat', 'Search', 'search');
             INSERT INTO repositories VALUES (1, 5, 'acme', 'search');
             INSERT INTO agent_output VALUES (1, 'RUN1', 1700000000000, 'reading');",
            with_missed!(),
            with_decisions!(),
            with_inbox!(),
        ),
    ),
];

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn every_old_schema_opens_with_its_rows() {
    let migrations = Migrator::new(Path::new(DIRECTORY)).await.unwrap();
    let known: Vec<_> = migrations.iter().map(|m| m.version).collect();
    assert_eq!(
        known,
        ROWS.map(|(version, _)| version),
        "a schema without rows to test it"
    );
    for (version, rows) in ROWS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("old.db");
        let mut connection = connect(&path).await;
        migrations.run_to(version, &mut connection).await.unwrap();
        sqlx::raw_sql(rows).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();

        let store = open(&path).await.unwrap();
        let known = store.accept(delivery("g2", 10, vec![])).await.unwrap();
        assert_eq!(known, Accepted::Duplicate);
        let run = store.run(&RunId("RUN1".into())).await.unwrap().unwrap();
        assert_eq!(
            (
                run.state,
                run.trigger.unwrap().guidance.as_deref(),
                run.attempt
            ),
            (State::Ready, Some("one"), 2)
        );
        assert_eq!(store.audit_of(&run.id).await.unwrap().len(), 1);
        let claimed = store
            .claim("new", at(11), LEASE, &ClaimLimits::default())
            .await
            .unwrap()
            .unwrap();
        assert_eq!((claimed.lease.run, claimed.progress), (run.id, progress(1)));
        let lease = store
            .claim_unacknowledged("new", at(11), LEASE, at(0))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (&*lease.lease.run.0, lease.trigger.guidance.as_deref()),
            ("RUN2", Some("two"))
        );
        let mine = Lease {
            run: RunId("RUN1".into()),
            owner: "new".into(),
            fence: 3,
        };
        let effect = store.begin_effect(&mine, "issue", at(12)).await.unwrap();
        assert_eq!(effect, EffectState::Done("7".into()));
        let saved = store.saved_at("1#1").await.unwrap();
        let saved: Vec<u64> = saved.iter().map(|plan| plan.issue).collect();
        assert_eq!(saved, if version < 5 { vec![] } else { vec![9] });
        let usage = store.usage(1, at(0)).await.unwrap();
        let known: Vec<_> = usage
            .iter()
            .map(|one| (one.command.as_str(), one.runs, one.cost, one.tokens.input))
            .collect();
        match version {
            1 => assert_eq!(known, []),
            6.. => assert_eq!(known, [("save-plan", 1, 30, 500)]),
            // What was spent in the last days before the migration counts.
            _ => assert_eq!(known, [("save-plan", 1, 30, 0)]),
        }
        has_messages_and_spending(&store, &mine, version).await;
        let third = store.run(&RunId("RUN3".into())).await.unwrap();
        let third = third.map(|run| (run.state, run.trigger.unwrap().guidance));
        let expected = (State::Blocked, Some("three".to_owned()));
        assert_eq!(third, (version >= 10).then_some(expected));
        let later = usize::from(version >= 7);
        assert_eq!(store.missed(9).await.unwrap().len(), later);
        assert_eq!(
            store.decided(&["g2", "g5"], at(0)).await.unwrap().len(),
            1 + later
        );
        assert_eq!(
            store.decided_comments(1, &[(1, 99)]).await.unwrap().len(),
            later
        );
        assert_eq!(
            store
                .decisions_at(1, 1, 9)
                .await
                .unwrap()
                .iter()
                .filter(|one| one.guid == "g5")
                .count(),
            later
        );
        store.close().await;
    }
}

/// What the second schema added is there: with its rows, or empty and usable.
async fn has_messages_and_spending(store: &dyn Store, lease: &Lease, version: i64) {
    let messages: &[&str] = match version {
        1 => &[],
        _ => &["{\"m\":1}", "{\"m\":2}"],
    };
    assert_eq!(store.messages(&lease.run).await.unwrap(), messages);
    let budget = Budget {
        repo_day_cost: Some(30),
        ..Budget::default()
    };
    let payer = BudgetScope { repo: 1, actor: 7 };
    let begun = store.begin_turn(lease, "plan/3", payer, &budget, at(13));
    assert_eq!(begun.await.unwrap().is_ok(), version == 1);
    assert!(
        store
            .send_message(&lease.run, "{\"m\":3}", at(14))
            .await
            .unwrap()
    );
    let park = park(3_600_000, true);
    store.finish(lease, &park, at(15)).await.unwrap();
    assert_eq!(state(store, &lease.run).await, State::Ready, "it was told");
}

#[tokio::test]
async fn other_schemas_are_refused_untouched() {
    let cases = [
        (
            "INSERT INTO _sqlx_migrations VALUES (9999, 'later', '', 1, x'00', 0)",
            "the store failed: the database PATH was written by a newer planwright (its schema is 9999, this program \
             knows 12): install the newer version; nothing was changed",
        ),
        (
            "UPDATE _sqlx_migrations SET checksum = x'00' WHERE version = 1",
            "the store failed: the database PATH was written by another build of planwright (schema 1 differs): \
             install a released version, or choose another path; nothing was changed",
        ),
    ];
    for (change, text) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.db");
        open(&path).await.unwrap().close().await;
        let mut connection = connect(&path).await;
        sqlx::raw_sql(change)
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = open(&path).await.unwrap_err().to_string();
        assert_eq!(error.replace(&path.display().to_string(), "PATH"), text);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
