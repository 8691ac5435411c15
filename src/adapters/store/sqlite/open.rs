//! Opening the database: locks, checks before anything is changed, migrations, connections,
//! recovery.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::super::copy_of::{self, Purpose};
use super::super::errors::sentence;
use super::super::idle::IdleWorkers;
use super::super::migrations::migrator;
use super::super::sql::Connection as Either;
use super::changes::{self, Changes};
use super::writer::{Resources, Writer};
use super::{SqliteDatabase, SqliteOptions};
use crate::engine::store::StoreError;
use crate::regular_file;

/// The migrations in order.
const MIGRATIONS: [(&str, &str); 12] = [
    ("queue", include_str!("../migrations/sqlite/0001_queue.sql")),
    (
        "agents",
        include_str!("../migrations/sqlite/0002_agents.sql"),
    ),
    (
        "said once",
        include_str!("../migrations/sqlite/0003_said_once.sql"),
    ),
    (
        "outsiders",
        include_str!("../migrations/sqlite/0004_outsiders.sql"),
    ),
    ("saved", include_str!("../migrations/sqlite/0005_saved.sql")),
    ("usage", include_str!("../migrations/sqlite/0006_usage.sql")),
    (
        "intake",
        include_str!("../migrations/sqlite/0007_intake.sql"),
    ),
    (
        "decisions",
        include_str!("../migrations/sqlite/0008_decisions.sql"),
    ),
    ("fair", include_str!("../migrations/sqlite/0009_fair.sql")),
    ("inbox", include_str!("../migrations/sqlite/0010_inbox.sql")),
    ("heads", include_str!("../migrations/sqlite/0011_heads.sql")),
    (
        "overview",
        include_str!("../migrations/sqlite/0012_overview.sql"),
    ),
];

/// The schema version of this program.
pub(super) const CURRENT_SCHEMA: usize = MIGRATIONS.len();

/// Returns the schema version of a database of ours; `None` if it is not ours.
pub(super) async fn schema(reader: &mut SqliteConnection) -> sqlx::Result<Option<usize>> {
    let id: i32 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *reader)
        .await?;
    if id != APPLICATION_ID {
        return Ok(None);
    }
    let version: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(reader)
        .await?;
    Ok(version.and_then(|version| usize::try_from(version).ok()))
}

/// `PRAGMA application_id` of our files, set by the first migration: "PLNW".
const APPLICATION_ID: i32 = 0x504c_4e57;

/// Page size, in bytes. Most rows are small and most pages of a batch adjacent; with larger pages
/// the one random index (the GUIDs) would write more for the same row.
pub(super) const PAGE_SIZE: u32 = 4096;

/// Page cache per connection, in KiB: the queue's working set; the kernel caches the rest.
const CACHE_KIB: u32 = 2048;

/// Size to which the WAL file is truncated after a checkpoint that a burst delayed, in bytes.
const MAX_IDLE_WAL: u32 = 16 << 20;

/// Number of pages in the WAL with which the writing connection makes a checkpoint itself, which
/// should not be needed.
const MAX_WAL_PAGES: u32 = 10_000;

/// Number of reading connections, for pages and `/plan-status`. Writes never use them.
const READERS: u32 = 2;

/// Pause before the inbox of a running bot is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Maximum number of looks at the inbox of a running bot.
const MAX_LOOKS: u32 = 50;

/// Maximum number of symbolic links followed to the database file, as on Linux.
const MAX_LINKS: u32 = 40;

/// Locks, checks, migrates and opens the database.
pub(crate) async fn open(
    path: &Path,
    options: &SqliteOptions,
    purpose: Purpose,
) -> Result<SqliteDatabase, StoreError> {
    // SQLite also keeps the WAL beside the target of a symbolic link.
    let path = &real_path(path);
    let lock = take_lock(path)?;
    let record = changes::path(path);
    let recorded = changes::recorded(&record).map_err(|error| cannot_make(&record, &error))?;
    let was = FileState::at(path).map_err(|error| cannot_make(path, &error))?;
    was.check(path, &record, recorded)?;
    let database = take_database(path)?;
    let plain = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(options.busy_timeout)
        .disable_statement_logging();
    check_content(path, &plain, &record, recorded, purpose).await?;
    match was {
        FileState::Missing => tracing::info!(path = %path.display(), "made a new database"),
        FileState::Empty => tracing::warn!(
            path = %path.display(),
            "the database file was empty; starting with a new database"
        ),
        FileState::Present => {}
    }

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
        .pragma("journal_size_limit", MAX_IDLE_WAL.to_string())
        .pragma("wal_autocheckpoint", MAX_WAL_PAGES.to_string())
        .thread_name(|_| "store-writer".to_owned());
    let checkpointing = common
        .clone()
        .thread_name(|_| "store-checkpoint".to_owned());
    let mut connection = writing.connect().await.map_err(|e| cannot_open(path, &e))?;
    migrate(path, &mut connection).await?;
    if purpose == Purpose::Use {
        copy_of::forget(&mut Either::from(&mut connection)).await?;
    }
    let count = count_start(&mut connection)
        .await
        .map_err(|error| cannot_open(path, &error))?;
    let changes = Changes::open(&record, count).map_err(|error| cannot_make(&record, &error))?;
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
    let resources = Resources {
        changes,
        _locks: [lock, database],
    };
    Ok(SqliteDatabase {
        writer: Writer::new(writing, connection, resources),
        reader,
        idle: IdleWorkers::default(),
        checkpointing,
    })
}

