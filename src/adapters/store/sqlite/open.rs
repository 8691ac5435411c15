//! Opening: the lock file, the checks before anything is changed, the connections, the migrations.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::Notify;

use super::errors::sentence;
use super::writer::Writer;
use super::{Core, SqliteOptions};
use crate::engine::store::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("src/adapters/store/migrations/sqlite");

/// `PRAGMA application_id` of our files, set by the first migration: "PLNW".
const APPLICATION_ID: i32 = 0x504c_4e57;

/// Bytes per page. Most rows are small and most pages of a batch neighbours; with larger pages the one random index
/// (the GUIDs) would write more for the same row.
const PAGE_SIZE: u32 = 4096;

/// KiB of page cache per connection: the queue's working set; the kernel caches the rest.
const CACHE_KIB: u32 = 2048;

/// Bytes to which the WAL file is cut back after a checkpoint that a burst made wait.
const WAL_LIMIT: u32 = 16 << 20;

/// Readers: pages and `/plan-status`; writers never use them.
const READERS: u32 = 2;

/// Takes the lock, checks, migrates and connects.
pub(super) async fn open(path: &Path, options: &SqliteOptions) -> Result<Core, StoreError> {
    let lock = take_lock(path)?;
    make_private(path)?;
    let plain = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(options.busy_timeout)
        .disable_statement_logging();
    refuse_foreign(path, &plain).await?;

    let common = plain
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", format!("-{CACHE_KIB}"))
        // Sorting and statement journals stay off the disk: a container may have no writable /tmp.
        .pragma("temp_store", "MEMORY")
        .row_buffer_size(256);
    let writing = common
        .clone()
        .page_size(PAGE_SIZE)
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("journal_size_limit", WAL_LIMIT.to_string())
        .thread_name(|_| "store-writer".to_owned());
    let mut connection = writing.connect().await.map_err(|e| cannot_open(path, &e))?;
    migrate(path, &mut connection).await?;
    let reader = SqlitePoolOptions::new()
        .max_connections(READERS)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(
            common
                .read_only(true)
                .pragma("query_only", "ON")
                .thread_name(|n| format!("store-reader-{n}")),
        );
    Ok(Core {
        writer: Writer::new(writing, connection, lock),
        reader,
        work: Notify::new(),
    })
}

/// One process per file: recovery at start takes every running run back, which is only right when nobody else runs.
fn take_lock(path: &Path) -> Result<File, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let file = private()
        .open(&name)
        .map_err(|error| cannot_make(&name, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Failed(format!(
            "another planwright process uses the database {}: stop it first, or use PostgreSQL for several \
             processes (lock file {})",
            path.display(),
            name.display()
        ))),
        Err(TryLockError::Error(error)) => Err(StoreError::Failed(format!(
            "cannot lock {}: {error}: put the database on a local disk",
            name.display()
        ))),
    }
}

/// Makes the database file readable by this user only: it holds text from private repositories. SQLite gives the WAL
/// the same mode.
fn make_private(path: &Path) -> Result<(), StoreError> {
    private()
        .open(path)
        .map(drop)
        .map_err(|error| cannot_make(path, &error))
}

fn private() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn cannot_make(path: &Path, error: &std::io::Error) -> StoreError {
    let remedy = match error.kind() {
        ErrorKind::NotFound => "make the directory first, or name another database path",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "give this user the right to write to the directory, or name another database path"
        }
        _ => "name another database path",
    };
    StoreError::Failed(format!(
        "cannot open {} for writing: {error}: {remedy}",
        path.display()
    ))
}

fn cannot_open(path: &Path, error: &sqlx::Error) -> StoreError {
    StoreError::Failed(format!(
        "cannot open the database {}: {}",
        path.display(),
        sentence(error)
    ))
}

/// Looks before anything is written: turning the WAL on would already change somebody else's file.
async fn refuse_foreign(path: &Path, plain: &SqliteConnectOptions) -> Result<(), StoreError> {
    let look = async {
        let mut connection = plain.connect().await?;
        let id: i32 = sqlx::query_scalar("PRAGMA application_id")
            .fetch_one(&mut connection)
            .await?;
        // The table of migrations alone is left by a crash during the very first start.
        let tables: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name <> '_sqlx_migrations'",
        )
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        Ok::<_, sqlx::Error>(id == APPLICATION_ID || (id == 0 && tables == 0))
    };
    match look.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::Failed(format!(
            "{} is the database of another program: choose another path",
            path.display()
        ))),
        Err(error) => Err(cannot_open(path, &error)),
    }
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let newest = MIGRATIONS.iter().map(|m| m.version).max().unwrap_or(0);
    let path = path.display();
    MIGRATIONS.run(connection).await.map_err(|error| {
        StoreError::Failed(match error {
            MigrateError::VersionMissing(version) => format!(
                "the database {path} was written by a newer planwright (its schema is {version}, this program knows \
                 {newest}): install the newer version; nothing was changed"
            ),
            MigrateError::VersionMismatch(version) => format!(
                "the database {path} was written by another build of planwright (schema {version} differs): install \
                 a released version, or choose another path; nothing was changed"
            ),
            MigrateError::Execute(error) => {
                format!("cannot update the database {path}: {}", sentence(&error))
            }
            MigrateError::ExecuteMigration(error, version) => format!(
                "cannot bring the database {path} to schema {version}: {}; nothing was changed",
                sentence(&error)
            ),
            other => format!("cannot update the database {path}: {other}"),
        })
    })
}
