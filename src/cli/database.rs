//! Opens the configured database.

use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::Failure;
use crate::adapters::store::{History, PostgresOptions, SqlStore, SqliteOptions};
use crate::config::{Config, Secrets};
use crate::engine::clock::Clock;
use crate::engine::store::StoreError;

/// Returns the URL of the PostgreSQL database with its password; `None` where SQLite is used.
pub(super) fn postgres_url(config: &Config, secrets: &Secrets) -> Option<SecretString> {
    // The configuration has been checked: it is a URL.
    let url = Url::parse(config.store.url.as_ref()?).ok()?;
    Some(with_password(url, secrets))
}

/// Adds the password of the configuration to the URL of a PostgreSQL database.
pub(super) fn with_password(mut url: Url, secrets: &Secrets) -> SecretString {
    if let Some(password) = &secrets.store_password {
        // Percent-encodes it. A URL without host, of a Unix socket, takes it as a parameter.
        if url.set_password(Some(password.expose_secret())).is_err() {
            url.query_pairs_mut()
                .append_pair("password", password.expose_secret());
        }
    }
    SecretString::from(url.to_string())
}

/// Opens the store, and returns the clock that goes with it: `clock`, or the database's where
/// several processes share it.
///
/// # Errors
/// The store cannot be opened.
pub(super) async fn open(
    config: &Config,
    secrets: &Secrets,
    clock: Arc<dyn Clock>,
) -> Result<(Arc<SqlStore>, Arc<dyn Clock>), Failure> {
    let opened = if let Some(url) = postgres_url(config, secrets) {
        let options = PostgresOptions {
            queue_depth: config.store.queue_depth,
            max_connections: config.store.max_connections,
            ..PostgresOptions::default()
        };
        SqlStore::open_postgres(&url, options).await
    } else {
        let options = SqliteOptions {
            queue_depth: config.store.queue_depth,
            ..SqliteOptions::default()
        };
        SqlStore::open_sqlite(&config.store.path, options, clock.now()).await
    };
    let store = opened.map_err(|error| match error {
        // Exit code 2 prevents a restart: only the operator can resolve a lost store.
        StoreError::Lost(_) => Failure::Usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    })?;
    let clock = store.clock().unwrap_or(clock);
    Ok((Arc::new(store), clock))
}

/// Opens the database for reading, beside the bot that uses it.
///
/// # Errors
/// It cannot be read, or it is not one of ours.
pub(super) async fn history(config: &Config, secrets: &Secrets) -> Result<History, Failure> {
    let opened = match postgres_url(config, secrets) {
        Some(url) => History::open_postgres(&url).await,
        None => History::open_sqlite(&config.store.path).await,
    };
    opened.map_err(|error| Failure::failed(error.to_string()))
}