/// Opens the database at `path` for reading, also while a bot uses it.
pub(crate) async fn open_for_reading(path: &Path) -> Result<sqlx::SqlitePool, StoreError> {
    let shown = path.display();
    if !path.exists() {
        return Err(StoreError::Failed(format!(
            "there is no database at {shown}; store.path must be that of the running bot"
        )));
    }
    // Before SQLite opens it, which would wait for the other end of a pipe.
    regular_file::open(path).map_err(|error| {
        StoreError::Failed(format!(
            "{shown} cannot be read: {error}; store.path must be that of the running bot"
        ))
    })?;
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let of_sql = |error: sqlx::Error| cannot_read(path, &error);
    let reader = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .map_err(of_sql)?;
    let mut connection = reader.acquire().await.map_err(of_sql)?;
    let found = schema(&mut connection).await.map_err(of_sql)?;
    if let Some(newer) = found.filter(|version| *version > CURRENT_SCHEMA) {
        return Err(StoreError::Failed(written_by_newer(path, newer)));
    }
    if found != Some(CURRENT_SCHEMA) {
        return Err(StoreError::Failed(format!(
            "{shown} is not a database of this version of planwright; store.path must be that of the running bot"
        )));
    }
    copy_of::refuse_incomplete(&mut Either::from(&mut *connection), &shown.to_string()).await?;
    drop(connection);
    await_inbox(&reader).await.map_err(of_sql)?;
    Ok(reader)
}

/// Waits until a running bot has stored what it has acknowledged, which takes some milliseconds.
/// Without a running bot it stays in the inbox until the next start, so the wait is short.
async fn await_inbox(reader: &sqlx::SqlitePool) -> sqlx::Result<()> {
    for _ in 0..MAX_LOOKS {
        let waiting: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM inbox WHERE refused IS NULL)")
                .fetch_one(reader)
                .await?;
        if !waiting {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Checks whether [`open`] could use `path`. Opens and changes nothing, so it is safe while another
/// process uses the database.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let path = &real_path(path);
    let record = changes::path(path);
    let was = FileState::at(path).map_err(|error| cannot_make(path, &error))?;
    let folder = folder_of(path);
    let about = fs::metadata(folder).map_err(|error| cannot_make(path, &error))?;
    if !about.is_dir() {
        let error = std::io::Error::from(ErrorKind::NotADirectory);
        return Err(cannot_make(path, &error));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        let refused = |error: rustix::io::Errno| cannot_make(path, &error.into());
        access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(refused)?;
        if was != FileState::Missing {
            access(path, Access::READ_OK | Access::WRITE_OK).map_err(refused)?;
        }
    }
    let recorded = changes::recorded(&record).map_err(|error| cannot_make(&record, &error))?;
    was.check(path, &record, recorded)
}

/// Resolves every symbolic link, including one whose target does not exist yet.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    match (folder_of(&path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        // Opening it reports the error.
        _ => path,
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The state of the database file before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    Missing,
    Empty,
    Present,
}

impl FileState {
    pub(super) fn at(path: &Path) -> std::io::Result<Self> {
        match fs::metadata(path) {
            Ok(about) if !about.is_file() => Err(std::io::Error::other("it is not a regular file")),
            Ok(about) if about.len() == 0 => Ok(Self::Empty),
            Ok(_) => Ok(Self::Present),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::Missing),
            Err(error) => Err(error),
        }
    }

    /// Refuses to create a new database where there was one.
    fn check(self, path: &Path, record: &Path, recorded: Option<i64>) -> Result<(), StoreError> {
        let state = match self {
            Self::Present => return Ok(()),
            Self::Missing => "is missing",
            Self::Empty => "is empty (0 bytes)",
        };
        recorded.map_or(Ok(()), |recorded| {
            Err(StoreError::Lost(format!(
                "{} {state}, and {} records {recorded} changes in it: put the database back with its -wal file, or \
                 restore a backup in place of both; to begin with a new database, delete {} first",
                path.display(),
                record.display(),
                record.display()
            )))
        })
    }
}

/// Returns the path of the lock file of the database at `path`.
pub(super) fn lock_path(path: &Path) -> PathBuf {
    with_suffix(path, ".lock")
}

/// Returns the path whose name continues that of `path`.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Allows one process per path: recovery at the start takes back every lease, which is only right
/// if no other process works on the runs.
pub(super) fn take_lock(path: &Path) -> Result<File, StoreError> {
    let name = lock_path(path);
    let file = private()
        .open(&name)
        .map_err(|error| cannot_make(&name, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Failed(format!(
            "another planwright process uses the database {}: stop that process first, or give \
             this one its own store.path (lock file {})",
            path.display(),
            name.display()
        ))),
        Err(TryLockError::Error(error)) => Err(cannot_lock(&name, &error)),
    }
}

