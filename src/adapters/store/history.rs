//! Reads decisions, runs, plans and the audit log: beside the processes that use the database, or
//! within one. Takes no lock and changes nothing.

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;
use sqlx::SqlitePool;

use super::database::Turn;
use super::errors::{WriteError, failed};
use super::postgres::{self, PostgresDatabase};
use super::queries::{intake, overview, records, views};
use super::sql::Connection;
use super::{SqlStore, sqlite};
use crate::engine::model::intake::DecisionRecord;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::overview::{
    AuditFilter, DayUsage, Effect, NumberedEntry, Output, PlanFilter, PlanSummary, RunFilter,
    RunSummary, Turn as AgentTurn,
};
use crate::engine::store::{QueueCounts, RunView, StoreError};
use crate::engine::timeline::{Event, timeline};
use crate::engine::why::RunEvidence;

/// Number of runs of a place that are searched for the one that is being worked on.
const MAX_RUNS: u32 = 50;

/// Maximum number of audit entries in a timeline.
const MAX_ENTRIES: u32 = 1_000;

const DUE: &str = "SELECT run_at_ms FROM runs WHERE id = $1 AND state = 'waiting'";

/// The history of a database that a running bot may be using.
#[derive(Debug)]
pub struct History(Reader);

#[derive(Debug)]
enum Reader {
    Sqlite(SqlitePool),
    Postgres(PostgresDatabase),
    Store(Arc<SqlStore>),
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

    /// The history of an open store.
    pub(super) fn of_store(store: Arc<SqlStore>) -> Self {
        Self(Reader::Store(store))
    }

