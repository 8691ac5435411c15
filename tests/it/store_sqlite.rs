//! The store on SQLite: every rule of the contract, then what only a file can do.

use std::path::Path;

use planwright::adapters::store::{SqliteOptions, SqliteStore};
use planwright::engine::store::{Accepted, Store, StoreError};
use tempfile::TempDir;

use crate::store_contract::{self as contract, at, delivery, for_each_rule, new_run};

/// A store in a new directory, which lives as long as the handle.
pub(crate) async fn fresh() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("planwright.db")).await.unwrap();
    (directory, store)
}

pub(crate) async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions::default()).await
}

macro_rules! rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let (_directory, store) = super::fresh().await;
                super::contract::$module::$rule(&store).await;
            }
        }
    )*};
}
for_each_rule!(rules);
