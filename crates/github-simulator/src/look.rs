//! What tests and `try` read back.

use std::sync::PoisonError;

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::model::{CheckRun, Comment, Delivery, Issue, Label, User};
use crate::{Simulator, SimulatorError};

/// A request to the API as it was answered.
#[derive(Debug, Clone)]
pub struct LoggedRequest {
    /// Method.
    pub method: Method,
    /// Path without `/api/v3`, always in the `/repos/{owner}/{name}` form.
    pub path: String,
    /// Query parameters.
    pub query: Vec<(String, String)>,
    /// Request headers. They hold a token: not for printing.
    pub headers: HeaderMap,
    /// Request body.
    pub body: Bytes,
    /// Status; `None` when the answer was lost.
    pub status: Option<u16>,
    /// Answer as JSON.
    pub answer: Option<Value>,
    /// It changed something in a repository, whatever the client was told.
    pub changed: bool,
}

impl Simulator {
    /// Every issue and pull request of `owner/name`, by number.
    pub fn issues(&self, repository: &str) -> Result<Vec<Issue>, SimulatorError> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            Ok(state.repository(id)?.issues.values().cloned().collect())
        })
    }

    /// One issue or pull request.
    pub fn issue(&self, repository: &str, number: u64) -> Result<Issue, SimulatorError> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            state.issue(id, number).cloned()
        })
    }

    /// Its comments, oldest first.
    pub fn comments(&self, repository: &str, number: u64) -> Result<Vec<Comment>, SimulatorError> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            state
                .issue(id, number)?
                .comments
                .iter()
                .map(|id| state.comment(*id).cloned())
                .collect()
        })
    }

    /// Contents of the reactions on an issue or pull request, e.g. `eyes`.
    pub fn reactions(&self, repository: &str, number: u64) -> Result<Vec<String>, SimulatorError> {
        let issue = self.issue(repository, number)?;
        Ok(issue.reactions.into_iter().map(|one| one.content).collect())
    }

    /// Contents of the reactions on a comment.
    pub fn comment_reactions(&self, comment: u64) -> Result<Vec<String>, SimulatorError> {
        self.shared.with(|state| {
            let comment = state.comment(comment)?;
            let contents = comment.reactions.iter().map(|one| one.content.clone());
            Ok(contents.collect())
        })
    }

    /// Check runs of `owner/name`, in the order in which they were made.
    pub fn check_runs(&self, repository: &str) -> Result<Vec<CheckRun>, SimulatorError> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            Ok(state.repository(id)?.check_runs.values().cloned().collect())
        })
    }

    /// Labels of a repository.
    pub fn labels(&self, repository: &str) -> Result<Vec<Label>, SimulatorError> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            Ok(state.repository(id)?.labels.clone())
        })
    }

    /// The account of the App.
    pub fn bot(&self) -> User {
        self.shared.with(|state| state.app.bot.clone())
    }

    /// Requests to the API in the order in which they were answered.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.shared
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How many requests changed something in a repository.
    pub fn writes(&self) -> usize {
        self.shared
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|request| request.changed)
            .count()
    }

    /// Every attempt to deliver a webhook, oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared
            .with(|state| state.deliveries.values().cloned().collect())
    }
}
