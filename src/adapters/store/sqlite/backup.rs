//! Backups of a database in one file, also while a bot uses it, and putting them back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection as _, SqliteConnection};
use tempfile::NamedTempFile;

use super::super::copy_of;
use super::super::errors::{failed, sentence};
use super::super::sql::Connection as Either;
use super::changes;
use super::open::{self, CURRENT_SCHEMA, FileState, folder_of, with_suffix};
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// Maximum time to wait for another program that locks the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Writes the state of the database at `path` to the new file `file`, also while a bot writes to the
/// database, and returns its size in bytes. Everything that was committed before is in it.
///
/// # Errors
/// There is no database of ours at `path`, it cannot be read, or the file exists or cannot be
/// written.
pub async fn backup_sqlite(path: &Path, file: &Path) -> Result<u64, StoreError> {
    if file.exists() {
        return Err(StoreError::Failed(format!(
            "{} exists already: name a new file",
            file.display()
        )));
    }
    let mut connection = read(path, "store.path must be that of the bot").await?;
    let written = write_copy(&mut connection, file).await?;
    connection.close().await.map_err(failed)?;
    place(written, file)
}

/// What a restored database replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The schema version of the backup.
    pub schema: usize,
    /// The new name of the database that was there, or of what was left of one.
    pub set_aside: Option<PathBuf>,
}

/// Puts the backup `file` in the place of the database at `path`. What is there is renamed; `now` is
/// part of its new name. A database is only replaced if `replace` is set.
///
/// # Errors
/// A bot uses the database, there is one and `replace` is not set, or the backup is damaged, of
/// another program or of a newer version. Nothing was changed then.
pub async fn restore_sqlite(
    file: &Path,
    path: &Path,
    replace: bool,
    now: Millis,
) -> Result<Restored, StoreError> {
    let path = &open::real_path(path);
    if open::real_path(file) == *path {
        return Err(StoreError::Failed(format!(
            "{} is the database itself: name a backup",
            file.display()
        )));
    }
    let _lock = open::take_lock(path)?;
    let was = FileState::at(path).map_err(|error| open::cannot_make(path, &error))?;
    let _database = match was {
        FileState::Missing => None,
        FileState::Empty | FileState::Present => Some(open::take_database(path)?),
    };
    if was == FileState::Present && !replace {
        return Err(StoreError::Failed(format!(
            "there is a database at {}: give --replace to put the backup in its place; the database is kept under another \
             name",
            path.display()
        )));
    }
    let mut connection = read(
        file,
        "name a file that `planwright store backup` has written",
    )
    .await?;
    let schema = check_backup(&mut connection, file).await?;
    let written = write_copy(&mut connection, path).await?;
    connection.close().await.map_err(failed)?;

    let old = with_suffix(
        path,
        &now.datetime()
            .format(".replaced-%Y%m%dT%H%M%S%3fZ")
            .to_string(),
    );
    let mut set_aside = false;
    let mut move_away = |suffix: &str| {
        let (from, to) = (with_suffix(path, suffix), with_suffix(&old, suffix));
        match fs::rename(&from, to) {
            Ok(()) => set_aside = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_write(&from, &error)),
        }
        Ok(())
    };
    for suffix in ["", "-wal", "-shm"] {
        move_away(suffix)?;
    }
    place(written, path)?;
    // Last: until then, a bot that starts finds that changes are missing.
    move_away(changes::SUFFIX)?;
    Ok(Restored {
        schema,
        set_aside: set_aside.then_some(old),
    })
}

/// Opens a database of ours for reading.
async fn read(path: &Path, remedy: &str) -> Result<SqliteConnection, StoreError> {
    let shown = path.display();
    if !path.exists() {
        return Err(StoreError::Failed(format!(
            "there is no file {shown}: {remedy}"
        )));
    }
    let of_sql = |error: sqlx::Error| open::cannot_read(path, &error);
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging()
        .connect()
        .await
        .map_err(of_sql)?;
    if open::schema(&mut connection)
        .await
        .map_err(of_sql)?
        .is_none()
    {
        return Err(StoreError::Failed(format!(
            "{shown} is not a database of planwright: {remedy}"
        )));
    }
    copy_of::refuse_incomplete(&mut Either::from(&mut connection), &shown.to_string()).await?;
    Ok(connection)
}

/// Checks whether a backup can be used by this version, and returns its schema version.
async fn check_backup(connection: &mut SqliteConnection, file: &Path) -> Result<usize, StoreError> {
    let schema = open::schema(connection).await.map_err(failed)?.unwrap_or(0);
    if schema > CURRENT_SCHEMA {
        return Err(StoreError::Failed(format!(
            "{} was written by a newer planwright (its schema is {schema}, this program knows {CURRENT_SCHEMA}): install \
             the newer version",
            file.display()
        )));
    }
    match damage(connection, 1).await.first() {
        None => Ok(schema),
        Some(damage) => Err(StoreError::Failed(format!(
            "{} is damaged ({damage}): use another backup",
            file.display()
        ))),
    }
}

/// Returns what SQLite finds wrong with the file of a database, but no more than `limit` lines.
pub(crate) async fn damage(connection: &mut SqliteConnection, limit: u32) -> Vec<String> {
    let check = format!("PRAGMA integrity_check({limit})");
    let found: Result<Vec<String>, _> = sqlx::query_scalar(sqlx::AssertSqlSafe(check))
        .fetch_all(connection)
        .await;
    match found {
        // A result may be several lines under a heading.
        Ok(found) => found
            .iter()
            .flat_map(|found| found.lines())
            .filter(|line| *line != "ok" && !line.starts_with("***"))
            .map(str::to_owned)
            .collect(),
        Err(error) => vec![sentence(&error)],
    }
}

/// Writes the state of a database to a file beside `target`, which only this user can read.
async fn write_copy(
    connection: &mut SqliteConnection,
    target: &Path,
) -> Result<NamedTempFile, StoreError> {
    let file =
        NamedTempFile::new_in(folder_of(target)).map_err(|error| cannot_write(target, &error))?;
    let name = file.path().to_str().ok_or_else(|| {
        let error = io::Error::from(io::ErrorKind::InvalidFilename);
        cannot_write(target, &error)
    })?;
    sqlx::query("VACUUM INTO $1")
        .bind(name)
        .execute(connection)
        .await
        .map_err(|error| {
            StoreError::Failed(format!(
                "{} cannot be written: {}",
                target.display(),
                sentence(&error)
            ))
        })?;
    Ok(file)
}

/// Gives a file that has been written its name, which must be free. Returns its size in bytes.
fn place(written: NamedTempFile, target: &Path) -> Result<u64, StoreError> {
    let placed = || {
        written.as_file().sync_all()?;
        let bytes = written.as_file().metadata()?.len();
        written
            .persist_noclobber(target)
            .map_err(|error| error.error)?;
        #[cfg(unix)]
        fs::File::open(folder_of(target))?.sync_all()?;
        Ok(bytes)
    };
    placed().map_err(|error| cannot_write(target, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> StoreError {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "make the directory first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "give this user the right to write to the directory"
        }
        _ => "name another file",
    };
    StoreError::Failed(format!(
        "{} cannot be written: {error}: {remedy}",
        path.display()
    ))
}
