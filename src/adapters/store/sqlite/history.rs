//! Reads decisions and runs beside the process that owns the database. Takes no lock and changes
//! nothing.

use std::path::Path;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::errors::{failed, sentence};
use super::{intake, open, views};
use crate::engine::model::intake::DecisionRecord;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;
use crate::engine::why::RunEvidence;

/// Number of runs of a place that are searched for the one that is being worked on.
const MAX_RUNS: u32 = 50;

/// Finds a repository by its name, among the runs from the newest.
const REPOSITORY: &str = "
SELECT repo_id FROM runs JOIN texts ON texts.run = runs.seq
WHERE lower(trigger ->> '$.place.repo.owner' || '/' || (trigger ->> '$.place.repo.name')) = lower(?1)
ORDER BY seq DESC LIMIT 1";

/// The history of a database that another process may be using.
#[derive(Debug)]
pub struct History {
    reader: SqlitePool,
}

impl History {
    /// Opens the database at `path` for reading.
    ///
    /// # Errors
    /// There is none, it is not ours, or another version of this program wrote it.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display();
        if !path.exists() {
            return Err(StoreError::Failed(format!(
                "there is no database at {shown}; store.path must be that of the running bot"
            )));
        }
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        let reader = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .map_err(|error| {
                StoreError::Failed(format!("{shown} cannot be read: {}", sentence(&error)))
            })?;
        let schema = open::schema(&reader).await.map_err(failed)?;
        if schema != Some(open::CURRENT_SCHEMA) {
            return Err(StoreError::Failed(format!(
                "{shown} is not a database of this version of planwright; store.path must be that of the running bot"
            )));
        }
        Ok(Self { reader })
    }

    /// Returns the id of a repository that runs were requested in, by its last known name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn repository(&self, full_name: &str) -> Result<Option<u64>, StoreError> {
        let id: Option<i64> = sqlx::query_scalar(REPOSITORY)
            .bind(full_name)
            .fetch_optional(&self.reader)
            .await
            .map_err(failed)?;
        Ok(id.and_then(|id| u64::try_from(id).ok()))
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
        intake::at_place(&self.reader, repo, number, limit).await
    }

    /// Returns a run with its position in the queue of its place, `<repository id>#<number>`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn run(&self, id: &RunId, place: &str) -> Result<Option<RunEvidence>, StoreError> {
        let Some(view) = views::run(&self.reader, id).await? else {
            return Ok(None);
        };
        let due: Option<i64> =
            sqlx::query_scalar("SELECT run_at_ms FROM runs WHERE id = ?1 AND state = 'waiting'")
                .bind(&id.0)
                .fetch_optional(&self.reader)
                .await
                .map_err(failed)?;
        let at_place = views::runs_at(&self.reader, place, MAX_RUNS).await?;
        let active = at_place
            .iter()
            .find(|run| matches!(run.state, State::Ready | State::Running | State::Waiting));
        Ok(Some(RunEvidence {
            due: due.map(Millis),
            ahead: views::ahead_of(&self.reader, id).await?,
            behind: active.map(|run| run.id.to_string()),
            view,
        }))
    }
}