/// Creates the database file readable by this user only (it holds text from private repositories;
/// SQLite gives the WAL the same mode) and locks the file itself: the lock of the path does not
/// cover hard links, or a lock file that was deleted.
///
/// The lock is `flock(2)`, which on Linux is independent of SQLite's own `fcntl(2)` locks. On other
/// systems the two would conflict, so only the path is locked.
///
/// Closing any descriptor of the file would release SQLite's locks in this process: the returned
/// file must outlive the connections.
pub(super) fn take_database(path: &Path) -> Result<File, StoreError> {
    let file = private()
        .open(path)
        .map_err(|error| cannot_make(path, &error))?;
    if !cfg!(target_os = "linux") {
        return Ok(file);
    }
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            // This process itself may be the one that has it open.
            std::mem::forget(file);
            Err(StoreError::Failed(format!(
                "another planwright process uses the database {}, under another name or with its \
                 lock file deleted: stop that process first, or give this one its own store.path",
                path.display()
            )))
        }
        Err(TryLockError::Error(error)) => Err(cannot_lock(path, &error)),
    }
}

pub(super) fn private() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(super) fn cannot_lock(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Failed(format!(
        "cannot lock {}: {error}: put the database on a local disk",
        path.display()
    ))
}

/// Counts this start, and returns the number of changes that the database holds.
async fn count_start(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    changes::count_from_now_on(connection).await?;
    changes::count_one(connection).await?;
    changes::counted(connection).await
}

pub(super) fn cannot_make(path: &Path, error: &std::io::Error) -> StoreError {
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

pub(super) fn cannot_read(path: &Path, error: &sqlx::Error) -> StoreError {
    StoreError::Failed(format!(
        "{} cannot be read: {}",
        path.display(),
        sentence(error)
    ))
}

/// Checks the content before anything is written: switching to WAL mode would already change a
/// foreign file, and the files of a database that has lost changes may still be restored.
pub(super) async fn check_content(
    path: &Path,
    plain: &SqliteConnectOptions,
    record: &Path,
    recorded: Option<i64>,
    purpose: Purpose,
) -> Result<(), StoreError> {
    let place = path.display().to_string();
    let look = async {
        let mut connection = plain.connect().await?;
        let id: i32 = sqlx::query_scalar("PRAGMA application_id")
            .fetch_one(&mut connection)
            .await?;
        // A crash during the very first start leaves the table of migrations alone.
        let tables: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name <> '_sqlx_migrations'",
        )
        .fetch_one(&mut connection)
        .await?;
        let content = if id == APPLICATION_ID {
            let count = changes::counted(&mut connection).await?;
            let either = &mut Either::from(&mut connection);
            match copy_of::refuse_incomplete(either, &place).await {
                Err(error) if purpose != Purpose::CopyInto => Content::Unfinished(error),
                _ => Content::Ours(count),
            }
        } else if id == 0 && tables == 0 {
            Content::Ours(0)
        } else {
            Content::Foreign
        };
        connection.close().await?;
        Ok::<_, sqlx::Error>(content)
    };
    match look.await.map_err(|error| cannot_open(path, &error))? {
        Content::Foreign => Err(StoreError::Failed(format!(
            "{place} is the database of another program: choose another path"
        ))),
        Content::Unfinished(error) => Err(error),
        Content::Ours(count) => match recorded {
            Some(recorded) if count < recorded => Err(StoreError::Lost(format!(
                "{} holds {count} of the {recorded} changes that {} records: put back the -wal \
                 file that belongs to it, or restore a newer backup in place of both; to continue \
                 without the lost changes, delete {} first",
                path.display(),
                record.display(),
                record.display()
            ))),
            _ => Ok(()),
        },
    }
}

/// The content of a database file.
enum Content {
    /// A database of ours, with the number of changes it holds.
    Ours(i64),
    /// A database of ours that is being copied into.
    Unfinished(StoreError),
    /// A database of another program.
    Foreign,
}

/// Returns the error about a database whose schema is newer than that of this program.
fn written_by_newer(path: &Path, schema: impl Display) -> String {
    format!(
        "the database {} was written by a newer planwright (its schema is {schema}, this program knows {CURRENT_SCHEMA}): \
         install the newer version; nothing was changed",
        path.display()
    )
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let shown = path.display();
    migrator(&MIGRATIONS).run(connection).await.map_err(|error| {
        StoreError::Failed(match error {
            MigrateError::VersionMissing(version) => written_by_newer(path, version),
            MigrateError::VersionMismatch(version) => format!(
                "the database {shown} was written by another build of planwright (schema {version} differs): install \
                 a released version, or choose another path; nothing was changed"
            ),
            MigrateError::Execute(error) => {
                format!("cannot update the database {shown}: {}", sentence(&error))
            }
            MigrateError::ExecuteMigration(error, version) => format!(
                "cannot bring the database {shown} to schema {version}: {}; nothing was changed",
                sentence(&error)
            ),
            other => format!("cannot update the database {shown}: {other}"),
        })
    })
}
