//! The pages for operators and maintainers below `/ui`: runs, plans, costs, deliveries, the audit
//! log. They are rendered on the server; one script shows an agent's output while it is printed.
//!
//! A person sees what belongs to repositories that they can read on GitHub, and may act with the
//! role "maintain". What they may not see is answered like what does not exist.

mod audit;
mod costs;
mod deliveries;
mod layout;
mod live;
mod plans;
mod run;
mod runs;

use std::collections::{HashMap, HashSet};
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use tokio_util::sync::CancellationToken;

use super::login::{Login, Session, Viewer};
use crate::adapters::store::History;
use crate::engine::clock::Clock;
use crate::engine::model::trigger::Repo;
use crate::engine::store::{ClaimLimits, Store, StoreError};
use crate::formats::command::Permission;

/// Number of entries of a list on one page.
const PAGE: u32 = 50;

/// Number of entries that are read at once when some of them may not be shown.
const PORTION: u32 = 200;

/// Maximum number of portions that are read for one page.
const MAX_PORTIONS: u32 = 5;

/// Maximum number of repositories for which GitHub is asked at the same time.
const MAX_ASKED: usize = 8;

/// The role that is needed to act on the runs of a repository.
const MIN_ROLE_TO_ACT: Permission = Permission::Maintain;

/// Maximum number of requests that watch the output of an agent at the same time. Each holds a
/// connection.
const MAX_WATCHING: usize = 100;

/// The same for one person.
const MAX_WATCHING_OF_ONE: usize = 10;

/// What the pages need.
pub struct Pages {
    login: Arc<Login>,
    history: History,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Address of GitHub's website, e.g. `https://github.com`.
    github: String,
    limits: ClaimLimits,
    /// The number of requests that watch an agent's output, by viewer.
    watching: Mutex<HashMap<Viewer, usize>>,
    stop: CancellationToken,
}

impl Pages {
    /// Creates the pages. `github` is the address of GitHub's website, `limits` say what runs wait
    /// for, and `stop` ends requests that watch a run.
    pub fn new(
        login: Arc<Login>,
        history: History,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        github: &str,
        limits: ClaimLimits,
        stop: CancellationToken,
    ) -> Self {
        Self {
            login,
            history,
            store,
            clock,
            github: github.trim_end_matches('/').to_owned(),
            limits,
            watching: Mutex::default(),
            stop,
        }
    }

    /// Returns the routes, for [`Login::add_to`].
    pub fn router(self) -> Router {
        Router::new()
            .route("/ui", get(runs::show))
            .route("/ui/runs/{id}", get(run::show))
            .route("/ui/runs/{id}/output", get(live::watch))
            .route("/ui/runs/{id}/{action}", post(run::act))
            .route("/ui/plans", get(plans::show))
            .route("/ui/costs", get(costs::show))
            .route("/ui/deliveries", get(deliveries::show))
            .route("/ui/audit", get(audit::show))
            .with_state(Arc::new(self))
    }

    /// Returns whether a viewer can read a repository.
    async fn can_read(&self, viewer: &Viewer, repo: &Repo) -> bool {
        self.login.permission(viewer, repo).await.is_some()
    }

    /// Returns the ids of those of `repos` that a viewer can read.
    async fn readable(&self, viewer: &Viewer, repos: impl Iterator<Item = Repo>) -> HashSet<u64> {
        // The first of several names, which is the newest.
        let mut different = HashMap::new();
        for repo in repos {
            different.entry(repo.id).or_insert(repo);
        }
        let asked = different.into_values().map(async |repo| {
            let can_read = self.can_read(viewer, &repo).await;
            can_read.then_some(repo.id)
        });
        let asked = stream::iter(asked).buffer_unordered(MAX_ASKED);
        asked.filter_map(async |id| id).collect().await
    }

    /// Returns whether a viewer may act on the runs of a repository.
    async fn can_act(&self, viewer: &Viewer, repo: &Repo) -> bool {
        let permission = self.login.permission(viewer, repo).await;
        permission.is_some_and(|permission| permission >= MIN_ROLE_TO_ACT)
    }

    /// Returns the repository with this name, `owner/name`, if there is one that the viewer can read.
    /// For people, only one in which a run was started.
    async fn repository(&self, viewer: &Viewer, name: &str) -> Result<Option<u64>, Problem> {
        if *viewer == Viewer::Operator {
            return Ok(self.history.repository(name).await?);
        }
        let Some(id) = self.history.recorded_repository(name).await? else {
            return Ok(None);
        };
        let Some(repo) = self.history.repository_by_id(id).await? else {
            return Ok(None);
        };
        Ok(self.can_read(viewer, &repo).await.then_some(id))
    }

