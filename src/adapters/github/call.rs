//! The way of every request: budget, lane, token, redirect, pages.

use std::collections::HashSet;

use std::future::Future;
use std::sync::Arc;

use http::header::{LINK, LOCATION};
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::GitHub;
use super::answer;
use super::auth::Installation;
use super::limit::{self, Budget};
use super::link;
use super::transport::{Answer, Form, Request};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;

/// Items per page: GitHub's maximum.
pub(super) const PER_PAGE: usize = 100;

/// Pages of one list. GitHub itself takes no more than 2,500 comments on an issue.
const MAX_PAGES: usize = 100;

/// Redirects that one request follows: a repository can be renamed and transferred, and an issue in it, too.
const MAX_REDIRECTS: u32 = 5;

/// Whether a write tells people something: GitHub wants those further apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notifies {
    /// A new issue or comment.
    People,
    /// An edit, a label, a reaction.
    Nobody,
}

/// A page of a list as GitHub answers it: the list itself, or an object that has it.
pub(super) trait Page: DeserializeOwned + Send {
    /// What is listed.
    type Item: Send;

    /// Its items.
    fn items(self) -> Vec<Self::Item>;
}

impl<T: DeserializeOwned + Send> Page for Vec<T> {
    type Item = T;

    fn items(self) -> Self {
        self
    }
}

/// Who asks: whose budget it costs, and how a request gets its credentials.
pub(super) trait Asker: Sync {
    /// The budget that it costs.
    fn budget(&self) -> &Budget;

    /// Sends the request to `path` and gives its answer, whatever that is.
    fn send(
        &self,
        request: &Request,
        path: &str,
    ) -> impl Future<Output = Result<Answer, ForgeError>> + Send;
}

/// The App in one installation.
struct AsInstallation<'a> {
    github: &'a GitHub,
    installation: Arc<Installation>,
}

impl Asker for AsInstallation<'_> {
    fn budget(&self) -> &Budget {
        &self.installation.budget
    }

    async fn send(&self, request: &Request, path: &str) -> Result<Answer, ForgeError> {
        self.github
            .authorised(&self.installation, request, path)
            .await
    }
}

impl GitHub {
    /// The way to the API.
    pub(super) fn way(&self) -> Way<'_> {
        Way {
            api_url: &self.api_url,
            clock: self.clock.as_ref(),
        }
    }

    /// Who asks in an installation.
    pub(super) fn asker(&self, installation: u64) -> impl Asker {
        AsInstallation {
            github: self,
            installation: self.installation(installation),
        }
    }

    /// A path below the API's base, as the server sees it.
    pub(super) fn path(&self, path: &str) -> String {
        self.way().path(path)
    }

    /// A path below a repository.
    pub(super) fn repo_path(&self, repo: &Repo, path: &str) -> String {
        self.way().repo_path(repo, path)
    }

    /// One `GET`.
    pub(super) async fn get(
        &self,
        installation: u64,
        path: String,
        what: String,
    ) -> Result<(Request, Answer), ForgeError> {
        self.way().get(&self.asker(installation), path, what).await
    }

    /// One write, in the installation's lane. Its answer may be a refusal: see [`answer::judge`].
    pub(super) async fn write(
        &self,
        installation: u64,
        notifies: Notifies,
        method: Method,
        path: String,
        body: Option<Value>,
        what: String,
    ) -> Result<(Request, Answer), ForgeError> {
        let request = Request {
            method,
            path,
            body,
            form: Form::Json,
            what,
        };
        let asker = AsInstallation {
            github: self,
            installation: self.installation(installation),
        };
        let installation = &asker.installation;
        // Asked before the turn as well, so that a limited installation's callers do not queue.
        installation.budget.check(&request.what, self.clock.now())?;
        let _turn = installation
            .lane
            .enter(self.gaps, notifies == Notifies::People, self.clock.as_ref())
            .await;
        let answer = self.way().call(&asker, &request).await?;
        Ok((request, answer))
    }

    /// Every item of every page, as long as `more` wants to go on after a page.
    pub(super) async fn pages<T: DeserializeOwned + Send>(
        &self,
        repo: &Repo,
        path: String,
        what: &str,
        more: impl FnMut(&[T]) -> bool + Send,
    ) -> Result<Vec<T>, ForgeError> {
        let asker = self.asker(repo.installation);
        self.way().pages(&asker, path, what, more).await
    }

    /// Every item of every page, where a page is not simply the list.
    pub(super) async fn all<P: Page>(
        &self,
        repo: &Repo,
        path: String,
        what: &str,
    ) -> Result<Vec<P::Item>, ForgeError> {
        let asker = self.asker(repo.installation);
        self.way().pages_of::<P>(&asker, path, what, |_| true).await
    }

    /// Notes what the answer says about limits; the moment to come back when it is a limit itself.
    pub(super) fn limit(&self, budget: &Budget, answer: &Answer) -> Option<Millis> {
        self.way().limit(budget, answer)
    }
}

/// The way to the API, whoever asks.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    /// Base of the API.
    pub(super) api_url: &'a Url,
    /// Time, for limits.
    pub(super) clock: &'a dyn Clock,
}