    async fn turn(&self) -> Result<Turn<'_>, StoreError> {
        match &self.0 {
            Reader::Sqlite(pool) => Ok(Turn::Reader(pool.acquire().await.map_err(failed)?)),
            Reader::Postgres(database) => Ok(Turn::Postgres(database.turn().await?)),
            Reader::Store(store) => store.database().reader().await,
        }
    }

    async fn turn_beside_inbox(&self) -> Result<Turn<'_>, StoreError> {
        match &self.0 {
            Reader::Store(store) => store.database().reader_beside_inbox().await,
            Reader::Sqlite(_) | Reader::Postgres(_) => self.turn().await,
        }
    }

    /// Returns the id of a repository in which a run was started, by its last known name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn recorded_repository(&self, full_name: &str) -> Result<Option<u64>, StoreError> {
        read!(self, overview::recorded_repository, full_name)
    }

    /// Returns the id of a repository that runs were requested in, by its last known name: also of
    /// one in which none has been started.
    ///
    /// # Errors
    /// The database fails.
    pub async fn repository(&self, full_name: &str) -> Result<Option<u64>, StoreError> {
        read!(self, overview::repository_named, full_name)
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

    /// Returns a run with what it waits for.
    ///
    /// # Errors
    /// The database fails.
    pub async fn run(&self, id: &RunId) -> Result<Option<RunEvidence>, StoreError> {
        let Some(view) = read!(self, views::run, id)? else {
            return Ok(None);
        };
        let behind = match view
            .trigger
            .as_ref()
            .filter(|_| view.state == State::Blocked)
        {
            Some(trigger) => self.active_at(&trigger.place.key()).await?,
            None => None,
        };
        Ok(Some(RunEvidence {
            due: read!(self, due, id)?.map(Millis),
            position: read!(self, views::queue_position, id)?,
            behind: behind.map(|run| run.id.to_string()),
            view,
        }))
    }

    /// Returns the run at a place, `<repository id>#<number>`, that is being worked on.
    async fn active_at(&self, place: &str) -> Result<Option<RunView>, StoreError> {
        let at_place = read!(self, views::runs_at, place, MAX_RUNS)?;
        Ok(at_place
            .into_iter()
            .find(|run| matches!(run.state, State::Ready | State::Running | State::Waiting)))
    }

    /// Returns at most `limit` runs, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn runs(
        &self,
        filter: &RunFilter,
        limit: u32,
    ) -> Result<Vec<RunSummary>, StoreError> {
        read!(self, overview::runs, filter, limit)
    }

    /// Returns what happened in a run, oldest first, with the last 1,000 entries of the audit log.
    ///
    /// # Errors
    /// The database fails.
    pub async fn timeline(&self, run: &RunView) -> Result<Vec<Event>, StoreError> {
        let filter = AuditFilter {
            run: Some(run.id.clone()),
            ..AuditFilter::default()
        };
        let audit = self.audit(&filter, MAX_ENTRIES).await?;
        let effects = self.effects(&run.id).await?;
        let turns = self.turns(&run.id).await?;
        Ok(timeline(run.progress.as_ref(), &audit, &effects, &turns))
    }

    /// Returns the number of runs in each state.
    ///
    /// # Errors
    /// The database fails.
    pub async fn counts(&self) -> Result<QueueCounts, StoreError> {
        read!(self, views::counts)
    }

    /// Returns the effects of a run in the order in which they began.
    ///
    /// # Errors
    /// The database fails.
    pub async fn effects(&self, run: &RunId) -> Result<Vec<Effect>, StoreError> {
        read!(self, overview::effects, run)
    }

    /// Returns the keys and results (JSON) of the effects of a run that are done.
    ///
    /// # Errors
    /// The database fails.
    pub async fn effect_results(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError> {
        read!(self, records::effects, run)
    }

    /// Returns the turns of the agents of a run, oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn turns(&self, run: &RunId) -> Result<Vec<AgentTurn>, StoreError> {
        read!(self, overview::turns, run)
    }

    /// Returns the last `limit` decisions about all places, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn recent_decisions(&self, limit: u32) -> Result<Vec<DecisionRecord>, StoreError> {
        read!(self, intake::recent, limit)
    }

    /// Returns the state of a run that is not in the inbox, and at most `limit` portions of its agents'
    /// output after the one with the number `after`, in order; `None` if there is no such run. It is
    /// cheap enough to be asked every second.
    ///
    /// # Errors
    /// The database fails.
    pub async fn watch(
        &self,
        run: &RunId,
        after: i64,
        limit: u32,
    ) -> Result<Option<(State, Vec<Output>)>, StoreError> {
        let mut turn = self.turn_beside_inbox().await?;
        let result = overview::watch(&mut turn.connection(), run, after, limit).await;
        turn.end(result)
    }

    /// Returns at most `limit` portions of the agents' output of a run after the one with the number
    /// `after`, in order.
    ///
    /// # Errors
    /// The database fails.
    pub async fn output(
        &self,
        run: &RunId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Output>, StoreError> {
        let mut turn = self.turn_beside_inbox().await?;
        let result = overview::output(&mut turn.connection(), run, after, limit).await;
        turn.end(result)
    }

    /// Returns at most `limit` saved plans, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn plans(
        &self,
        filter: &PlanFilter,
        limit: u32,
    ) -> Result<Vec<PlanSummary>, StoreError> {
        read!(self, overview::plans, filter, limit)
    }

    /// Returns what agents have used since the day of `since` (UTC), by day, repository and command,
    /// newest first, at most `limit` entries.
    ///
    /// # Errors
    /// The database fails.
    pub async fn usage(&self, since: Millis, limit: u32) -> Result<Vec<DayUsage>, StoreError> {
        read!(self, overview::usage, since, limit)
    }

    /// Returns a repository in which a run was started.
    ///
    /// # Errors
    /// The database fails.
    pub async fn repository_by_id(&self, id: u64) -> Result<Option<Repo>, StoreError> {
        read!(self, overview::repository, id)
    }

    /// Returns at most `limit` audit entries, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn audit(
        &self,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<Vec<NumberedEntry>, StoreError> {
        read!(self, overview::audit, filter, limit)
    }
}

async fn due(reader: &mut Connection<'_>, run: &RunId) -> Result<Option<i64>, WriteError> {
    reader.scalar(DUE, &[run.into()]).await
}
