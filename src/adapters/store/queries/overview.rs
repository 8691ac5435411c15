//! Reads lists of runs, plans, usage and audit entries, for operators and pages. Each list is
//! limited and continues before the last sequence number.

use super::super::errors::{WriteError, corrupt};
use super::super::sql::{Connection, Row, Sql, Value, column, nullable, number, of_run};
use super::records::audit_entry;
use super::spending::DAY_MS;
use super::views::state;
use crate::engine::model::agent::Tokens;
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Repo, Trigger};
use crate::engine::overview::{
    AuditFilter, DayUsage, Effect, NumberedEntry, Output, PlanFilter, PlanSummary, RunFilter,
    RunSummary, StateFilter, Turn, TurnUsage,
};
use crate::engine::store::StoreError;
use crate::formats::command::Command;

/// Selects runs, newest first: before $1, of the repository $2, of the command $3, at most $4. The
/// states are literals so that partial indexes are used.
macro_rules! runs {
    ($states:literal) => {
        concat!(
            "SELECT seq, id, command, state, attempt, code, note, created_ms, finished_ms, trigger \
             FROM runs LEFT JOIN texts ON texts.run = runs.seq \
             WHERE ",
            $states,
            "seq < coalesce(CAST($1 AS BIGINT), 9223372036854775807) \
             AND (CAST($2 AS BIGINT) IS NULL OR repo_id = CAST($2 AS BIGINT)) \
             AND (CAST($3 AS TEXT) IS NULL OR command = CAST($3 AS TEXT)) \
             ORDER BY seq DESC LIMIT $4"
        )
    };
}

fn runs_sql(filter: Option<StateFilter>) -> &'static str {
    match filter {
        None => runs!(""),
        Some(StateFilter::Unfinished) => {
            runs!("state IN ('blocked', 'ready', 'running', 'waiting') AND ")
        }
        Some(StateFilter::Is(State::Blocked)) => runs!("state = 'blocked' AND "),
        Some(StateFilter::Is(State::Ready)) => runs!("state = 'ready' AND "),
        Some(StateFilter::Is(State::Running)) => runs!("state = 'running' AND "),
        Some(StateFilter::Is(State::Waiting)) => runs!("state = 'waiting' AND "),
        Some(StateFilter::Is(State::Succeeded)) => runs!("state = 'succeeded' AND "),
        Some(StateFilter::Is(State::Failed)) => runs!("state = 'failed' AND "),
        Some(StateFilter::Is(State::Cancelled)) => runs!("state = 'cancelled' AND "),
    }
}

const EFFECTS: &str =
    "SELECT key, first_ms, done_ms FROM effects WHERE run = $1 ORDER BY first_ms, key";

const TURNS: &str = "
SELECT key, at_ms, cost, turns, tools, input, cached, output FROM spending WHERE run = $1 ORDER BY at_ms, key";

const OUTPUT: &str =
    "SELECT id, at_ms, text FROM agent_output WHERE run = $1 AND id > $2 ORDER BY id LIMIT $3";

/// One statement, so that everything that was printed before the end is read with the final state.
const WATCH: &str = "
SELECT runs.state AS state, printed.id AS id, at_ms, text
FROM runs LEFT JOIN (
    SELECT id, run, at_ms, text FROM agent_output WHERE run = $1 AND id > $2 ORDER BY id LIMIT $3
) AS printed ON printed.run = runs.id
WHERE runs.id = $1 ORDER BY printed.id";

/// Selects plans, newest first: before $1, of the places from $2 up to $3, of the person $4, from
/// $5 up to $6, at most $7, with words that begin with each of $8.
macro_rules! plans {
    ($search:expr) => {
        concat!(
            "SELECT seq, run, place, at_ms, actor, title, issue, url, installation, owner, name \
             FROM saved LEFT JOIN repositories ON repositories.id = ",
            "CAST(substr(place, 1, length(place) - length(ltrim(place, '0123456789'))) AS BIGINT) \
             WHERE seq < coalesce(CAST($1 AS BIGINT), 9223372036854775807) \
             AND (CAST($2 AS TEXT) IS NULL OR (place >= CAST($2 AS TEXT) AND place < CAST($3 AS TEXT))) \
             AND (CAST($4 AS TEXT) IS NULL OR lower(actor) = CAST($4 AS TEXT)) \
             AND at_ms >= coalesce(CAST($5 AS BIGINT), 0) \
             AND at_ms < coalesce(CAST($6 AS BIGINT), 9223372036854775807) ",
            $search,
            "ORDER BY seq DESC LIMIT $7"
        )
    };
}