    /// Reads portions of a list with `read`, which is given the sequence number to continue before,
    /// until a page is full, and leaves out what the viewer may not see. Returns the page, and the
    /// sequence number before which the next page begins.
    async fn page<T, F>(
        &self,
        viewer: &Viewer,
        before: Option<i64>,
        read: impl Fn(Option<i64>, u32) -> F,
        key: impl Fn(&T) -> (i64, Option<Repo>),
    ) -> Result<(Vec<T>, Option<i64>), Problem>
    where
        F: Future<Output = Result<Vec<T>, StoreError>>,
    {
        let portion = if *viewer == Viewer::Operator {
            PAGE + 1
        } else {
            PORTION
        };
        let mut page: Vec<T> = Vec::new();
        let mut before = before;
        for _ in 0..MAX_PORTIONS {
            let entries = read(before, portion).await?;
            let is_last = entries.len() < portion as usize;
            let readable = match viewer {
                Viewer::Operator => HashSet::new(),
                Viewer::Person { .. } => {
                    let repos = entries.iter().filter_map(|entry| key(entry).1);
                    self.readable(viewer, repos).await
                }
            };
            for entry in entries {
                let (seq, repo) = key(&entry);
                if page.len() == PAGE as usize {
                    return Ok((page, before));
                }
                before = Some(seq);
                let can_read = repo.is_some_and(|repo| readable.contains(&repo.id));
                if *viewer == Viewer::Operator || can_read {
                    page.push(entry);
                }
            }
            if is_last {
                return Ok((page, None));
            }
        }
        Ok((page, before))
    }
}

/// Why a page cannot be shown.
enum Problem {
    /// There is nothing at this address, or the viewer may not see it.
    NotFound,
    /// There is no such run; for programs with the operator's token.
    NoRun(String),
    /// The viewer may see it, but not do this.
    Forbidden(&'static str),
    /// The request cannot be understood.
    Invalid(String),
    /// The request was refused by the login.
    Refused(super::login::Refusal),
    /// It is not possible now.
    Conflict(String),
    /// Too many requests do this.
    Busy(&'static str),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::NotFound => return super::NOTHING_HERE.into_response(),
            Self::NoRun(id) => {
                let text = format!(
                    "there is no run {id}; it may have been deleted after store.retention_days"
                );
                (StatusCode::NOT_FOUND, text)
            }
            Self::Forbidden(text) => (StatusCode::FORBIDDEN, text.to_owned()),
            Self::Invalid(text) => (StatusCode::BAD_REQUEST, text),
            Self::Refused(refusal) => return refusal.into_response(),
            Self::Conflict(text) => (StatusCode::CONFLICT, text),
            Self::Busy(text) => (StatusCode::SERVICE_UNAVAILABLE, text.to_owned()),
            Self::Store(error) => {
                tracing::error!(%error, "a page cannot be shown");
                let text = "the database cannot be read now; the log of the bot has the reason";
                (StatusCode::SERVICE_UNAVAILABLE, text.to_owned())
            }
        };
        (status, format!("{text}\n")).into_response()
    }
}

/// The query of a request. Empty fields count as missing.
struct Query(HashMap<String, String>);

impl Query {
    fn of(query: Option<&str>) -> Self {
        let fields = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(
            fields
                .filter(|(_, value)| !value.trim().is_empty())
                .map(|(name, value)| (name.into_owned(), value.trim().to_owned()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number<T: FromStr<Err = ParseIntError>>(&self, name: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let number = text.parse();
        number.map(Some).map_err(|error: ParseIntError| {
            let shown: String = text.chars().take(40).collect();
            let kind = match error.kind() {
                IntErrorKind::PosOverflow => "smaller ",
                IntErrorKind::NegOverflow => "larger ",
                _ => "",
            };
            Problem::Invalid(format!(
                "`{name}` is {shown:?}; it must be a {kind}whole number"
            ))
        })
    }

    /// Returns the address of this page with one more field.
    fn with(&self, path: &str, name: &str, value: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let mut fields: Vec<_> = self.0.iter().filter(|(other, _)| *other != name).collect();
        fields.sort();
        for (name, value) in fields {
            query.append_pair(name, value);
        }
        query.append_pair(name, value);
        format!("{path}?{}", query.finish())
    }
}

type Shared = State<Arc<Pages>>;
type Logged = Extension<Session>;
type Id = Path<String>;
