//! Reads decisions and runs beside the processes that use the database. Takes no lock and changes
//! nothing.

use std::path::Path;

use secrecy::SecretString;
use sqlx::SqlitePool;

use super::database::Turn;
use super::errors::{WriteError, failed};
use super::postgres::{self, PostgresDatabase};
use super::queries::{intake, views};
use super::sql::{Connection, Sql};
use super::sqlite;
use crate::engine::model::intake::DecisionRecord;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;
use crate::engine::why::RunEvidence;

/// Number of runs of a place that are searched for the one that is being worked on.
const MAX_RUNS: u32 = 50;

/// Finds a repository by its name, among the runs from the newest.
const REPOSITORY: Sql = Sql {
    sqlite: "
SELECT repo_id FROM runs JOIN texts ON texts.run = runs.seq
WHERE lower(trigger ->> '$.place.repo.owner' || '/' || (trigger ->> '$.place.repo.name')) = lower($1)
ORDER BY seq DESC LIMIT 1",
    postgres: "
SELECT repo_id FROM runs
JOIN texts ON texts.run = runs.seq
CROSS JOIN LATERAL (SELECT convert_from(trigger, 'UTF8')::json #> '{place,repo}' AS repo) AS place
WHERE lower(repo ->> 'owner' || '/' || (repo ->> 'name')) = lower($1)
ORDER BY seq DESC LIMIT 1",
};

const DUE: &str = "SELECT run_at_ms FROM runs WHERE id = $1 AND state = 'waiting'";

/// The history of a database that a running bot may be using.
#[derive(Debug)]
pub struct History(Reader);

#[derive(Debug)]
enum Reader {
    Sqlite(SqlitePool),
    Postgres(PostgresDatabase),
}

/// Executes a query for reading.
macro_rules! read {
    ($history:ident, $query:path $(, $argument:expr)*) => {{
        let mut turn = $history.turn().await?;
        let result = $query(&mut turn.connection() $(, $argument)*).await;
        turn.end(result)
    }};
}

impl History {
    /// Opens the SQLite database at `path` for reading.
    ///
    /// # Errors
    /// There is none, it is not ours, or another version of this program wrote it.
    pub async fn open_sqlite(path: &Path) -> Result<Self, StoreError> {
        Ok(Self(Reader::Sqlite(sqlite::open_for_reading(path).await?)))
    }

    /// Connects to the PostgreSQL database at `url`.
    ///
    /// # Errors
    /// It cannot be reached, or it is not ours.
    pub async fn open_postgres(url: &SecretString) -> Result<Self, StoreError> {
        let database = postgres::open_for_reading(url).await?;
        Ok(Self(Reader::Postgres(database)))
    }

    async fn turn(&self) -> Result<Turn<'_>, StoreError> {
        match &self.0 {
            Reader::Sqlite(pool) => Ok(Turn::Reader(pool.acquire().await.map_err(failed)?)),
            Reader::Postgres(database) => Ok(Turn::Postgres(database.turn().await?)),
        }
    }

    /// Returns the id of a repository that runs were requested in, by its last known name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn repository(&self, full_name: &str) -> Result<Option<u64>, StoreError> {
        read!(self, repository, full_name)
    }

    /// Returns at most `limit` decisions about an issue or pull request, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn decisions_at(
        &self,
        repo: u64,
        number: u64,
        limit: u32,
    ) -> Result<Vec<DecisionRecord>, StoreError> {
        read!(self, intake::at_place, repo, number, limit)
    }

    /// Returns a run with its position in the queue of its place, `<repository id>#<number>`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn run(&self, id: &RunId, place: &str) -> Result<Option<RunEvidence>, StoreError> {
        let Some(view) = read!(self, views::run, id)? else {
            return Ok(None);
        };
        let at_place = read!(self, views::runs_at, place, MAX_RUNS)?;
        let active = at_place
            .iter()
            .find(|run| matches!(run.state, State::Ready | State::Running | State::Waiting));
        Ok(Some(RunEvidence {
            due: read!(self, due, id)?.map(Millis),
            position: read!(self, views::queue_position, id)?,
            behind: active.map(|run| run.id.to_string()),
            view,
        }))
    }
}

async fn repository(
    reader: &mut Connection<'_>,
    full_name: &str,
) -> Result<Option<u64>, WriteError> {
    reader.scalar(REPOSITORY, &[full_name.into()]).await
}

async fn due(reader: &mut Connection<'_>, run: &RunId) -> Result<Option<i64>, WriteError> {
    reader.scalar(DUE, &[run.into()]).await
}
