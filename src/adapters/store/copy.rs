//! Copies a store between SQLite and PostgreSQL.
//!
//! Rows are copied in the order of the tables' keys, in transactions of bounded size. What the target
//! holds is therefore the beginning of a copy at any time: a copy that was interrupted compares it
//! with the source, deletes what follows the first difference, and continues there. In the end every
//! table of the target is read again and compared.
//!
//! Bots are kept out of both databases meanwhile, and out of the target until the copy is complete
//! ([`copy_of`]).

pub(super) mod read;
mod rows;
mod side;
mod tables;

use std::path::PathBuf;

use secrecy::SecretString;

pub use rows::Content;
pub use tables::{Column, Kind, NOT_COPIED, TABLES, Table};

use self::read::{batch, content, until};
use self::side::Side;
use super::copy_of::Purpose;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// Where a store is.
#[derive(Debug, Clone)]
pub enum Location {
    /// In a SQLite file.
    Sqlite(PathBuf),
    /// In the PostgreSQL database at this URL.
    Postgres(SecretString),
}

/// Limits of the transactions of a copy.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// Maximum number of rows, at least 1.
    pub max_rows: u16,
    /// Maximum size of the rows in bytes. A single row may exceed it.
    pub max_bytes: u64,
}

impl Default for CopyOptions {
    /// A statement has a parameter for every value, and SQLite takes 32,766.
    fn default() -> Self {
        Self {
            max_rows: 500,
            max_bytes: 8 << 20,
        }
    }
}

/// What a copy is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many rows of a table are in the target.
    Copied {
        /// The table.
        table: &'static str,
        /// Number of rows so far.
        rows: u64,
        /// Whether these are all.
        is_last: bool,
    },
    /// All rows are in the target, which is now read again and compared.
    Comparing,
}

/// A table in both databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// The name of the table.
    pub table: &'static str,
    /// Its content in the source.
    pub source: Content,
    /// Its content in the target.
    pub target: Content,
}

impl Compared {
    /// Whether the contents are the same.
    pub fn is_equal(&self) -> bool {
        self.source == self.target
    }
}

/// The result of a copy.
#[derive(Debug, Clone)]
pub struct Copied {
    /// The place of the source, without password.
    pub from: String,
    /// The place of the target, without password.
    pub to: String,
    /// Every table that is copied.
    pub tables: Vec<Compared>,
}

impl Copied {
    /// Whether the copy is complete: all tables are the same. Otherwise no bot can use the target.
    pub fn is_complete(&self) -> bool {
        self.tables.iter().all(Compared::is_equal)
    }
}

/// Copies the store at `from` to `to`, a new or empty database or one that an interrupted copy of the
/// same store has left, and compares both. `now` is the time of the copy.
///
/// # Errors
/// Nothing was changed in the target if a bot uses one of the databases, if the target holds anything
/// else, or if both are of the same kind. After any other error, the copy can be continued.
pub async fn copy(
    from: &Location,
    to: &Location,
    now: Millis,
    options: &CopyOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Copied, StoreError> {
    let (mut source, mut target) = match (from, to) {
        (Location::Sqlite(from), Location::Postgres(to)) => {
            let source = Side::sqlite_source(from, now).await?;
            (source, Side::postgres(to, Purpose::CopyInto).await)
        }
        (Location::Postgres(from), Location::Sqlite(to)) => {
            let source = Side::postgres(from, Purpose::CopyFrom).await?;
            (source, Side::sqlite_target(to).await)
        }
        (Location::Sqlite(_), Location::Sqlite(_)) => {
            return Err(StoreError::Failed(
                "both databases are SQLite files: copy the file with `planwright store backup`"
                    .to_owned(),
            ));
        }
        (Location::Postgres(_), Location::Postgres(_)) => {
            return Err(StoreError::Failed(
                "both databases are PostgreSQL: copy with pg_dump and pg_restore".to_owned(),
            ));
        }
    };
    let copied = match &mut target {
        Ok(target) => copy_between(&mut source, target, options, progress).await,
        Err(_) => Ok(Vec::new()),
    };
    let from = source.place.clone();
    source.close().await;
    let target = target?;
    let to = target.place.clone();
    target.close().await;
    Ok(Copied {
        from,
        to,
        tables: copied?,
    })
}

async fn copy_between(
    source: &mut Side,
    target: &mut Side,
    options: &CopyOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Compared>, StoreError> {
    let mut may_differ = true;
    match target.mark().await? {
        Some(mark) if mark.source == source.place => {}
        Some(mark) => {
            return Err(StoreError::Failed(format!(
                "{} holds a copy of {}: name a new database; nothing was changed",
                target.place, mark.source
            )));
        }
        None if target.is_empty().await? => may_differ = false,
        None => {
            return Err(StoreError::Failed(format!(
                "{} holds data that is not an unfinished copy: name a new database; nothing was changed",
                target.place
            )));
        }
    }
    target.set_mark(&source.place, false).await?;

    let mut contents = Vec::new();
    for table in TABLES {
        let mut copied = Content::default();
        let mut after = None;
        while let Some(part) = batch(source, table, after.as_deref(), options).await? {
            let wanted = Content::of(&part.rows);
            if may_differ {
                let limit = i64::try_from(part.rows.len()).unwrap_or(i64::MAX - 1) + 1;
                let there = until(target, table, after.as_deref(), &part.last, limit).await?;
                if Content::of(&there) != wanted {
                    target.delete_from(table, after.as_deref()).await?;
                    may_differ = false;
                }
            }
            if !may_differ {
                target.insert(table, &part.rows).await?;
            }
            copied.add(wanted);
            after = Some(part.last);
            progress(Progress::Copied {
                table: table.name,
                rows: copied.rows,
                is_last: false,
            });
        }
        // Rows behind the last one of the source.
        if may_differ
            && batch(target, table, after.as_deref(), options)
                .await?
                .is_some()
        {
            target.delete_from(table, after.as_deref()).await?;
            may_differ = false;
        }
        progress(Progress::Copied {
            table: table.name,
            rows: copied.rows,
            is_last: true,
        });
        contents.push((table, copied));
    }
    for table in TABLES {
        if let Some(numbered) = table.numbered {
            let last = source.last_number(table, numbered).await?;
            target.continue_numbers(table, numbered, last).await?;
        }
    }
    target.analyse().await?;
    progress(Progress::Comparing);

    let mut compared = Vec::new();
    for (table, copied) in contents {
        compared.push(Compared {
            table: table.name,
            source: copied,
            target: content(target, table, options).await?,
        });
    }
    source.check_guarded().await?;
    if compared.iter().all(Compared::is_equal) {
        target.set_mark(&source.place, true).await?;
    }
    Ok(compared)
}