const PLANS: &str = plans!("");

const SEARCH_PLANS: Sql = Sql {
    sqlite: plans!("AND seq IN (SELECT rowid FROM saved_words WHERE saved_words MATCH $8) "),
    postgres: plans!("AND to_tsvector('simple', words) @@ to_tsquery('simple', $8) "),
};

const USAGE: &str = "
SELECT day, command, CAST(sum(runs) AS BIGINT) AS runs, CAST(sum(turns) AS BIGINT) AS turns,
       CAST(sum(cost) AS BIGINT) AS cost, CAST(sum(input) AS BIGINT) AS input,
       CAST(sum(cached) AS BIGINT) AS cached, CAST(sum(output) AS BIGINT) AS output,
       usage.repo AS repo, installation, owner, name
FROM usage LEFT JOIN repositories ON repositories.id = usage.repo
WHERE day >= $1
GROUP BY day, usage.repo, command, installation, owner, name
ORDER BY day DESC, cost DESC, usage.repo, command LIMIT $2";

/// Records a repository, unless it is recorded already with the same values.
const RECORD_REPOSITORY: &str = "
INSERT INTO repositories (id, installation, owner, name)
SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT)
WHERE NOT EXISTS (
    SELECT 1 FROM repositories WHERE id = $1 AND installation = $2 AND owner = $3 AND name = $4)
ON CONFLICT (id) DO UPDATE SET
    installation = excluded.installation, owner = excluded.owner, name = excluded.name";

/// Finds a repository by its name, `owner/name`; the newest of several.
const REPOSITORY_NAMED: &str = "SELECT id FROM repositories WHERE lower(owner || '/' || name) = lower($1) ORDER BY id DESC LIMIT 1";

/// The triggers of the last runs, which need not have been started.
const LAST_TRIGGERS: &str = "
SELECT trigger FROM (SELECT seq FROM runs ORDER BY seq DESC LIMIT 1000) AS latest
JOIN texts ON texts.run = latest.seq ORDER BY latest.seq DESC";

const REPOSITORY: &str = "SELECT id, installation, owner, name FROM repositories WHERE id = $1";

/// Selects audit entries, newest first: before $1, of the run $2 and the person $3 as conditions say,
/// with the decision $4, at most $5. An index is used only if its condition is nothing else.
macro_rules! audit {
    ($run:literal, $person:literal) => {
        concat!(
            "SELECT id, at_ms, run, guid, actor, decision, why FROM audit \
             WHERE id < coalesce(CAST($1 AS BIGINT), 9223372036854775807) AND ",
            $run,
            " AND ",
            $person,
            " AND (CAST($4 AS TEXT) IS NULL OR decision = CAST($4 AS TEXT)) \
             ORDER BY id DESC LIMIT $5"
        )
    };
}

const AUDIT: &str = audit!("CAST($2 AS TEXT) IS NULL", "CAST($3 AS TEXT) IS NULL");

const AUDIT_OF_PERSON: &str = audit!("CAST($2 AS TEXT) IS NULL", "lower(actor) = $3");

const AUDIT_OF_RUN: &str = audit!(
    "run = $2",
    "(CAST($3 AS TEXT) IS NULL OR lower(actor) = CAST($3 AS TEXT))"
);

/// Returns a login as it is compared with others. PostgreSQL would evaluate `lower` of a parameter
/// for every row.
fn folded(login: Option<&str>) -> Value<'static> {
    Value::Text(login.map(|login| login.to_ascii_lowercase().into()))
}

pub(crate) async fn runs(
    reader: &mut Connection<'_>,
    filter: &RunFilter,
    limit: u32,
) -> Result<Vec<RunSummary>, WriteError> {
    let values = [
        filter.before.into(),
        filter.repo.map(number).transpose()?.into(),
        filter.command.map(Command::name).into(),
        limit.into(),
    ];
    let rows = reader.rows(runs_sql(filter.state), &values).await?;
    let summary = |row| summary(row).map_err(|error| of_run(row, error));
    Ok(rows.iter().map(summary).collect::<Result<_, _>>()?)
}

fn summary(row: &Row) -> Result<RunSummary, StoreError> {
    let trigger: Option<String> = nullable(row, "trigger")?;
    let trigger = trigger.and_then(|trigger| serde_json::from_str::<Trigger>(&trigger).ok());
    let code: Option<String> = nullable(row, "code")?;
    Ok(RunSummary {
        seq: column(row, "seq")?,
        id: RunId(column(row, "id")?),
        command: column(row, "command")?,
        state: state(row)?,
        origin: trigger.map(|trigger| (trigger.place, trigger.actor)),
        attempt: column(row, "attempt")?,
        code: code.map(|code| Code::from_name(&code).unwrap_or(Code::Internal)),
        note: nullable(row, "note")?,
        created: Millis(column(row, "created_ms")?),
        finished: nullable::<i64>(row, "finished_ms")?.map(Millis),
    })
}

