//! Requests for a repository: what the token may do there, and the objects that the path names.

use serde_json::Value;

use crate::json::Renderer;
use crate::model::{Actor, RemovedIssue, Repository, Token, TokenOwner};
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// A request for a repository, with the token that it carries.
pub(crate) struct RepositoryCall<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) request: &'a ApiRequest,
    pub(crate) token: Token,
    pub(crate) repository_id: u64,
    /// Whether the token has access to the repository. If not, the repository is public.
    pub(crate) has_access: bool,
}

impl<'a> RepositoryCall<'a> {
    /// Checks that the token may see the repository.
    pub(crate) fn new(
        state: &'a mut State,
        request: &'a ApiRequest,
        token: Token,
        owner: &str,
        name: &str,
    ) -> ApiResult<Self> {
        let repository = state
            .repository_named(owner, name)
            .ok_or_else(ApiResponse::not_found)?;
        let has_access = state.has_access(&token, repository);
        if !has_access && repository.private {
            return Err(ApiResponse::not_found());
        }
        Ok(Self {
            repository_id: repository.id,
            state,
            request,
            token,
            has_access,
        })
    }

    pub(crate) fn repository(&self) -> ApiResult<&Repository> {
        Ok(self.state.repository(self.repository_id)?)
    }

    pub(crate) fn actor(&self) -> Actor {
        self.state.actor(&self.token)
    }

    pub(crate) fn renderer(&self) -> Renderer<'_> {
        self.state.renderer(&self.request.urls)
    }

    /// Returns the requested page of `items`.
    pub(crate) fn page<T>(&self, items: &[T], render: impl FnMut(&T) -> Value) -> ApiResponse {
        self.request.page(Some(self.repository_id), items, render)
    }

    /// Checks that the token has one of the named permissions, at the level that the method needs.
    pub(crate) fn require_permission(&self, names: &[&str]) -> ApiResult<()> {
        let held = names.iter();
        let mut held = held.filter_map(|name| self.token.permissions.get(*name));
        let (level, sufficient) = if self.request.is_write() {
            let write = held.any(|level| level == "write");
            ("write", self.has_access && write)
        } else {
            ("read", !self.has_access || held.next().is_some())
        };
        match self.token.owner {
            _ if sufficient => Ok(()),
            TokenOwner::Person(_) => Err(ApiResponse::not_accessible_by_person()),
            TokenOwner::Installation(_) | TokenOwner::Job(_) | TokenOwner::Anonymous => {
                // "Rate limits and permissions" of the REST documentation: `;` means "or".
                let accepted: Vec<_> = names.iter().map(|name| format!("{name}={level}")).collect();
                let response = ApiResponse::not_accessible_by_app();
                Err(response.header("x-accepted-github-permissions", accepted.join("; ")))
            }
        }
    }

    /// Checks that issues are enabled. The message is from a public issue thread (ossf/allstar#64).
    pub(crate) fn require_issues_enabled(&self) -> ApiResult<()> {
        if self.repository()?.has_issues {
            Ok(())
        } else {
            Err(ApiResponse::gone("Issues are disabled for this repo"))
        }
    }

    /// Parses the number of an existing issue or pull request that the token may access.
    pub(crate) fn issue_number(&self, number: &str) -> ApiResult<u64> {
        let number: u64 = number.parse().map_err(|_| ApiResponse::not_found())?;
        let repository = self.repository()?;
        if repository.removed_issues.get(&number) == Some(&RemovedIssue::Deleted) {
            // The message that GitHub gives for deleted issues; not in the OpenAPI description.
            return Err(ApiResponse::gone("This issue was deleted"));
        }
        let issue = repository.issues.get(&number);
        if issue.is_some_and(|issue| issue.pull.is_some()) {
            self.require_permission(&["issues", "pull_requests"])?;
        } else {
            self.require_permission(&["issues"])?;
            self.require_issues_enabled()?;
        }
        issue.map(|_| number).ok_or_else(ApiResponse::not_found)
    }

    /// Parses the id of an existing comment of this repository that the token may access.
    pub(crate) fn comment_id(&self, id: &str) -> ApiResult<u64> {
        let id: u64 = id.parse().map_err(|_| ApiResponse::not_found())?;
        let comment = self.state.comment(id)?;
        if comment.repository != self.repository_id {
            return Err(ApiResponse::not_found());
        }
        self.issue_number(&comment.number.to_string())?;
        Ok(id)
    }
}
