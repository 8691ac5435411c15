//! Looks at a database that another process may be using, and changes nothing.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::super::copy_of::Purpose;
use super::{changes, open};
use crate::engine::store::StoreError;

/// What is known about the database at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspected {
    /// Whether a running bot uses it.
    pub in_use: bool,
    /// Its schema version; `None` if it does not exist yet.
    pub schema: Option<usize>,
}

/// The schema version that this program writes.
pub const SCHEMA: usize = open::CURRENT_SCHEMA;

/// Looks at the database at `path`.
///
/// # Errors
/// Those of opening it, with path and remedy: the folder is missing or not writable, the file is
/// something else, or changes were lost.
pub async fn inspect(path: &Path) -> Result<Inspected, StoreError> {
    open::check(path)?;
    let path = &open::real_path(path);
    let in_use = in_use(path)?;
    if path.metadata().map_or(0, |about| about.len()) == 0 {
        return Ok(Inspected {
            in_use,
            schema: None,
        });
    }
    let record = changes::path(path);
    let recorded =
        changes::recorded(&record).map_err(|error| open::cannot_make(&record, &error))?;
    // Without a WAL, even a reader would create one.
    let wal = open::with_suffix(path, "-wal");
    let alone = !in_use && wal.metadata().map_or(0, |about| about.len()) == 0;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(alone);
    open::check_content(path, &options, &record, recorded, Purpose::Use).await?;
    let look = async {
        let mut reader = options.connect().await?;
        let schema = open::schema(&mut reader).await?;
        reader.close().await?;
        Ok(schema)
    };
    let schema = look
        .await
        .map_err(|error| open::cannot_read(path, &error))?;
    Ok(Inspected { in_use, schema })
}

/// Returns whether a process holds the lock of the database. The lock is shared for a moment, which
/// a process that starts in that moment takes for use.
fn in_use(path: &Path) -> Result<bool, StoreError> {
    let name = open::lock_path(path);
    let file = match File::open(&name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(open::cannot_make(&name, &error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(open::cannot_lock(&name, &error)),
    }
}
