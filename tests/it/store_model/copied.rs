//! Copies of stores after random sequences give the same answers as the originals.

use std::path::PathBuf;

use super::*;
use crate::store_copy::{Places, copied};

/// Number of operations of a sequence: enough to fill most tables.
const LONG: usize = 150;

/// Performs a sequence. Returns the time of the last operation, or a later one.
async fn perform_all(store: &dyn Store, steps: &[Step]) {
    let (mut model, mut leases) = (Model::default(), Leases::default());
    for (number, op) in steps {
        let (held, _) = leases.ask(&mut model, *number, op);
        perform(store, op, &held).await;
    }
}

/// The answers to everything that can be observed.
async fn answers(store: &dyn Store, steps: &[Step]) -> Vec<String> {
    let mut answers = Vec::new();
    for (_, op) in generate::observations(steps) {
        answers.push(format!(
            "{}: {}",
            shown(&op),
            perform(store, &op, &[]).await
        ));
    }
    answers
}

#[tokio::test]
async fn copies_answer_as_the_originals() {
    let Some(places) = Places::new().await else {
        return;
    };
    // Opening moves waits that are due much later, and spending in the future.
    let end = at(0).plus(DAY * 1000);
    let open = async |path: PathBuf| {
        let opened = SqlStore::open_sqlite(&path, SqliteOptions::default(), end).await;
        opened.unwrap()
    };
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds(8) {
        let steps = generate::sequence(seed, LONG);
        let (original, back) = (format!("{seed}.db"), format!("{seed}-back.db"));
        let store = open(places.path(&original)).await;
        perform_all(&store, &steps).await;
        store.close().await;
        postgres::open(&places.url).await.close().await;
        postgres::empty(&places.url).await;

        let there = copied(&places.sqlite(&original), &places.postgres()).await;
        let again = copied(&places.postgres(), &places.sqlite(&back)).await;
        for (one, other) in there.tables.iter().zip(&again.tables) {
            assert_eq!(one, other, "seed {seed}");
            *rows.entry(one.table).or_default() += one.source.rows;
        }
        let store = open(places.path(&original)).await;
        let expected = answers(&store, &steps).await;
        store.close().await;
        for store in [
            postgres::open(&places.url).await,
            open(places.path(&back)).await,
        ] {
            let answers = answers(&store, &steps).await;
            for (answer, expected) in answers.iter().zip(&expected) {
                assert_eq!(answer, expected, "seed {seed}");
            }
            store.close().await;
        }
    }
    // Lists for people, which `store_copy` fills.
    let lists = ["agent_output", "repositories"];
    rows.retain(|table, _| !lists.contains(table));
    let empty: Vec<_> = rows.iter().filter(|(_, rows)| **rows == 0).collect();
    assert!(empty.is_empty(), "{empty:?}");
}
