//! What tests can read back from a simulator.

use super::Simulator;
use crate::error::Result;
use crate::model::{CheckRun, Comment, Delivery, Issue, Label, Reaction, User};
use crate::shared::LoggedRequest;
use crate::task_list::checkboxes;

impl Simulator {
    /// Returns all issues and pull requests of `owner/name` by number.
    pub fn issues(&self, repository: &str) -> Result<Vec<Issue>> {
        self.in_repository(repository, |state, id| {
            Ok(state.repository(id)?.issues.values().cloned().collect())
        })
    }

    /// Returns an issue or pull request.
    pub fn issue(&self, repository: &str, number: u64) -> Result<Issue> {
        self.in_repository(repository, |state, id| state.issue(id, number).cloned())
    }

    /// Returns the comments of an issue or pull request, oldest first.
    pub fn comments(&self, repository: &str, number: u64) -> Result<Vec<Comment>> {
        self.in_repository(repository, |state, id| {
            let ids = state.issue(id, number)?.comments.iter();
            ids.map(|id| state.comment(*id).cloned()).collect()
        })
    }

    /// Returns the contents of the reactions to an issue or pull request, e.g. `eyes`.
    pub fn reactions(&self, repository: &str, number: u64) -> Result<Vec<String>> {
        Ok(contents(&self.issue(repository, number)?.reactions))
    }

    /// Returns the contents of the reactions to a comment.
    pub fn comment_reactions(&self, comment: u64) -> Result<Vec<String>> {
        self.shared
            .with(|state| Ok(contents(&state.comment(comment)?.reactions)))
    }

    /// Returns whether each checkbox of a comment is checked.
    pub fn checkboxes(&self, comment: u64) -> Result<Vec<bool>> {
        self.shared.with(|state| {
            let checkboxes = checkboxes(&state.comment(comment)?.body);
            Ok(checkboxes.iter().map(|checkbox| checkbox.checked).collect())
        })
    }

    /// Returns the check runs of `owner/name`, oldest first.
    pub fn check_runs(&self, repository: &str) -> Result<Vec<CheckRun>> {
        self.in_repository(repository, |state, id| {
            Ok(state.repository(id)?.check_runs.values().cloned().collect())
        })
    }

    /// Returns the labels of a repository.
    pub fn labels(&self, repository: &str) -> Result<Vec<Label>> {
        self.in_repository(repository, |state, id| {
            Ok(state.repository(id)?.labels.clone())
        })
    }

    /// Returns the account of the App.
    pub fn bot(&self) -> User {
        self.shared.with(|state| state.app.bot.clone())
    }

    /// Returns the requests to the API in the order in which they were completed.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.shared.log().clone()
    }

    /// Returns the number of requests that changed something in a repository.
    pub fn writes(&self) -> usize {
        let log = self.shared.log();
        log.iter().filter(|request| request.changed).count()
    }

    /// Returns all attempts to deliver a webhook, oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared
            .with(|state| state.deliveries.values().cloned().collect())
    }
}

fn contents(reactions: &[Reaction]) -> Vec<String> {
    reactions.iter().map(|one| one.content.clone()).collect()
}
