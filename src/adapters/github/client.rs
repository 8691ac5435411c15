//! The client of the REST API: rate limits, write lane, credentials, redirects and pages.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use http::header::{LINK, LOCATION};
use http::{Method, StatusCode};
use octocrab::Octocrab;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::auth::{Credentials, Installation};
use super::limit::{self, RateLimit, WriteGaps};
use super::link;
use super::response::{Response, clean_message, transport_error};
use super::transport::{Format, Request, Transport, TransportError};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::metrics::{self, RequestClass, RequestOutcome};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::replicas::{PlannedWrite, Replicas, Slot};
use crate::engine::trace;

/// Items per page: GitHub's maximum.
pub(super) const PER_PAGE: usize = 100;

/// Maximum number of pages of one list. GitHub takes no more than 2,500 comments on an issue.
const MAX_PAGES: usize = 100;

/// Maximum number of redirects that one request follows: a repository can be renamed and
/// transferred, and so can an issue in it.
const MAX_REDIRECTS: u32 = 5;

/// Whether a write notifies people: GitHub wants those further apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notifies {
    /// A new issue or comment.
    People,
    /// An edit, a label, a reaction.
    Nobody,
}

/// A page of a list: the list itself, or an object that contains it.
pub(super) trait Page: DeserializeOwned + Send {
    /// Type of the items.
    type Item: Send;

    /// Returns the items.
    fn items(self) -> Vec<Self::Item>;
}

impl<T: DeserializeOwned + Send> Page for Vec<T> {
    type Item = T;

    fn items(self) -> Self {
        self
    }
}

/// A client of the REST API with one set of credentials. Tokens, lanes and rate limits are kept for
/// each installation; a person's client uses installation 0.
pub(super) struct ApiClient {
    /// Base of the API.
    pub(super) api_url: Url,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) transport: Transport,
    pub(super) credentials: Credentials,
    gaps: WriteGaps,
    installations: Mutex<HashMap<u64, Arc<Installation>>>,
    /// The other processes that write for the same installations.
    pub(super) replicas: Option<Arc<dyn Replicas>>,
    /// GitHub's time minus this machine's, in milliseconds, from the `Date` of the last response.
    skew: AtomicI64,
}