pub(crate) async fn effects(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<Vec<Effect>, WriteError> {
    let rows = reader.rows(EFFECTS, &[run.into()]).await?;
    let effect = |row| {
        Ok(Effect {
            key: column(row, "key")?,
            begun: Millis(column(row, "first_ms")?),
            done: nullable::<i64>(row, "done_ms")?.map(Millis),
        })
    };
    rows.iter().map(effect).collect()
}

pub(crate) async fn turns(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<Vec<Turn>, WriteError> {
    let rows = reader.rows(TURNS, &[run.into()]).await?;
    let turn = |row: &Row| -> Result<Turn, StoreError> {
        let cost: Option<u64> = nullable(row, "cost")?;
        let used = match cost {
            None => None,
            Some(cost) => Some(TurnUsage {
                turns: column(row, "turns")?,
                tools: column(row, "tools")?,
                cost,
                tokens: tokens(row)?,
            }),
        };
        Ok(Turn {
            key: column(row, "key")?,
            at: Millis(column(row, "at_ms")?),
            used,
        })
    };
    Ok(rows.iter().map(turn).collect::<Result<_, _>>()?)
}

fn tokens(row: &Row) -> Result<Tokens, StoreError> {
    Ok(Tokens {
        input: column(row, "input")?,
        cached: column(row, "cached")?,
        output: column(row, "output")?,
    })
}

pub(crate) async fn output(
    reader: &mut Connection<'_>,
    run: &RunId,
    after: i64,
    limit: u32,
) -> Result<Vec<Output>, WriteError> {
    let values = [run.into(), after.into(), limit.into()];
    let rows = reader.rows(OUTPUT, &values).await?;
    Ok(rows.iter().map(portion).collect::<Result<_, _>>()?)
}

fn portion(row: &Row) -> Result<Output, StoreError> {
    Ok(Output {
        id: column(row, "id")?,
        at: Millis(column(row, "at_ms")?),
        text: column(row, "text")?,
    })
}

/// Returns the state of a run with the portions after the one with the number `after`.
pub(crate) async fn watch(
    reader: &mut Connection<'_>,
    run: &RunId,
    after: i64,
    limit: u32,
) -> Result<Option<(State, Vec<Output>)>, WriteError> {
    let values = [run.into(), after.into(), limit.into()];
    let rows = reader.rows(WATCH, &values).await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut printed = Vec::new();
    // There is one row without a portion if there are none.
    for row in &rows {
        if nullable::<i64>(row, "id")?.is_some() {
            printed.push(portion(row)?);
        }
    }
    Ok(Some((state(first)?, printed)))
}

pub(crate) async fn plans(
    reader: &mut Connection<'_>,
    filter: &PlanFilter,
    limit: u32,
) -> Result<Vec<PlanSummary>, WriteError> {
    // `$` follows `#` in the order of characters.
    let places = filter.repo.map(|id| (format!("{id}#"), format!("{id}$")));
    let (from, to) = places.as_ref().map_or((None, None), |(from, to)| {
        (Some(from.as_str()), Some(to.as_str()))
    });
    let mut values = vec![
        filter.before.into(),
        from.into(),
        to.into(),
        folded(filter.actor.as_deref()),
        filter.since.map(|since| since.0).into(),
        filter.until.map(|until| until.0).into(),
        limit.into(),
    ];
    let query = query(&filter.words, reader.is_shared());
    let rows = if filter.words.is_empty() {
        reader.rows(PLANS, &values).await?
    } else {
        values.push(Value::Text(Some(query.into())));
        reader.rows_planned_for(SEARCH_PLANS, &values).await?
    };
    Ok(rows.iter().map(plan).collect::<Result<_, _>>()?)
}

/// Returns the condition that words of a plan begin with each of `words`, which contain letters and
/// digits only.
fn query(words: &[String], is_postgres: bool) -> String {
    let (join, quote) = if is_postgres {
        (" & ", ["'", "':*"])
    } else {
        (" AND ", ["\"", "\"*"])
    };
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("{}{word}{}", quote[0], quote[1]))
        .collect();
    words.join(join)
}

fn plan(row: &Row) -> Result<PlanSummary, StoreError> {
    let place: String = column(row, "place")?;
    let ids = place.split_once('#');
    let ids = ids.and_then(|(repo, number)| Some((repo.parse().ok()?, number.parse().ok()?)));
    let (repo, number) =
        ids.ok_or_else(|| corrupt("place", format!("`{place}` is not an issue")))?;
    Ok(PlanSummary {
        seq: column(row, "seq")?,
        run: RunId(column(row, "run")?),
        repo: named(row, repo)?,
        number,
        at: Millis(column(row, "at_ms")?),
        actor: column(row, "actor")?,
        title: column(row, "title")?,
        issue: column(row, "issue")?,
        url: column(row, "url")?,
    })
}

/// Returns a repository whose columns may be null.
fn named(row: &Row, id: u64) -> Result<Option<Repo>, StoreError> {
    let Some(owner) = nullable(row, "owner")? else {
        return Ok(None);
    };
    Ok(Some(Repo {
        installation: column(row, "installation")?,
        id,
        owner,
        name: column(row, "name")?,
    }))
}

pub(crate) async fn usage(
    reader: &mut Connection<'_>,
    since: Millis,
    limit: u32,
) -> Result<Vec<DayUsage>, WriteError> {
    let day = since.0.div_euclid(DAY_MS);
    let rows = reader.rows(USAGE, &[day.into(), limit.into()]).await?;
    let usage = |row: &Row| -> Result<DayUsage, StoreError> {
        Ok(DayUsage {
            day: Millis(column::<i64>(row, "day")? * DAY_MS),
            repo: named(row, column(row, "repo")?)?,
            command: column(row, "command")?,
            runs: column(row, "runs")?,
            turns: column(row, "turns")?,
            cost: column(row, "cost")?,
            tokens: tokens(row)?,
        })
    };
    Ok(rows.iter().map(usage).collect::<Result<_, _>>()?)
}

pub(crate) async fn record_repository(
    connection: &mut Connection<'_>,
    repo: &Repo,
) -> Result<(), WriteError> {
    let values = [
        number(repo.id)?.into(),
        number(repo.installation)?.into(),
        (&repo.owner).into(),
        (&repo.name).into(),
    ];
    connection.execute(RECORD_REPOSITORY, &values).await?;
    Ok(())
}

/// Returns the id of the recorded repository with this name, `owner/name`, in any case.
pub(crate) async fn recorded_repository(
    reader: &mut Connection<'_>,
    full_name: &str,
) -> Result<Option<u64>, WriteError> {
    reader.scalar(REPOSITORY_NAMED, &[full_name.into()]).await
}

/// Returns the id of the repository with this name, `owner/name`, in any case, also if none of its
/// runs has been started.
pub(crate) async fn repository_named(
    reader: &mut Connection<'_>,
    full_name: &str,
) -> Result<Option<u64>, WriteError> {
    let known = recorded_repository(reader, full_name).await?;
    if known.is_some() {
        return Ok(known);
    }
    let triggers: Vec<String> = reader.scalars(LAST_TRIGGERS, &[]).await?;
    let mut repos = triggers.iter().filter_map(|trigger| {
        let trigger: Trigger = serde_json::from_str(trigger).ok()?;
        Some(trigger.place.repo)
    });
    let found = repos.find(|repo| repo.full_name().eq_ignore_ascii_case(full_name));
    Ok(found.map(|repo| repo.id))
}

pub(crate) async fn repository(
    reader: &mut Connection<'_>,
    id: u64,
) -> Result<Option<Repo>, WriteError> {
    let row = reader.row(REPOSITORY, &[number(id)?.into()]).await?;
    Ok(match row {
        Some(row) => named(&row, id)?,
        None => None,
    })
}

pub(crate) async fn audit(
    reader: &mut Connection<'_>,
    filter: &AuditFilter,
    limit: u32,
) -> Result<Vec<NumberedEntry>, WriteError> {
    let values = [
        filter.before.into(),
        filter.run.as_ref().map(|run| &*run.0).into(),
        folded(filter.actor.as_deref()),
        (&filter.decision).into(),
        limit.into(),
    ];
    let sql = match (&filter.run, &filter.actor) {
        (Some(_), _) => AUDIT_OF_RUN,
        (None, Some(_)) => AUDIT_OF_PERSON,
        (None, None) => AUDIT,
    };
    let rows = reader.rows(sql, &values).await?;
    let entry = |row: &Row| -> Result<NumberedEntry, StoreError> {
        Ok(NumberedEntry {
            id: column(row, "id")?,
            entry: audit_entry(row)?,
        })
    };
    Ok(rows.iter().map(entry).collect::<Result<_, _>>()?)
}
