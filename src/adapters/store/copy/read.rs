//! Reads whole tables part by part, so that the memory needed is bounded.

use super::super::errors::WriteError;
use super::super::sql::{Connection, Row, Value, column};
use super::CopyOptions;
use super::rows::{Cell, Content};
use super::tables::{Column, Table};
use crate::engine::store::StoreError;

/// What rows are read from.
pub(crate) trait Source {
    /// Whether it is PostgreSQL.
    fn is_postgres(&self) -> bool;

    /// Executes a statement and returns its rows.
    async fn rows(&mut self, sql: String, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError>;
}

impl Source for Connection<'_> {
    fn is_postgres(&self) -> bool {
        self.is_shared()
    }

    async fn rows(&mut self, sql: String, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let rows: Result<_, WriteError> = self.rows_of(sql, values).await;
        Ok(rows?)
    }
}

/// Part of a table: consecutive rows in the order of the key, and the key of the last one.
pub(crate) struct Batch {
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) last: Vec<Cell>,
}

/// Reads the next rows after a key, or the first ones; `None` at the end of the table. Returns one
/// row at least, and no more than `options` allow.
pub(crate) async fn batch(
    source: &mut impl Source,
    table: &Table,
    after: Option<&[Cell]>,
    options: &CopyOptions,
) -> Result<Option<Batch>, StoreError> {
    let sql = table.select_keys(source.is_postgres(), after.is_some());
    let limit = i64::from(options.max_rows);
    let mut values: Vec<Value<'_>> = after.unwrap_or_default().iter().map(Cell::value).collect();
    values.push(limit.into());
    let keys = source.rows(sql, &values).await?;
    let mut bytes = 0;
    let mut last = None;
    for key in &keys {
        bytes += column::<u64>(key, "bytes")?;
        if last.is_some() && bytes > options.max_bytes {
            break;
        }
        last = Some(key);
    }
    let Some(last) = last else {
        return Ok(None);
    };
    let last = cells(last, &table.key_columns(), table)?;
    let rows = until(source, table, after, &last, limit).await?;
    Ok(Some(Batch { rows, last }))
}

/// Reads the rows after a key, or the first ones, up to the key `until`, but not more than `limit`.
pub(crate) async fn until(
    source: &mut impl Source,
    table: &Table,
    after: Option<&[Cell]>,
    until: &[Cell],
    limit: i64,
) -> Result<Vec<Vec<Cell>>, StoreError> {
    let sql = table.select_rows(source.is_postgres(), after.is_some());
    let bounds = after.unwrap_or_default().iter().chain(until);
    let mut values: Vec<Value<'_>> = bounds.map(Cell::value).collect();
    values.push(limit.into());
    let rows = source.rows(sql, &values).await?;
    rows.iter()
        .map(|row| cells(row, table.columns, table))
        .collect()
}

/// Reads a whole table.
pub(crate) async fn content(
    source: &mut impl Source,
    table: &Table,
    options: &CopyOptions,
) -> Result<Content, StoreError> {
    let (mut content, mut after) = (Content::default(), None);
    while let Some(batch) = batch(source, table, after.as_deref(), options).await? {
        content.add(Content::of(&batch.rows));
        after = Some(batch.last);
    }
    Ok(content)
}

fn cells(row: &Row, columns: &[Column], table: &Table) -> Result<Vec<Cell>, StoreError> {
    let cells = columns.iter().map(|column| Cell::read(row, *column));
    cells
        .collect::<Result<_, _>>()
        .map_err(|error| of_table(error, table))
}

/// Adds the table to an error.
pub(crate) fn of_table(error: StoreError, table: &Table) -> StoreError {
    let name = table.name;
    match error {
        StoreError::Corrupt { what, why } => StoreError::Corrupt {
            what: format!("{what} of the table {name}"),
            why,
        },
        StoreError::Failed(why) => StoreError::Failed(format!("the table {name}: {why}")),
        other => other,
    }
}