impl ApiClient {
    pub(super) fn new(
        api_url: Url,
        transport: Transport,
        credentials: Credentials,
        gaps: WriteGaps,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            api_url,
            clock,
            transport,
            credentials,
            gaps,
            installations: Mutex::default(),
            replicas: None,
            skew: AtomicI64::new(0),
        }
    }

    fn installation(&self, id: u64) -> Arc<Installation> {
        let mut installations = self
            .installations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let installation = installations.entry(id);
        Arc::clone(installation.or_insert_with(|| Arc::new(Installation::new(id))))
    }

    /// Returns a path below the API's base.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}{path}", link::path_prefix(&self.api_url))
    }

    /// Returns a path below a repository.
    pub(super) fn repo_path(&self, repo: &Repo, path: &str) -> String {
        let (owner, name) = (link::encode(&repo.owner), link::encode(&repo.name));
        self.path(&format!("/repos/{owner}/{name}{path}"))
    }

    /// Returns the time by GitHub's clock as of the last response.
    pub(super) fn github_time(&self) -> Millis {
        let skew = self.skew.load(Ordering::Relaxed);
        Millis(self.clock.now().0.saturating_add(skew))
    }

    /// Sends one `GET` below a repository.
    pub(super) async fn get(
        &self,
        repo: &Repo,
        path: &str,
        what: String,
    ) -> Result<Response, ForgeError> {
        let request = Request::get(self.repo_path(repo, path), what);
        self.call(repo.installation, &request)
            .await?
            .error_for_status()
    }

    /// Sends one `GET` below a repository and parses the response.
    pub(super) async fn get_json<T: DeserializeOwned>(
        &self,
        repo: &Repo,
        path: &str,
        what: String,
    ) -> Result<T, ForgeError> {
        self.get(repo, path, what).await?.json()
    }

    /// Sends one write below a repository, in the installation's lane. The response may be an
    /// error: see [`Response::error_for_status`].
    pub(super) async fn write(
        &self,
        repo: &Repo,
        notifies: Notifies,
        method: Method,
        path: &str,
        body: Option<Value>,
        what: String,
    ) -> Result<Response, ForgeError> {
        let request = Request {
            method,
            path: self.repo_path(repo, path),
            body,
            unless: None,
            format: Format::Json,
            what,
        };
        let installation = self.installation(repo.installation);
        // Also checked before waiting, so that callers of a limited installation do not queue.
        let now = self.clock.now();
        installation.rate_limit.check(&request.what, now)?;
        let _turn = installation
            .lane
            .enter(self.gaps, notifies == Notifies::People, self.clock.as_ref())
            .await;
        self.reserve(repo.installation, notifies, &request.what)
            .await?;
        let response = self.call(repo.installation, &request).await;
        if let (Some(replicas), Err(ForgeError::Limited { until, .. })) =
            (&self.replicas, &response)
            && let Err(error) = replicas.limit_requests(repo.installation, *until).await
        {
            tracing::debug!(%error, "other processes do not know of the rate limit");
        }
        response
    }

    /// Waits for the time at which a write may start, where several processes write.
    async fn reserve(
        &self,
        installation: u64,
        notifies: Notifies,
        what: &str,
    ) -> Result<(), ForgeError> {
        let Some(replicas) = &self.replicas else {
            return Ok(());
        };
        let write = PlannedWrite {
            installation,
            gap: self.gaps.write,
            notify_gap: (notifies == Notifies::People).then_some(self.gaps.notify),
        };
        let slot = replicas.reserve_write(write, self.clock.now()).await;
        match slot {
            Ok(Slot::At(start)) => {
                let wait = start.since(self.clock.now());
                if !wait.is_zero() {
                    self.clock.sleep(wait).await;
                }
                Ok(())
            }
            Ok(Slot::LimitedUntil(until)) => Err(ForgeError::Limited {
                what: what.to_owned(),
                until,
            }),
            Err(error) => Err(ForgeError::Unreachable {
                what: what.to_owned(),
                message: format!("the write was not sent: {error}"),
            }),
        }
    }

    /// Reads every item of every page of a list below a repository, until `more` returns false for
    /// a page.
    pub(super) async fn pages<P: Page>(
        &self,
        repo: &Repo,
        path: &str,
        what: &str,
        mut more: impl FnMut(&[P::Item]) -> bool + Send,
    ) -> Result<Vec<P::Item>, ForgeError> {
        let mut items = Vec::new();
        let take = |page: Vec<P::Item>| {
            let go_on = more(&page);
            items.extend(page);
            go_on
        };
        self.each_page::<P>(repo, path, what, take).await?;
        Ok(items)
    }

    /// Passes each page of a list below a repository to `take` until that returns false.
    pub(super) async fn each_page<P: Page>(
        &self,
        repo: &Repo,
        path: &str,
        what: &str,
        mut take: impl FnMut(Vec<P::Item>) -> bool + Send,
    ) -> Result<(), ForgeError> {
        let unreadable = |message: String| ForgeError::Unreadable {
            what: what.to_owned(),
            message,
        };
        let mut seen = HashSet::new();
        let mut path = self.repo_path(repo, path);
        loop {
            let request = Request::get(path.clone(), what.to_owned());
            let response = self.call(repo.installation, &request).await?;
            let response = response.error_for_status()?;
            let go_on = take(response.json::<P>()?.items());
            let next = response
                .headers
                .get_all(LINK)
                .iter()
                .find_map(|header| link::next_page(header.to_str().ok()?));
            let Some(next) = next.filter(|_| go_on) else {
                return Ok(());
            };
            let next = link::below(&self.api_url, &path, next).map_err(|address| {
                unreadable(format!(
                    "the link to the next page is {address}, which is not below {}",
                    self.api_url
                ))
            })?;
            seen.insert(std::mem::replace(&mut path, next));
            if seen.contains(&path) {
                return Err(unreadable(format!("its pages repeat at {path}")));
            }
            if seen.len() == MAX_PAGES {
                return Err(unreadable(format!(
                    "there are more than {MAX_PAGES} pages of {PER_PAGE} items"
                )));
            }
        }
    }

    /// Sends the request, follows redirects below the API's base, and observes the rate limits. The
    /// response may be an error.
    ///
    /// A redirected write is repeated as it is, also after a 301, as GitHub asks for
    /// (<https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects>).
    pub(super) async fn call(
        &self,
        installation: u64,
        request: &Request,
    ) -> Result<Response, ForgeError> {
        let installation = self.installation(installation);
        let mut path = request.path.clone();
        let mut redirects = 0;
        loop {
            let response = self.send(&installation, request, &path).await?;
            tracing::debug!(
                method = %request.method,
                path,
                status = response.status.as_u16(),
                remaining = response.header("x-ratelimit-remaining"),
                "asked GitHub"
            );
            let is_answer =
                request.format == Format::Redirect && response.status == StatusCode::FOUND;
            if response.status.is_redirection()
                && !is_answer
                && let Some(address) = response.header(LOCATION.as_str())
            {
                let target = link::below(&self.api_url, &path, address);
                let follow = request.is_read()
                    || matches!(
                        response.status,
                        StatusCode::MOVED_PERMANENTLY
                            | StatusCode::FOUND
                            | StatusCode::TEMPORARY_REDIRECT
                            | StatusCode::PERMANENT_REDIRECT
                    );
                match target {
                    Ok(target) if follow && redirects < MAX_REDIRECTS => {
                        redirects += 1;
                        path = target;
                        continue;
                    }
                    Ok(target) | Err(target) => {
                        return Err(ForgeError::Rejected {
                            what: request.what.clone(),
                            status: response.status.as_u16(),
                            message: clean_message(&format!("it has moved to {target}")),
                        });
                    }
                }
            }
            self.check_rate_limit(&installation.rate_limit, &response)?;
            return Ok(response);
        }
    }

    /// Sends the request with the client's credentials.
    async fn send(
        &self,
        installation: &Installation,
        request: &Request,
        path: &str,
    ) -> Result<Response, ForgeError> {
        let client = match &self.credentials {
            Credentials::App(key) => {
                return self.send_as_app(key, installation, request, path).await;
            }
            Credentials::Person(client) => client,
            Credentials::Anonymous => &self.transport.anonymous,
        };
        let now = self.clock.now();
        installation.rate_limit.check(&request.what, now)?;
        self.send_with(client, request, path, class(request)).await
    }

    /// Sends the request once with the credentials of `client`, and counts it.
    pub(super) async fn send_with(
        &self,
        client: &Octocrab,
        request: &Request,
        path: &str,
        class: RequestClass,
    ) -> Result<Response, ForgeError> {
        let start = Instant::now();
        let span = trace::request(request.method.as_str(), path);
        let result = self.transport.send(client, request, path).await;
        let outcome = match &result {
            Ok(response) if limit::rate_limit(response, self.clock.now()).is_some() => {
                RequestOutcome::Limited
            }
            Ok(response) => RequestOutcome::Status(response.status.as_u16()),
            Err(TransportError::NotSent(_)) => RequestOutcome::NotSent,
            Err(TransportError::Unknown(_)) => RequestOutcome::Unknown,
        };
        metrics::github_request(class, outcome, start.elapsed());
        trace::answered(&span, outcome);
        let response = result.map_err(|error| transport_error(error, request))?;
        if let Some(date) = limit::date(&response) {
            let skew = date.0.saturating_sub(self.clock.now().0);
            self.skew.store(skew, Ordering::Relaxed);
        }
        Ok(response)
    }

    /// Records what the response says about rate limits. Returns an error if it is one itself.
    pub(super) fn check_rate_limit(
        &self,
        rate_limit: &RateLimit,
        response: &Response,
    ) -> Result<(), ForgeError> {
        let now = self.clock.now();
        if let Some(wait) = limit::rate_limit(response, now) {
            let until = rate_limit.start(wait, now);
            tracing::warn!(
                status = response.status.as_u16(),
                wait_ms = u64::try_from(until.since(now).as_millis()).unwrap_or(u64::MAX),
                "GitHub limits the rate"
            );
            return Err(ForgeError::Limited {
                what: response.what.clone(),
                until,
            });
        }
        if let Some(until) = limit::exhausted_until(response, now) {
            rate_limit.start(limit::Wait::Until(until), now);
        } else if response.status.is_success() {
            rate_limit.record_success(now);
        }
        if let Some((remaining, until)) = limit::budget(response, now) {
            rate_limit.record_budget(remaining, until);
        }
        Ok(())
    }

    /// Returns how many requests GitHub accepts at `now` of the installation with the fewest left;
    /// `None` if no limit is known.
    pub(super) fn lowest_budget(&self, now: Millis) -> Option<u64> {
        let installations = self
            .installations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let budgets = installations.values();
        budgets.filter_map(|one| one.rate_limit.budget(now)).min()
    }
}

/// Returns the class of a request with the token of an installation or a person.
pub(super) fn class(request: &Request) -> RequestClass {
    if request.is_read() {
        RequestClass::Read
    } else {
        RequestClass::Write
    }
}
