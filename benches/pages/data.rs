//! The history that the pages show, inserted in bulk.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::Outcome;
use crate::database::Database;
use crate::shape::{Place, at, trigger};

/// Number of ended runs, each with an audit entry.
pub(crate) const RUNS: u64 = 100_000;
/// Number of repositories.
const REPOSITORIES: u64 = 200;
/// Number of saved plans.
const PLANS: u64 = 20_000;
/// Number of words of a plan.
const WORDS: usize = 300;
/// Number of different words in all plans.
const VOCABULARY: u32 = 20_000;
/// Number of plans that one statement inserts.
const CHUNK: u64 = 1_000;
/// Number of days for which agents have been used.
const DAYS: u64 = 30;
const SEED: u64 = 7;

/// A number that occurs nowhere else in a trigger, where that of the row belongs.
const REPOSITORY: u64 = 424_242;
const NUMBER: u64 = 434_343;

/// Returns the id of the run with this number.
pub(crate) fn run(number: u64) -> String {
    format!("{number:026}")
}

/// Fills an empty database. The last runs are the newest.
pub(crate) async fn fill(database: &Database) -> Outcome<()> {
    let is_sqlite = matches!(database, Database::Sqlite(_));
    let numbers = |last: u64| {
        if is_sqlite {
            format!(
                "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})"
            )
        } else {
            format!("WITH numbers (n) AS (SELECT generate_series(1, {last}))")
        }
    };
    let (id, integer, list, without_checks) = if is_sqlite {
        ("printf('%026d', n)", "integer", "json_each($1)", "SELECT 1")
    } else {
        (
            "lpad(n::text, 26, '0')",
            "bigint",
            "json_array_elements($1::json)",
            "SET session_replication_role = replica",
        )
    };
    let place = Place {
        installation: 1,
        repo: REPOSITORY,
        number: NUMBER,
    };
    let trigger = serde_json::to_string(&trigger(place, at(0)))?;
    let trigger = format!(
        "replace(replace('{trigger}', '{REPOSITORY}', CAST(n % {REPOSITORIES} AS text)), '{NUMBER}', CAST(n % 5000 AS text))"
    );
    let trigger = if is_sqlite {
        trigger
    } else {
        format!("convert_to({trigger}, 'UTF8')")
    };
    let start = at(0).0;
    let runs = numbers(RUNS);
    let mut raw = database.raw().await?;
    for sql in [
        without_checks.to_owned(),
        format!(
            "INSERT INTO deliveries (id, guid, event, action, installation, received_ms, source)
             {runs} SELECT n, 'delivery ' || n, 'issues', 'labeled', 1, {start} + n, 'webhook' FROM numbers"
        ),
        // A twentieth has failed, and a thousandth was cancelled.
        format!(
            "INSERT INTO runs (seq, id, delivery, idx, command, serial, place, repo_id, installation, state, run_at_ms,
                               attempt, fence, acknowledged, code, note, created_ms, started_ms, finished_ms, said_ms)
             {runs} SELECT n, {id}, n, 0, 'save-plan', n % {REPOSITORIES} || '#' || n % 5000,
                    n % {REPOSITORIES} || '#' || n % 5000, n % {REPOSITORIES}, 1,
                    CASE WHEN n % 1000 = 1 THEN 'cancelled' WHEN n % 20 = 0 THEN 'failed' ELSE 'succeeded' END,
                    {start} + n, 1, 1, 1, CASE WHEN n % 20 = 0 THEN 'no_plan_found' END,
                    CASE WHEN n % 20 = 0 THEN 'there is no plan in the conversation' END,
                    {start} + n, {start} + n + 10, {start} + n + 1000, {start} + n FROM numbers"
        ),
        format!("INSERT INTO texts (run, trigger) {runs} SELECT n, {trigger} FROM numbers"),
        format!(
            "INSERT INTO audit (at_ms, run, guid, actor, decision, why)
             {runs} SELECT {start} + n, {id}, 'delivery ' || n, 'octocat', 'saved', 'as issue ' || n FROM numbers"
        ),
        format!(
            "INSERT INTO effects (run, key, first_ms, last_ms, done_ms, result)
             {} SELECT '{}', 'comment ' || n, {start} + n, {start} + n, {start} + n, {} FROM numbers",
            numbers(20),
            run(RUNS),
            if is_sqlite { "'{}'" } else { "convert_to('{}', 'UTF8')" }
        ),
        format!(
            "INSERT INTO repositories (id, installation, owner, name)
             {} SELECT n % {REPOSITORIES}, 1, 'owner1', 'repository' || n % {REPOSITORIES} FROM numbers",
            numbers(REPOSITORIES)
        ),
        // In the last days before the present, because the page asks for them.
        format!(
            "INSERT INTO usage (repo, day, actor, command, runs, turns, cost, input, cached, output)
             {} SELECT n % {REPOSITORIES}, {} - n / {REPOSITORIES}, 7, 'save-plan', 16, 100, 1250000, 9000, 4000, 800
             FROM numbers",
            numbers(REPOSITORIES * DAYS - 1),
            chrono::Utc::now().timestamp() / 86_400
        ),
    ] {
        raw.execute(sql).await?;
    }
    let field = |index: usize| format!("CAST(value ->> {index} AS {integer})");
    let plans = format!(
        "INSERT INTO saved (run, place, at_ms, text, request, complete, issue, url, actor, title, words)
         SELECT value ->> 0, value ->> 1, {}, 'digest', 'digest', 1, {}, value ->> 4, 'octocat', value ->> 5, value ->> 6
         FROM {list}",
        field(2),
        field(3)
    );
    let mut random = StdRng::seed_from_u64(SEED);
    for first in (0..PLANS).step_by(usize::try_from(CHUNK)?) {
        let rows: Vec<_> = (first..first + CHUNK)
            .map(|n| {
                let repo = n % REPOSITORIES;
                // Few words are in many plans, and many in few, as in texts.
                let mut words = vec!["plan".to_owned()];
                while words.len() < WORDS {
                    let rank = f64::from(VOCABULARY).powf(random.random::<f64>());
                    words.push(format!("word{rank:.0}"));
                }
                words.sort_unstable();
                words.dedup();
                (
                    run(n + 1),
                    format!("{repo}#{n}"),
                    at(n).0,
                    n + 1,
                    format!("https://github.com/owner1/repository{repo}/issues/{n}"),
                    format!("Plan {n} of the benchmark"),
                    words.join(" "),
                )
            })
            .collect();
        raw.execute_with(plans.clone(), &serde_json::to_string(&rows)?)
            .await?;
    }
    for sql in database.after_bulk() {
        raw.execute(sql).await?;
    }
    raw.close().await
}
