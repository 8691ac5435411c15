//! The store on a SQL database: what SQLite and PostgreSQL have in common.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use secrecy::SecretString;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::MAX_CONFLICTS;
use super::copy_of::Purpose;
use super::database::Database;
use super::group_commit::{self, Pending};
use super::history::History;
use super::postgres::{self, PostgresOptions};
use super::queries::{lease, upkeep};
use super::sql::Sql;
use super::sqlite::{self, Flush, SqliteOptions};
use crate::engine::clock::Clock;
use crate::engine::metrics::{StoreMeter, StoreOperation};
use crate::engine::model::time::Millis;
use crate::engine::replicas::Replicas;
use crate::engine::store::StoreError;

/// The store on one SQLite file, which belongs to this process alone while it is open, or on a
/// PostgreSQL database, which several processes share.
///
/// [`Store::work_arrived`] keeps one permit, so that an event between a fruitless [`Store::claim`]
/// and the wait is not lost. It wakes one waiter, and every fruitful claim wakes the next, so that
/// any number of workers share a burst. Other processes are notified only where none waits in this
/// one: each notification costs all of them a fruitless claim.
///
/// [`Store::claim`]: crate::engine::store::Store::claim
/// [`Store::work_arrived`]: crate::engine::store::Store::work_arrived
#[derive(Debug)]
pub struct SqlStore {
    queue: mpsc::Sender<Pending>,
    database: Arc<Database>,
    stop: CancellationToken,
    writing: Mutex<Option<JoinHandle<()>>>,
    meter: StoreMeter,
}

/// Waits for an operation of this class and measures it. A macro, because a function would keep the
/// operation's future twice.
macro_rules! measure {
    ($store:ident, $class:expr, $operation:block) => {{
        let start = Instant::now();
        let result: Result<_, StoreError> = async $operation.await;
        $store.meter.record($class, start.elapsed(), &result);
        result
    }};
}

/// Executes and measures an operation on a connection for writing. One that was rolled back because
/// of others at the same time is executed again.
macro_rules! write {
    ($store:ident, $operation:path $(, $argument:expr)*) => {
        write!($store as StoreOperation::Write, Flush::Now, $operation $(, $argument)*)
    };
    ($store:ident as $class:path, $flush:path, $operation:path $(, $argument:expr)*) => {
        measure!($store, $class, {
            let mut conflicts = 0;
            loop {
                let mut turn = $store.database.writer($flush).await?;
                let mut connection = turn.connection();
                let result = $operation(&mut connection $(, $argument)*).await;
                let result = connection.settle(result).await;
                let conflict = matches!(&result, Err(error) if error.is_conflict());
                let result = turn.end(result);
                conflicts += 1;
                if !conflict || conflicts > MAX_CONFLICTS {
                    break result;
                }
            }
        })
    };
}

/// Executes and measures an operation on a connection for reading.
macro_rules! read {
    ($store:ident, $operation:path $(, $argument:expr)*) => {
        measure!($store, StoreOperation::Read, {
            let mut turn = $store.database.reader().await?;
            let result = $operation(&mut turn.connection() $(, $argument)*).await;
            turn.end(result)
        })
    };
}

mod operations;

impl SqlStore {
    /// Opens or creates the SQLite database at `path`, migrates its schema, and takes back every
    /// lease of an earlier process. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] with path and remedy: another process uses it, the directory is
    /// missing or not writable, the file is something else, or a newer version of this program
    /// wrote it (it is left untouched). [`StoreError::Lost`]: the database holds fewer changes than
    /// were recorded.
    pub async fn open_sqlite(
        path: &Path,
        options: SqliteOptions,
        now: Millis,
    ) -> Result<Self, StoreError> {
        let database = sqlite::open(path, &options, Purpose::Use).await?;
        let database = Database::Sqlite(Box::new(database));
        let store = Self::new(database, options.queue_depth);
        let runs = write!(store, lease::recover_all, now)?;
        if runs > 0 {
            tracing::info!(runs, "resuming runs of an earlier process");
        }
        Ok(store)
    }

    /// Connects to the PostgreSQL database at `url` and migrates its schema. Must be called within
    /// a tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::Failed`] with a remedy: the URL is invalid, the server cannot be reached or
    /// is a standby, or a newer version of this program has changed the schema.
    pub async fn open_postgres(
        url: &SecretString,
        options: PostgresOptions,
    ) -> Result<Self, StoreError> {
        let database = Database::Postgres(postgres::open(url, &options).await?);
        let store = Self::new(database, options.queue_depth);
        write!(store, lease::promote_stranded)?;
        Ok(store)
    }

    /// Returns the clock of the database; `None` for SQLite, where every time is the caller's.
    pub fn clock(&self) -> Option<Arc<dyn Clock>> {
        match &*self.database {
            Database::Sqlite(_) => None,
            Database::Postgres(database) => Some(Arc::clone(&database.clock) as _),
        }
    }

    /// Returns the agreements with the other processes that share the database; `None` for SQLite,
    /// which one process has to itself.
    pub fn replicas(self: &Arc<Self>) -> Option<Arc<dyn Replicas>> {
        match &*self.database {
            Database::Sqlite(_) => None,
            Database::Postgres(_) => Some(Arc::clone(self) as _),
        }
    }

    /// Returns the lists of runs, plans, usage and audit entries.
    pub fn history(self: &Arc<Self>) -> History {
        History::of_store(Arc::clone(self))
    }

    /// Returns the database.
    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    fn new(database: Database, queue_depth: usize) -> Self {
        let database = Arc::new(database);
        let (queue, pending) = mpsc::channel(queue_depth.max(1));
        let stop = CancellationToken::new();
        let writing = tokio::spawn(write(Arc::clone(&database), pending, stop.clone()));
        Self {
            queue,
            database,
            stop,
            writing: Mutex::new(Some(writing)),
            meter: StoreMeter::new(),
        }
    }

    /// Takes back every lease, as [`SqlStore::open_sqlite`] does. Returns the number of runs.
    ///
    /// Times ahead of `now` count as set by a clock that has been put back since: no waiting run is
    /// due later than [`MAX_WAIT_AFTER_START`](super::MAX_WAIT_AFTER_START) from `now`, and nothing
    /// was spent after `now`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn recover_all(&self, now: Millis) -> Result<u64, StoreError> {
        let recovered = write!(self, lease::recover_all, now)?;
        self.database.wake();
        Ok(recovered)
    }

    /// Deletes the rows that `which` selects, in portions, so that other writes can happen in
    /// between.
    async fn prune_all(&self, which: Sql, before: Millis) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let (deliveries, is_last) = write!(self, upkeep::prune_some, which, before)?;
            pruned += deliveries;
            if is_last {
                return Ok(pruned);
            }
        }
    }
}

/// Writes what arrives, until the store is dropped, or stopped and everything queued has been
/// answered. Makes checkpoints meanwhile.
async fn write(database: Arc<Database>, pending: mpsc::Receiver<Pending>, stop: CancellationToken) {
    let ended = CancellationToken::new();
    let writing = async {
        group_commit::run(Arc::clone(&database), pending, stop).await;
        ended.cancel();
    };
    tokio::join!(writing, database.make_checkpoints(&ended));
}