impl Way<'_> {
    /// A path below the API's base, as the server sees it.
    fn path(self, path: &str) -> String {
        format!("{}{path}", link::prefix(self.api_url))
    }

    /// A path below a repository.
    pub(super) fn repo_path(self, repo: &Repo, path: &str) -> String {
        let (owner, name) = (link::encode(&repo.owner), link::encode(&repo.name));
        self.path(&format!("/repos/{owner}/{name}{path}"))
    }

    /// One `GET`.
    pub(super) async fn get(
        self,
        asker: &impl Asker,
        path: String,
        what: String,
    ) -> Result<(Request, Answer), ForgeError> {
        let request = Request {
            method: Method::GET,
            path,
            body: None,
            form: Form::Json,
            what,
        };
        let answer = self.call(asker, &request).await?;
        answer::judge(&answer, &request)?;
        Ok((request, answer))
    }

    /// Every item of every page, as long as `more` wants to go on after a page.
    pub(super) async fn pages<T: DeserializeOwned + Send>(
        self,
        asker: &impl Asker,
        path: String,
        what: &str,
        more: impl FnMut(&[T]) -> bool + Send,
    ) -> Result<Vec<T>, ForgeError> {
        self.pages_of::<Vec<T>>(asker, path, what, more).await
    }

    async fn pages_of<P: Page>(
        self,
        asker: &impl Asker,
        path: String,
        what: &str,
        mut more: impl FnMut(&[P::Item]) -> bool + Send,
    ) -> Result<Vec<P::Item>, ForgeError> {
        let mut items = Vec::new();
        let take = |page: Vec<P::Item>| {
            let go_on = more(&page);
            items.extend(page);
            go_on
        };
        self.each_page::<P>(asker, path, what, take).await?;
        Ok(items)
    }

    /// Hands each page to `take`, as long as that wants more. No page is kept here.
    pub(super) async fn each_page<P: Page>(
        self,
        asker: &impl Asker,
        path: String,
        what: &str,
        mut take: impl FnMut(Vec<P::Item>) -> bool + Send,
    ) -> Result<(), ForgeError> {
        let unreadable = |message: String| ForgeError::Unreadable {
            what: what.to_owned(),
            message,
        };
        let mut seen = HashSet::new();
        let mut path = path;
        loop {
            let (request, answer) = self.get(asker, path.clone(), what.to_owned()).await?;
            let go_on = take(answer::read::<P>(&answer, &request)?.items());
            let next = answer
                .headers
                .get_all(LINK)
                .iter()
                .find_map(|header| link::next(header.to_str().ok()?));
            let Some(next) = next.filter(|_| go_on) else {
                return Ok(());
            };
            let next = link::below(self.api_url, &path, next).map_err(|named| {
                unreadable(format!(
                    "the next page is said to be at {named}, which is not below {}",
                    self.api_url
                ))
            })?;
            seen.insert(std::mem::replace(&mut path, next));
            if seen.contains(&path) {
                return Err(unreadable(format!("its pages go in a circle at {path}")));
            }
            if seen.len() == MAX_PAGES {
                return Err(unreadable(format!(
                    "there are more than {MAX_PAGES} pages of {PER_PAGE} items"
                )));
            }
        }
    }

    /// Sends the request, follows redirects below the API's base, and minds the limits. Success or refusal: the caller
    /// judges.
    ///
    /// A redirected write is repeated as it is, also after a 301: so GitHub wants it
    /// (<https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects>).
    pub(super) async fn call(
        self,
        asker: &impl Asker,
        request: &Request,
    ) -> Result<Answer, ForgeError> {
        let mut path = request.path.clone();
        let mut redirects = 0;
        loop {
            let answer = asker.send(request, &path).await?;
            tracing::debug!(
                method = %request.method,
                path,
                status = answer.status.as_u16(),
                remaining = answer.header("x-ratelimit-remaining"),
                "asked GitHub"
            );
            if answer.status.is_redirection()
                && let Some(address) = answer
                    .headers
                    .get(LOCATION)
                    .and_then(|value| value.to_str().ok())
            {
                let target = link::below(self.api_url, &path, address);
                let follow = request.reads()
                    || matches!(
                        answer.status,
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
                    Ok(elsewhere) | Err(elsewhere) => {
                        return Err(ForgeError::Rejected {
                            what: request.what.clone(),
                            status: answer.status.as_u16(),
                            message: answer::tidy(&format!("it has moved to {elsewhere}")),
                        });
                    }
                }
            }
            if let Some(until) = self.limit(asker.budget(), &answer) {
                return Err(ForgeError::Limited {
                    what: request.what.clone(),
                    until,
                });
            }
            return Ok(answer);
        }
    }

    /// Notes what the answer says about limits; the moment to come back when it is a limit itself.
    fn limit(self, budget: &Budget, answer: &Answer) -> Option<Millis> {
        let now = self.clock.now();
        if let Some(wait) = limit::limited(answer, now) {
            let until = budget.stop(wait, now);
            tracing::warn!(
                status = answer.status.as_u16(),
                wait_ms = u64::try_from(until.since(now).as_millis()).unwrap_or(u64::MAX),
                "GitHub limits the rate"
            );
            return Some(until);
        }
        if let Some(until) = limit::spent(answer, now) {
            budget.stop(limit::Wait::Until(until), now);
        } else if answer.status.is_success() {
            budget.went_through(now);
        }
        None
    }
}
